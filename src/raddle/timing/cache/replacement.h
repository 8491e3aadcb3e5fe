// A cache's replacement policy (policy/replacement) and what the cache keeps for it: whose line
// each way holds. Exists only where a policy decides; else a cache goes by the order of use in its
// tags.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "raddle/policy/fault.h"
#include "raddle/policy/replacement/policy.h"
#include "raddle/timing/cache/tags.h"

namespace raddle::timing {

class Replacement {
 public:
  static_assert(policy::ReplacementPolicy::kMaxWays == Tags::kMaskedWays);
  /// `handles`: that the tags may have. `tenants`: of the launch slots; must outlive this.
  Replacement(std::unique_ptr<policy::ReplacementPolicy> policy, std::size_t handles,
              const TenantId* tenants)
      : policy_(std::move(policy)), tenants_(tenants), owner_(handles) {}
  policy::ReplacementPolicy& policy() { return *policy_; }

  /// The way for a line, an empty one if there is any; kAbsent: all of `among` are locked.
  unsigned victim(const Tags& tags, unsigned set, std::uint32_t line, unsigned kernel,
                  Tags::WayMask among) const {
    const Tags::Set ways = tags.look(set);
    const auto count = static_cast<unsigned>(ways.order.size());
    const Tags::WayMask all = low_bits(count);
    policy::SetView view{.set = set,
                         .line = line,
                         .tenant = tenants_[kernel],
                         .candidates = ways.unlocked & among,
                         .held = all & ~ways.empty,
                         .order = ways.order,
                         .owner = std::span(owner_).subspan(tags.handle(set, 0), count)};
    if (view.candidates == 0) return Tags::kAbsent;
    if (const Tags::WayMask empty = view.candidates & ways.empty; empty != 0)
      return tags.handle(set, view.oldest(empty));
    const unsigned way = policy_->victim(view);
    if (way >= count || (view.candidates >> way & 1) == 0)
      policy::wrong_answer("replacement", "names one of the candidates");
    return tags.handle(set, way);
  }
  /// `at`: the way in which the line was found, or kAbsent.
  void accessed(Cycle now, const Tags& tags, unsigned set, std::uint32_t line, unsigned kernel,
                unsigned at) {
    const unsigned way = at == Tags::kAbsent ? policy::CacheAccess::kNoWay : tags.way_in_set(at);
    policy_->accessed({now, set, line, tenants_[kernel], way});
  }
  void placed(const Tags& tags, unsigned at, unsigned kernel, bool replaces) {
    owner_[at] = tenants_[kernel];
    policy_->placed(
        {tags.set_of(at), tags.way_in_set(at), tags.line(at), tenants_[kernel], replaces});
  }

 private:
  std::unique_ptr<policy::ReplacementPolicy> policy_;
  const TenantId* tenants_;
  std::vector<TenantId> owner_;  // by handle of the tags
};

}  // namespace raddle::timing

// The replacement suite: a little cache of random accesses by three tenants, with locked ways and
// ways that a tenant may not fill.
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::CacheAccess;
using policy::ReplacementPolicy;
using policy::SetView;

class RandomCache {
 public:
  static constexpr unsigned kSets = 6, kWays = 5, kAll = (1u << kWays) - 1;

  RandomCache(const Make<ReplacementPolicy>& make, std::uint64_t seed) : rng_(seed, "cache") {
    for (std::unique_ptr<ReplacementPolicy>& policy : policy_)
      policy = make({0, kSets, kWays, seed});
    for (Set& set : set_)
      for (unsigned w = 0; w < kWays; ++w) set.order[w] = static_cast<std::uint8_t>(kWays - 1 - w);
  }
  /// Some of a tenant's lines come again and again, others once.
  std::string access() {
    now_ += rng_.below(200);
    const auto tenant = static_cast<TenantId>(rng_.below(3));
    const std::uint32_t number = rng_.below(4) == 0 ? next_++ : rng_.below(8);
    const std::uint32_t line = number * 4 + index(tenant);
    if (rng_.below(500) == 0) return flush();
    Set& set = set_[line % kSets];
    unsigned way = CacheAccess::kNoWay;
    for (unsigned w = 0; w < kWays; ++w)
      if ((set.held >> w & 1) != 0 && set.line[w] == line) way = w;
    for (auto& policy : policy_) policy->accessed({now_, line % kSets, line, tenant, way});
    if (way == CacheAccess::kNoWay) {
      if (std::string broken = choose(set, line, tenant, way); !broken.empty()) return broken;
      if (way == CacheAccess::kNoWay) return "";
      const bool replaces = (set.held >> way & 1) != 0;
      set.held |= 1u << way;
      set.line[way] = line;
      set.owner[way] = tenant;
      for (auto& policy : policy_) policy->placed({line % kSets, way, line, tenant, replaces});
    }
    for (std::uint8_t& order : set.order)
      if (order < set.order[way]) ++order;
    set.order[way] = 0;
    return "";
  }

 private:
  struct Set {
    std::uint32_t held = 0, line[kWays] = {};
    std::uint8_t order[kWays] = {};
    TenantId owner[kWays] = {};
  };
  std::string flush() {
    for (Set& set : set_) set.held = 0;
    for (auto& policy : policy_) policy->flushed();
    return "";
  }
  /// Asks, if it has to; `way` stays as it is when every way is locked.
  std::string choose(const Set& set, std::uint32_t line, TenantId tenant, unsigned& way) {
    const std::uint32_t locked = rng_.below(3) == 0 ? rng_.below(kAll + 1) : 0;
    const std::uint32_t allowed = rng_.below(3) == 0 ? rng_.below(kAll) + 1 : kAll;
    const std::uint32_t candidates = kAll & ~locked & allowed;
    if (candidates == 0) return "";
    if (const std::uint32_t empty = candidates & ~set.held; empty != 0) {
      way = lowest(empty);
      return "";
    }
    const SetView view{line % kSets, line, tenant, candidates, set.held, set.order, set.owner};
    way = policy_[0]->victim(view);
    if (way >= kWays || (candidates >> way & 1) == 0)
      return "chose way " + std::to_string(way) + ", which may not be given away";
    for (int again = 0; again < 3; ++again)
      if (policy_[1]->victim(view) != way) return kDiffers[again == 0 ? 0 : 1];
    return "";
  }

  static constexpr const char* kDiffers[] = {"the same history gives another answer",
                                             "being asked more often changes the answer"};
  Rng rng_;
  std::unique_ptr<ReplacementPolicy> policy_[2];  // the second is asked more often
  Set set_[kSets];
  Cycle now_ = 0;
  std::uint32_t next_ = 8;
};

}  // namespace

std::string check_replacement(const Make<ReplacementPolicy>& make, std::uint64_t seed) {
  RandomCache cache(make, seed);
  for (unsigned n = 0; n < 50'000; ++n)
    if (std::string broken = cache.access(); !broken.empty()) return broken;
  return "";
}

}  // namespace raddle::contract

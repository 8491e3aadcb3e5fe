// Spatial partitioning: each tenant has SMs of its own, the usual baseline of work on sharing a GPU
// (Adriaens et al., "The Case for GPGPU Spatial Multitasking", HPCA 2012). SMs that no parameter
// gives away are split evenly among the other tenants that are present, the remainder to those with
// the lower numbers; each tenant's are neighbours. When tenants come or go, blocks that are under
// way stay where they are. Where there are more tenants than SMs to split, they share them. Blocks
// on its own SMs can be capped, which a search for the best caps needs.
// Left out: moving work that has started.
#include <bit>
#include <string>

#include "raddle/base/error.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/by_tenant_fields.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {
namespace {

class Spatial final : public SchemePolicy {
 public:
  struct Params {
    ByTenant sms{}, blocks{};
    void visit(FieldVisitor& v) {
      visit_by_tenant(v, "sms", sms, {0, 4096}, "SMs", "SMs of its own; 0 = an even part");
      visit_by_tenant(v, "blocks", blocks, {0, 64}, "blocks",
                      "most blocks on each of them; 0 = as many as fit");
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::uint64_t sum = 0;
      for (std::uint32_t n : sms) sum += n;
      if (sum < machine.sms || (sum == machine.sms && even_tenants() == 0)) return {};
      return {"policy.scheme.sms_0 .. sms_" + std::to_string(kMaxTenants - 1) + " give away " +
              std::to_string(sum) + " of sm.count = " + std::to_string(machine.sms) +
              " SMs and must leave one for the tenants that have an even part"};
    }
    unsigned even_tenants() const {
      unsigned n = 0;
      for (std::uint32_t own : sms) n += own == 0 ? 1 : 0;
      return n;
    }
  };
  Spatial(const Params& params, const Context& context) : params_(params), sms_(context.sms) {}

  Cycle look(const SchemeView& view, Knobs& knobs) override {
    if (splits_ == 0 || view.present != present_) ++splits_;
    present_ = view.present;
    unsigned given = 0, even = 0;
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      given += params_.sms[t];
      if (view.has(t) && params_.sms[t] == 0) ++even;
    }
    RADDLE_ASSERT(given < sms_ || (given == sms_ && even == 0));
    unsigned first = 0, at = given, place = 0;
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      const unsigned own = params_.sms[t];
      if (own != 0) {
        if (view.has(t)) give(t, knobs.tenant[t], first, own);
        first += own;
      } else if (view.has(t)) {
        const unsigned part = share(sms_ - given, even, place);
        if (part != 0) give(t, knobs.tenant[t], at, part);
        else give(t, knobs.tenant[t], given + place % (sms_ - given), 1);
        at += part;
        ++place;
      }
    }
    return kNever;
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("splits", splits_, {}, "decisions", "the SMs were split");
  }

 private:
  static unsigned share(unsigned sms, unsigned tenants, unsigned place) {
    return sms / tenants + (place < sms % tenants ? 1 : 0);
  }
  void give(unsigned tenant, TenantKnobs& knobs, unsigned first, unsigned count) const {
    RADDLE_ASSERT(count != 0 && first + count <= sms_);
    const std::uint32_t cap = params_.blocks[tenant] == 0 ? kNoLimit : params_.blocks[tenant];
    knobs.block_cap.assign(sms_, 0);
    for (unsigned sm = first; sm < first + count; ++sm) knobs.block_cap[sm] = cap;
  }

  Params params_;
  unsigned sms_;
  std::uint8_t present_ = 0;
  std::uint64_t splits_ = 0;
};

}  // namespace

void add_scheme_spatial(Registry<SchemePolicy>& r) {
  r.add<Spatial>("spatial", "each tenant has SMs of its own: an even split, or so many");
}

}  // namespace raddle::policy

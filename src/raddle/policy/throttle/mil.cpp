// Memory instruction limiting: of each tenant only so many loads and atomics of an SM are under way
// at once. Dai et al., "Accelerate GPU Concurrent Kernel Execution by Mitigating Memory Pipeline
// Stalls", HPCA 2018, dynamic MIL, as papers that compare with it describe it
// (docs/mechanisms/ccbp.md).
//
// After each `window` accesses of a tenant to the L1D its limit follows f, the cycles for which an
// access was refused a resource, per access: with f >= 1 it becomes the most instructions that were
// under way in the window less the whole part of f, at least one; below, one more is let go.
#include <algorithm>
#include <array>

#include "raddle/base/error.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"

namespace raddle::policy {
namespace {

class Mil final : public ThrottlePolicy, L1Observer {
 public:
  struct Params {
    std::uint32_t window = 1024;
    void visit(FieldVisitor& v) {
      v.field("window", window, {1, 1u << 20}, "accesses",
              "to the L1D by a tenant, after which its limit is set anew");
    }
  };
  Mil(const Params& params, const Context&) : window_(params.window) {}

  void on_load(Cycle, TenantId id) override {
    Tenant& tenant = tenant_[index(id)];
    tenant.peak = std::max(tenant.peak, ++tenant.under_way);
    if (tenant.under_way == tenant.limit) ask_again();
  }
  void on_load_done(Cycle, TenantId id) override {
    Tenant& tenant = tenant_[index(id)];
    if (tenant.under_way-- == tenant.limit) ask_again();
  }
  void on_warp_start(Cycle, unsigned slot) override { refused_ &= ~(WarpMask{1} << slot); }
  L1Observer* l1_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Tenant {
    std::uint32_t under_way = 0, peak = 0, limit = kNoLimit;
    std::uint64_t accesses = 0, refused_cycles = 0;  ///< in this window
  };
  struct Stats {
    std::uint64_t windows = 0, cuts = 0, rises = 0, limited = 0, limits = 0;
    void visit(FieldVisitor& v) {
      v.field("windows", windows, {}, "windows", "that have ended, of all tenants");
      v.field("cuts", cuts, {}, "windows", "after which a limit fell or was first set");
      v.field("rises", rises, {}, "windows", "after which a limit rose");
      v.field("limited", limited, {}, "windows", "after which the tenant had a limit");
      v.field("limits", limits, {}, "instructions", "limits, summed over `limited`");
    }
  };

  Admission admit(const ThrottleView& view) override {
    WarpMask full = 0;
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (tenant_[t].under_way >= tenant_[t].limit) full |= view.of_tenant[t];
    return {~WarpMask{0}, ~full, kNever};
  }

  void access(const L1Access& e) override {
    Tenant& tenant = tenant_[index(e.tenant)];
    const WarpMask warp = WarpMask{1} << e.warp;
    if (e.outcome == L1Outcome::Refused) {
      refused_ |= warp;
      refused_since_[e.warp] = e.at;
      return;
    }
    if ((refused_ & warp) != 0) {
      RADDLE_ASSERT(e.at >= refused_since_[e.warp]);
      tenant.refused_cycles += e.at - refused_since_[e.warp];
    }
    refused_ &= ~warp;
    if (++tenant.accesses == window_) end_window(tenant);
  }

  void end_window(Tenant& tenant) {
    const std::uint64_t f = tenant.refused_cycles / tenant.accesses;
    const std::uint32_t before = tenant.limit;
    if (f >= 1) tenant.limit = tenant.peak > f ? tenant.peak - static_cast<std::uint32_t>(f) : 1;
    else if (tenant.limit != kNoLimit) ++tenant.limit;
    ++stats_.windows;
    stats_.cuts += tenant.limit < before;
    stats_.rises += tenant.limit > before;
    if (tenant.limit != kNoLimit) {
      ++stats_.limited;
      stats_.limits += tenant.limit;
    }
    tenant.peak = tenant.under_way;
    tenant.accesses = tenant.refused_cycles = 0;
    if (tenant.limit != before) ask_again();
  }

  std::uint32_t window_;
  std::array<Tenant, kMaxTenants> tenant_{};
  WarpMask refused_ = 0;  ///< an access of the warp has been refused and is not served yet
  std::array<Cycle, 64> refused_since_{};
  Stats stats_;
};

}  // namespace

void add_throttle_mil(Registry<ThrottlePolicy>& r) {
  r.add<Mil>("mil", "of each tenant so many loads at once as the L1D takes without stalls (MIL)");
}

}  // namespace raddle::policy

// Balanced memory instructions: among tenants that share an SM, memory instructions are let go so
// that each sends as many requests. Dai et al., "Accelerate GPU Concurrent Kernel Execution by
// Mitigating Memory Pipeline Stalls", HPCA 2018, quota-based BMI, as papers that compare with it
// describe it (docs/mechanisms/ccbp.md).
//
// With r requests per memory instruction, a tenant's quota is LCM(all r) / r instructions. Of the
// tenants with a ready memory instruction only the one with most quota left may issue one; when a
// quota is spent, all tenants get theirs on top of what they have. Inside these bounds: greedy
// then oldest. With one tenant it is gto.
#include <algorithm>
#include <array>
#include <numeric>

#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Bmi final : public WarpPolicy, L1Observer {
 public:
  struct Params {
    std::uint32_t window = 1024;
    void visit(FieldVisitor& v) {
      v.field("window", window, {1, 1u << 20}, "instructions",
              "for memory of a tenant, after which its requests per instruction are found anew");
    }
  };
  Bmi(const Params& params, const Context& context)
      : window_(params.window), first_(context.first_slot), slots_(context.slots) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    const WarpMask mine = view.ready & ~put_back(view);
    const unsigned warp = (mine & greedy_) != 0 ? lowest(greedy_) : view.age.oldest(mine);
    greedy_ = WarpMask{1} << warp;
    if ((view.memory & greedy_) != 0) spend(view, greedy_);
    return warp;
  }
  void on_warp_end(unsigned slot) override { greedy_ &= ~(WarpMask{1} << slot); }
  L1Observer* l1_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Tenant {
    std::uint64_t quota = 0;         ///< that is left
    std::uint32_t per_inst = 1;      ///< requests per memory instruction, to the nearest
    std::uint32_t instructions = 0;  ///< in this window
    std::uint64_t requests = 0;
  };
  struct Stats {
    std::uint64_t picks = 0, put_back = 0, renewals = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("put_back", put_back, {}, "decisions",
              "in which a ready memory instruction waited for another tenant's");
      v.field("renewals", renewals, {}, "", "a quota was spent and all got theirs");
    }
  };

  /// Ready warps whose memory instruction waits for a tenant with more quota; of equal ones the
  /// lowest number goes first.
  WarpMask put_back(const WarpView& view) {
    const WarpMask wanting = view.ready & view.memory;
    WarpMask best = wanting;
    std::uint64_t maximum = 0;
    bool found = false;
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      const WarpMask of = wanting & view.of_tenant[t];
      if (of == 0 || (found && tenant_[t].quota <= maximum)) continue;
      best = of;
      maximum = tenant_[t].quota;
      found = true;
    }
    const WarpMask out = wanting & ~best;
    stats_.put_back += out != 0;
    return out;
  }

  void spend(const WarpView& view, WarpMask warp) {
    unsigned t = 0;
    while (t < kMaxTenants && (view.of_tenant[t] & warp) == 0) ++t;
    if (t == kMaxTenants) return;  // nobody shares the GPU
    Tenant& tenant = tenant_[t];
    if (++tenant.instructions == window_) {
      const std::uint64_t nearest = (tenant.requests + window_ / 2) / window_;
      tenant.per_inst = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(nearest, 1, kLanes));
      tenant.instructions = 0;
      tenant.requests = 0;
    }
    if (tenant.quota == 0) renew(view);  // it has just come
    if (--tenant.quota == 0) renew(view);
  }

  void renew(const WarpView& view) {
    std::uint64_t multiple = 1;
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if ((view.resident & view.of_tenant[t]) != 0)
        multiple = std::lcm(multiple, std::uint64_t{tenant_[t].per_inst});
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if ((view.resident & view.of_tenant[t]) != 0)
        tenant_[t].quota += multiple / tenant_[t].per_inst;
    ++stats_.renewals;
  }

  void access(const L1Access& e) override {
    if (e.outcome == L1Outcome::Refused || e.warp - first_ >= slots_) return;
    ++tenant_[index(e.tenant)].requests;
  }

  std::uint32_t window_;
  unsigned first_, slots_;
  std::array<Tenant, kMaxTenants> tenant_{};
  WarpMask greedy_ = 0;  ///< the warp issued last, as a set; empty at first
  Stats stats_;
};

}  // namespace

void add_warp_bmi(Registry<WarpPolicy>& r) {
  r.add<Bmi>("bmi", "memory instructions by tenants' quotas of requests, else gto (BMI)");
}

}  // namespace raddle::policy

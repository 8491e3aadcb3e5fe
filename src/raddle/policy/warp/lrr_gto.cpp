// Tenants in turn, each tenant's warps greedy then oldest. The warp order of Maestro (Park, Park,
// Mahlke, "Dynamic Resource Management for Efficient Utilization of Multitasking GPUs", ASPLOS
// 2017) as the CCBP paper sums it up, "LRR + GTO" of its figure 16: loose round robin among the
// kernels that share an SM, greedy then oldest within one. With one tenant it is gto.
//
// A tenant's turn is one instruction: each that a scheduler issues moves the turn on to the next
// tenant with a ready warp, in order of their numbers.
#include <array>

#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class LrrGto final : public WarpPolicy {
 public:
  using Params = NoParams;
  LrrGto(const Params&, const Context&) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    const unsigned tenant = next_tenant(view);
    const WarpMask ready = view.ready & view.of_tenant[tenant];
    WarpMask& greedy = greedy_[tenant];
    turn_ = tenant + 1;
    if ((ready & greedy) != 0) {
      ++stats_.stayed;
      return lowest(greedy);
    }
    const unsigned warp = view.age.oldest(ready);
    greedy = WarpMask{1} << warp;
    return warp;
  }
  void on_warp_end(unsigned slot) override {
    for (WarpMask& greedy : greedy_) greedy &= ~(WarpMask{1} << slot);
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, stayed = 0, turns = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("stayed", stayed, {}, "decisions", "stayed with the warp its tenant issued last");
      v.field("turns", turns, {}, "decisions", "another tenant's than the last");
    }
  };
  /// The first from `turn_` on, cyclically, with a ready warp.
  unsigned next_tenant(const WarpView& view) {
    for (unsigned i = 0; i < kMaxTenants; ++i) {
      const unsigned tenant = (turn_ + i) % kMaxTenants;
      if ((view.ready & view.of_tenant[tenant]) == 0) continue;
      if (turn_ != 0 && tenant + 1 != turn_) ++stats_.turns;
      return tenant;
    }
    RADDLE_ASSERT(false);  // a warp that is ready is some tenant's
    return 0;
  }

  unsigned turn_ = 0;                           ///< the tenant after the one that issued last
  std::array<WarpMask, kMaxTenants> greedy_{};  ///< the warp each issued last, as a set
  Stats stats_;
};

}  // namespace

void add_warp_lrr_gto(Registry<WarpPolicy>& r) {
  r.add<LrrGto>("lrr_gto", "tenants in turn, each one's warps greedy then oldest (Maestro)");
}

}  // namespace raddle::policy

// Criticality-aware warp acceleration, its scheduler: Lee, Arunkumar, Wu, "CAWA: Coordinated Warp
// Scheduling and Cache Prioritization for Critical Warp Acceleration of GPGPU Workloads", ISCA
// 2015. The criticality prediction logic estimates for each warp
//     criticality = nInst x CPI + nStall
// from the instructions it will have to execute more than others, its average cycles per
// instruction, and the cycles it has spent between issues; greedy criticality-aware scheduling
// (gCAWS) then stays with a warp until it stalls and takes the most critical ready one, of equals
// the oldest. docs/mechanisms/more_schedulers.md says what is the paper's and what is not.
//
// nInst: the paper adds the length of the path that each branch takes and subtracts an instruction
// for each that is executed. For warps of one kernel that sum is, up to what is the same for all,
// the rest of the code from where the warp is, and so it is computed here: a loop that goes round
// puts a warp back, a path that is skipped brings it forward.
//
// Left out: CACP, the share of the L1D for lines of critical warps, which would need the
// schedulers' criticality and the instruction's address at level `replacement`.
#include <array>

#include "raddle/base/error.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Cawa final : public WarpPolicy, SmObserver {
 public:
  struct Params {
    bool disparity = true, stalls = true;
    void visit(FieldVisitor& v) {
      v.field("disparity", disparity, "criticality counts instructions that are left");
      v.field("stalls", stalls, "criticality counts cycles between issues");
    }
  };
  Cawa(const Params& params, const Context&) : params_(params) {}

  unsigned pick(const WarpView& view) override {
    ++stats_.picks;
    if ((view.ready & greedy_) != 0) {
      ++stats_.stayed;
    } else {
      greedy_ = max_critical(view);
      if (greedy_ != WarpMask{1} << view.age.oldest(view.ready)) ++stats_.overtook;
    }
    stale_ |= greedy_;
    return lowest(greedy_);
  }
  void on_warp_start(unsigned slot) override { stale_ |= WarpMask{1} << slot; }
  void on_warp_end(unsigned slot) override { greedy_ &= ~(WarpMask{1} << slot); }
  SmObserver* sm_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, stayed = 0, overtook = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("stayed", stayed, {}, "decisions", "stayed with the warp issued last");
      v.field("overtook", overtook, {}, "decisions", "took one more critical than the oldest");
    }
  };
  void attach(const SmView& sm) override { sm_ = &sm; }

  WarpMask max_critical(const WarpView& view) {
    std::uint64_t maximum = 0;
    WarpMask best = 0;
    for (WarpMask m = view.ready; m != 0; m &= m - 1) {
      const unsigned w = lowest(m);
      const WarpMask bit = m & -m;
      if ((stale_ & bit) != 0) criticality_[w] = criticality(sm_->warp(w));
      if (best == 0 || criticality_[w] > maximum) {
        maximum = criticality_[w];
        best = bit;
      } else if (criticality_[w] == maximum) best |= bit;
    }
    stale_ &= ~view.ready;
    return WarpMask{1} << view.age.oldest(best);
  }
  /// Changes only when the warp issues.
  std::uint64_t criticality(const WarpFacts& warp) const {
    RADDLE_ASSERT(warp.next <= warp.code_size);
    const std::uint64_t left = params_.disparity ? warp.code_size - warp.next : 0;
    if (warp.issued == 0) return left;
    const Cycle cycles = warp.last_issue + 1 - warp.started;
    RADDLE_ASSERT(warp.started <= warp.last_issue && warp.issued <= cycles);
    const std::uint64_t stalls = params_.stalls ? cycles - warp.issued : 0;
    return left * cycles / warp.issued + stalls;
  }

  Params params_;
  const SmView* sm_ = nullptr;
  WarpMask greedy_ = 0;  ///< the warp issued last, as a set; empty at first
  WarpMask stale_ = 0;   ///< have issued since their criticality was computed
  std::array<std::uint64_t, 64> criticality_{};
  Stats stats_;
};

}  // namespace

void add_warp_cawa(Registry<WarpPolicy>& r) {
  r.add<Cawa>("cawa", "the most critical warp, by what is left and lost, until it stalls (CAWA)");
}

}  // namespace raddle::policy

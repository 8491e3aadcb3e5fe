// Memory-aware scheduling: Sethia, Jamshidi, Mahlke, "Mascar: Speeding up GPU Warps by Reducing
// Memory Pitstops", HPCA 2015. While the memory system takes requests all warps are equal (EP
// mode: here greedy then oldest). When the L1D's MSHRs or the miss queue are nearly full, only one
// warp of the SM, the owner, may issue memory instructions (MP mode), so that its data come
// together and it can compute while others' wait; instructions of all warps that are none of
// memory go on. docs/mechanisms/more_schedulers.md says what is the paper's and what is not.
//
// The owner is who issued a memory instruction last, until it waits for memory, a barrier or the
// like or has ended; then the oldest warp with a memory instruction that is ready. All schedulers
// of an SM see the same owner. A scheduler that has only others' memory instructions issues none.
//
// Left out: cache access re-execution, which serves hits while the load/store unit is stuck.
#include "raddle/base/error.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Mascar final : public WarpPolicy, SmObserver {
 public:
  struct Params {
    std::uint32_t free_mshrs = 2, free_queue = 2;
    void visit(FieldVisitor& v) {
      v.field("free_mshrs", free_mshrs, {0, 1024}, "MSHRs",
              "of the L1D: with no more of them free the memory system is saturated");
      v.field("free_queue", free_queue, {0, 1024}, "requests",
              "with no more places in the miss queue it is saturated");
    }
  };
  Mascar(const Params& params, const Context&) : params_(params) {}

  unsigned pick(const WarpView& view) override {
    const LsuFacts lsu = sm_->lsu();
    if (!saturated(lsu)) return issue(view, view.ready);
    const WarpMask owner = owner_of(view, lsu.last_user);
    const WarpMask mine = (view.ready & owner) != 0 ? owner : view.ready & ~global(view.ready);
    if (mine == 0) {
      ++stats_.declined;
      return kInvalidId;
    }
    ++stats_.saturated;
    stats_.of_owner += mine == owner;
    return issue(view, mine);
  }
  bool may_decline() const override { return true; }
  void on_warp_end(unsigned slot) override { greedy_ &= ~(WarpMask{1} << slot); }
  SmObserver* sm_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, saturated = 0, of_owner = 0, declined = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "a warp was issued");
      v.field("saturated", saturated, {}, "decisions", "of these: in MP mode");
      v.field("of_owner", of_owner, {}, "decisions", "of these: the owner");
      v.field(
          "declined", declined, {}, "decisions",
          "MP mode let nobody go: only memory instructions of others than the owner were ready");
    }
  };
  void attach(const SmView& sm) override { sm_ = &sm; }

  bool saturated(const LsuFacts& lsu) const {
    RADDLE_ASSERT(lsu.mshrs_taken <= lsu.mshrs && lsu.queue_taken <= lsu.queue);
    const bool no_mshrs = lsu.mshrs != 0 && lsu.mshrs - lsu.mshrs_taken <= params_.free_mshrs;
    return no_mshrs || lsu.queue - lsu.queue_taken <= params_.free_queue;
  }
  /// Of these warps, those that have a memory instruction next.
  WarpMask global(WarpMask warps) const {
    WarpMask out = 0;
    for (WarpMask m = warps; m != 0; m &= m - 1)
      if (is_global(sm_->warp(lowest(m)).kind)) out |= m & -m;
    return out;
  }
  /// As a set; empty: nobody could use the load/store unit.
  WarpMask owner_of(const WarpView& view, unsigned last_user) const {
    const WarpMask able = sm_->waiting(WarpWait::Nothing) | sm_->waiting(WarpWait::Dependence) |
                          sm_->waiting(WarpWait::Fetch);
    if (last_user < kInvalidId && (able >> last_user & 1) != 0) return WarpMask{1} << last_user;
    const WarpMask want = global(sm_->waiting(WarpWait::Nothing) & view.memory);
    return want != 0 ? WarpMask{1} << view.age.oldest(want) : 0;
  }
  /// Greedy then oldest.
  unsigned issue(const WarpView& view, WarpMask warps) {
    ++stats_.picks;
    if ((warps & greedy_) == 0) greedy_ = WarpMask{1} << view.age.oldest(warps);
    return lowest(greedy_);
  }

  Params params_;
  const SmView* sm_ = nullptr;
  WarpMask greedy_ = 0;  ///< the warp issued last, as a set; empty at first
  Stats stats_;
};

}  // namespace

void add_warp_mascar(Registry<WarpPolicy>& r) {
  r.add<Mascar>("mascar",
                "gto; when memory is saturated, memory instructions of one warp (Mascar)");
}

}  // namespace raddle::policy

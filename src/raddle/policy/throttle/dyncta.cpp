// Dynamic block scheduling: Kayiran, Jog, Kandemir, Das, "Neither More Nor Less: Optimizing
// Thread-level Parallelism for GPGPUs", PACT 2013 (DYNCTA). Of the blocks on an SM only so many are
// active, the oldest; the others are paused. The number starts at half of what the SM holds and
// moves by one after each period: up if the SM has idled for longer than `t_idle` or waited for
// memory for less than `t_mem_low` cycles of it, down if it has waited for more than `t_mem_high`.
// docs/mechanisms/more_schedulers.md says what is the paper's and what is not.
//
// Waiting for memory: cycles in which no warp of an active block is ready or computes and one of
// them waits for data, and those in which schedulers had a warp to issue and the load/store unit
// accepted nothing. Idle: cycles in which no active warp was ready, computed or waited for data.
// A period begins with the first warp on an empty SM and is given up with the last.
//
// As with every limit of warps, a program hangs in which a block waits for one that comes after it.
#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"

namespace raddle::policy {
namespace {

class DynCta final : public ThrottlePolicy, SmObserver {
 public:
  struct Params {
    std::uint32_t period = 2048, t_idle = 16, t_mem_low = 128, t_mem_high = 384;
    void visit(FieldVisitor& v) {
      v.field("period", period, {16, 1u << 20}, "cycles", "between two decisions");
      v.field("t_idle", t_idle, {0, 1u << 20}, "cycles", "of idling, above which a block is added");
      v.field("t_mem_low", t_mem_low, {0, 1u << 20}, "cycles",
              "of waiting for memory, below which a block is added");
      v.field("t_mem_high", t_mem_high, {0, 1u << 20}, "cycles",
              "of waiting for memory, above which a block is paused");
    }
    std::vector<std::string> violations(const MachineFacts&) const {
      if (t_mem_low <= t_mem_high) return {};
      return {"policy.throttle.t_mem_low must not exceed policy.throttle.t_mem_high (they are " +
              std::to_string(t_mem_low) + " and " + std::to_string(t_mem_high) + ")"};
    }
  };
  DynCta(const Params& params, const Context& context)
      : params_(params), schedulers_(context.schedulers) {}

  void on_kernel_start(Cycle) override { first_ = true; }
  void on_warp_start(Cycle now, unsigned slot) override {
    if (first_) {
      maximum_ = std::max(1u, sm_->warp(slot).blocks_most);
      limit_ = std::max(1u, maximum_ / 2);
      first_ = false;
    }
    if (running_ == 0) begin_period(now);
    running_ |= WarpMask{1} << slot;
  }
  void on_warp_end(Cycle now, unsigned slot) override {
    running_ &= ~(WarpMask{1} << slot);
    if (running_ == 0) {
      settle(now);
      next_ = kNever;
    }
  }
  SmObserver* sm_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t periods = 0, raised = 0, lowered = 0, limits = 0, idle = 0, memory = 0;
    void visit(FieldVisitor& v) {
      v.field("periods", periods, {}, "periods", "that have ended");
      v.field("raised", raised, {}, "periods", "after which one more block was active");
      v.field("lowered", lowered, {}, "periods", "after which one more block was paused");
      v.field("limits", limits, {}, "blocks", "active ones at most, summed over periods");
      v.field("idle", idle, {}, "cycles", "of all periods: nobody active had anything to do");
      v.field("memory", memory, {}, "cycles", "of all periods: active warps waited for memory");
    }
  };
  enum class Doing { Something, Waiting, Nothing };

  void attach(const SmView& sm) override { sm_ = &sm; }
  void waits_changed(Cycle now) override {
    settle(now);
    doing_ = what(active_ & running_);
  }

  Admission admit(const ThrottleView& view) override {
    settle(view.now);
    if (view.now >= next_) end_period(view.now);
    active_ = oldest_blocks(view);
    doing_ = what(active_ & running_);
    return {active_, active_, next_};
  }

  // --- the account of this period ----------------------------------------------------------------
  void begin_period(Cycle now) {
    settle(now);
    next_ = now + params_.period;
    idle_ = memory_ = 0;
    refused_before_ = sm_->stalled(StallReason::Lsu, now);
  }
  /// Cycles until now go to what was done in them.
  void settle(Cycle now) {
    RADDLE_ASSERT(now >= since_);
    if (doing_ == Doing::Waiting) memory_ += now - since_;
    if (doing_ == Doing::Nothing) idle_ += now - since_;
    since_ = now;
  }
  Doing what(WarpMask warps) const {
    const auto any = [&](WarpWait w) { return (sm_->waiting(w) & warps) != 0; };
    if (any(WarpWait::Nothing) || any(WarpWait::Dependence) || any(WarpWait::Fetch))
      return Doing::Something;
    return any(WarpWait::Memory) || any(WarpWait::Fence) ? Doing::Waiting : Doing::Nothing;
  }
  void end_period(Cycle now) {
    const Cycle stalled = sm_->stalled(StallReason::Lsu, now);
    RADDLE_ASSERT(stalled >= refused_before_);
    const Cycle refused = stalled - refused_before_;
    const Cycle memory = memory_ + refused / schedulers_;
    const std::uint32_t before = limit_;
    if (idle_ > params_.t_idle || memory < params_.t_mem_low)
      limit_ = std::min(maximum_, limit_ + 1);
    else if (memory > params_.t_mem_high) limit_ = std::max(1u, limit_ - 1);
    ++stats_.periods;
    stats_.raised += limit_ > before;
    stats_.lowered += limit_ < before;
    stats_.limits += limit_;
    stats_.idle += idle_;
    stats_.memory += memory;
    begin_period(now);
  }

  /// Warps of so many blocks, the oldest.
  WarpMask oldest_blocks(const ThrottleView& view) const {
    std::uint64_t blocks = 0;
    WarpMask out = 0;
    for (WarpMask left = view.running; left != 0;) {
      const unsigned w = view.age.oldest(left);
      const std::uint64_t block = std::uint64_t{1} << view.block_of[w];
      left &= ~(WarpMask{1} << w);
      if ((blocks & block) == 0 && static_cast<unsigned>(std::popcount(blocks)) == limit_) continue;
      blocks |= block;
      out |= WarpMask{1} << w;
    }
    return out;
  }

  Params params_;
  unsigned schedulers_;
  const SmView* sm_ = nullptr;
  bool first_ = true;  ///< the next warp is the first of a kernel
  std::uint32_t maximum_ = 1, limit_ = 1;
  WarpMask running_ = 0, active_ = 0;
  Cycle next_ = kNever;  ///< when the period ends
  Cycle since_ = 0, idle_ = 0, memory_ = 0, refused_before_ = 0;
  Doing doing_ = Doing::Something;
  Stats stats_;
};

}  // namespace

void add_throttle_dyncta(Registry<ThrottlePolicy>& r) {
  r.add<DynCta>("dyncta", "as many blocks active as memory waits and idling allow (DYNCTA)");
}

}  // namespace raddle::policy

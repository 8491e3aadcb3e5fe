// Stall accounting of an SM. A scheduler that issues nothing is charged one reason, from the cycle
// in which the reason came up until another does or it issues; so the account is written when
// something changes and costs nothing in cycles like the one before. The reason goes to the
// launch whose warp was nearest to ready. Warps are counted in the same way: so many as they are,
// for as long as they are.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

using SmKernelCounters = stats::PerKernel<stats::SmCounters>;

class StallAccount {
 public:
  explicit StallAccount(unsigned schedulers) : schedulers_(schedulers) {
    RADDLE_ASSERT(schedulers <= SmSpec::kMaxSchedulers);
  }
  /// The launch slot a scheduler is charged to now.
  std::uint8_t charged(unsigned scheduler) const { return charged_[scheduler]; }

  /// The scheduler issues in this cycle.
  void issues(Cycle now, unsigned scheduler, SmKernelCounters& counters) {
    if (since_[scheduler] != now) credit(now, scheduler, counters);
    since_[scheduler] = now + 1;
  }
  /// It does not, for that reason, which is `kernel`'s.
  void stalls(Cycle now, unsigned scheduler, stats::Stall why, std::uint8_t kernel,
              SmKernelCounters& counters) {
    if (why == reason_[scheduler] && kernel == charged_[scheduler]) return;
    credit(now, scheduler, counters);
    reason_[scheduler] = why;
    charged_[scheduler] = kernel;
    since_[scheduler] = now;
  }
  /// So many warps have been there since the last call: to be called before they change.
  void count_warps(Cycle now, WarpMask running, WarpMask throttled) {
    if (now == warps_since_) return;
    add_warps(now, running, throttled, schedulers_total_);
    warps_since_ = now;
  }

  /// Cycles before `at`, of all schedulers, that were charged that reason.
  Cycle charged(stats::Stall why, Cycle at) const {
    Cycle out = schedulers_total_.stall[static_cast<unsigned>(why)];
    for (unsigned s = 0; s < schedulers_; ++s)
      if (reason_[s] == why && since_[s] < at) out += at - since_[s];
    return out;
  }

  /// What is under way at `at`, added to a copy of the counters of a launch slot ...
  void settle(Cycle at, unsigned kernel, stats::SmCounters& out) const {
    for (unsigned s = 0; s < schedulers_; ++s)
      if (reason_[s] != stats::Stall::Idle && charged_[s] == kernel)
        out.stall[static_cast<unsigned>(reason_[s])] += at - since_[s];
  }
  /// ... and what all schedulers have done.
  stats::SchedulerCounters counters(Cycle at, WarpMask running, WarpMask throttled) const {
    stats::SchedulerCounters out = schedulers_total_;
    for (unsigned s = 0; s < schedulers_; ++s)
      out.stall[static_cast<unsigned>(reason_[s])] += at - since_[s];
    add_warps(at, running, throttled, out);
    return out;
  }

 private:
  /// The cycles since since_[scheduler] go to the reason found then.
  void credit(Cycle now, unsigned scheduler, SmKernelCounters& counters) {
    const Cycle cycles = now - since_[scheduler];
    if (cycles == 0) return;
    const auto why = static_cast<unsigned>(reason_[scheduler]);
    schedulers_total_.stall[why] += cycles;
    if (reason_[scheduler] != stats::Stall::Idle)
      counters[charged_[scheduler]].stall[why] += cycles;
  }
  void add_warps(Cycle at, WarpMask running, WarpMask throttled,
                 stats::SchedulerCounters& out) const {
    const Cycle cycles = at - warps_since_;
    out.warp_cycles += cycles * static_cast<unsigned>(std::popcount(running));
    out.throttled_warp_cycles += cycles * static_cast<unsigned>(std::popcount(throttled));
  }

  unsigned schedulers_;
  std::array<stats::Stall, SmSpec::kMaxSchedulers> reason_{};   // why each has not issued ...
  std::array<std::uint8_t, SmSpec::kMaxSchedulers> charged_{};  // ... whose that is, unless idle
  std::array<Cycle, SmSpec::kMaxSchedulers> since_{};  // ... since when; before is in the counters
  Cycle warps_since_ = 0;                              // warps are counted until this cycle
  stats::SchedulerCounters schedulers_total_;
};

}  // namespace raddle::timing

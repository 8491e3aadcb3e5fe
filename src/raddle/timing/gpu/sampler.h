// Activity over time: one sample per interval, as differences of counters. Samples are taken
// between windows, when all components stand at the same cycle, so the interval is rounded up to
// whole windows and sampling changes nothing.
#pragma once
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::timing {

class Sampler {
 public:
  /// interval 0: never.
  Sampler(Cycle interval, Cycle window)
      : interval_((interval + window - 1) / window * window),
        next_(interval == 0 ? kNever : interval_) {}
  bool due(Cycle now) const { return now >= next_; }
  /// Closes the intervals that end at or before `now`; nothing has happened since the first of
  /// those ends, but time has gone by. counters(cycle): what was counted up to there.
  template <class At>
  void advance(Cycle now, At counters) {
    for (; next_ <= now; next_ += interval_) {
      const stats::GpuCounters all = counters(next_);
      update(all);
      last_ = all;
      open_ = false;
    }
  }
  /// Brings the sample of the interval under way up to date.
  void update(const stats::GpuCounters& all) {
    if (next_ == kNever) return;
    if (!open_) samples_.emplace_back();
    open_ = true;
    stats::GpuCounters c = all;
    stats::accumulate(c, last_, -1);
    samples_.back() = {.start = next_ - interval_,
                       .issued = c.sm.issued,
                       .thread_instructions = c.sm.thread_instructions,
                       .l1d_accesses = c.sm.l1d_accesses,
                       .l1d_hits = c.sm.l1d_hits,
                       .dram_bytes = c.dram.bytes,
                       .warp_cycles = c.scheduler.warp_cycles,
                       .throttled_warp_cycles = c.scheduler.throttled_warp_cycles,
                       .stall = c.scheduler.stall};
  }
  /// `launch` among their stalls is 0 and counted as `idle`.
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  Cycle interval_, next_;
  stats::GpuCounters last_;
  bool open_ = false;  // the last sample's interval is not over
  std::vector<Sample> samples_;
};

}  // namespace raddle::timing

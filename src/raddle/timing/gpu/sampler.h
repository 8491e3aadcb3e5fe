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
  /// Closes the intervals that end at or before `now`. Nothing has changed since the first of those
  /// ends.
  void advance(Cycle now, const stats::GpuCounters& counters) {
    for (; next_ <= now; next_ += interval_) {
      update(counters);
      last_ = totals(counters);
      open_ = false;
    }
  }
  /// Brings the sample of the interval under way up to date.
  void update(const stats::GpuCounters& counters) {
    if (next_ == kNever) return;
    if (!open_) samples_.emplace_back();
    open_ = true;
    Sample now = totals(counters);
    samples_.back() = {next_ - interval_,
                       now.issued - last_.issued,
                       now.thread_instructions - last_.thread_instructions,
                       now.l1d_accesses - last_.l1d_accesses,
                       now.l1d_hits - last_.l1d_hits,
                       now.dram_bytes - last_.dram_bytes};
  }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  static Sample totals(const stats::GpuCounters& c) {
    return {0,           c.sm.issued, c.sm.thread_instructions, c.sm.l1d_accesses, c.sm.l1d_hits,
            c.dram.bytes};
  }
  Cycle interval_, next_;
  Sample last_{};
  bool open_ = false;  // the last sample's interval is not over
  std::vector<Sample> samples_;
};

}  // namespace raddle::timing

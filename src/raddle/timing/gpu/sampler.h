// Activity over time: one sample per interval, as differences of counters. Samples are taken
// between windows, when all components stand at the same cycle, so the interval is rounded up to
// whole windows and sampling changes nothing.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::timing {

class Sampler {
 public:
  /// What has been counted up to a cycle.
  struct Activity {
    stats::GpuCounters counters;
    std::vector<std::uint64_t> allowed_by_sm;  ///< empty: no throttle
  };

  /// interval 0: never.
  Sampler(Cycle interval, Cycle window)
      : interval_((interval + window - 1) / window * window),
        next_(interval == 0 ? kNever : interval_) {}
  bool due(Cycle now) const { return now >= next_; }
  /// Closes the intervals that end at or before `now`; nothing has happened since the first of
  /// those ends, but time has gone by. activity(cycle): what was counted up to there.
  template <class At>
  void advance(Cycle now, At activity) {
    for (; next_ <= now; next_ += interval_) {
      Activity all = activity(next_);
      update(all);
      last_ = std::move(all);
      open_ = false;
    }
  }
  /// Brings the sample of the interval under way up to date.
  void update(const Activity& all) {
    if (next_ == kNever) return;
    if (!open_) samples_.emplace_back();
    open_ = true;
    stats::GpuCounters c = all.counters;
    stats::accumulate(c, last_.counters, -1);
    samples_.back() = {.start = next_ - interval_,
                       .issued = c.sm.issued,
                       .thread_instructions = c.sm.thread_instructions,
                       .l1d_accesses = c.sm.l1d_accesses,
                       .l1d_hits = c.sm.l1d_hits,
                       .dram_bytes = c.dram.bytes,
                       .warp_cycles = c.scheduler.warp_cycles,
                       .throttled_warp_cycles = c.scheduler.throttled_warp_cycles,
                       .stall = c.scheduler.stall};
    for (std::size_t sm = 0; sm < all.allowed_by_sm.size(); ++sm) {
      const std::uint64_t before = last_.allowed_by_sm.empty() ? 0 : last_.allowed_by_sm[sm];
      samples_.back().allowed_by_sm.push_back(
          static_cast<std::uint32_t>(all.allowed_by_sm[sm] - before));
    }
  }
  /// `launch` among their stalls is 0 and counted as `idle`.
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  Cycle interval_, next_;
  Activity last_;
  bool open_ = false;  // the last sample's interval is not over
  std::vector<Sample> samples_;
};

}  // namespace raddle::timing

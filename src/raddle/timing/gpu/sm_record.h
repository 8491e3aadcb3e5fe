// The SMs over time, one by one, for reports: what each has done up to each of some cycles
// (counts_over_time.h).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::timing {

/// What has happened before cycle `at`.
struct SmCounts {
  struct Sm {
    std::uint64_t thread_instructions = 0, l1d_accesses = 0, l1d_hits = 0;
    std::uint64_t warp_cycles = 0, throttled_warp_cycles = 0;  ///< stats::SchedulerCounters
  };
  Cycle at = 0;
  std::vector<Sm> sms;
};

/// f(before, now): what there was at the ends of stretches of so many counts; the last may have
/// fewer.
template <class F>
void each_stretch(const std::vector<SmCounts>& counts, std::size_t step, F f) {
  if (counts.empty()) return;
  const SmCounts nothing{.sms = std::vector<SmCounts::Sm>(counts.front().sms.size())};
  const SmCounts* before = &nothing;
  for (std::size_t first = 0; first < counts.size(); first += step) {
    const SmCounts& now = counts[std::min(first + step, counts.size()) - 1];
    f(*before, now);
    before = &now;
  }
}

/// Has a throttle held back a warp by then?
inline bool has_throttled(const SmCounts& counts) {
  return std::ranges::any_of(counts.sms,
                             [](const SmCounts::Sm& sm) { return sm.throttled_warp_cycles != 0; });
}

}  // namespace raddle::timing

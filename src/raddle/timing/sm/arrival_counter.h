// When arrivals at the barriers of an SM are counted.
#pragma once
#include <algorithm>
#include <cstdint>

#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

/// Arrivals at barriers are counted one after another, whichever their barrier is. Left out: those
/// of warps that are abroad, and warps whose end opens a barrier, take no turn.
class ArrivalCounter {
 public:
  explicit ArrivalCounter(std::uint32_t interval) : interval_(interval) {}
  /// When one that comes now is counted.
  Cycle counted_at(Cycle now) {
    // Who waits arrives once; for who only arrives there is a place for each warp and no
    // back-pressure.
    const Cycle latest = now + Cycle{interval_} * SmSpec::kMaxWarps;
    const Cycle at = std::min(std::max(now, free_), latest);
    free_ = at + interval_;
    return at;
  }

 private:
  std::uint32_t interval_;
  Cycle free_ = 0;  // when the next can be counted
};

}  // namespace raddle::timing

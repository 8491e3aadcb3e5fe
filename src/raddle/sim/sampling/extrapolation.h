// What a run gives in which some launches were estimated (launch_sampler.h).
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/sim/sampling/launch_sampler.h"
#include "raddle/stats/counters.h"

namespace raddle::sim {

struct Extrapolation {
  std::vector<LaunchClass> classes;           ///< in order of first launch
  std::uint64_t timed = 0, estimated = 0;     ///< launches of the host
  std::uint64_t all_timed_from = kNoOverlap;  ///< streams may have overlapped from this launch on
  static constexpr std::uint64_t kNoOverlap = ~std::uint64_t{0};
  /// Of all launches, timed or not.
  Cycle cycles = 0;
  double half_width = 0;  ///< of the 95 % interval of `cycles`
  /// Of all launches; those of the schedulers, which belong to no launch, go by `cycles`.
  stats::GpuCounters totals;
};

}  // namespace raddle::sim

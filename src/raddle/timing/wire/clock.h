// A clock beside the core's, in an exact whole-number ratio to it: no drift, no rounding that
// depends on how time is walked through. The networks and the memory have one each.
#pragma once
#include <cstdint>
#include <numeric>

#include "raddle/base/divisor.h"
#include "raddle/base/error.h"
#include "raddle/base/types.h"

namespace raddle::timing {

/// Cycle k of the other clock happens in the first core cycle c with c * other >= k * core.
class ClockRatio {
 public:
  ClockRatio(std::uint32_t other_mhz, std::uint32_t core_mhz)
      : other_(other_mhz / std::gcd(other_mhz, core_mhz)),
        core_(core_mhz / std::gcd(other_mhz, core_mhz)),
        by_other_(static_cast<std::uint32_t>(other_)),
        by_core_(static_cast<std::uint32_t>(core_)) {
    RADDLE_ASSERT(other_mhz != 0 && core_mhz != 0);
  }
  /// The last cycle of the other clock that has happened when core cycle `now` is over.
  std::uint64_t other_at(Cycle now) const {
    return other_ == core_ ? now : by_core_.quotient(now * other_);
  }
  /// The core cycle in which cycle k of the other clock happens.
  Cycle core_at(std::uint64_t k) const {
    return other_ == core_ ? k : by_other_.quotient(k * core_ + other_ - 1);
  }
  /// The first cycle of the other clock that happens in core cycle `now` or later.
  std::uint64_t first_from(Cycle now) const { return now == 0 ? 0 : other_at(now - 1) + 1; }

 private:
  std::uint64_t other_, core_;
  LongDivisor by_other_, by_core_;
};

}  // namespace raddle::timing

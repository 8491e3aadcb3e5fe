// Two clocks in an exact whole-number ratio: no drift, no rounding that depends on how time is
// walked through.
#pragma once
#include <cstdint>
#include <numeric>

#include "raddle/base/divisor.h"
#include "raddle/base/types.h"

namespace raddle::timing {

/// Memory cycle k happens in the first core cycle c with c * memory_mhz >= k * core_mhz.
class ClockRatio {
 public:
  ClockRatio(std::uint32_t memory_mhz, std::uint32_t core_mhz)
      : memory_(memory_mhz / std::gcd(memory_mhz, core_mhz)),
        core_(core_mhz / std::gcd(memory_mhz, core_mhz)),
        by_memory_(static_cast<std::uint32_t>(memory_)),
        by_core_(static_cast<std::uint32_t>(core_)) {}
  /// The last memory cycle that has happened when core cycle `now` is over.
  std::uint64_t memory_at(Cycle now) const {
    return memory_ == core_ ? now : by_core_.quotient(now * memory_);
  }
  /// The core cycle in which memory cycle k happens.
  Cycle core_at(std::uint64_t k) const {
    return memory_ == core_ ? k : by_memory_.quotient(k * core_ + memory_ - 1);
  }
  /// The first memory cycle that happens in core cycle `now` or later.
  std::uint64_t first_from(Cycle now) const { return now == 0 ? 0 : memory_at(now - 1) + 1; }

 private:
  std::uint64_t memory_, core_;
  LongDivisor by_memory_, by_core_;
};

}  // namespace raddle::timing

// The most MSHRs of one L1D that were taken at a time, by the launch slot whose miss took the last
// of them. Highest marks cannot be told as differences of counters, so they are no counter.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "raddle/base/limits.h"

namespace raddle::timing {

class MaxTaken {
 public:
  void add(unsigned kernel, unsigned taken) {
    maximum_[kernel] = std::max(maximum_[kernel], static_cast<std::uint16_t>(taken));
  }
  /// Since the last call for that slot; 0: it has missed nothing.
  unsigned take(unsigned kernel) { return std::exchange(maximum_[kernel], std::uint16_t{0}); }

 private:
  std::array<std::uint16_t, kKernelSlots> maximum_{};
};

}  // namespace raddle::timing

// From where to where each virtual register must keep its value.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// Instruction i reads at 2i and writes at 2i+1. The hull of all positions where the register is
/// live; begin > end when it is never used.
struct LiveInterval {
  std::uint32_t begin = kNoIndex, end = 0;
  bool is_used() const { return begin <= end; }
};

/// One per register of the function. Live = may be read later and may have been written before, so
/// that a read of a never written register does not stretch back to the entry. Bitsets take about
/// `group_bytes` at a time, at least one word per block and set.
std::vector<LiveInterval> live_intervals(const Function& function,
                                         std::size_t group_bytes = std::size_t{64} << 20);

}  // namespace raddle::ptx

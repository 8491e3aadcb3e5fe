// What one instruction of a kernel has done, and what warps that stood at it waited for.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/stats/counters.h"

namespace raddle::stats {

/// Where a warp that is looked at may stand, beside the stalls of schedulers that a warp can have:
/// nothing keeps it from issuing but that its scheduler picks another, or it issues in the next
/// cycle.
inline constexpr unsigned kReady = kStalls, kWarpStates = kStalls + 1;
constexpr std::string_view warp_state_name(unsigned state) {
  return state == kReady ? "ready" : kStallNames[state];
}

/// Sums of what is also in SmCounters are what the whole run has there.
struct InstructionCounters {
  std::uint64_t issued = 0, lanes = 0;  ///< warp instructions, and the lanes that took part
  std::uint64_t lines = 0;              ///< of global and local memory that it touched, one by one
  std::uint64_t l1d_hits = 0, l1d_pending_hits = 0,
                l1d_misses = 0;  ///< loads of lines, as in SmCounters
  /// Warps seen elsewhere, in state Memory, that needed what it loads.
  std::uint64_t awaited = 0;
  /// Warps seen at it, by state: Stall or kReady.
  std::array<std::uint64_t, kWarpStates> seen{};

  std::uint64_t seen_in_all() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : seen) sum += n;
    return sum;
  }
};

}  // namespace raddle::stats

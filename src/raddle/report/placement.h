// Which SM ran which block, launch by launch: what block schedulers differ in. Reset shows as bands
// of blocks that stay on their SM, Flip as bands whose order turns, Steal as bands that give blocks
// away at their ends.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/timing/gpu/gpu.h"

namespace raddle::report {

struct LaunchPlacement {
  std::uint32_t launch = 0;
  std::vector<std::uint32_t> sm;      ///< by block; kNoSm: it was not seen to run
  std::vector<std::uint32_t> order;   ///< by block: how many of its SM's blocks started before it
  std::vector<std::uint32_t> stolen;  ///< blocks, ascending
  std::vector<Cycle> finish;          ///< by SM: end of its last block, kNever where it had none
};
inline constexpr std::uint32_t kNoSm = ~0u;

/// Of the first launches that have at most `limit` blocks (and SMs) together, in order.
std::vector<LaunchPlacement> placement(std::span<const timing::BlockSpan> blocks,
                                       std::size_t limit);

}  // namespace raddle::report

// Thread blocks as bars of a timeline. Blocks that share an SM get lanes, so that no two bars
// overlap; and when there are more blocks than a page can hold, neighbours in a lane become one bar
// that says how many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/timing/gpu/gpu.h"

namespace raddle::report {

/// One block, or `count` consecutive blocks of one launch in one lane. Cycles are core cycles.
struct Bar {
  std::uint32_t launch, sm, lane;
  std::uint32_t first_block, last_block;  ///< in order of start
  std::uint32_t count;
  Cycle start, end;
  std::uint32_t stolen = 0;  ///< so many of them (timing::BlockSpan)
};

/// One bar per block, ordered by SM, lane and start. A lane never holds two blocks at once and each
/// SM uses as few lanes as it ever held blocks at one time.
std::vector<Bar> bars_in_lanes(std::span<const timing::BlockSpan> blocks);

struct BarChart {
  std::vector<Bar> bars;
  std::size_t blocks = 0;    ///< how many there were
  std::uint32_t merged = 1;  ///< up to so many blocks are in one bar
  Cycle until = kNever;      ///< bars starting later were left out
};

/// At most `limit` bars: neighbours of one launch are merged; where that does not help (very many
/// launches) only the beginning of the run is kept. Precondition: limit > 0.
BarChart bar_chart(std::span<const timing::BlockSpan> blocks, std::size_t limit);

}  // namespace raddle::report

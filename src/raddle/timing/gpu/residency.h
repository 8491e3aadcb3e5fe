// What a block takes of an SM, and how many fit.
#pragma once
#include "raddle/timing/code/occupancy.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// What an SM charges a block, so that as many fit as its partitions have room for.
BlockNeeds block_needs(const SmSpec& sm, const trace::KernelCode& code,
                       const trace::LaunchShape& shape);
/// What the block has of it: of registers in partitions less than it is charged, where some are
/// left that are too few for a warp.
BlockNeeds taken_by_block(const SmSpec& sm, const trace::KernelCode& code,
                          const trace::LaunchShape& shape);

}  // namespace raddle::timing

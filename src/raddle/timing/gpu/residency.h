// What a block takes of an SM, and how many fit.
#pragma once
#include "raddle/timing/code/occupancy.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

BlockNeeds block_needs(const SmSpec& sm, const trace::KernelCode& code,
                       const trace::LaunchShape& shape);

}  // namespace raddle::timing

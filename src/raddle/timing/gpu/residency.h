// What a block takes of an SM, and how many fit.
#pragma once
#include <cstdint>

#include "raddle/timing/spec/machine.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// Resources of one block, rounded up to what the machine hands out.
struct BlockNeeds {
  std::uint32_t threads = 0, warps = 0, registers = 0, shared_bytes = 0;
};
BlockNeeds block_needs(const SmSpec& sm, const trace::KernelCode& code,
                       const trace::LaunchShape& shape);

}  // namespace raddle::timing

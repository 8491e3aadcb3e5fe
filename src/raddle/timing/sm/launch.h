// A launch as the SMs know it, and what dispatcher and SM tell each other about blocks.
#pragma once
#include <cstdint>

#include "raddle/timing/link.h"
#include "raddle/timing/sm/decoded_kernel.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// Lives from the launch until its last block has ended.
struct Launch {
  trace::KernelStream* stream = nullptr;
  const DecodedKernel* code = nullptr;
  std::uint64_t sequence = 0;
  std::uint8_t slot = 0;  ///< below stats::kKernelSlots; travels in messages
};

struct BlockStart {
  const Launch* launch = nullptr;
  std::uint32_t block = 0;
  std::uint8_t slot = 0;  ///< block slot of the SM
  bool flush = false;     ///< the L1D first
};
struct BlockEnd {
  std::uint8_t slot = 0;
};
using BlockStartLink = Link<BlockStart>;
using BlockEndLink = Link<BlockEnd>;

}  // namespace raddle::timing

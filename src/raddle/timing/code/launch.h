// A launch as the SMs know it, and what dispatcher and SM tell each other about blocks.
#pragma once
#include <cstdint>

#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/timing/wire/link.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// First byte of warps' local memory, one window per warp slot of the machine; every global access
/// lies below. Line numbers wrap at 32 bits into the unused space below the global range when
/// windows are huge.
inline constexpr Address kLocalBase = 0x38'0000'0000ull;

/// Lives from the launch until its last block has ended.
struct Launch {
  trace::KernelStream* stream = nullptr;
  const DecodedKernel* code = nullptr;
  std::uint64_t sequence = 0;
  std::uint8_t slot = 0;  ///< below stats::kKernelSlots; travels in messages
  TenantId tenant{};
  std::uint32_t first_line = 0;  ///< added to every line of global memory
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

/// A warp has launched kernels; told between windows, for it takes no part in the machine's wires:
/// the time at which they are with the kernel management unit is in it.
struct DeviceLaunches {
  std::uint32_t job = 0;  ///< of the launch whose warp that is
  std::uint32_t block = 0, warp = 0, count = 0;
  std::uint32_t sm = 0;
  Cycle at = 0;
};

using BlockStartLink = Link<BlockStart>;
using BlockEndLink = Link<BlockEnd>;

}  // namespace raddle::timing

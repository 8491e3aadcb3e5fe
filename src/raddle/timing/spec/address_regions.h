// Where what is no global memory lies among the addresses that the caches and DRAM know. Every
// global access is below all of it.
#pragma once
#include "raddle/base/types.h"

namespace raddle::timing {

/// First byte of warps' local memory, one window per warp slot of the machine. Line numbers wrap at
/// 32 bits into the unused space below the global range when windows are huge.
inline constexpr Address kLocalBase = 0x38'0000'0000ull;
/// First byte of the dispatcher's queues in memory.
inline constexpr Address kQueueBase = 0x3f'f000'0000ull;
/// First byte of the constants, a bank for each launch slot.
inline constexpr Address kConstBase = 0x3f'fe00'0000ull;

}  // namespace raddle::timing

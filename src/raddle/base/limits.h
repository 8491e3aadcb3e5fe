// Widths that several rooms must agree on.
#pragma once
#include <algorithm>
#include <bit>

namespace raddle {

/// Launches whose blocks may be on a machine at once, at most: entries of the kernel distributor. A
/// launch's slot is below; it travels with its warps and messages, as a byte.
inline constexpr unsigned kKernelSlots = 256;

/// Slots that a machine with so many entries gives to its launches, in turn. Where entries are few
/// there are more slots than entries, so that a slot rests before the next launch has it.
constexpr unsigned kernel_slots(unsigned entries) { return std::bit_ceil(std::max(entries, 32u)); }

/// SMs of a machine: more than two of the largest GPUs that were built have together.
inline constexpr unsigned kMaxSms = 512;

}  // namespace raddle

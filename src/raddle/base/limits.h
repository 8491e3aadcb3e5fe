// Widths that several rooms must agree on.
#pragma once

namespace raddle {

/// Launches whose blocks may be on the machine at once: entries of the kernel distributor. A
/// launch's slot travels with its warps and messages.
inline constexpr unsigned kKernelSlots = 32;

/// SMs of a machine: more than two of the largest GPUs that were built have together.
inline constexpr unsigned kMostSms = 512;

}  // namespace raddle

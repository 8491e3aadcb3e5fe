// How long SMs have nothing left while others still work on the same launch of the host.
#pragma once
#include <span>

#include "raddle/sim/result/result.h"

namespace raddle::sim {

/// Over launches of the host with all their descendants: from the end of an SM's last block (or the
/// launch's begin, if it had none) to the end of the last block of all, summed over the SMs.
std::uint64_t tail_cycles(std::span<const KernelResult> kernels,
                          std::span<const timing::BlockSpan> blocks, unsigned sms);

}  // namespace raddle::sim

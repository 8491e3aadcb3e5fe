// What is known of a kernel before it is launched.
#pragma once
#include "raddle/cudart/context.h"
#include "raddle/cudart/properties.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/trace/code.h"

namespace raddle::cudart {

/// Of cudart 12 and 13: bytes of cudaFuncAttributes behind those of cudart 11 (clusters, reserve).
inline constexpr std::size_t kFunctionAttributesTail = (6 + 16) * sizeof(int);

inline constexpr unsigned kLastOccupancyFlag = 1;  ///< cudaOccupancyDisableCachingOverride

/// All of these load the kernel and throw Failure.
/// The kernel as the machine holds it (registers, memory), without its instructions.
const trace::KernelCode& needs_of(Context& c, Kernel& kernel);
/// Bytes of dynamic shared memory a launch may ask for.
int max_dynamic_shared(Context& c, Kernel& kernel);
/// How many blocks of that shape fit on one SM, and what limits them.
timing::Residency residency_of(Context& c, Kernel& kernel, Dim3 block, std::size_t dynamic_shared);
/// Blocks of a cluster that the kernel was compiled for; 0: any.
std::uint64_t required_cluster(Context& c, Kernel& kernel);
/// Throws Failure with this code where the machine forms no clusters.
void check_clusters(Context& c, Error code);
/// Most blocks of a cluster that a launch of the kernel may ask for.
std::uint64_t allowed_cluster(const Kernel& kernel);

/// cudaFuncCache and cudaSharedMemConfig, hints that change nothing here. Throws Failure where the
/// number is none of them.
void check_cache_config(int config);
void check_bank_config(int config);

}  // namespace raddle::cudart

// A launch with its arguments, ready to be made now or as a node of a graph.
#pragma once
#include <cstddef>
#include <vector>

#include "raddle/cudart/context.h"

namespace raddle::cudart {

struct KernelLaunch {
  Kernel* kernel = nullptr;
  const void* function = nullptr;  ///< by what the program names the kernel
  Dim3 grid, block;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  Dim3 cluster{0, 0, 0};                   ///< {0, 0, 0}: as the kernel was compiled
  std::vector<std::byte> parameters = {};  ///< laid out as exec::parameters_of() says
};

/// Looks at everything that CUDA looks at before a launch. Throws Failure.
KernelLaunch prepared(Context& c, const void* function, Dim3 grid, Dim3 block,
                      std::size_t shared_bytes, void** arguments);
void launch_now(Context& c, StreamId stream, const KernelLaunch& launch);
/// In the stream, or noted down when that captures. Throws Failure.
void launch_packed(Context& c, Stream& stream, const KernelLaunch& launch);

}  // namespace raddle::cudart

// Launches of the driver interface, and how many blocks fit.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"
#include "raddle/cudart/functions.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

/// CUlaunchConfig. Attributes are the runtime's.
struct DriverLaunch {
  Dim3 grid, block;
  unsigned shared_bytes;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// Where the arguments lie in the buffer that `extra` describes: pairs of a number and a value, as
/// CU_LAUNCH_PARAM_BUFFER_POINTER has it.
std::vector<void*> arguments_in_buffer(Context& c, const Kernel* function, void** extra) {
  constexpr std::uintptr_t kEnd = 0, kPointer = 1, kBytes = 2;
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kEnd; extra += 2) {
    const auto number = reinterpret_cast<std::uintptr_t>(*extra);
    if (number == kPointer) buffer = static_cast<char*>(extra[1]);
    else if (number == kBytes) bytes = required(static_cast<std::size_t*>(extra[1]));
    else throw Failure{kInvalidValue};
  }
  const exec::ParameterLayout& layout =
      exec::parameters_of(c.device().code(c.loaded(c.kernel(function))));
  if (bytes < layout.bytes || (buffer == nullptr && layout.bytes != 0))
    throw Failure{kInvalidValue, "the buffer of arguments has " + std::to_string(bytes) +
                                     " bytes, the kernel's parameters " +
                                     std::to_string(layout.bytes)};
  std::vector<void*> out;
  for (const auto& item : layout.items) out.push_back(buffer + item.offset);
  return out;
}

HostLaunchConfiguration configuration_of(const DriverLaunch& launch) {
  return {.grid = launch.grid,
          .block = launch.block,
          .dynamic_shared_bytes = launch.shared_bytes,
          .stream = launch.stream,
          .attributes = launch.attributes,
          .attribute_count = launch.attribute_count};
}

Error launch_by_driver(Context& c, const Kernel* function, const DriverLaunch& launch,
                       void** arguments, void** extra) {
  if (arguments != nullptr && extra != nullptr) throw Failure{kInvalidValue};
  std::vector<void*> from_buffer;
  if (extra != nullptr) {
    from_buffer = arguments_in_buffer(c, function, extra);
    arguments = from_buffer.data();
  }
  const HostLaunchConfiguration configuration = configuration_of(launch);
  return static_cast<Error>(raddle_cudaLaunchKernelExC(&configuration, function, arguments));
}

/// The block size with which most threads of the kernel fit on the machine.
struct BestBlock {
  int size = 0, blocks = 0;
};
BestBlock best_block(Context& c, const Kernel* function, std::size_t (*shared)(int),
                     std::size_t bytes, int limit) {
  FunctionAttributes all{};
  if (const int code = raddle_cudaFuncGetAttributes_11(&all, function); code != kSuccess)
    throw Failure{static_cast<Error>(code)};
  constexpr int kWarp = 32;
  int largest = all.max_threads_per_block;
  if (limit > 0) largest = std::min(largest, limit);
  BestBlock best;
  int max_threads = 0;
  for (int size = largest; size > 0; size = (size - 1) / kWarp * kWarp) {
    int blocks = 0;
    raddle_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                         shared != nullptr ? shared(size) : bytes);
    if (blocks * size > max_threads) {
      max_threads = blocks * size;
      best = {size, blocks};
    }
  }
  best.blocks *= static_cast<int>(c.seen().machine.sm.count);
  return best;
}

}  // namespace

extern "C" {

int raddle_cuLaunchKernel(const Kernel* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, Stream* stream, void** arguments, void** extra) {
  return driver("cuLaunchKernel", kCurrentContext, [&](Context& c) {
    return launch_by_driver(c, function,
                            {.grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes,
                             .stream = stream,
                             .attributes = nullptr,
                             .attribute_count = 0},
                            arguments, extra);
  });
}

int raddle_cuLaunchCooperativeKernel(const Kernel* function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, Stream* stream,
                                     void** arguments) {
  return driver("cuLaunchCooperativeKernel", kCurrentContext, [&](Context& c) {
    LaunchAttribute cooperative{};
    cooperative.id = kAttributeCooperative;
    cooperative.value.cooperative = 1;
    return launch_by_driver(c, function,
                            {.grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .shared_bytes = shared_bytes,
                             .stream = stream,
                             .attributes = &cooperative,
                             .attribute_count = 1},
                            arguments, nullptr);
  });
}

int raddle_cuLaunchKernelEx(const DriverLaunch* launch, const Kernel* function, void** arguments,
                            void** extra) {
  return driver("cuLaunchKernelEx", kCurrentContext, [&](Context& c) {
    return launch_by_driver(c, function, required(launch), arguments, extra);
  });
}

int raddle_cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, const Kernel* function,
                                                     std::size_t (*shared)(int), std::size_t bytes,
                                                     int limit, unsigned flags) {
  return driver("cuOccupancyMaxPotentialBlockSize", kCurrentContext, [&](Context& c) {
    if (flags > kLastOccupancyFlag) throw Failure{kInvalidValue};
    const BestBlock best = best_block(c, function, shared, bytes, limit);
    required(grid) = best.blocks;
    required(block) = best.size;
    return kSuccess;
  });
}
int raddle_cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const Kernel* function,
                                            std::size_t (*shared)(int), std::size_t bytes,
                                            int limit) {
  return raddle_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared, bytes,
                                                          limit, 0);
}

int raddle_cuOccupancyMaxActiveClusters(int* clusters, const Kernel* function,
                                        const DriverLaunch* launch) {
  return driver("cuOccupancyMaxActiveClusters", kCurrentContext, [&](Context&) {
    const HostLaunchConfiguration k = configuration_of(required(launch));
    return static_cast<Error>(raddle_cudaOccupancyMaxActiveClusters(clusters, function, &k));
  });
}
int raddle_cuOccupancyMaxPotentialClusterSize(int* blocks, const Kernel* function,
                                              const DriverLaunch* launch) {
  return driver("cuOccupancyMaxPotentialClusterSize", kCurrentContext, [&](Context&) {
    const HostLaunchConfiguration k = configuration_of(required(launch));
    return static_cast<Error>(raddle_cudaOccupancyMaxPotentialClusterSize(blocks, function, &k));
  });
}

}  // extern "C"

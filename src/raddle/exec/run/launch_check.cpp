#include "raddle/exec/run/launch_check.h"

#include <fmt/format.h>

#include "raddle/base/error.h"
#include "raddle/exec/isa/kernel.h"
#include "raddle/exec/isa/record.h"

namespace raddle::exec {

using u64 = std::uint64_t;

namespace {

[[noreturn]] void refuse(const Launch& launch, const std::string& why) {
  throw InputError("kernel " + launch.kernel->title + " cannot be launched: " + why);
}

}  // namespace

Dim3 cluster_of(const Launch& launch) {
  if (launch.cluster.count() != 0) return launch.cluster;
  return launch.kernel->functions[0].source->required_cluster.value_or(Dim3{});
}

bool asks_for_clusters(const Launch& launch) {
  return launch.cluster.count() != 0 ||
         launch.kernel->functions[0].source->required_cluster.has_value();
}

std::string cluster_error(const Launch& launch) {
  const Dim3 shape = cluster_of(launch);
  const Dim3& grid = launch.shape.grid;
  const auto error = [&](const std::string& why) {
    return fmt::format("clusters of ({}, {}, {}) blocks {}", shape.x, shape.y, shape.z, why);
  };
  const auto& required = launch.kernel->functions[0].source->required_cluster;
  if (required && *required != shape) return error("where its .reqnctapercluster asks for others");
  if (shape.count() == 0 || shape.count() > kMaxRanks)
    return error(fmt::format("; the limit is {}", kMaxRanks));
  if (grid.x % shape.x != 0 || grid.y % shape.y != 0 || grid.z % shape.z != 0)
    return error(fmt::format("do not divide a grid of ({}, {}, {})", grid.x, grid.y, grid.z));
  return "";
}

void check_launch(const Launch& launch, const MachineOptions& options) {
  RADDLE_ASSERT(launch.kernel != nullptr && !launch.kernel->functions.empty());
  const Kernel& kernel = *launch.kernel;
  if (launch.parameters.size() != kernel.parameters.bytes)
    refuse(launch, fmt::format("it takes {} bytes of parameters, {} were given",
                               kernel.parameters.bytes, launch.parameters.size()));
  const u64 blocks = launch.shape.grid.count(), threads = launch.shape.block.count();
  if (blocks == 0 || blocks > 0xffffffffull)
    refuse(launch, fmt::format("a grid of {} blocks", blocks));
  if (threads == 0 || threads > 1024)
    refuse(launch, fmt::format("a block of {} threads; the limit is 1024", threads));
  const u64 shared = u64{kernel.static_shared_bytes} + launch.shape.dynamic_shared_bytes;
  if (shared > options.max_shared_bytes)
    refuse(launch, fmt::format("{} bytes of shared memory per block; the limit is {}", shared,
                               options.max_shared_bytes));
  if (const std::string error = cluster_error(launch); !error.empty()) refuse(launch, error);
}

}  // namespace raddle::exec

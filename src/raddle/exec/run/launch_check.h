// What a launch must be before anything of it is executed, or written to a recording.
#pragma once
#include "raddle/base/error.h"
#include "raddle/exec/run/machine.h"

namespace raddle::exec {

/// The launch is sound, and cannot be executed while it is timed.
class CannotRunLive : public InputError {
 public:
  using InputError::InputError;
};

/// Blocks of a cluster: what the launch asks for, else its kernel's .reqnctapercluster, else
/// {1, 1, 1}.
Dim3 cluster_of(const Launch& launch);

/// Whether the launch or its kernel asks for clusters, of one block as well.
bool asks_for_clusters(const Launch& launch);

/// What is wrong with its clusters; empty: nothing.
std::string cluster_error(const Launch& launch);

/// InputError that names the kernel and says why it cannot be launched: bytes of parameters,
/// blocks, threads, shared memory, clusters.
void check_launch(const Launch& launch, const MachineOptions& options);

}  // namespace raddle::exec

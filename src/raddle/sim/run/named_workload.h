// A workload by name with its parameters read and checked.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "raddle/runtime/workload.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::sim {

struct NamedWorkload {
  std::unique_ptr<runtime::Workload> workload;
  WorkloadInfo info;
};

/// A name of `workloads`, or a PTX file; `parameters` are a document of key = value, "size" among
/// them. Throws InputError with everything that is wrong with them.
NamedWorkload make_workload(const runtime::Workloads& workloads, const std::string& name,
                            const config::Tree& parameters);

/// Throws InputError when a machine of compute capability `found` (80 is 8.0) is older than the
/// workload's instructions.
void check_capability(const runtime::Workload& workload, const std::string& name,
                      const std::string& machine, std::uint32_t found);
inline void check_capability(const runtime::Workload& workload, const std::string& name,
                             const Setup& setup) {
  check_capability(workload, name, setup.machine.name, setup.device.compute_capability);
}

}  // namespace raddle::sim

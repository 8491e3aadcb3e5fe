// What a program can see of the set-up that it runs on: all of a set-up that can change what is
// executed. Runs that agree on it may share one execution; those that do not, may not. Whatever
// executes is given this and no set-up, so nothing else can be seen (parts.h, session.h).
#pragma once
#include <nlohmann/json.hpp>

#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

/// By a workload's host code (runtime/device.h) and by kernels, in special registers and in what
/// they are refused.
struct SeenByWorkload {
  std::uint64_t seed = 1;  ///< of its inputs
  bool live = false;       ///< then it sees how long everything takes as well
  std::uint32_t sms = 0, schedulers = 0, warps_per_sm = 0, max_threads_per_block = 0;
  std::uint32_t shared_unit_bytes = 0;
  std::uint32_t memory_gib = 0, core_clock_mhz = 0;
  bool independent_lanes = true;  ///< do lanes of a warp get on that wait for one another?
  bool operator==(const SeenByWorkload&) const = default;
  /// Runs that give the same may share one execution, unless they are live.
  nlohmann::ordered_json json() const;
};
SeenByWorkload seen_by_workload(const Setup& setup);

/// By a CUDA program besides, through the runtime library: properties and attributes of the device,
/// occupancy, which of its machine codes is taken. It makes its own inputs, whatever the seed.
struct SeenByProgram {
  /// Of the machine only what is seen; the rest is as in a machine that nobody has described.
  timing::MachineSpec machine;
  lowering::LoweringSpec isa;
  DeviceSpec device;
  bool live = false;
  nlohmann::ordered_json json() const;
};
SeenByProgram seen_by_program(const Setup& setup);

}  // namespace raddle::sim

// The machine as numbers: what a gpus/*.toml file says. Cycles are core-clock cycles unless a field
// says otherwise.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/migrate/policy.h"
#include "raddle/timing/spec/device_launch_spec.h"
#include "raddle/timing/spec/dram_spec.h"
#include "raddle/timing/spec/endpoints.h"
#include "raddle/timing/spec/ideal_spec.h"
#include "raddle/timing/spec/kernel_spec.h"
#include "raddle/timing/spec/l2_spec.h"
#include "raddle/timing/spec/noc_spec.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

struct MachineSpec {
  std::string name, source;
  std::uint32_t core_clock_mhz = 1000;
  std::uint32_t launch_latency_cycles = 0;     ///< host launch to the kernel management unit
  std::uint32_t dispatch_latency_cycles = 20;  ///< dispatcher to SM and back; at least the window
  KernelSpec kernels;
  DeviceLaunchSpec device_launch;
  SmSpec sm;
  NocSpec noc;
  L2Spec l2;
  DramSpec dram;
  IdealSpec ideal;
  // Of the policies in force, not of a machine file.
  policy::CoherenceRules coherence;
  std::optional<policy::Passage> migration;  ///< none: warps stay
  std::uint32_t core_rank_bytes = 0;         ///< 0: requests carry no rank of their core
  /// L1Ds have what a kernel's shared memory leaves. One that owns lines keeps them from kernel to
  /// kernel, and its size.
  bool resizes_l1d() const { return sm.l1d.unified_kib != 0 && !coherence.ownership; }
  /// Of the networks.
  Endpoints endpoints() const { return {sm.count, l2.slices, dram.channels}; }
  void visit(FieldVisitor& v);
  /// Cross-field rules; returns one sentence per violation, each naming its keys. Empty = sound.
  std::vector<std::string> violations() const;
};

}  // namespace raddle::timing

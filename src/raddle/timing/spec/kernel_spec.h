// Machine file, table [kernels]: how launches come from the host to the block dispatcher.
#pragma once
#include <cstdint>

#include "raddle/base/fields.h"
#include "raddle/base/limits.h"

namespace raddle::timing {

struct KernelSpec {
  std::uint32_t queues = 32;  ///< hardware work queues (Hyper-Q); stream s is in queue s mod queues
  std::uint32_t entries = 32;              ///< kernels under way at once (kernel distributor unit)
  std::uint32_t pending = 1024;            ///< launches the host may be ahead by
  std::uint32_t entry_latency_cycles = 0;  ///< kernel management unit to distributor
  std::uint32_t block_interval_millicycles = 1000;  ///< from block to block
  bool flush_only_when_idle = false;                ///< narrows sm.l1d.flush_at_kernel_start
  bool concurrent_on_sm = true;  ///< an SM holds blocks of several kernels at once
  /// From the end of what a launch has waited for to its blocks; 0: as from the host.
  std::uint32_t gap_cycles = 0;
  /// Launch slots, and so the sizes of what components keep by launch.
  unsigned slots() const { return kernel_slots(entries); }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing

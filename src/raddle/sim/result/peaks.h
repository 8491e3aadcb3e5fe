// The peaks of a machine from its settings:
//   issue    a warp instruction for each scheduler
//   L1D      sm.lsu_lines accesses for each SM: lines, or sectors or lines of half a warp, as
//            sm.l1d.coalescing says
//   shared   a cycle of the banks for each SM
//   network  a flit in a cycle of the network for each port that sends, or each that receives,
//            which are fewer; links inside a mesh may carry less
//   L2       a look-up in l2.interval_cycles for each slice
//   DRAM     dram.bus_bytes_per_cycle of each channel, in cycles of its own clock; with
//            dram.model = fixed a line of the L2 in fixed_interval_cycles
// Bounds that hold whatever runs, not what can be reached: conflicts, refresh and turnarounds are
// the run's.
#pragma once
#include "raddle/stats/peaks.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

/// `machine` as policies have it (timing::checked).
stats::Peaks peaks_of(const timing::MachineSpec& machine);

}  // namespace raddle::sim

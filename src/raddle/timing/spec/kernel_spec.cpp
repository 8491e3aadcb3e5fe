#include "raddle/timing/spec/kernel_spec.h"

#include "raddle/stats/counters.h"
#include "raddle/timing/spec/machine.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
}

void KernelSpec::visit(FieldVisitor& v) {
  v.field(
      "queues", queues, R{1, 128}, "",
      "hardware work queues; in one queue nothing overtakes a launch that waits for its stream");
  v.field("entries", entries, R{1, stats::kKernelSlots}, "", "kernels that may run at once");
  v.field("pending", pending, R{1, 65536}, "launches",
          "launches that have not ended; with so many the host waits");
  v.field("entry_latency_cycles", entry_latency_cycles, R{0, 100000}, "cycles",
          "from the pending kernels to an entry; follows launch_latency_cycles");
  v.field("block_interval_millicycles", block_interval_millicycles, R{1000, 1000000},
          "1/1000 cycles", "from one block (one for each SM, if its policy allows) to the next");
  v.field("flush_only_when_idle", flush_only_when_idle,
          "of sm.l1d.flush_at_kernel_start, only for kernels that find no other of their tenant "
          "under way");
  v.field("concurrent_on_sm", concurrent_on_sm,
          "an SM holds blocks of several kernels at once; false = a kernel's blocks wait until it "
          "has none of another");
  v.field("gap_cycles", gap_cycles, R{0, 1000000}, "cycles",
          "from the end of what a launch has waited for to the pending kernels, where "
          "launch_latency_cycles since the host launched it are over; 0 = launch_latency_cycles");
}

void check_kernels(const MachineSpec& m, SpecRules& r) {
  r.require(m.kernels.entries <= m.kernels.pending,
            "kernels.entries must not be above kernels.pending",
            {{"kernels.entries", m.kernels.entries}, {"kernels.pending", m.kernels.pending}});
  r.require(m.kernels.gap_cycles <= m.launch_latency_cycles,
            "kernels.gap_cycles must not be above launch_latency_cycles",
            {{"kernels.gap_cycles", m.kernels.gap_cycles},
             {"launch_latency_cycles", m.launch_latency_cycles}});
}

}  // namespace raddle::timing

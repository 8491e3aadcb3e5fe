// What goes in comes out: requests, loads, bytes and scheduler-cycles of whole runs.
#include <gtest/gtest.h>

#include "analytic/page.h"
#include "analytic/probes.h"

namespace raddle::verification::conservation_test {
namespace {

TEST(Conservation, NothingIsLostOrMadeUp) {
  for (const char* gpu : {"v100", "gtx480"})
    for (const char* workload : {"vecadd", "bfs", "spmv", "histogram", "sgemm"}) {
      const timing::MachineSpec m = spec_of(gpu);
      const sim::Result r = test::run(workload, {gpu, {}, {}, {}});
      const stats::GpuCounters& n = r.totals;
      const std::string what = std::string(workload) + " on " + gpu;
      const std::uint64_t l2 = n.l2.reads + n.l2.writes + n.l2.atomics;
      const std::uint64_t loads = n.sm.l1d_hits + n.sm.l1d_pending_hits + n.sm.l1d_misses;
      std::uint64_t slots = n.sm.issued;
      for (const std::uint64_t stalled : r.totals.scheduler.stall) slots += stalled;
      EXPECT_EQ(n.request.packets, l2) << what;
      EXPECT_EQ(n.reply.packets, n.request.packets) << what;
      EXPECT_EQ(loads, n.sm.l1d_accesses) << what;
      EXPECT_EQ(n.l2.hits + n.l2.pending_hits + n.l2.misses, l2) << what;
      const std::uint64_t accesses = n.dram.reads + n.dram.writes;
      EXPECT_EQ(n.dram.bytes % m.dram.burst_bytes, 0u) << what;
      EXPECT_GE(n.dram.bytes, accesses * m.dram.burst_bytes) << what;
      EXPECT_LE(n.dram.bytes, accesses * m.l2.line_bytes) << what;
      EXPECT_EQ(slots, r.cycles * r.schedulers) << what;
      row("conservation",
          {gpu, workload, std::to_string(n.request.packets), std::to_string(n.reply.packets),
           std::to_string(l2), std::to_string(loads), std::to_string(n.dram.bytes),
           std::to_string(slots)});
    }
}

}  // namespace
}  // namespace raddle::verification::conservation_test

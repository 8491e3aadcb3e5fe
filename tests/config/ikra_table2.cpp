// Table 2 of IKRA: the numbers of its two machines. The latency ranges are measured in
// tests/analytic/chase.cpp.
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::ikra_table2_test {
namespace {

TEST(IkraTable2, Parameters) {
  struct Column {
    const char* gpu;
    unsigned cus, l1_kib, l2_kib;
  };
  for (const auto& [gpu, cus, l1_kib, l2_kib] :
       {Column{"ikra_micro", 3, 32, 256}, {"ikra", 15, 128, 4096}}) {
    SCOPED_TRACE(gpu);
    sim::Setup setup = sim::read_setup(sim::load_gpu(gpu), policy::all_policies());
    const timing::MachineSpec& m = setup.machine;
    EXPECT_EQ(m.core_clock_mhz, 700u);
    EXPECT_EQ(m.sm.count, cus);
    EXPECT_EQ(m.noc.topology, timing::Topology::Mesh);
    EXPECT_EQ(m.noc.mesh.columns * m.noc.mesh.rows, 16u) << "nodes, one of them the CPU's";
    EXPECT_EQ(m.sm.l1d.size_kib, l1_kib);
    EXPECT_EQ(m.sm.l1d.ways, 8u);
    EXPECT_EQ(m.sm.l1d.hit_latency_cycles, 1u);
    EXPECT_EQ(m.l2.slices, 16u) << "banks";
    EXPECT_EQ(m.l2.slices * m.l2.size_kib, l2_kib);
    EXPECT_EQ(m.sm.l1d.mshr_entries, 64u);
    EXPECT_EQ(m.sm.l1d.store_buffer, 64u);
    EXPECT_EQ(m.sm.warps, 48u);
    EXPECT_EQ(m.sm.blocks, 8u);
    EXPECT_EQ(m.kernels.entries, 1u) << "a kernel at a time";
    EXPECT_EQ(setup.config()["policy"]["warp"]["name"], "gto");
  }
}

// Section 4.4: register file, scratchpad, L1 and L2 bank of a CU are 528 KB.
TEST(IkraTable2, MemoriesOfACu) {
  const timing::MachineSpec m =
      sim::read_setup(sim::load_gpu("ikra"), policy::all_policies()).machine;
  EXPECT_EQ(m.sm.registers * 4 / 1024 + m.sm.shared_kib + m.sm.l1d.size_kib + m.l2.size_kib, 528u);
}

}  // namespace
}  // namespace raddle::ikra_table2_test

// Controllers at nodes of their own in a mesh: what the way costs and how it is counted.
#include <gtest/gtest.h>

#include "raddle/timing/dram/controller_hops.h"
#include "support/dram_rig.h"

namespace raddle::test::memory_legs_test {
namespace {

/// 4x4 nodes with a slice each; channel c has the slices of row c.
MachineSpec mesh_machine(std::string memory_nodes) {
  MachineSpec m = small_machine();
  m.noc.topology = Topology::Mesh;
  m.noc.flit_bytes = 16;
  m.noc.header_bytes = 8;
  m.noc.mesh.columns = m.noc.mesh.rows = 4;
  m.noc.mesh.router_cycles = 2;
  m.noc.mesh.channel_cycles = 1;
  m.noc.mesh.slice_nodes = "0-15";
  m.noc.mesh.memory_nodes = std::move(memory_nodes);
  m.l2.slices = 16;
  m.dram.channels = 4;
  m.l2.line_bytes = m.l2.sector_bytes = 64;
  m.dram.model = DramModel::Fixed;
  m.dram.fixed_latency_cycles = 100;
  m.dram.fixed_interval_cycles = 4;
  return m;
}

TEST(MemoryLegs, ManhattanDistanceFromSliceToCorner) {
  const MachineSpec m = mesh_machine("0,12,15,3");
  const std::vector<std::vector<unsigned>> hops = {
      {0, 1, 2, 3}, {2, 3, 4, 5}, {4, 3, 2, 1}, {6, 5, 4, 3}};
  for (unsigned channel = 0; channel < 4; ++channel) {
    const ControllerHops legs(ChannelSpec(m, channel));
    for (unsigned slice = 0; slice < 4; ++slice) {
      EXPECT_EQ(legs.hops(slice), hops[channel][slice]) << channel << " " << slice;
      EXPECT_EQ(legs.round_trip(slice), 6 * hops[channel][slice]) << channel << " " << slice;
    }
  }
}

TEST(MemoryLegs, AreRoundedToCoreCyclesOnce) {
  MachineSpec m = mesh_machine("0,12,15,3");
  m.core_clock_mhz = 700;
  m.noc.clock_mhz = 788;
  for (unsigned hops = 0; hops <= 3; ++hops)
    EXPECT_EQ(ControllerHops({m, 0}).round_trip(hops), (std::vector<Cycle>{0, 5, 11, 16})[hops]);
}

TEST(MemoryLegs, AReadIsLaterByTheWayThereAndBackAndComesAfterNearerOnes) {
  const MachineSpec m = mesh_machine("0,12,15,3");
  const AddressMap map(m);
  DramChannel channel({m, 3}, map, dram_policy());
  const auto read = [](std::uint32_t line, std::uint8_t slice) {
    return DramRequest{line, 0, 0, 1, slice, 0, false};
  };
  channel.push(10, read(1, 0));  // 6 hops
  channel.push(10, read(2, 3));  // 3 hops, served an interval later
  channel.push(10, {3, 0, 0, 1, 1, 0, true});
  std::vector<std::pair<Cycle, std::uint32_t>> replies;
  for (Ring<DramReply>& r = channel.replies(); !r.empty(); r.pop())
    replies.emplace_back(r.front().at, r.front().line);
  EXPECT_EQ(replies, (std::vector<std::pair<Cycle, std::uint32_t>>{{10 + 4 + 100 + 18, 2},
                                                                   {10 + 100 + 36, 1}}));
  // A read: 1 flit there, 5 back (8 B of header and 64 of data); a write: 5 there.
  const stats::NocTraffic t = channel.counters().legs;
  EXPECT_EQ(t.packets, 5u);
  EXPECT_EQ(t.flits, 6u + 6u + 5u);
  EXPECT_EQ(t.flit_hops, 6u * 6 + 6u * 3 + 5u * 5);
  EXPECT_EQ(t.bytes, 3u * 72 + 2u * 8);
}

TEST(MemoryLegs, TimedBanksHaveThemToo) {
  MachineSpec m = mesh_machine("0,12,15,3");
  m.dram.model = DramModel::Banks;
  const AddressMap map(m);
  std::vector<Cycle> done;
  for (std::uint8_t slice = 0; slice < 4; ++slice) {
    DramChannel channel({m, 0}, map, dram_policy());
    channel.push(1, {0, 0, 0, 1, slice, 0, false});
    for (Cycle t = 1; channel.replies().empty(); ++t) channel.tick(t);
    done.push_back(channel.replies().front().at);
  }
  EXPECT_EQ(done, (std::vector<Cycle>{done[0], done[0] + 6, done[0] + 12, done[0] + 18}));
}

TEST(MemoryLegs, WithoutNodesThereAreNone) {
  const MachineSpec m = mesh_machine("");
  const AddressMap map(m);
  DramChannel channel({m, 3}, map, dram_policy());
  channel.push(10, {1, 0, 0, 1, 0, 0, false});
  EXPECT_EQ(channel.replies().front().at, 110u);
  EXPECT_EQ(channel.counters().legs.packets, 0u);
}

}  // namespace
}  // namespace raddle::test::memory_legs_test

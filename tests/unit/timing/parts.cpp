// What components are told of a machine: the numbers of their part, and nothing changed.
#include "raddle/timing/spec/parts.h"

#include <gtest/gtest.h>

#include "raddle/timing/spec/machine.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing::parts_test {
namespace {

MachineSpec machine() {
  MachineSpec m;
  m.core_clock_mhz = 700;
  m.sm.count = 15;
  m.l2.slices = 12;
  m.l2.line_bytes = 128;
  m.l2.sector_bytes = 32;
  m.dram.channels = 3;
  m.noc.flit_bytes = 16;
  m.noc.header_bytes = 8;
  m.noc.queue_flits = 40;
  m.noc.latency_cycles = 6;
  return m;
}

TEST(Parts, APortKnowsPacketsQueuesAndClocks) {
  MachineSpec m = machine();
  PortSpec port(m);
  EXPECT_EQ(port.packet.flits(0), 1u);
  EXPECT_EQ(port.packet.flits(32), 3u);
  EXPECT_EQ(port.largest_packet, 9u) << "8 bytes of header and a line, in flits of 16";
  EXPECT_EQ(port.queue_flits, 40u);
  EXPECT_EQ(port.latency, 6u);
  EXPECT_EQ(port.network_mhz, 700u) << "noc.clock_mhz = 0: the core clock";
  m.noc.clock_mhz = 1400;
  port = PortSpec(m);
  EXPECT_EQ(port.network_mhz, 1400u);
  EXPECT_EQ(port.core_mhz, 700u);
}

TEST(Parts, APortHoldsItsCreditsOrWhatIsOnTwoWires) {
  MachineSpec m = machine();
  EXPECT_EQ(port_capacity(m), 40u);
  m.noc.queue_flits = 9;
  EXPECT_EQ(port_capacity(m), 2u * 6 + 1 + 9);
  m.noc.clock_mhz = 1400;
  EXPECT_EQ(port_capacity(m), 4u * 6 + 1 + 9) << "two packets a core cycle";
}

TEST(Parts, ALoadStoreUnitKnowsItsLinesCachesAndPort) {
  MachineSpec m = machine();
  m.sm.l1d.sector_bytes = 64;
  m.sm.l1d.miss_queue = 7;
  m.sm.const_cache.size_kib = 2;
  m.sm.shared_latency_cycles = 31;
  m.sm.const_latency_cycles = 9;
  m.coherence.answer_cycles = 5;
  const LsuSpec lsu(m, 4);
  EXPECT_EQ(lsu.sm, 4u);
  EXPECT_EQ(lsu.shared_latency, 31u);
  EXPECT_EQ(lsu.const_latency, 9u);
  EXPECT_EQ(lsu.l1d.miss_queue, 7u);
  EXPECT_EQ(lsu.lines.line_bytes, 128u);
  EXPECT_EQ(lsu.lines.sector_bytes, 32u) << "the wires'";
  EXPECT_EQ(lsu.lines.l1_sector_bytes, 64u);
  EXPECT_EQ(lsu.constants.cache.size_kib, 2u);
  EXPECT_EQ(lsu.constants.sector_bytes, 32u) << "it asks the L2";
  EXPECT_EQ(lsu.port.queue_flits, 40u);
  EXPECT_EQ(lsu.coherence.answer_cycles, 5u);
  EXPECT_EQ(lsu.endpoints.sms, 15u);
  EXPECT_EQ(lsu.endpoints.slices, 12u);
  const OneSmSpec sm(m, 4);
  EXPECT_EQ(sm.id, 4u);
  EXPECT_EQ(sm.lsu.sm, 4u);
  EXPECT_EQ(sm.core_mhz, 700u);
}

TEST(Parts, SectorsGoToTheL1OneByOneOnlyWhereALineHasSeveral) {
  MachineSpec m = machine();
  m.sm.l1d.sector_bytes = 32;
  EXPECT_FALSE(LineSpec(m).by_sector) << "sm.l1d.coalescing says lines";
  m.sm.l1d.coalescing = Coalescing::Sector;
  EXPECT_TRUE(LineSpec(m).by_sector);
  m.sm.l1d.sector_bytes = 128;
  EXPECT_FALSE(LineSpec(m).by_sector);
}

TEST(Parts, APartitionNumbersItsSlicesInTheMachine) {
  const MachineSpec m = machine();
  const AddressMap map(m);
  for (unsigned channel = 0; channel < 3; ++channel) {
    const PartitionSpec partition(m, channel);
    EXPECT_EQ(partition.channel.id, channel);
    EXPECT_EQ(partition.slices, 4u);
    EXPECT_EQ(partition.slice(3), 4 * channel + 3);
  }
  for (std::uint32_t line = 0; line < 5000; ++line) {
    EXPECT_EQ(map.home(line), m.endpoints().slice(map.slice(line)));
    EXPECT_EQ(map.slice(line) / 4, map.channel(line));
  }
}

TEST(Parts, WaysToControllersAreThereOnlyWhereAMeshHasThem) {
  MachineSpec m = machine();
  EXPECT_TRUE(ChannelSpec(m, 1).ways.empty());
  m.noc.mesh.memory_nodes = "0,7,63";
  EXPECT_TRUE(ChannelSpec(m, 1).ways.empty()) << "a crossbar";
  m.noc.topology = Topology::Mesh;
  m.noc.mesh.slice_nodes = "0-11";
  const ChannelSpec channel(m, 1);  // slices 4 to 7, controller at the end of their row
  ASSERT_EQ(channel.ways.size(), 4u);
  const unsigned per_hop = m.noc.mesh.router_cycles + m.noc.mesh.channel_cycles;
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(channel.ways[i].hops, 3 - i);
    EXPECT_EQ(channel.ways[i].round_trip, 2 * per_hop * (3 - i));
  }
}

}  // namespace
}  // namespace raddle::timing::parts_test

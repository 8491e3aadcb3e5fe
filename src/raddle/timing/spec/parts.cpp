#include "raddle/timing/spec/parts.h"

#include "raddle/base/error.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

namespace {
std::uint32_t network_mhz(const MachineSpec& m) {
  return m.noc.clock_mhz == 0 || m.ideal.noc ? m.core_clock_mhz : m.noc.clock_mhz;
}

/// Of an ideal network a flit holds any packet.
PacketSize packet_of(const MachineSpec& m) {
  const std::uint32_t whole = m.noc.header_bytes + m.core_rank_bytes + m.l2.line_bytes;
  return {m.ideal.noc ? whole : m.noc.flit_bytes, m.noc.header_bytes, m.l2.sector_bytes,
          m.core_rank_bytes};
}

/// Packets that an ideal port lets its receiver hold: as many as a machine file may ask for. Beyond
/// them it is the receiver that is too slow, and not the network.
constexpr std::uint32_t kIdealQueue = 255;
/// MSHRs, merges and places of the miss queue: as many as a machine file may ask for.
constexpr std::uint32_t kIdealMshrs = 4096, kIdealMerges = 256, kIdealMissQueue = 1024;

L1dSpec l1d_of(const MachineSpec& m) {
  L1dSpec l1d = m.sm.l1d;
  if (!m.ideal.mshr) return l1d;
  l1d.mshr_entries = kIdealMshrs;
  l1d.mshr_merges = kIdealMerges;
  l1d.miss_queue = kIdealMissQueue;
  return l1d;
}

DramSpec dram_of(const MachineSpec& m) {
  DramSpec dram = m.dram;
  if (!m.ideal.dram) return dram;
  dram.model = DramModel::Fixed;
  dram.fixed_latency_cycles = 1;
  dram.fixed_interval_cycles = 0;
  return dram;
}

/// Routers and flits of an own node are part of the latencies of DRAM.
std::vector<ControllerWay> ways_of(const MachineSpec& m, unsigned channel) {
  const MeshSpec& mesh = m.noc.mesh;
  if (m.ideal.noc || m.noc.topology != Topology::Mesh || mesh.memory_nodes.empty()) return {};
  const unsigned nodes = mesh.columns * mesh.rows;
  const auto controllers = read_nodes(mesh.memory_nodes, nodes, m.dram.channels);
  const auto slices = read_nodes(mesh.slice_nodes, nodes, m.l2.slices);
  RADDLE_ASSERT(controllers && slices && channel < m.dram.channels);
  const unsigned per_channel = m.l2.slices / m.dram.channels;
  std::vector<ControllerWay> ways;
  for (unsigned i = 0; i < per_channel; ++i) {
    const unsigned hops =
        mesh.hops(slices->at(channel * per_channel + i), controllers->at(channel));
    const std::uint64_t cycles = 2ull * hops * (mesh.router_cycles + mesh.channel_cycles);
    const std::uint64_t mhz = network_mhz(m);
    ways.push_back({hops, (cycles * m.core_clock_mhz + mhz / 2) / mhz});
  }
  return ways;
}
}  // namespace

PortSpec::PortSpec(const MachineSpec& m)
    : packet(packet_of(m)),
      senders(m.ideal.noc ? m.endpoints().count() : 0),
      largest_packet(packet.max_flits(m.l2.line_bytes)),
      queue_flits(m.ideal.noc ? kIdealQueue : m.noc.queue_flits),
      latency(m.noc.latency_cycles),
      network_mhz(timing::network_mhz(m)),
      core_mhz(m.core_clock_mhz) {}

NetworkSpec::NetworkSpec(const MachineSpec& m)
    : noc(m.noc),
      ideal(m.ideal.noc),
      port(m),
      endpoints(m.endpoints()),
      answers(m.coherence.ownership),
      transfers(m.migration && m.migration->transfer == policy::Passage::Transfer::Packets),
      kernel_slots(m.kernels.slots()) {}

LineSpec::LineSpec(const MachineSpec& m)
    : line_bytes(m.l2.line_bytes),
      sector_bytes(m.l2.sector_bytes),
      l1_sector_bytes(m.sm.l1d.sector_bytes),
      by_sector(m.sm.l1d.coalescing == Coalescing::Sector &&
                m.sm.l1d.sector_bytes < m.l2.line_bytes) {}

ConstantsSpec::ConstantsSpec(const MachineSpec& m)
    : cache(m.sm.const_cache), line_bytes(m.l2.line_bytes), sector_bytes(m.l2.sector_bytes) {}

LsuSpec::LsuSpec(const MachineSpec& m, unsigned id)
    : sm(id),
      queue(m.sm.lsu_queue),
      lines_per_cycle(m.sm.lsu_lines),
      loads_in_flight(m.sm.loads_in_flight),
      sector_banks(m.sm.lsu_sector_banks),
      shared_latency(m.sm.shared_latency_cycles),
      const_latency(m.sm.const_latency_cycles),
      cluster(m.sm.cluster),
      l1d(l1d_of(m)),
      ideal_l1d(m.ideal.l1d),
      lines(m),
      constants(m),
      port(m),
      coherence(m.coherence),
      endpoints(m.endpoints()),
      kernel_slots(m.kernels.slots()) {
  // As many again: in the network there are never more of an SM's requests for long.
  if (m.migration && m.migration->unclaimed == policy::Passage::Unclaimed::Release)
    unclaimed = l1d.mshr_entries;
}

OneSmSpec::OneSmSpec(const MachineSpec& m, unsigned id)
    : id(id),
      sm(m.sm),
      lsu(m, id),
      core_mhz(m.core_clock_mhz),
      dispatch_latency(m.dispatch_latency_cycles),
      device_launch(m.device_launch),
      kernel_slots(m.kernels.slots()) {}

AddressMapSpec::AddressMapSpec(const MachineSpec& m)
    : l2(m.l2), dram(m.dram), endpoints(m.endpoints()) {}

ChannelSpec::ChannelSpec(const MachineSpec& m, unsigned channel)
    : id(channel),
      dram(dram_of(m)),
      core_mhz(m.core_clock_mhz),
      line_bytes(m.l2.line_bytes),
      sector_bytes(m.l2.sector_bytes),
      packet(packet_of(m)),
      ways(ways_of(m, channel)),
      kernel_slots(m.kernels.slots()) {
  RADDLE_ASSERT(channel < m.dram.channels);
}

PartitionSpec::PartitionSpec(const MachineSpec& m, unsigned id)
    : channel(m, id),
      l2(m.l2),
      ideal_l2(m.ideal.l2),
      slices(m.l2.slices / m.dram.channels),
      port(m),
      coherence(m.coherence),
      endpoints(m.endpoints()) {
  RADDLE_ASSERT(slices * m.dram.channels == m.l2.slices);
}

}  // namespace raddle::timing

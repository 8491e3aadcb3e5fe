#include "raddle/timing/dram/legs.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::timing {

Legs::Legs(const MachineSpec& m, unsigned channel)
    : there_(m.noc.topology == Topology::Mesh && !m.noc.mesh.memory_nodes.empty()),
      request_(packet_size(m), Direction::Request),
      reply_(packet_size(m), Direction::Reply) {
  if (!there_) return;
  const MeshSpec& mesh = m.noc.mesh;
  const unsigned nodes = mesh.columns * mesh.rows, per_channel = m.l2.slices / m.dram.channels;
  const auto controllers = read_nodes(mesh.memory_nodes, nodes, m.dram.channels);
  const auto slices = read_nodes(mesh.slice_nodes, nodes, m.l2.slices);
  RADDLE_ASSERT(controllers && slices);
  const std::uint64_t network_mhz = m.noc.clock_mhz == 0 ? m.core_clock_mhz : m.noc.clock_mhz;
  for (unsigned i = 0; i < per_channel; ++i) {
    const unsigned hops =
        mesh.hops(slices->at(channel * per_channel + i), controllers->at(channel));
    const std::uint64_t cycles = 2ull * hops * (mesh.router_cycles + mesh.channel_cycles);
    legs_.push_back({hops, (cycles * m.core_clock_mhz + network_mhz / 2) / network_mhz});
  }
}

Cycle Legs::longest() const {
  Cycle longest = 0;
  for (const Leg& leg : legs_) longest = std::max(longest, leg.round_trip);
  return longest;
}

void Legs::count(unsigned slice, std::uint8_t sectors, bool write,
                 stats::NocTraffic& traffic) const {
  if (!there_) return;
  Message message;
  message.sectors = sectors;
  message.kind = write ? MessageKind::Write : MessageKind::Read;
  const auto add = [&](const FlitTable& table) {
    const FlitTable::Size size = table.size(message);
    ++traffic.packets, traffic.flits += size.flits, traffic.bytes += size.bytes;
    traffic.flit_hops += std::uint64_t{size.flits} * legs_[slice].hops;
  };
  add(request_);
  if (!write) add(reply_);
}

}  // namespace raddle::timing

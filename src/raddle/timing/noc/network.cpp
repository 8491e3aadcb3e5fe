#include "raddle/timing/noc/network.h"

#include "raddle/timing/noc/crossbar.h"
#include "raddle/timing/noc/mesh.h"

namespace raddle::timing {

namespace {
NetworkShape network_shape(const MachineSpec& m, Direction direction) {
  const bool request = direction == Direction::Request;
  const unsigned all = m.sm.count + m.l2.slices, ends = m.coherence.ownership ? all : 0;
  return {direction,
          request ? m.sm.count : std::max(ends, m.l2.slices),
          request ? m.l2.slices : std::max(ends, m.sm.count),
          m.noc.queue_flits,
          m.noc.latency_cycles,
          largest_packet(m),
          packet_size(m),
          network_clock(m),
          m.sm.count};
}
}  // namespace

unsigned port_capacity(const MachineSpec& m) {
  // Packets that arrive in a window and on a wire, at one a network cycle.
  auto two_wires = static_cast<unsigned>(network_clock(m).memory_at(2 * m.noc.latency_cycles)) + 1;
  return std::max(m.noc.queue_flits, two_wires + largest_packet(m));
}

Network::Network(const NetworkShape& shape, const AddressMap* map)
    : shape_(shape), map_(map), flits_(shape.size, shape.direction) {
  RADDLE_ASSERT(shape.senders >= 1 && shape.senders <= SmSet::kSize);
  RADDLE_ASSERT(shape.receivers >= 1 && shape.receivers <= SmSet::kSize);
  RADDLE_ASSERT(shape.latency >= 1 && shape.latency <= 32);
  RADDLE_ASSERT(shape.max_flits <= 32 && shape.max_flits <= shape.credits);
  RADDLE_ASSERT(map != nullptr || shape.direction == Direction::Reply);
}

/// Precondition: a message of DeNovo's.
unsigned Network::receiver_of_answer(const Message& m) const {
  switch (m.kind) {
    case MessageKind::Forward:
    case MessageKind::Take:
    case MessageKind::Invalidate:
    case MessageKind::Recall:
      return m.peer;
    case MessageKind::Recalled:
      return shape_.first_slice + map_->slice(m.line);
    default:
      return m.sm;
  }
}

stats::NocCounters Network::with_totals(const Traffic& t) {
  stats::NocCounters c;
  for (unsigned k = 0; k < stats::kNocKinds; ++k) {
    c.kind[k] = t.kind[k];
    stats::accumulate<stats::NocTraffic>(c, t.kind[k]);
  }
  return c;
}

stats::NocCounters Network::counters() const { return with_totals(traffic_.total()); }

std::unique_ptr<Network> make_network(const MachineSpec& m, Direction direction,
                                      const AddressMap& map) {
  NetworkShape shape = network_shape(m, direction);
  if (m.noc.topology == Topology::Mesh)
    return std::make_unique<Mesh>(shape, mesh_shape(m, direction), &map);
  bool request = direction == Direction::Request;
  CrossbarShape ports{request ? m.noc.sms_per_port : 1, request ? 1 : m.noc.sms_per_port,
                      m.noc.input_speedup};
  return std::make_unique<Crossbar>(shape, ports, &map);
}

}  // namespace raddle::timing

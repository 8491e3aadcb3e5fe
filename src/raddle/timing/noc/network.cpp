#include "raddle/timing/noc/network.h"

#include "raddle/timing/noc/crossbar.h"
#include "raddle/timing/noc/free_path.h"
#include "raddle/timing/noc/mesh.h"

namespace raddle::timing {

namespace {
/// SMs ask slices, slices answer SMs; under DeNovo whoever is asked may answer anybody. What SMs
/// send one another beside that goes with the requests and never waits where it arrives.
Wiring wiring_of(const NetworkSpec& spec, Direction direction) {
  const Endpoints& nodes = spec.endpoints;
  std::vector<NodeId> sms;
  std::vector<NodeId> slices;
  for (unsigned i = 0; i < nodes.sms; ++i) sms.push_back(nodes.sm(i));
  for (unsigned i = 0; i < nodes.slices; ++i) slices.push_back(nodes.slice(i));
  if (direction == Direction::Request) {
    Wiring request{sms, slices};
    if (spec.transfers) request.receivers.insert(request.receivers.end(), sms.begin(), sms.end());
    return request;
  }
  Wiring reply{slices, sms};
  if (spec.answers) {
    reply.senders.insert(reply.senders.end(), sms.begin(), sms.end());
    reply.receivers.insert(reply.receivers.end(), slices.begin(), slices.end());
  }
  return reply;
}

NetworkShape network_shape(const NetworkSpec& spec, Direction direction) {
  return {.direction = direction,
          .wiring = wiring_of(spec, direction),
          .nodes = spec.endpoints.count(),
          .credits = spec.port.queue_flits,
          .latency = spec.port.latency,
          .max_flits = spec.port.largest_packet,
          .size = spec.port.packet,
          .clock = network_clock(spec.port),
          .kernel_slots = spec.kernel_slots};
}

/// Place of each node in `list`, or `absent`.
std::vector<std::uint16_t> places(const std::vector<NodeId>& list, unsigned nodes,
                                  std::uint16_t absent) {
  std::vector<std::uint16_t> place(nodes, absent);
  for (unsigned i = 0; i < list.size(); ++i) {
    const auto node = static_cast<unsigned>(list[i]);
    RADDLE_ASSERT(node < nodes && place[node] == absent);
    place[node] = static_cast<std::uint16_t>(i);
  }
  return place;
}
}  // namespace

Network::Network(const NetworkShape& shape)
    : shape_(shape),
      flits_(shape.size, shape.direction),
      box_(shape.nodes),
      credit_box_(shape.nodes),
      sender_of_(places(shape.wiring.senders, shape.nodes, kNotWired)),
      receiver_of_(places(shape.wiring.receivers, shape.nodes, kNotWired)),
      traffic_(shape.kernel_slots) {
  RADDLE_ASSERT(senders() >= 1 && receivers() >= 1);
  RADDLE_ASSERT(shape.latency >= 1 && shape.latency <= 32);
  RADDLE_ASSERT(shape.max_flits <= kMaxFlits && shape.max_flits <= shape.credits);
}

stats::NocCounters Network::with_totals(const Traffic& t) {
  stats::NocCounters c;
  for (unsigned k = 0; k < stats::kNocKinds; ++k) c.kind[k] = t.kind[k];
  for (const stats::NocTraffic& of_kind : t.kind) stats::accumulate<stats::NocTraffic>(c, of_kind);
  return c;
}

stats::NocCounters Network::counters() const { return with_totals(traffic_.total()); }

std::unique_ptr<Network> make_network(const NetworkSpec& spec, Direction direction) {
  const NetworkShape shape = network_shape(spec, direction);
  const NocSpec& noc = spec.noc;
  if (spec.ideal) return std::make_unique<FreePath>(shape);
  if (noc.topology == Topology::Mesh)
    return std::make_unique<Mesh>(shape, mesh_shape(noc.mesh, spec.endpoints));
  const bool request = direction == Direction::Request;
  const CrossbarShape ports{request ? noc.sms_per_port : 1, request ? 1 : noc.sms_per_port,
                            noc.input_speedup};
  return make_crossbar(shape, ports);
}

}  // namespace raddle::timing

// A reply network whose links the test feeds and reads. Packets of s sectors have 1 + s flits.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/noc/crossbar.h"
#include "raddle/timing/noc/mesh.h"
#include "support/memory_mocks.h"

namespace raddle::test {

inline constexpr Cycle kWire = 10;

/// Nodes first, first + 1, ...
inline std::vector<NodeId> node_row(unsigned first, unsigned count) {
  std::vector<NodeId> nodes(count);
  for (unsigned i = 0; i < count; ++i) nodes[i] = static_cast<NodeId>(first + i);
  return nodes;
}

inline NetworkShape network_shape(Wiring wiring, unsigned nodes, unsigned credits = 64,
                                  ClockRatio clock = {1, 1}) {
  return {Direction::Reply, std::move(wiring), nodes, credits, kWire, 5, {32, 8, 32}, clock};
}

/// Sender i and receiver i are one node.
inline NetworkShape network_shape(unsigned senders, unsigned receivers, unsigned credits = 64,
                                  ClockRatio clock = {1, 1}) {
  return network_shape({node_row(0, senders), node_row(0, receivers)}, std::max(senders, receivers),
                       credits, clock);
}

class NetworkRig {
 public:
  /// limited: receivers have `credits` of the shape and give them back only by give_back().
  NetworkRig(std::unique_ptr<Network> network, Wiring wiring, bool limited = false)
      : network_(std::move(network)), wiring_(std::move(wiring)) {
    for (unsigned i = 0; i < wiring_.senders.size(); ++i) {
      in.push_back(std::make_unique<MessageLink>(1 << 12));
      credit.push_back(std::make_unique<CreditLink>(1 << 12));
      network_->connect_input(wiring_.senders[i], *in[i], *credit[i]);
    }
    for (unsigned o = 0; o < wiring_.receivers.size(); ++o) {
      out.push_back(std::make_unique<MessageLink>(1 << 12));
      back.push_back(std::make_unique<CreditLink>(1 << 12));
      network_->connect_output(wiring_.receivers[o], *out[o], limited ? back[o].get() : nullptr);
    }
  }
  /// Sender i and receiver i are one node.
  NetworkRig(std::unique_ptr<Network> network, unsigned senders, unsigned receivers,
             bool limited = false)
      : NetworkRig(std::move(network), {node_row(0, senders), node_row(0, receivers)}, limited) {}
  /// From a sender to a receiver, by their places in the wiring.
  void send(unsigned from, Cycle at, unsigned to, unsigned sectors, std::uint16_t tag = 0,
            MessageKind kind = MessageKind::Read) {
    Message m = message(kind, tag, static_cast<std::uint8_t>((1u << sectors) - 1), tag);
    m.to = wiring_.receivers[to];
    push(from, at, m);
  }
  void push(unsigned from, Cycle at, const Message& m) {
    in[from]->push(at, m);
    network_->box().post(at, static_cast<unsigned>(wiring_.senders[from]));
  }
  void give_back(unsigned receiver, Cycle at, std::uint8_t flits) {
    back[receiver]->push(at, flits);
    if (Mailbox* box = network_->credit_box())
      box->post(at, static_cast<unsigned>(wiring_.receivers[receiver]));
  }
  /// Every cycle, or as the network asks for.
  void run(Cycle from, Cycle to, bool skip = false) {
    Cycle t = skip ? std::max(from, std::min(due_, network_->next_arrival(from))) : from;
    for (; t < to; t = skip ? due_ : t + 1) {
      due_ = network_->tick(t);
      ++ticks;
    }
  }
  /// Arrival of the next packet at `receiver`, which is taken.
  Cycle take(unsigned receiver) {
    Cycle at = out[receiver]->next_arrival();
    if (at != kNever) out[receiver]->pop();
    return at;
  }
  Network& operator*() { return *network_; }
  Network* operator->() { return network_.get(); }

  std::vector<std::unique_ptr<MessageLink>> in, out;
  std::vector<std::unique_ptr<CreditLink>> credit, back;
  std::uint64_t ticks = 0;

 private:
  std::unique_ptr<Network> network_;
  Wiring wiring_;
  Cycle due_ = kNever;
};

inline NetworkRig crossbar(unsigned senders, unsigned receivers, unsigned credits = 64,
                           bool limited = false, CrossbarShape ports = {},
                           ClockRatio clock = {1, 1}) {
  return {make_crossbar(network_shape(senders, receivers, credits, clock), ports), senders,
          receivers, limited};
}

/// One sender and one receiver at each node.
inline NetworkRig mesh(unsigned columns, unsigned rows, unsigned router = 2, unsigned channel = 1,
                       unsigned channels = 4, unsigned depth = 8, unsigned credits = 64,
                       bool limited = false, ClockRatio clock = {1, 1}) {
  unsigned nodes = columns * rows;
  std::vector<std::uint16_t> all(nodes);
  for (unsigned i = 0; i < nodes; ++i) all[i] = static_cast<std::uint16_t>(i);
  return {std::make_unique<Mesh>(network_shape(nodes, nodes, credits, clock),
                                 MeshShape{columns, rows, router, channel, channels, depth, all}),
          nodes, nodes, limited};
}

/// Saturated senders, destinations drawn by `destination(sender)`: flits per cycle and sender.
inline double saturation(NetworkRig& rig, unsigned senders, unsigned sectors, unsigned warm_up,
                         unsigned cycles, const std::function<unsigned(unsigned)>& destination) {
  for (unsigned i = 0; i < senders; ++i)
    for (unsigned n = 0; n < 8; ++n) rig.send(i, n, destination(i), sectors);
  std::uint64_t before = 0;
  for (Cycle t = 0; t < warm_up + cycles; ++t) {
    if (t == warm_up) before = rig->counters().flits;
    rig->tick(t);
    for (auto& out : rig.out)
      while (out->next_arrival() != kNever) out->pop();
    for (unsigned i = 0; i < senders; ++i)  // the queue never runs dry
      for (; rig.credit[i]->next_arrival() != kNever; rig.credit[i]->pop())
        rig.send(i, t + 4, destination(i), sectors);
  }
  return static_cast<double>(rig->counters().flits - before) / (double{1} * cycles * senders);
}

}  // namespace raddle::test

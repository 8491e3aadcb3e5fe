// One of the two networks of a machine, whatever its topology: one for what may have to wait where
// it arrives (requests to L2 slices), and one for what is accepted at once by whom it is for
// (replies to SMs; under DeNovo also what SMs answer one another and the slices), so that the first
// never stands in the way of the second. Either carries packets from any node that is wired as a
// sender to any that is wired as a receiver, as Message::to says.
// Senders put packets on links and post their node to box(); the network gives the flits of each
// packet back as credits once it has left the sender's queue, and spends the credits of receivers
// that have any. Inside, time is counted in network cycles, which stand in an exact ratio to core
// cycles.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/link.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing {

class Engine;

/// The nodes that send into a network and those it delivers to, at least one of each. Ports have
/// their order; nodes that are not named take none.
struct Wiring {
  std::vector<NodeId> senders, receivers;
};

/// What networks of every topology have in common.
struct NetworkShape {
  Direction direction;  ///< says which kinds of messages carry data (FlitTable)
  Wiring wiring;
  unsigned nodes;      ///< of the machine: those in `wiring` are below
  unsigned credits;    ///< flits a receiver can take
  Cycle latency;       ///< of the links behind the outputs and of credits, 1..32
  unsigned max_flits;  ///< largest packet, <= kMaxFlits and <= credits
  PacketSize size;
  ClockRatio clock{1, 1};  ///< network against core
  unsigned kernel_slots = raddle::kernel_slots(1);
};

class Network {
 public:
  virtual ~Network() = default;
  /// One of the wiring's senders, who pushes packets on `in` and posts its node to box(); flits
  /// come back as credits on `credit_out`.
  void connect_input(NodeId node, MessageLink& in, CreditLink& credit_out) {
    attach_sender(sender_of(static_cast<unsigned>(node)), in, credit_out);
  }
  /// One of the wiring's receivers. `credit_in` empty: it always accepts. Otherwise it posts its
  /// node to credit_box(), if there is one, with each credit.
  void connect_output(NodeId node, MessageLink& out, CreditLink* credit_in) {
    attach_receiver(receiver_of(node), out, credit_in);
  }
  Mailbox& box() { return box_; }
  /// Null: the network looks for credits when it lacks some.
  virtual Mailbox* credit_box() { return &credit_box_; }

  /// Puts its component into the engine.
  virtual void add_to(Engine& engine) = 0;
  void open_window() {}
  virtual Cycle next_arrival(Cycle from) const {
    return std::min(box_.next(from), credit_box_.next(from));
  }
  virtual Cycle tick(Cycle now) = 0;

  /// Nothing is inside or on its way in.
  virtual bool idle() const = 0;
  virtual void describe(std::string& out) const = 0;
  /// Conservation of packets, flits, bytes and credits; one sentence per law that is broken.
  virtual std::vector<std::string> audit() const = 0;

  /// What has been delivered, in all and by launch slot.
  stats::NocCounters counters() const;
  stats::NocCounters counters(unsigned kernel) const { return with_totals(traffic_[kernel]); }
  /// The part of counters() that is segments of transfers, and so of none of its kinds.
  stats::NocTraffic transfers() const { return traffic_.total().kind[kTransfers]; }
  /// Ports at senders and receivers, in the order of the topology's header; a mesh's links too.
  virtual std::vector<stats::NocPort> ports() const = 0;
  /// Flits that have crossed each link between two routers (mesh_links); empty without routers.
  virtual std::vector<std::uint64_t> link_flits() const { return {}; }

 protected:
  static constexpr std::uint16_t kNotWired = 0xffff;

  explicit Network(const NetworkShape& shape);
  unsigned senders() const { return static_cast<unsigned>(shape_.wiring.senders.size()); }
  unsigned receivers() const { return static_cast<unsigned>(shape_.wiring.receivers.size()); }
  /// A node's place among the senders. Precondition: it has one.
  unsigned sender_of(unsigned node) const {
    RADDLE_ASSERT(node < shape_.nodes && sender_of_[node] != kNotWired);
    return sender_of_[node];
  }
  /// A node's place among the receivers. Precondition: it has one.
  unsigned receiver_of(NodeId node) const {
    const auto at = static_cast<unsigned>(node);
    RADDLE_ASSERT(at < shape_.nodes && receiver_of_[at] != kNotWired);
    return receiver_of_[at];
  }
  virtual void attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) = 0;
  virtual void attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) = 0;
  void count(const Message& m, FlitTable::Size size, unsigned flit_hops) {
    stats::NocTraffic& t = traffic_[m.kernel].kind[kClass[static_cast<unsigned>(m.kind)]];
    ++t.packets;
    t.flits += size.flits;
    t.flit_hops += flit_hops;
    t.bytes += size.bytes;
  }
  std::string_view direction() const {
    return shape_.direction == Direction::Request ? "request" : "reply";
  }

  NetworkShape shape_;
  FlitTable flits_;
  Mailbox box_, credit_box_;

 private:
  static constexpr unsigned kTransfers = stats::kNocKinds;
  struct Traffic {
    std::array<stats::NocTraffic, stats::kNocKinds + 1> kind{};  // and transfers
  };
  /// What a message is about, by MessageKind: index into stats::kNocKindNames, or kTransfers.
  static constexpr std::array<std::uint8_t, kMessageKinds> kClass = {
      0, 1, 2, 3, 1, 2, 4, 0, 2, 1, 4, 4, 1, 2, 0, 4, kTransfers};
  static stats::NocCounters with_totals(const Traffic& t);

  std::vector<std::uint16_t> sender_of_, receiver_of_;  // by node: place in the wiring
  stats::PerKernel<Traffic> traffic_;
};

/// The machine's network of that direction.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, Direction direction);

}  // namespace raddle::timing

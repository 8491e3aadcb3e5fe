// One of the two networks of a machine (requests from SMs to L2 slices, replies back), whatever its
// topology. Under DeNovo SMs answer one another and the slices too: in the reply network they are
// senders behind the slices, and slices receivers behind the SMs. Whatever it carries is accepted
// at once by whom it is for, so that requests, which may have to wait, never stand in its way.
// Senders put packets on links and post their number to box(); the network gives the flits of each
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
#include "raddle/timing/spec/machine.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/link.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing {

class Engine;

/// What networks of every topology have in common.
struct NetworkShape {
  Direction
      direction;  ///< Request: receiver = slice of the line; Reply: receiver = SM of the message
  unsigned senders, receivers;  ///< 1..256 each
  unsigned credits;             ///< flits a receiver can take
  Cycle latency;                ///< of the links behind the outputs and of credits, 1..32
  unsigned max_flits;           ///< largest packet, <= 32 and <= credits
  PacketSize size;
  ClockRatio clock{1, 1};    ///< network against core
  unsigned first_slice = 0;  ///< DeNovo: receivers of replies before the first slice
};

/// Capacity for SmPorts and SlicePorts: covers the credits and, where everything is accepted, a
/// window and the wire.
unsigned port_capacity(const MachineSpec& machine);

class Network {
 public:
  virtual ~Network() = default;
  /// The sender pushes packets on `in` and posts its number to box(); flits come back as credits on
  /// `credit_out`.
  virtual void connect_input(unsigned sender, MessageLink& in, CreditLink& credit_out) = 0;
  /// `credit_in` empty: the receiver always accepts. Otherwise it posts its number to credit_box()
  /// with each credit.
  virtual void connect_output(unsigned receiver, MessageLink& out, CreditLink* credit_in) = 0;
  Mailbox& box() { return box_; }
  Mailbox& credit_box() { return credit_box_; }

  /// Puts its component into the engine.
  virtual void add_to(Engine& engine) = 0;
  void open_window() {}
  Cycle next_arrival(Cycle from) const { return std::min(box_.next(from), credit_box_.next(from)); }
  virtual Cycle tick(Cycle now) = 0;

  /// Nothing is inside or on its way in.
  virtual bool idle() const = 0;
  virtual void describe(std::string& out) const = 0;
  /// Conservation of packets, flits, bytes and credits; one sentence per law that is broken.
  virtual std::vector<std::string> audit() const = 0;

  /// What has been delivered, in all and by launch slot.
  stats::NocCounters counters() const;
  stats::NocCounters counters(unsigned kernel) const { return with_totals(traffic_[kernel]); }
  /// Ports at senders and receivers, in the order of the topology's header; a mesh's links too.
  virtual std::vector<stats::NocPort> ports() const = 0;

 protected:
  Network(const NetworkShape& shape, const AddressMap* map);
  unsigned receiver(const Message& m) const {
    if (shape_.direction == Direction::Request) return map_->slice(m.line);
    return m.kind <= MessageKind::Reduce ? m.sm : receiver_of_answer(m);
  }
  void count(const Message& m, FlitTable::Size size, unsigned flit_hops) {
    stats::NocTraffic& t = traffic_[m.kernel].kind[kClass[static_cast<unsigned>(m.kind)]];
    ++t.packets, t.flits += size.flits, t.flit_hops += flit_hops, t.bytes += size.bytes;
  }
  std::string_view direction() const {
    return shape_.direction == Direction::Request ? "request" : "reply";
  }

  NetworkShape shape_;
  const AddressMap* map_;
  FlitTable flits_;
  Mailbox box_, credit_box_;

 private:
  struct Traffic {
    std::array<stats::NocTraffic, stats::kNocKinds> kind{};
  };
  /// What a message is about, by MessageKind: index into stats::kNocKindNames.
  static constexpr std::array<std::uint8_t, kMessageKinds> kClass = {0, 1, 2, 3, 1, 2, 4, 0,
                                                                     2, 1, 4, 4, 1, 2, 0, 4};
  unsigned receiver_of_answer(const Message& m) const;
  static stats::NocCounters with_totals(const Traffic& t);

  stats::PerKernel<Traffic> traffic_;
};

/// The machine's network of that direction. `map` must outlive it.
std::unique_ptr<Network> make_network(const MachineSpec& machine, Direction direction,
                                      const AddressMap& map);

}  // namespace raddle::timing

// 2-D mesh with dimension-order (XY) routing and wormhole switching.
//
// Each node has a router with an input port for each neighbour and for each sender at the node, and
// likewise outputs. An input port has V virtual channels, each a FIFO of B flits. The head flit of
// a packet asks for a free virtual channel of its output (round robin), then its flits cross the
// switch one by one, each when its virtual channel has a credit: each input port puts forward one
// virtual channel (round robin), each output takes one input port (round robin). A virtual channel
// belongs to a packet until its tail has left. Every choice advances only when it was granted, so
// nobody starves; XY routing orders the links, so nothing deadlocks as long as receivers take
// packets in the end.
//
// A flit that arrives at a router in cycle t crosses its switch in t + R at the earliest and
// arrives at the next router C cycles later; a credit takes C cycles back. Unloaded, a packet of F
// flits over H links leaves (H + 1) R + H C + F - 1 cycles after it came, plus the wires at both
// ends. Messages that must stay in order (in_order_from_bank) keep to the first virtual channel all
// the
// way, the others take any. At the sender's end packets enter in order, one flit per cycle; at the
// receiver's end a packet is handed over when its tail has come, and needs room for the largest
// packet before it gets a virtual channel. Left out: speculation, adaptive routing, look-ahead.
// Requests and replies have a mesh each, so they cannot block one another.
//
// Cost follows flits: a virtual channel sleeps in a wheel until its front flit is ready, a router
// is looked at only while one of its virtual channels can do something.
//
// Ports of ports(): for each node its outputs east, west, south, north and to each receiver there.
#pragma once
#include <string>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/timing/noc/network.h"

namespace raddle::timing {

/// Ports of a router towards its neighbours; those of endpoints come behind.
enum MeshPort : unsigned { kEast, kWest, kSouth, kNorth };

struct MeshShape {
  unsigned columns, rows;
  unsigned router, channel;          ///< network cycles, 1..16 and 1..8
  unsigned channels, depth;          ///< virtual channels of a port, flits of each
  std::vector<std::uint16_t> place;  ///< by endpoint (NodeId): its node of the mesh
};
MeshShape mesh_shape(const MeshSpec& mesh, const Endpoints& endpoints);

class Mesh final : public Network {
 public:
  static constexpr unsigned kDirections = MeshSpec::kDirections;

  Mesh(const NetworkShape& shape, const MeshShape& mesh);

  void add_to(Engine& engine) override;
  Cycle tick(Cycle now) override;
  bool idle() const override;
  void describe(std::string& out) const override;
  std::vector<std::string> audit() const override;
  std::vector<stats::NocPort> ports() const override;
  std::vector<std::uint64_t> link_flits() const override;

  unsigned hops(unsigned from_node, unsigned to_node) const;

 private:
  void attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) override;
  void attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) override;

  static constexpr unsigned kNone = ~0u;
  static constexpr unsigned kCreditSlots = 32;  // more than a channel's delay

  struct Packet {
    Message message;
    std::uint16_t receiver = 0;  // where it goes
    std::uint8_t x = 0, y = 0;   // the receiver's node
    std::uint16_t hops = 0;
    std::uint8_t flits = 0;
  };
  static_assert(sizeof(Packet) == 32);  // two to a line of the host
  /// Times in flits and virtual channels are the low half of a network cycle: what they are
  /// compared with is near.
  using Time = std::uint32_t;
  struct Flit {
    Time ready;  // from when it may cross the switch
    std::uint32_t packet;
  };
  /// Virtual channel of an input port. Its front packet is `packet` once the head flit was ready.
  struct Vc {
    std::uint32_t packet = kNone;
    std::uint32_t next = kNone;       // in the wheel
    Time since = 0;                   // front flit waits since
    Time starved_since = 0;           // ... without a credit since, if `starved`
    std::uint32_t out_vc = kNone;     // the channel of the output that it has
    std::uint32_t out = 0;            // the output, in output_
    std::uint32_t up = kNone;         // who fills it: in out_vc_, or of a sender's port in sender_
    std::uint32_t in_port = 0;        // its input port, in in_turn_
    std::uint16_t node = 0;           // where it is
    std::uint8_t port = 0, bit = 0;   // input port; place in the masks of its router
    std::uint8_t head = 0, size = 0;  // of the FIFO
    std::uint8_t left = 0;            // flits of `packet` that have not crossed the switch
    std::uint8_t output = 0;          // of the router
    std::uint8_t number = 0;          // among those of the port
    bool starved = false;
  };
  /// The sending end of a virtual channel.
  struct OutVc {
    std::uint32_t credits = 0;
    std::uint32_t owner = kNone;  // virtual channel of this router that fills it
  };
  struct alignas(64) Output {
    std::uint64_t heads = 0;     // virtual channels that wait for one of this output ...
    std::uint64_t ordered = 0;   // ... and for the first of them only
    std::uint32_t down = kNone;  // first virtual channel at the other end
    std::uint32_t receiver = kNone;
    std::uint8_t free = 0;  // its virtual channels without owner
    std::uint8_t channel_turn = 0, head_turn = 0, input_turn = 0;
    stats::NocPort count;
  };
  static_assert(sizeof(Output) == 64);  // a line of the host
  struct Router {
    std::uint64_t ready = 0;    // virtual channels whose front flit lacks only the switch
    std::uint32_t waiting = 0;  // outputs with heads
  };
  struct Sender {
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;
    std::uint32_t vcs = 0;  // first virtual channel of its port
    std::uint32_t packet = kNone, vc = 0, turn = 0;
    std::uint8_t left = 0, flits = 0;
    bool blocked = false;    // waits for room in a virtual channel
    std::uint64_t free = 0;  // wire into the router
    std::uint16_t node = 0;
  };
  struct Receiver {
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;
    std::uint32_t credits = 0;
    std::uint16_t node = 0;
    std::uint8_t output = 0;
  };
  /// Credits that come in one cycle: for members of out_vc_.
  struct Credits {
    std::vector<std::uint32_t> out_vc;
    unsigned size = 0;
  };

  Output& output(unsigned node, unsigned o) { return output_[node * outputs_ + o]; }
  void build_links();
  void step(Cycle now, std::uint64_t cycle);
  Cycle next_event(Cycle now) const;
  void take_receiver_credits(unsigned receiver, Cycle now);
  void take_credits(std::uint64_t cycle);
  void end_starvation(unsigned vc, std::uint64_t cycle);
  void wake_at(unsigned vc, std::uint64_t cycle);
  void front_ready(unsigned vc, std::uint64_t cycle);
  void seek_switch(unsigned vc, std::uint64_t cycle);
  unsigned route(unsigned node, const Packet& p) const;
  void inject(unsigned sender, Cycle now, std::uint64_t cycle);
  bool open_packet(Sender& s, Cycle now);
  void push_flit(unsigned vc, std::uint64_t ready, std::uint32_t packet);
  void route_node(unsigned node, Cycle now, std::uint64_t cycle);
  void allocate_channels(unsigned node, std::uint64_t cycle);
  bool receiver_has_slot(const Output& out) const;
  void allocate_switch(unsigned node, Cycle now, std::uint64_t cycle);
  void cross(unsigned vc, Cycle now, std::uint64_t cycle);
  void end_packet(Vc& vc, Output& out);
  void free_place(const Vc& vc, std::uint64_t cycle);
  void deliver(unsigned o, std::uint32_t packet, Cycle now);
  std::uint32_t take_packet();
  void give_packet(std::uint32_t packet);
  void audit_credits(std::vector<std::string>& broken) const;

  MeshShape mesh_;
  unsigned nodes_, inputs_ = 0, outputs_ = 0;  // ports of each router
  unsigned vcs_of_router_ = 0, ring_ = 0;      // ring: places of a virtual channel's FIFO
  std::vector<std::uint8_t> x_, y_;            // of each node
  std::vector<Router> router_;
  std::vector<Output> output_;  // by node and port
  std::vector<OutVc> out_vc_;   // by output and channel
  std::vector<Vc> vc_;          // by node, input port and channel
  std::vector<Flit> flit_;
  std::vector<std::uint8_t> in_turn_;  // by input port
  std::vector<Sender> sender_;
  std::vector<Receiver> receiver_;
  std::vector<Packet> packet_;
  std::vector<std::uint32_t> free_packets_;
  std::uint32_t packets_inside_ = 0;
  std::uint64_t taken_ = 0;             // packets that came in
  std::vector<Credits> credits_;        // on their way, by cycle modulo their number
  std::uint32_t credits_occupied_ = 0;  // those that are not empty
  std::uint64_t credits_taken_ = 0;     // up to this cycle
  unsigned starved_ = 0;                // virtual channels without a credit
  SizedSet active_, routing_;           // routers, of the next cycle and of this
  SizedSet inject_, injecting_;         // senders, likewise
  std::uint32_t wheel_[64];             // virtual channels whose front flit becomes ready, as lists
  std::vector<SizedSet> inject_wheel_;  // senders whose wire becomes free
  std::uint64_t wheel_occupied_ = 0, inject_occupied_ = 0;
};

}  // namespace raddle::timing

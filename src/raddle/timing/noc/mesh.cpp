#include "raddle/timing/noc/mesh.h"

#include <algorithm>
#include <bit>

#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

namespace {
/// First set bit at or after `from`, cyclically. Precondition: mask != 0.
unsigned first_from(std::uint64_t mask, unsigned from) {
  std::uint64_t here = mask & ~low_bits(from);
  return lowest(here != 0 ? here : mask);
}

/// Who is first in the next round, of so many.
std::uint8_t next_turn(unsigned last, unsigned count) {
  return static_cast<std::uint8_t>(last + 1 == count ? 0 : last + 1);
}
}  // namespace

Cycle Mesh::tick(Cycle now) {
  const ClockRatio& clock = shape_.clock;
  credit_box_.take(now, [&](unsigned node) {
    take_receiver_credits(receiver_of(static_cast<NodeId>(node)), now);
  });
  box_.take(now, [&](unsigned node) { inject_.set(sender_of(node)); });
  for (std::uint64_t k = clock.first_from(now), last = clock.other_at(now); k <= last; ++k)
    step(now, k);
  return next_event(now);
}

void Mesh::step(Cycle now, std::uint64_t cycle) {
  take_credits(cycle);
  unsigned slot = cycle & 63;
  if ((wheel_occupied_ >> slot & 1) != 0) {
    wheel_occupied_ &= ~(1ull << slot);
    std::uint32_t vc = wheel_[slot];
    for (wheel_[slot] = kNone; vc != kNone;) {
      std::uint32_t next = vc_[vc].next;
      front_ready(vc, cycle);
      vc = next;
    }
  }
  if ((inject_occupied_ >> slot & 1) != 0) {
    inject_occupied_ &= ~(1ull << slot);
    inject_.take_all(inject_wheel_[slot]);
  }
  // What these add is for the next cycle.
  if (inject_.any()) {
    swap(inject_, injecting_);
    injecting_.take_each([&](unsigned s) { inject(s, now, cycle); });
  }
  swap(active_, routing_);
  routing_.take_each([&](unsigned node) { route_node(node, now, cycle); });
}

Cycle Mesh::next_event(Cycle now) const {
  std::uint64_t from = shape_.clock.other_at(now) + 1, next = kNever;
  if (active_.any() || inject_.any()) {
    next = from;
  } else {
    if (std::uint64_t occupied = wheel_occupied_ | inject_occupied_; occupied != 0)
      next = from + lowest(std::rotr(occupied, static_cast<int>(from & 63)));
    if (starved_ != 0 && credits_occupied_ != 0) {
      const std::uint64_t first = credits_taken_ + 1;
      next = std::min(next, first + lowest(std::rotr(credits_occupied_, first % kCreditSlots)));
    }
  }
  if (next != kNever) next = shape_.clock.core_at(next);
  return next == now + 1 ? next : std::min(next, next_arrival(now + 1));
}

void Mesh::take_receiver_credits(unsigned r, Cycle now) {
  Receiver& receiver = receiver_[r];
  receiver.credits += take_credits_of(*receiver.credit, now);
  if (output(receiver.node, receiver.output).heads != 0) active_.set(receiver.node);
}

/// Credits that have come. One who waits for none may be told late.
void Mesh::take_credits(std::uint64_t cycle) {
  // Those that were sent in the last step come within a channel's delay; later, all have come.
  const std::uint64_t last = std::min(cycle, credits_taken_ + kCreditSlots - 1);
  for (std::uint64_t at = credits_taken_ + 1; credits_occupied_ != 0 && at <= last; ++at) {
    const unsigned slot = at % kCreditSlots;
    if ((credits_occupied_ >> slot & 1) == 0) continue;
    credits_occupied_ &= ~(1u << slot);
    Credits& come = credits_[slot];
    for (unsigned i = 0; i < come.size; ++i) {
      OutVc& out = out_vc_[come.out_vc[i]];
      if (out.credits++ == 0 && out.owner != kNone && vc_[out.owner].starved)
        end_starvation(out.owner, cycle);
    }
    come.size = 0;
  }
  credits_taken_ = cycle;
}

void Mesh::end_starvation(unsigned v, std::uint64_t cycle) {
  Vc& vc = vc_[v];
  --starved_;
  const Time waited = static_cast<Time>(cycle) - vc.starved_since;
  output_[vc.out].count.blocked_credit += waited;
  vc.since += waited;
  vc.starved = false;
  router_[vc.node].ready |= 1ull << vc.bit;
  active_.set(vc.node);
}

void Mesh::wake_at(unsigned vc, std::uint64_t cycle) {
  unsigned slot = cycle & 63;
  if ((wheel_occupied_ >> slot & 1) == 0) wheel_[slot] = kNone;
  vc_[vc].next = wheel_[slot];
  wheel_[slot] = vc;
  wheel_occupied_ |= 1ull << slot;
}

/// The front flit has gone through the router's pipeline.
void Mesh::front_ready(unsigned v, std::uint64_t cycle) {
  Vc& vc = vc_[v];
  const unsigned node = vc.node;
  vc.since = static_cast<Time>(cycle);
  active_.set(node);
  if (vc.packet != kNone) return seek_switch(v, cycle);
  vc.packet = flit_[v * ring_ + vc.head].packet;
  const Packet& p = packet_[vc.packet];
  vc.left = p.flits;
  vc.output = static_cast<std::uint8_t>(route(node, p));
  vc.out = node * outputs_ + vc.output;
  output_[vc.out].heads |= 1ull << vc.bit;
  if (in_order_from_bank(p.message.kind)) output_[vc.out].ordered |= 1ull << vc.bit;
  router_[node].waiting |= 1u << vc.output;
}

/// Front flit ready, output channel allocated.
void Mesh::seek_switch(unsigned v, std::uint64_t cycle) {
  Vc& vc = vc_[v];
  if (out_vc_[vc.out_vc].credits == 0) {
    vc.starved = true;
    vc.starved_since = static_cast<Time>(cycle);
    ++starved_;
    return;
  }
  router_[vc.node].ready |= 1ull << vc.bit;
}

unsigned Mesh::route(unsigned node, const Packet& p) const {
  if (x_[node] != p.x) return x_[node] < p.x ? kEast : kWest;
  if (y_[node] != p.y) return y_[node] < p.y ? kSouth : kNorth;
  return receiver_[p.receiver].output;
}

void Mesh::inject(unsigned sender, Cycle now, std::uint64_t cycle) {
  Sender& s = sender_[sender];
  if (s.free > cycle || (s.left == 0 && !open_packet(s, now))) return;
  unsigned n = std::min<unsigned>(s.left, mesh_.depth - vc_[s.vc].size);
  s.blocked = n == 0;
  if (n == 0) return;
  for (unsigned i = 0; i < n; ++i) push_flit(s.vc, cycle + i + mesh_.router, s.packet);
  s.left = static_cast<std::uint8_t>(s.left - n);
  s.free = cycle + n;
  inject_wheel_[s.free & 63].set(sender);
  inject_occupied_ |= 1ull << (s.free & 63);
  if (s.left == 0) s.credit->push(shape_.clock.core_at(s.free - 1) + shape_.latency, s.flits);
}

/// The next packet of the sender's queue gets a virtual channel with room, if there are both.
bool Mesh::open_packet(Sender& s, Cycle now) {
  if (s.link->next_arrival() > now) return false;
  const bool ordered = in_order_from_bank(s.link->front().kind);
  unsigned v = ordered ? 0 : s.turn, left = ordered ? 1 : mesh_.channels;
  while (left != 0 && vc_[s.vcs + v].size == mesh_.depth) {
    --left;
    v = v + 1 == mesh_.channels ? 0 : v + 1;
  }
  s.blocked = left == 0;
  if (s.blocked) return false;
  if (!ordered) s.turn = v + 1 == mesh_.channels ? 0 : v + 1;
  s.vc = s.vcs + v;
  s.packet = take_packet();
  Packet& p = packet_[s.packet];
  p.message = s.link->front();
  s.link->pop();
  p.receiver = static_cast<std::uint16_t>(receiver_of(p.message.to));
  const unsigned node = receiver_[p.receiver].node;
  p.x = x_[node];
  p.y = y_[node];
  p.hops = static_cast<std::uint16_t>(hops(s.node, node));
  s.left = s.flits = p.flits = static_cast<std::uint8_t>(flits_.flits(p.message));
  return true;
}

/// Precondition: `ready` is a later cycle.
inline void Mesh::push_flit(unsigned v, std::uint64_t ready, std::uint32_t packet) {
  Vc& vc = vc_[v];
  flit_[v * ring_ + ((vc.head + vc.size) & (ring_ - 1))] = {static_cast<Time>(ready), packet};
  if (vc.size++ == 0) wake_at(v, ready);
}

void Mesh::route_node(unsigned node, Cycle now, std::uint64_t cycle) {
  const Router& router = router_[node];
  if (router.waiting != 0) allocate_channels(node, cycle);
  const std::uint64_t ready = router.ready;
  if (ready == 0) return;
  if ((ready & (ready - 1)) == 0) cross(node * vcs_of_router_ + lowest(ready), now, cycle);
  else allocate_switch(node, now, cycle);
  if (router.ready != 0) active_.set(node);
}

bool Mesh::receiver_has_slot(const Output& out) const {
  if (out.receiver == kNone) return true;
  const Receiver& r = receiver_[out.receiver];
  return r.credit == nullptr || r.credits >= shape_.max_flits;
}

/// Free virtual channels of outputs go to heads that wait for one.
void Mesh::allocate_channels(unsigned node, std::uint64_t cycle) {
  Router& router = router_[node];
  for (std::uint32_t outs = router.waiting; outs != 0; outs &= outs - 1) {
    unsigned o = lowest(outs);
    Output& out = output(node, o);
    while (out.free != 0 && receiver_has_slot(out)) {
      const std::uint64_t may = (out.free & 1) != 0 ? out.heads : out.heads & ~out.ordered;
      if (may == 0) break;
      unsigned bit = first_from(may, out.head_turn);
      const bool ordered = (out.ordered >> bit & 1) != 0;
      unsigned c = ordered ? 0 : first_from(out.free, out.channel_turn),
               v = node * vcs_of_router_ + bit;
      out.head_turn = next_turn(bit, vcs_of_router_);
      if (!ordered) out.channel_turn = next_turn(c, mesh_.channels);
      out.heads &= ~(1ull << bit);
      out.ordered &= ~(1ull << bit);
      out.free = static_cast<std::uint8_t>(out.free & ~(1u << c));
      vc_[v].out_vc = vc_[v].out * mesh_.channels + c;
      out_vc_[vc_[v].out_vc].owner = v;
      if (out.receiver != kNone && receiver_[out.receiver].credit != nullptr)
        receiver_[out.receiver].credits -= packet_[vc_[v].packet].flits;
      seek_switch(v, cycle);
    }
    if (out.heads == 0) router.waiting &= ~(1u << o);
  }
}

/// Each input port puts one virtual channel forward, each output takes one input port.
void Mesh::allocate_switch(unsigned node, Cycle now, std::uint64_t cycle) {
  std::uint64_t ready = router_[node].ready;
  std::uint64_t inputs_of[64];  // by output; set when `wanted` has its bit
  std::uint8_t choice[64];      // by input: bit of its virtual channel
  std::uint64_t wanted = 0;
  const unsigned channels = mesh_.channels;
  const Vc* const vcs = &vc_[node * vcs_of_router_];
  while (ready != 0) {
    unsigned p = vcs[lowest(ready)].port, first = p * channels;
    std::uint64_t mine = ready & (low_bits(channels) << first);
    ready &= ~mine;
    unsigned bit = first_from(mine, first + in_turn_[node * inputs_ + p]);
    choice[p] = static_cast<std::uint8_t>(bit);
    unsigned o = vcs[bit].output;
    if ((wanted >> o & 1) == 0) {
      inputs_of[o] = 0;
      wanted |= 1ull << o;
    }
    inputs_of[o] |= 1ull << p;
  }
  for (; wanted != 0; wanted &= wanted - 1) {
    unsigned o = lowest(wanted);
    const unsigned bit = choice[first_from(inputs_of[o], output(node, o).input_turn)];
    cross(node * vcs_of_router_ + bit, now, cycle);
  }
}

/// The front flit of a virtual channel, which both its ports have chosen, crosses the switch.
void Mesh::cross(unsigned index, Cycle now, std::uint64_t cycle) {
  Vc& vc = vc_[index];
  Output& out = output_[vc.out];
  OutVc& out_vc = out_vc_[vc.out_vc];
  out.input_turn = next_turn(vc.port, inputs_);
  in_turn_[vc.in_port] = next_turn(vc.number, mesh_.channels);
  const bool tail = --vc.left == 0;
  ++out.count.flits;
  out.count.blocked_arbitration += static_cast<Time>(cycle) - vc.since;
  if (out.down != kNone) {
    --out_vc.credits;
    push_flit(out.down + vc.out_vc - vc.out * mesh_.channels, cycle + mesh_.channel + mesh_.router,
              vc.packet);
  } else if (tail) {
    deliver(out.receiver, vc.packet, now);
  }
  vc.head = static_cast<std::uint8_t>((vc.head + 1) & (ring_ - 1));
  --vc.size;
  free_place(vc, cycle);
  const auto next = static_cast<Time>(cycle + 1);
  const Time ready = flit_[index * ring_ + vc.head].ready;  // meaningless if there is none
  const bool follows = vc.size != 0 && static_cast<std::int32_t>(ready - next) <= 0;
  if (!tail && follows && out_vc.credits != 0) {
    vc.since = next;  // the packet goes on, and seeks the switch as it does now
    return;
  }
  router_[vc.node].ready &= ~(1ull << vc.bit);
  if (tail) end_packet(vc, out);
  if (follows) front_ready(index, cycle + 1);
  else if (vc.size != 0) wake_at(index, cycle + 1 + static_cast<Time>(ready - next));
}

/// Its last flit has crossed the switch: the channel of the output is free.
void Mesh::end_packet(Vc& vc, Output& out) {
  ++out.count.packets;
  out_vc_[vc.out_vc].owner = kNone;
  out.free = static_cast<std::uint8_t>(out.free | 1u << (vc.out_vc - vc.out * mesh_.channels));
  if (out.heads != 0) active_.set(vc.node);
  vc.packet = kNone;
  vc.out_vc = kNone;
}

/// A place in the FIFO of a virtual channel is free: a credit for whoever fills it.
inline void Mesh::free_place(const Vc& vc, std::uint64_t cycle) {
  if (vc.port < kDirections) {
    const unsigned slot = (cycle + mesh_.channel) % kCreditSlots;
    Credits& credits = credits_[slot];
    credits.out_vc[credits.size++] = vc.up;
    credits_occupied_ |= 1u << slot;
  } else if (sender_[vc.up].blocked) {
    inject_.set(vc.up);
  }
}

void Mesh::deliver(unsigned o, std::uint32_t packet, Cycle now) {
  const Packet& p = packet_[packet];
  count(p.message, flits_.size(p.message), unsigned{p.flits} * p.hops);
  receiver_[o].link->push(now + shape_.latency, p.message);
  give_packet(packet);
}

std::uint32_t Mesh::take_packet() {
  RADDLE_ASSERT(!free_packets_.empty());
  const std::uint32_t packet = free_packets_.back();
  free_packets_.pop_back();
  ++taken_;
  ++packets_inside_;
  return packet;
}

void Mesh::give_packet(std::uint32_t packet) {
  free_packets_.push_back(packet);
  --packets_inside_;
}

unsigned Mesh::hops(unsigned from, unsigned to) const {
  auto distance = [](unsigned a, unsigned b) { return a < b ? b - a : a - b; };
  return distance(x_[from], x_[to]) + distance(y_[from], y_[to]);
}

bool Mesh::idle() const { return packets_inside_ == 0 && box_.next(0) == kNever && !inject_.any(); }

}  // namespace raddle::timing

#include "raddle/timing/noc/crossbar.h"

#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

namespace {
constexpr std::uint64_t kProbe = 1'000'000;  // clocks are in MHz: any other ratio shows by then
}

template <unsigned Words>
Crossbar<Words>::Crossbar(const NetworkShape& shape, const CrossbarShape& ports)
    : Network(shape),
      ports_(ports),
      core_clock_(shape.clock.other_at(1) == 1 && shape.clock.core_at(kProbe) == kProbe),
      sender_(senders()),
      receiver_(receivers()),
      input_((senders() + ports.senders_per_port - 1) / ports.senders_per_port),
      output_((receivers() + ports.receivers_per_port - 1) / ports.receivers_per_port),
      input_of_node_(shape.nodes, kNone),
      place_of_node_(shape.nodes, kNone),
      inputs_(static_cast<unsigned>(input_.size())),
      go_(output_.size()) {
  RADDLE_ASSERT(inputs_ <= BitSet<Words>::kSize && output_.size() < kNone);
  for (unsigned s = 0; s < senders(); ++s)
    input_of_node_[static_cast<unsigned>(shape.wiring.senders[s])] =
        static_cast<std::uint16_t>(s / ports.senders_per_port);
  for (unsigned r = 0; r < receivers(); ++r)
    place_of_node_[static_cast<unsigned>(shape.wiring.receivers[r])] =
        static_cast<std::uint16_t>(r);
}

template <unsigned Words>
void Crossbar<Words>::attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) {
  unsigned i = sender / ports_.senders_per_port;
  sender_[sender] = {&in, &credit_out, i};
  if (input_[i].senders == 0) {
    input_[i].first = input_[i].sender = static_cast<std::uint16_t>(sender);
    input_[i].link = &in;
    input_[i].credit = &credit_out;
  }
  ++input_[i].senders;
  open_in_.set(i);
}

template <unsigned Words>
void Crossbar<Words>::attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) {
  unsigned o = receiver / ports_.receivers_per_port;
  RADDLE_ASSERT(credit_in == nullptr || ports_.receivers_per_port == 1);
  receiver_[receiver] = {&out, o};
  output_[o].credit = credit_in;
  output_[o].credits = shape_.credits;
}

template <unsigned Words>
void Crossbar<Words>::add_to(Engine& engine) {
  engine.add(*this);
}

template <unsigned Words>
Cycle Crossbar<Words>::tick(Cycle now) {
  std::uint64_t cycle = now, last = now;
  if (!core_clock_) {
    cycle = shape_.clock.first_from(now);
    last = shape_.clock.other_at(now);
  }
  if (!starved_.empty()) feed_starved(now, cycle);
  box_.take(now, [&](unsigned node) {
    const unsigned i = input_of_node_[node];
    RADDLE_ASSERT(i != kNone);
    if (open_in_.test(i)) show_head(i, now, cycle);
  });
  for (; cycle <= last; ++cycle) {
    if ((done_occupied_ >> (cycle & 63) & 1) != 0) finish_transfers(now, cycle);
    for (unsigned n = 0; n < going_; ++n) transfer(now, cycle, go_[n]);  // may add to the list
    going_ = 0;
  }
  return next_event(now, last + 1);
}

template <unsigned Words>
Cycle Crossbar<Words>::next_arrival(Cycle from) const {
  Cycle next = box_.next(from);
  for (const unsigned o : starved_) next = std::min(next, output_[o].credit->next_arrival());
  return next;
}

template <unsigned Words>
Cycle Crossbar<Words>::next_event(Cycle now, std::uint64_t cycle) const {
  Cycle next = next_arrival(now + 1);
  if (done_occupied_ != 0)
    next = std::min(
        next, core_at(cycle + lowest(std::rotr(done_occupied_, static_cast<int>(cycle & 63)))));
  // A head shown in a core cycle that has no network cycle.
  return going_ == 0 ? next : std::min(next, core_at(cycle));
}

/// Lists an output whose packet can go.
template <unsigned Words>
inline void Crossbar<Words>::consider(unsigned o) {
  const Output& out = output_[o];
  if (!out.busy && out.waiting != 0 && out.credits >= shape_.max_flits)
    go_[going_++] = static_cast<std::uint16_t>(o);
}

template <unsigned Words>
void Crossbar<Words>::finish_transfers(Cycle now, std::uint64_t cycle) {
  unsigned slot = cycle & 63;
  done_occupied_ &= ~(1ull << slot);
  for (unsigned o = done_[slot], next; o != kNone; o = next) {
    Output& out = output_[o];
    next = out.next_done;
    out.busy = false;
    consider(o);
    Input& in = input_[out.source];
    if (in.active-- < ports_.speedup) continue;  // shows a head, or has none to show
    open_in_.set(out.source);
    show_head(out.source, now, cycle);
  }
}

/// Whether the output can take the largest packet, with all credits that have arrived.
template <unsigned Words>
inline bool Crossbar<Words>::has_room(Output& out, Cycle now) const {
  if (out.credits < shape_.max_flits && out.credit != nullptr) [[unlikely]]
    out.credits += take_credits_of(*out.credit, now);
  return out.credits >= shape_.max_flits;
}

/// A packet waits for credits of the output from `cycle` on.
template <unsigned Words>
void Crossbar<Words>::starve(unsigned o, std::uint64_t cycle) {
  output_[o].starved_since = cycle;
  starved_.insert(std::ranges::upper_bound(starved_, o), static_cast<std::uint16_t>(o));
}

template <unsigned Words>
void Crossbar<Words>::feed_starved(Cycle now, std::uint64_t cycle) {
  std::erase_if(starved_, [&](unsigned o) {
    Output& out = output_[o];
    if (!has_room(out, now)) return false;
    out.count.blocked_credit = out.starved(cycle);
    out.starved_since = kNever;
    consider(o);
    return true;
  });
}

template <unsigned Words>
unsigned Crossbar<Words>::oldest_sender(const Input& in) const {
  unsigned best = in.first, from = in.turn;
  Cycle at = kNever;
  for (unsigned n = 0; n < in.senders; ++n, from = from + 1 == in.senders ? 0 : from + 1) {
    Cycle arrival = sender_[in.first + from].link->next_arrival();
    if (arrival < at) {
      at = arrival;
      best = in.first + from;
    }
  }
  return best;
}

template <unsigned Words>
void Crossbar<Words>::show_head(unsigned i, Cycle now, std::uint64_t cycle) {
  Input& in = input_[i];
  if (in.senders > 1) {
    in.sender = static_cast<std::uint16_t>(oldest_sender(in));
    in.link = sender_[in.sender].link;
    in.credit = sender_[in.sender].credit;
  }
  if (in.link->next_arrival() > now) return;
  const auto to = static_cast<unsigned>(in.link->front().to);
  RADDLE_ASSERT(to < shape_.nodes);
  in.receiver = place_of_node_[to];
  RADDLE_ASSERT(in.receiver != kNone);
  unsigned o = receiver_[in.receiver].port;
  Output& out = output_[o];
  if (!has_room(out, now) && out.starved_since == kNever) starve(o, cycle);
  in.shown = cycle;
  in.starved = out.starved(cycle);
  open_in_.clear(i);
  out.want.set(i);
  if (out.waiting++ == 0) consider(o);
}

template <unsigned Words>
void Crossbar<Words>::transfer(Cycle now, std::uint64_t cycle, unsigned output) {
  Output& out = output_[output];
  unsigned i = 0;
  if constexpr (Words == 2) i = first_of_128_from(out.want, out.turn);
  else i = out.want.first_from(out.turn);
  Input& in = input_[i];
  const Message& message = in.link->front();
  const FlitTable::Size size = flits_.size(message);
  unsigned flits = size.flits, slot = (cycle + flits) & 63;
  count(message, size, flits);
  ++in.count.packets;
  in.count.flits += flits;
  ++out.count.packets;
  out.count.flits += flits;
  if (in.shown != cycle) {
    std::uint64_t starved = out.starved(cycle) - in.starved;
    in.count.blocked_credit += starved;
    in.count.blocked_arbitration += cycle - in.shown - starved;
  }
  receiver_[in.receiver].link->push(core_at(cycle + flits - 1) + shape_.latency, message);
  in.link->pop();
  in.credit->push(now + shape_.latency, static_cast<std::uint8_t>(flits));
  if (in.senders > 1) in.turn = static_cast<std::uint16_t>((in.sender + 1 - in.first) % in.senders);
  out.turn = i + 1 == inputs_ ? 0 : i + 1;
  out.want.clear(i);
  --out.waiting;
  out.busy = true;
  out.source = static_cast<std::uint16_t>(i);
  out.next_done = (done_occupied_ >> slot & 1) != 0 ? done_[slot] : kNone;
  done_[slot] = static_cast<std::uint16_t>(output);
  done_occupied_ |= 1ull << slot;
  if (out.credit != nullptr) {
    out.credits -= flits;
    if (out.waiting != 0 && !has_room(out, now)) starve(output, cycle + 1);
  }
  if (++in.active < ports_.speedup) {
    open_in_.set(i);
    show_head(i, now, cycle);
  }
}

template <unsigned Words>
bool Crossbar<Words>::idle() const {
  return done_occupied_ == 0 && box_.next(0) == kNever &&
         std::all_of(output_.begin(), output_.end(),
                     [](const Output& o) { return o.waiting == 0; });
}

template <unsigned Words>
void Crossbar<Words>::describe(std::string& out) const {
  out += std::string(direction()) + " crossbar:";
  bool waits = false;
  for (std::size_t o = 0; o < output_.size(); ++o) {
    const Output& at = output_[o];
    if (at.waiting == 0) continue;
    waits = true;
    out += " output " + std::to_string(o) + " wanted by " + std::to_string(at.waiting);
    out += at.credits >= shape_.max_flits
               ? ";"
               : " (no credit: " + std::to_string(at.credits) + " flits);";
  }
  out += waits ? "\n" : " no packet waits\n";
}

template <unsigned Words>
std::vector<stats::NocPort> Crossbar<Words>::ports() const {
  std::vector<stats::NocPort> all;
  for (const Input& in : input_) all.push_back(in.count);
  for (const Output& out : output_) all.push_back(out.count);
  return all;
}

template <unsigned Words>
std::vector<std::string> Crossbar<Words>::audit() const {
  std::vector<std::string> broken;
  std::string name = std::string(direction()) + " crossbar: ";
  stats::NocPort in, out;
  for (const Input& i : input_) stats::accumulate(in, i.count);
  for (const Output& o : output_) stats::accumulate(out, o.count);
  stats::NocCounters all = counters();
  if (in.packets != out.packets || in.packets != all.packets)
    broken.push_back(name + std::to_string(in.packets) + " packets went in, " +
                     std::to_string(out.packets) + " came out");
  if (in.flits != out.flits || in.flits != all.flits)
    broken.push_back(name + std::to_string(in.flits) + " flits went in, " +
                     std::to_string(out.flits) + " came out");
  for (std::size_t o = 0; o < output_.size(); ++o)
    if (output_[o].credits > shape_.credits)
      broken.push_back(name + "output " + std::to_string(o) + " has " +
                       std::to_string(output_[o].credits) + " credits of " +
                       std::to_string(shape_.credits));
  return broken;
}

std::unique_ptr<Network> make_crossbar(const NetworkShape& shape, const CrossbarShape& ports) {
  const std::size_t inputs =
      (shape.wiring.senders.size() + ports.senders_per_port - 1) / ports.senders_per_port;
  RADDLE_ASSERT(inputs <= BitSet<16>::kSize);
  if (inputs <= BitSet<2>::kSize) return std::make_unique<Crossbar<2>>(shape, ports);
  if (inputs <= BitSet<4>::kSize) return std::make_unique<Crossbar<4>>(shape, ports);
  return std::make_unique<Crossbar<16>>(shape, ports);
}

}  // namespace raddle::timing

#include "raddle/timing/noc/crossbar.h"

#include "raddle/timing/gpu/engine.h"

namespace raddle::timing {

Crossbar::Crossbar(const NetworkShape& shape, const CrossbarShape& ports, const AddressMap* map)
    : Network(shape, map),
      ports_(ports),
      sender_(shape.senders),
      receiver_(shape.receivers),
      input_((shape.senders + ports.senders_per_port - 1) / ports.senders_per_port),
      output_((shape.receivers + ports.receivers_per_port - 1) / ports.receivers_per_port) {}

void Crossbar::connect_input(unsigned sender, MessageLink& in, CreditLink& credit_out) {
  unsigned i = sender / ports_.senders_per_port;
  sender_[sender] = {&in, &credit_out, i};
  input_[i].first = i * ports_.senders_per_port;
  ++input_[i].senders;
  open_in_.set(i);
}

void Crossbar::connect_output(unsigned receiver, MessageLink& out, CreditLink* credit_in) {
  unsigned o = receiver / ports_.receivers_per_port;
  RADDLE_ASSERT(credit_in == nullptr || ports_.receivers_per_port == 1);
  receiver_[receiver] = {&out, o};
  output_[o].credit = credit_in, output_[o].credits = shape_.credits;
  free_out_.set(o), credit_ok_.set(o);
}

void Crossbar::add_to(Engine& engine) { engine.add(*this); }

Cycle Crossbar::tick(Cycle now) {
  const ClockRatio& clock = shape_.clock;
  std::uint64_t cycle = clock.first_from(now), last = clock.memory_at(now);
  credit_box_.take(now).each([&](unsigned o) { take_credits(o, now, cycle); });
  box_.take(now).each([&](unsigned s) {
    if (unsigned i = sender_[s].port; open_in_.test(i)) show_head(i, now, cycle);
  });
  for (; cycle <= last; ++cycle) step(now, cycle);
  return next_event(now);
}

void Crossbar::step(Cycle now, std::uint64_t cycle) {
  if ((done_occupied_ >> (cycle & 63) & 1) != 0) finish_transfers(now, cycle);
  for (unsigned round = 0; round < ports_.speedup; ++round) {
    SmSet go = wanted_ & free_out_ & credit_ok_;
    go.each(
        [&](unsigned o) { transfer(now, cycle, output_[o].want.first_from(output_[o].turn), o); });
  }
}

Cycle Crossbar::next_event(Cycle now) const {
  Cycle next = next_arrival(now + 1);
  std::uint64_t cycle = shape_.clock.memory_at(now) + 1;
  if (done_occupied_ != 0)
    next = std::min(next,
                    shape_.clock.core_at(
                        cycle + lowest(std::rotr(done_occupied_, static_cast<int>(cycle & 63)))));
  // A head shown in a core cycle without a network cycle, or one more than the rounds of a cycle.
  if ((wanted_ & free_out_ & credit_ok_).any()) next = std::min(next, shape_.clock.core_at(cycle));
  return next;
}

void Crossbar::finish_transfers(Cycle now, std::uint64_t cycle) {
  unsigned slot = cycle & 63;
  done_occupied_ &= ~(1ull << slot);
  SmSet done = out_done_[slot];
  out_done_[slot] = {};
  free_out_ |= done;
  done.each([&](unsigned o) {
    unsigned i = output_[o].source;
    Input& in = input_[i];
    if (in.active-- < ports_.speedup) return;  // shows a head, or has none to show
    open_in_.set(i);
    show_head(i, now, cycle);
  });
}

void Crossbar::take_credits(unsigned o, Cycle now, std::uint64_t cycle) {
  Output& out = output_[o];
  for (; out.credit->next_arrival() <= now; out.credit->pop()) out.credits += out.credit->front();
  if (out.credits < shape_.max_flits) return;
  credit_ok_.set(o);
  out.count.blocked_credit = out.starved(cycle), out.starved_since = kNever;
}

unsigned Crossbar::oldest_sender(const Input& in) const {
  unsigned best = in.first, from = in.turn;
  Cycle at = kNever;
  for (unsigned n = 0; n < in.senders; ++n, from = from + 1 == in.senders ? 0 : from + 1) {
    Cycle arrival = sender_[in.first + from].link->next_arrival();
    if (arrival < at) at = arrival, best = in.first + from;
  }
  return best;
}

void Crossbar::show_head(unsigned i, Cycle now, std::uint64_t cycle) {
  Input& in = input_[i];
  in.sender = in.senders == 1 ? in.first : oldest_sender(in);
  in.head = sender_[in.sender].link;
  if (in.head->next_arrival() > now) return;
  in.receiver = receiver(in.head->front());
  unsigned o = receiver_[in.receiver].port;
  Output& out = output_[o];
  if (!credit_ok_.test(o) && out.starved_since == kNever) out.starved_since = cycle;
  in.shown = cycle, in.starved = out.starved(cycle);
  open_in_.clear(i), out.want.set(i), wanted_.set(o);
}

void Crossbar::transfer(Cycle now, std::uint64_t cycle, unsigned i, unsigned o) {
  Output& out = output_[o];
  Input& in = input_[i];
  const Message m = in.head->front();
  in.head->pop();
  unsigned flits = flits_.flits(m), slot = (cycle + flits) & 63;
  count(m, flits, flits);
  std::uint64_t starved = out.starved(cycle) - in.starved;
  ++in.count.packets, in.count.flits += flits, ++out.count.packets, out.count.flits += flits;
  in.count.blocked_credit += starved, in.count.blocked_arbitration += cycle - in.shown - starved;
  receiver_[in.receiver].link->push(shape_.clock.core_at(cycle + flits - 1) + shape_.latency, m);
  sender_[in.sender].credit->push(now + shape_.latency, static_cast<std::uint8_t>(flits));
  if (in.senders > 1)
    in.turn = in.sender + 1 - in.first == in.senders ? 0 : in.sender + 1 - in.first;
  out.turn = i + 1 == input_.size() ? 0 : i + 1;
  out.want.clear(i);
  if (!out.want.any()) wanted_.clear(o);
  free_out_.clear(o);
  out.source = i;
  out_done_[slot].set(o), done_occupied_ |= 1ull << slot;
  if (out.credit != nullptr) {
    out.credits -= flits;
    if (out.credits < shape_.max_flits) {
      credit_ok_.clear(o);
      if (wanted_.test(o)) out.starved_since = cycle + 1;
    }
  }
  if (++in.active < ports_.speedup) open_in_.set(i), show_head(i, now, cycle);
}

bool Crossbar::idle() const {
  return !wanted_.any() && done_occupied_ == 0 && box_.next(0) == kNever;
}

void Crossbar::describe(std::string& out) const {
  out += std::string(direction()) + " crossbar:";
  if (!wanted_.any()) out += " no packet waits";
  wanted_.each([&](unsigned o) {
    out += " output " + std::to_string(o) + " wanted by " + std::to_string(output_[o].want.count());
    out += credit_ok_.test(o) ? ";"
                              : " (no credit: " + std::to_string(output_[o].credits) + " flits);";
  });
  out += "\n";
}

std::vector<stats::NocPort> Crossbar::ports() const {
  std::vector<stats::NocPort> all;
  for (const Input& in : input_) all.push_back(in.count);
  for (const Output& out : output_) all.push_back(out.count);
  return all;
}

std::vector<std::string> Crossbar::audit() const {
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

}  // namespace raddle::timing

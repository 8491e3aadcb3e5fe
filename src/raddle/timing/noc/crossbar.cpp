#include "raddle/timing/noc/crossbar.h"

namespace raddle::timing {

CrossbarShape request_network(const MachineSpec& machine) {
  return {Direction::Request,         machine.sm.count,
          machine.l2.slices,          machine.noc.queue_flits,
          machine.noc.latency_cycles, largest_packet(machine, Direction::Request),
          packet_size(machine)};
}

CrossbarShape reply_network(const MachineSpec& machine) {
  return {Direction::Reply,           machine.l2.slices,
          machine.sm.count,           machine.noc.queue_flits,
          machine.noc.latency_cycles, largest_packet(machine, Direction::Reply),
          packet_size(machine)};
}

unsigned port_capacity(const MachineSpec& machine) {
  return std::max(machine.noc.queue_flits,
                  2 * machine.noc.latency_cycles + largest_packet(machine, Direction::Reply));
}

Crossbar::Crossbar(const CrossbarShape& shape, const AddressMap* map)
    : shape_(shape),
      map_(map),
      flits_(shape.size, shape.direction),
      input_(shape.inputs),
      output_(shape.outputs) {
  RADDLE_ASSERT(shape.inputs >= 1 && shape.inputs <= SmSet::kSize);
  RADDLE_ASSERT(shape.outputs >= 1 && shape.outputs <= SmSet::kSize);
  RADDLE_ASSERT(shape.latency >= 1 && shape.latency <= 32);
  RADDLE_ASSERT(shape.max_flits < 64 && shape.max_flits <= shape.credits);
  RADDLE_ASSERT((map != nullptr) == (shape.direction == Direction::Request));
}

void Crossbar::connect_input(unsigned i, MessageLink& in, CreditLink& credit_out) {
  input_[i] = {&in, &credit_out};
  idle_in_.set(i);
}

void Crossbar::connect_output(unsigned o, MessageLink& out, CreditLink* credit_in) {
  output_[o].link = &out, output_[o].credit = credit_in, output_[o].credits = shape_.credits;
  free_out_.set(o), credit_ok_.set(o);
}

Cycle Crossbar::tick(Cycle now) {
  if ((done_occupied_ >> (now & 63) & 1) != 0) finish_transfers(now);
  credit_box_.take(now).each([&](unsigned o) { take_credits(o, now); });
  box_.take(now).each([&](unsigned i) {
    if (idle_in_.test(i)) show_head(i, now);
  });
  arbitrate(now);  // leaves nothing that could go before the next event
  Cycle next = next_arrival(now + 1);
  if (done_occupied_ != 0)
    next = std::min(next,
                    now + 1 + lowest(std::rotr(done_occupied_, static_cast<int>((now + 1) & 63))));
  return next;
}

void Crossbar::finish_transfers(Cycle now) {
  unsigned slot = now & 63;
  done_occupied_ &= ~(1ull << slot);
  free_out_ |= out_done_[slot];
  out_done_[slot] = {};
  SmSet inputs = in_done_[slot];
  in_done_[slot] = {};
  idle_in_ |= inputs;
  inputs.each([&](unsigned i) { show_head(i, now); });
}

void Crossbar::take_credits(unsigned o, Cycle now) {
  Output& out = output_[o];
  for (; out.credit->next_arrival() <= now; out.credit->pop()) out.credits += out.credit->front();
  if (out.credits >= shape_.max_flits) credit_ok_.set(o);
}

void Crossbar::show_head(unsigned i, Cycle now) {
  const MessageLink& link = *input_[i].link;
  if (link.next_arrival() > now) return;
  unsigned o = destination(link.front());
  idle_in_.clear(i), output_[o].want.set(i), wanted_.set(o);
}

void Crossbar::arbitrate(Cycle now) {
  SmSet go = wanted_ & free_out_ & credit_ok_;
  go.each([&](unsigned o) { transfer(now, output_[o].want.first_from(output_[o].turn), o); });
}

void Crossbar::transfer(Cycle now, unsigned i, unsigned o) {
  Output& out = output_[o];
  const Message m = input_[i].link->front();
  input_[i].link->pop();
  unsigned flits = flits_.flits(m), slot = (now + flits) & 63;
  ++counters_.packets, counters_.flits += flits, counters_.flit_hops += flits;
  counters_.bytes += flits_.bytes(m);
  out.link->push(now + flits - 1 + shape_.latency, m);
  input_[i].credit->push(now + shape_.latency, static_cast<std::uint8_t>(flits));
  out.turn = i + 1 == shape_.inputs ? 0 : i + 1;
  out.want.clear(i);
  if (!out.want.any()) wanted_.clear(o);
  free_out_.clear(o);
  in_done_[slot].set(i), out_done_[slot].set(o), done_occupied_ |= 1ull << slot;
  if (out.credit == nullptr) return;
  out.credits -= flits;
  if (out.credits < shape_.max_flits) credit_ok_.clear(o);
}

bool Crossbar::idle() const {
  return !wanted_.any() && done_occupied_ == 0 && box_.next(0) == kNever;
}

void Crossbar::describe(std::string& out) const {
  out += shape_.direction == Direction::Request ? "request crossbar:" : "reply crossbar:";
  if (!wanted_.any()) out += " no packet waits";
  wanted_.each([&](unsigned o) {
    out += " output " + std::to_string(o) + " wanted by " + std::to_string(output_[o].want.count());
    out += credit_ok_.test(o) ? ";"
                              : " (no credit: " + std::to_string(output_[o].credits) + " flits);";
  });
  out += "\n";
}

}  // namespace raddle::timing

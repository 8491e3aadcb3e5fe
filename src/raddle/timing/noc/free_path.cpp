#include "raddle/timing/noc/free_path.h"

#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

FreePath::FreePath(const NetworkShape& shape)
    : Network(shape), sender_(senders()), receiver_(receivers()) {}

void FreePath::attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) {
  sender_[sender].link = &in;
  sender_[sender].credit = &credit_out;
}

void FreePath::attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) {
  receiver_[receiver].link = &out;
  receiver_[receiver].credit = credit_in;
  receiver_[receiver].credits = shape_.credits;
}

void FreePath::add_to(Engine& engine) { engine.add(*this); }

Cycle FreePath::tick(Cycle now) {
  bool any_credits = false;
  credit_box_.take(now, [&](unsigned node) {
    Receiver& to = receiver_[receiver_of(static_cast<NodeId>(node))];
    to.credits += take_credits_of(*to.credit, now);
    any_credits = true;
  });
  if (any_credits && waiting_ != 0)
    for (Sender& sender : sender_)
      if (sender.waits) pass_on(sender, now);
  box_.take(now, [&](unsigned node) {
    Sender& sender = sender_[sender_of(node)];
    if (!sender.waits) pass_on(sender, now);
  });
  return next_arrival(now + 1);
}

/// All that has arrived from a sender, as far as its receivers have room.
void FreePath::pass_on(Sender& sender, Cycle now) {
  for (; sender.link->next_arrival() <= now; sender.link->pop()) {
    const Message& message = sender.link->front();
    const FlitTable::Size size = flits_.size(message);
    Receiver& to = receiver_[receiver_of(message.to)];
    if (to.credit != nullptr && to.credits < size.flits) {
      if (sender.waits) return;
      sender.waits = true;
      sender.since = now;
      ++waiting_;
      return;
    }
    if (sender.waits) {
      sender.waits = false;
      sender.count.blocked_credit += now - sender.since;
      --waiting_;
    }
    if (to.credit != nullptr) to.credits -= size.flits;
    to.link->push(now + shape_.latency, message);
    sender.credit->push(now + shape_.latency, size.flits);
    count(message, size, size.flits);
    for (stats::NocPort* port : {&sender.count, &to.count}) {
      ++port->packets;
      port->flits += size.flits;
    }
  }
}

bool FreePath::idle() const { return waiting_ == 0 && box_.next(0) == kNever; }

void FreePath::describe(std::string& out) const {
  out += std::string(direction()) + " network (ideal): " + std::to_string(waiting_) +
         " senders wait for credits\n";
}

std::vector<stats::NocPort> FreePath::ports() const {
  std::vector<stats::NocPort> all;
  for (const Sender& sender : sender_) all.push_back(sender.count);
  for (const Receiver& receiver : receiver_) all.push_back(receiver.count);
  return all;
}

std::vector<std::string> FreePath::audit() const {
  std::vector<std::string> broken;
  const std::string name = std::string(direction()) + " network (ideal): ";
  stats::NocPort in, out;
  for (const Sender& sender : sender_) stats::accumulate(in, sender.count);
  for (const Receiver& receiver : receiver_) stats::accumulate(out, receiver.count);
  const stats::NocCounters all = counters();
  if (in.packets != out.packets || in.packets != all.packets)
    broken.push_back(name + std::to_string(in.packets) + " packets went in, " +
                     std::to_string(out.packets) + " came out");
  for (const Receiver& receiver : receiver_)
    if (receiver.credits > shape_.credits)
      broken.push_back(name + "a receiver has more credits than places");
  return broken;
}

}  // namespace raddle::timing

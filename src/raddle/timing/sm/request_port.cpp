#include "raddle/timing/sm/request_port.h"

#include <algorithm>

namespace raddle::timing {

RequestPort::RequestPort(const LsuSpec& spec, const AddressMap& map)
    : map_(map),
      flits_(spec.port.packet, Direction::Request),
      pace_(spec.port),
      clock_(network_clock(spec.port)),
      sm_(spec.sm),
      kernel_slots_(spec.kernel_slots),
      wire_(spec.port.latency),
      queue_(spec.l1d.miss_queue),
      ports_(port_capacity(spec.port)),
      credits_(spec.port.queue_flits) {}

inline RequestPort::Sent RequestPort::depart(Cycle now, const Request& request, unsigned flits) {
  const NodeId to = map_.home(request.message.line);
  put_on_wire(now, request.message, flits, [&](Message& message) {
    message.to = to;
    if (ranked_by_ != nullptr) [[unlikely]]
      message.core_rank = ranked_by_->core_rank();
  });
  return {true, true, request.load};
}

/// change(message) says what is not known before it leaves.
template <class Change>
inline void RequestPort::put_on_wire(Cycle now, const Message& message, unsigned flits,
                                     Change change) {
  RADDLE_ASSERT(flits <= credits_);
  credits_ -= flits;
  inject_at_ = pace_.send(now, flits);
  ports_.to_noc.push(now + wire_ + arbiter_, message, change);
  ports_.noc_box->post(now + wire_ + arbiter_, sm_);
}

/// The oldest request leaves if there are credits.
inline RequestPort::Sent RequestPort::inject_oldest(Cycle now) {
  const Request& request = queue_.front();
  const unsigned flits = flits_.flits(request.message);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return {};
  const Sent sent = depart(now, request, flits);
  queue_.pop();
  return sent;
}

/// Requests and segments take turns, packet by packet, as long as there are both.
RequestPort::Sent RequestPort::inject_in_turn(Cycle now) {
  const bool segment = queue_.empty() || (segment_next_ && !transfers_->empty());
  const Sent sent = segment ? inject_segment(now) : inject_oldest(now);
  if (sent.packet) segment_next_ = !segment;
  return sent;
}

RequestPort::Sent RequestPort::inject_segment(Cycle now) {
  const Message message = transfers_->front();
  const unsigned flits = flits_.flits(message);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return {};
  put_on_wire(now, message, flits, [](const Message&) {});
  transfers_->pop();
  return {.packet = true};
}

/// The request leaves that the gate names, if there is one.
RequestPort::Sent RequestPort::inject_by_tenant(Cycle now) {
  const unsigned place = gate_->next(
      now, queue_.size(), [this](unsigned i) -> const Message& { return queue_[i].message; });
  none_may_leave_ = place == RequestGate::kInvalidId;
  lacks_credits_ = false;
  if (none_may_leave_) return {};
  const Request request = queue_[place];
  const unsigned flits = flits_.flits(request.message);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return {};
  const Sent sent = depart(now, request, flits);
  queue_.remove(place);
  gate_->left(request.message);
  return sent;
}

RequestPort::Sent RequestPort::inject(Cycle now) {
  RADDLE_ASSERT(ports_.noc_box != nullptr);
  if (transfers_ != nullptr) [[unlikely]]
    return inject_in_turn(now);
  if (gate_ != nullptr) [[unlikely]]
    return inject_by_tenant(now);
  return inject_oldest(now);
}

Cycle RequestPort::next_departure(Cycle now) const {
  const Cycle port =
      lacks_credits_ ? ports_.credit_in.next_arrival() : std::max(now + 1, inject_at_);
  if (gate_ == nullptr) return port;
  const Cycle tokens = std::max(now + 1, gate_->tokens_at());
  return none_may_leave_ ? tokens : std::min(port, tokens);
}

bool RequestPort::has_credits(Cycle now, unsigned flits) {
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  return credits_ >= flits;
}

void RequestPort::forget_load(unsigned load) {
  for (unsigned i = 0; i < queue_.size(); ++i)
    if (queue_[i].load == load) queue_[i].load = kNoLoad;
}

void RequestPort::obey(Cycle at, const policy::Knobs& knobs) {
  if (!RequestGate::limits(knobs)) {
    if (gate_ != nullptr) gate_->close(at);
    gate_ = nullptr;
  } else {
    if (gate_ == nullptr) {
      if (sharing_ == nullptr) sharing_ = std::make_unique<RequestGate::Counts>(kernel_slots_);
      gate_ = std::make_unique<RequestGate>(clock_, *sharing_);
      for (unsigned i = 0; i < queue_.size(); ++i) gate_->entered(queue_[i].message.tenant);
    }
    gate_->obey(at, knobs);
  }
  // Nothing that leaves later may overtake.
  if (knobs.arbiter_cycles < arbiter_)
    inject_at_ = std::max(inject_at_, at + arbiter_ - knobs.arbiter_cycles);
  arbiter_ = knobs.arbiter_cycles;
  lacks_credits_ = false;  // of another request, if there is one
  none_may_leave_ = false;
}

stats::SharingCounters RequestPort::sharing(Cycle at, unsigned kernel) const {
  if (sharing_ == nullptr) return {};
  stats::SharingCounters out = (*sharing_)[kernel];
  if (gate_ != nullptr) out.token_wait_cycles += gate_->waiting(at, kernel);
  return out;
}

stats::SharingCounters RequestPort::sharing(Cycle at) const {
  if (sharing_ == nullptr) return {};
  stats::SharingCounters sum = sharing_->total();
  if (gate_ != nullptr) sum.token_wait_cycles += gate_->waiting(at);
  return sum;
}

}  // namespace raddle::timing

// The load/store unit under DeNovo: accesses to the L1D with states per word, and its second port.
#include "raddle/timing/sm/lsu.h"

namespace raddle::timing {

void Lsu::observe(policy::L1Observer& observer) {
  if (denovo_ != nullptr) denovo_->observe(observer);
  else l1d_.observe(observer);
}

bool Lsu::serve_coherent(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
                         stats::SmCounters& count) {
  using Outcome = DenovoL1::Outcome;
  const bool load = e.route == Route::Load, store = e.route == Route::Store,
             waits = load || e.route == Route::Atomic;
  const DenovoL1::Access access{a.line, static_cast<WordMask>(a.words), e.owner.kernel,
                                waits   ? e.load
                                : store ? std::uint16_t{e.owner.warp}
                                        : static_cast<std::uint16_t>(kStore | e.owner.warp),
                                e.owner.warp};
  const DenovoL1::Answer answer = load ? denovo_->load(now, access, e.bypass, can_send_coherent())
                                  : store ? denovo_->store(now, access, can_send_coherent())
                                          : denovo_->atomic(now, access, can_send_coherent());
  if (denovo_->events() != nullptr) [[unlikely]]
    tell(now, e, a, answer);
  if (answer.outcome == Outcome::Blocked) return refuse(answer.why);
  const bool hit = answer.outcome == Outcome::Hit;
  if (hit)
    wheel.push(waits ? now + hit_latency_ : now + 1,
               waits ? Event::piece(e.load) : Event::acknowledge(e.owner.warp));
  if (load) {
    ++count.l1d_accesses, ++(hit            ? count.l1d_hits
                             : answer.asked ? count.l1d_misses
                                            : count.l1d_pending_hits);
    if (answer.asked) count.l1d_miss_cycles -= now;  // the answer adds its own cycle
  } else if (store) {
    ++count.l1d_stores, count.l1d_store_hits += hit;
    count.stores_combined += !hit && !answer.asked;
  } else {
    ++count.atomics;
  }
  if (hit && !store) ++count.served[static_cast<unsigned>(stats::ServedFrom::L1)];
  if (!store && answer.asked) send_coherent(waits ? e.load : kNoLoad, count);
  return true;
}

/// A store that is registered is a hit: its data stay.
void Lsu::tell(Cycle now, const Entry& e, const LineAccess& a, const DenovoL1::Answer& answer) {
  using Outcome = DenovoL1::Outcome;
  const bool refused = answer.outcome == Outcome::Blocked;
  if (refused && refused_) return;
  tell_access(now, e, a,
              refused ? policy::L1Outcome::Refused
              : answer.outcome == Outcome::Hit || e.route == Route::Store ? policy::L1Outcome::Hit
              : answer.asked                                              ? policy::L1Outcome::Miss
                             : policy::L1Outcome::PendingHit);
}

/// What the cache has just asked for. Precondition: room in the miss queue.
void Lsu::send_coherent(std::uint16_t load, stats::SmCounters& count) {
  ++count.requests;
  miss_queue_.push({denovo_->requests().front(), load});
  denovo_->requests().pop();
}

/// A write-back, and a registration if it may leave.
bool Lsu::drain_coherent(SmKernelCounters& counters) {
  bool any = false;
  if (auto& out = denovo_->write_backs(); !out.empty() && !miss_queue_.full()) {
    stats::SmCounters& count = counters[out.front().kernel];
    ++count.requests, ++count.l1d_write_backs;
    miss_queue_.push({out.front()});
    out.pop();
    any = true;
  }
  if (!miss_queue_.full() && may_register()) {
    denovo_->send_registration();
    stats::SmCounters& count = counters[denovo_->requests().front().kernel];
    ++count.registrations;
    send_coherent(kNoLoad, count);
    any = true;
  }
  if (any) stuck_ = false;
  return any;
}

/// What a message has led to.
void Lsu::take_answers(Cycle now) {
  for (Ring<Message>& out = denovo_->responses(); !out.empty(); out.pop())
    answers_.push(now + answer_cycles_, out.front(), out.front().dram_accesses);
}

void Lsu::take_answer_credits(Cycle now) {
  answer_credits_ += take_credits_of(ports_.reply_credit_in, now);
}

bool Lsu::inject_answer(Cycle now) {
  lacks_answer_credits_ = false;
  if (answers_.empty() || std::max(answer_at_, answers_.front_at()) > now) return false;
  const Message& m = answers_.front();
  const unsigned flits = answer_flits_.flits(m);
  if (answer_credits_ < flits) take_answer_credits(now);
  lacks_answer_credits_ = answer_credits_ < flits;
  if (lacks_answer_credits_) return false;
  answer_credits_ -= flits, answer_at_ = answer_pace_.send(now, flits);
  Message answer = m;
  answer.to = m.kind == MessageKind::Recalled ? map_.home(m.line) : Endpoints::sm(m.sm);
  ports_.to_replies.push(now + wire_, answer);
  ports_.reply_box->post(now + wire_, sm_);
  answers_.pop();
  return true;
}

/// What waits beside the oldest instruction: write-backs, registrations, answers.
Cycle Lsu::next_coherent(Cycle now) const {
  const bool drains = !miss_queue_.full() && (!denovo_->write_backs().empty() || may_register());
  return drains ? now + 1 : next_answer(now);
}

Cycle Lsu::next_answer(Cycle now) const {
  if (answers_.empty()) return kNever;
  if (lacks_answer_credits_) return std::max(now + 1, ports_.reply_credit_in.next_arrival());
  return std::max({now + 1, answer_at_, answers_.front_at()});
}

}  // namespace raddle::timing

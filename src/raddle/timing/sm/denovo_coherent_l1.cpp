#include "raddle/timing/sm/denovo_coherent_l1.h"

namespace raddle::timing {

DenovoCoherentL1::DenovoCoherentL1(const LsuSpec& spec)
    : drains_(spec.l1d.keeps_dirty() || spec.l1d.store_buffer != 0),
      l1_(spec.l1d, spec.sm, spec.endpoints.sms, spec.endpoints.slices),
      answers_(l1_.responses().capacity()),
      flits_(spec.port.packet, Direction::Reply),
      pace_(spec.port),
      ports_(port_capacity(spec.port)),
      credits_(spec.port.queue_flits),
      answer_cycles_(spec.coherence.answer_cycles) {}

Served DenovoCoherentL1::serve(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                               EventWheel& wheel, stats::SmCounters& count) {
  using Outcome = DenovoL1::Outcome;
  const bool load = e.route == Route::Load, store = e.route == Route::Store,
             waits = load || e.route == Route::Atomic;
  const DenovoL1::Access access{a.line, static_cast<WordMask>(a.words), e.owner.kernel,
                                waits ? e.load
                                : store
                                    ? std::uint16_t{e.owner.warp}
                                    : static_cast<std::uint16_t>(LsuCore::kStore | e.owner.warp),
                                e.owner.warp};
  const bool room = can_send(core, e.owner.kernel);
  const DenovoL1::Answer answer = load    ? l1_.load(now, access, e.bypass, room)
                                  : store ? l1_.store(now, access, room)
                                          : l1_.atomic(now, access, room);
  if (l1_.events() != nullptr) [[unlikely]]
    notify(core, now, e, a, answer);
  if (answer.outcome == Outcome::Blocked) {
    core.refuse(answer.why);
    return Served::Refused;
  }
  const bool hit = answer.outcome == Outcome::Hit;
  if (hit)
    wheel.push(waits ? now + core.hit_latency() : now + 1,
               waits ? Event::transaction(e.load) : Event::acknowledge(e.owner.warp));
  count_access(e, answer, now, count);
  if (hit && !store) ++count.served[static_cast<unsigned>(stats::ServedFrom::L1)];
  if (!store && answer.asked) send(core, waits ? e.load : LsuCore::kNoLoad, count);
  return Served::Done;
}

void DenovoCoherentL1::count_access(const Entry& e, const DenovoL1::Answer& answer, Cycle now,
                                    stats::SmCounters& count) const {
  const bool hit = answer.outcome == DenovoL1::Outcome::Hit;
  if (e.route == Route::Load) {
    ++count.l1d_accesses;
    ++(hit ? count.l1d_hits : answer.asked ? count.l1d_misses : count.l1d_pending_hits);
    if (answer.asked) count.l1d_miss_cycles -= now;  // the answer adds its own cycle
  } else if (e.route == Route::Store) {
    ++count.l1d_stores;
    count.l1d_store_hits += hit;
    count.stores_combined += !hit && !answer.asked;
  } else {
    ++count.atomics;
  }
}

/// A store that is registered is a hit: its data stay.
void DenovoCoherentL1::notify(const LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                              const DenovoL1::Answer& answer) {
  using Outcome = DenovoL1::Outcome;
  const bool refused = answer.outcome == Outcome::Blocked;
  if (refused && core.head_refused()) return;
  const policy::L1Outcome outcome = refused ? policy::L1Outcome::Refused
                                    : answer.outcome == Outcome::Hit || e.route == Route::Store
                                        ? policy::L1Outcome::Hit
                                    : answer.asked ? policy::L1Outcome::Miss
                                                   : policy::L1Outcome::PendingHit;
  // Stores and atomics leave all of the line.
  const std::uint8_t kept = e.route == Route::Load ? std::uint8_t{0} : a.sectors;
  policy::L1Access notified = core.observed(now, e, a, kept, outcome);
  // Nothing goes past this cache: a volatile load only does not use its Valid words.
  notified.bypass = false;
  l1_.events()->access(notified);
}

/// What the cache has just asked for. Precondition: room in the miss queue.
void DenovoCoherentL1::send(LsuCore& core, std::uint16_t load, stats::SmCounters& count) {
  ++count.requests;
  core.enqueue(l1_.requests().front(), load);
  l1_.requests().pop();
}

/// A write-back, and a registration if it may leave.
bool DenovoCoherentL1::drain(LsuCore& core, SmKernelCounters& counters) {
  bool any = false;
  if (auto& out = l1_.write_backs(); !out.empty() && !core.queue_full()) {
    stats::SmCounters& count = counters[out.front().kernel];
    ++count.requests;
    ++count.l1d_write_backs;
    core.enqueue(out.front());
    out.pop();
    any = true;
  }
  if (!core.queue_full() && may_register(core)) {
    l1_.send_registration();
    stats::SmCounters& count = counters[l1_.requests().front().kernel];
    ++count.registrations;
    send(core, LsuCore::kNoLoad, count);
    any = true;
  }
  if (any) core.wake_heads();
  return any;
}

/// What a message has led to.
void DenovoCoherentL1::take_answers(Cycle now) {
  for (Ring<Message>& out = l1_.responses(); !out.empty(); out.pop())
    answers_.push(now + answer_cycles_, out.front(), out.front().dram_accesses);
}

bool DenovoCoherentL1::send_answer(LsuCore& core, Cycle now) {
  lacks_answer_credits_ = false;
  if (answers_.empty() || std::max(free_at_, answers_.front_at()) > now) return false;
  const Message& m = answers_.front();
  const unsigned flits = flits_.flits(m);
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  lacks_answer_credits_ = credits_ < flits;
  if (lacks_answer_credits_) return false;
  credits_ -= flits;
  free_at_ = pace_.send(now, flits);
  Message answer = m;
  answer.to = m.kind == MessageKind::Recalled ? core.home(m.line) : Endpoints::sm(m.sm);
  ports_.to_noc.push(now + core.wire(), answer);
  ports_.noc_box->post(now + core.wire(), core.sm());
  answers_.pop();
  return true;
}

/// What waits beside the oldest instruction: write-backs, registrations, answers.
Cycle DenovoCoherentL1::next_event(const LsuCore& core, Cycle now) const {
  const bool sends = !core.queue_full() && (!l1_.write_backs().empty() || may_register(core));
  return sends ? now + 1 : next_answer(now);
}

Cycle DenovoCoherentL1::next_answer(Cycle now) const {
  if (answers_.empty()) return kNever;
  if (lacks_answer_credits_) return std::max(now + 1, ports_.credit_in.next_arrival());
  return std::max({now + 1, free_at_, answers_.front_at()});
}

void DenovoCoherentL1::describe(std::string& out) const {
  out += ", " + std::to_string(l1_.registrations_under_way()) + " registrations, " +
         std::to_string(answers_.size()) + " answers to others";
}

}  // namespace raddle::timing

#include "raddle/timing/sm/lsu_core.h"

#include <numeric>

#include "raddle/timing/noc/network.h"

namespace raddle::timing {

namespace {
using stats::Refusal;
}  // namespace

LsuCore::LsuCore(const LsuSpec& spec, const AddressMap& map)
    : map_(map),
      lines_(spec.lines),
      half_warps_(spec.l1d.coalescing == Coalescing::HalfWarp),
      lines_per_cycle_(spec.lines_per_cycle),
      sector_banks_(spec.sector_banks),
      flits_(spec.port.packet, Direction::Request),
      pace_(spec.port),
      clock_(network_clock(spec.port)),
      sm_(spec.sm),
      wire_(spec.port.latency),
      hit_latency_(spec.l1d.hit_latency_cycles),
      shared_latency_(spec.shared_latency),
      const_latency_(spec.const_latency),
      no_l1_(!spec.l1d.present()),
      pieces_of_each_(half_warps_ ? HalfWarps::kMost : trace::kMaxPieces),
      front_(spec.queue, pieces_of_each_, Front::kAll),
      const_cache_(spec.constants),
      loads_(spec.loads_in_flight),
      free_loads_(spec.loads_in_flight),
      withdrawn_(spec.kernel_slots),
      miss_queue_(spec.l1d.miss_queue),
      ports_(port_capacity(spec.port)),
      sequence_(spec.kernel_slots, ~std::uint64_t{0}),
      credits_(spec.port.queue_flits) {
  RADDLE_ASSERT(loads_.size() < kConst);  // a load's number goes into a tag
  std::iota(free_loads_.rbegin(), free_loads_.rend(), std::uint16_t{0});
}

/// The head cannot go on; nothing has changed but what is counted.
bool LsuCore::refused(Cycle now, stats::SmCounters& count) {
  Front& f = front_;
  if (f.refused && f.why != f.refused_for) add_refused(f, now, f.queue.front().owner.kernel, count);
  if (!f.refused || f.why != f.refused_for) f.refused_since = now;
  f.refused_for = f.why;
  f.refused = f.stuck = true;
  return false;
}

void LsuCore::add_refused(const Front& front, Cycle at, unsigned kernel, stats::SmCounters& count) {
  if (!front.refused || front.queue.front().owner.kernel != kernel) return;
  count.l1d_reservation_fails += at - front.refused_since;
  count.l1d_refused[static_cast<unsigned>(front.refused_for)] += at - front.refused_since;
}

/// The result of a shared or constant access is there at `done`.
void LsuCore::write_back(Cycle done, const Owner& owner, EventWheel& wheel) {
  const DecodedInst& in = *owner.code;
  if (owner.warp == kForeign) [[unlikely]]
    return wheel.push(done, Event::foreign());
  if (in.destination == DecodedInst::kMultiple)
    wheel.push(done, Event::write_multiple(owner.warp, owner.inst));
  else if (in.destination != DecodedInst::kNone)
    wheel.push(done, Event::write(owner.warp, in.destination));
}

void LsuCore::send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
                   std::uint8_t sectors, stats::SmCounters& count) {
  ++count.requests;
  const bool loads = e.route == Route::Load || e.route == Route::Atomic;
  const bool adds = kind == MessageKind::Atomic || kind == MessageKind::Reduce;
  enqueue({a.line, static_cast<std::uint16_t>(sm_), tag, sectors, kind,
           adds ? a.meeting() : std::uint8_t{0}, e.owner.kernel},
          loads ? e.load : kNoLoad);
}

/// On the wire, with a place in the miss queue free for the oldest instruction.
inline void LsuCore::depart(Cycle now, const Leaving& leaving, unsigned flits) {
  if (leaving.load != kNoLoad) loads_[leaving.load].departed = static_cast<std::uint32_t>(now);
  Message request = leaving.message;
  request.to = map_.home(request.line);
  if (ranked_by_ != nullptr) [[unlikely]]
    request.core_rank = ranked_by_->core_rank();
  put_on_wire(now, request, flits);
  wake_heads_from(Refusal::MissQueue);
}

inline void LsuCore::put_on_wire(Cycle now, const Message& m, unsigned flits) {
  credits_ -= flits;
  inject_at_ = pace_.send(now, flits);
  ports_.to_noc.push(now + wire_ + arbiter_, m);
  ports_.noc_box->post(now + wire_ + arbiter_, sm_);
}

/// The oldest request leaves if there are credits.
inline bool LsuCore::inject_oldest(Cycle now) {
  const Leaving& leaving = miss_queue_.front();
  const unsigned flits = flits_.flits(leaving.message);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return false;
  depart(now, leaving, flits);
  miss_queue_.pop();
  return true;
}

/// Requests and segments take turns, packet by packet, as long as there are both.
bool LsuCore::inject_in_turn(Cycle now) {
  const bool segment = miss_queue_.empty() || (segment_next_ && !transfers_->empty());
  if (!(segment ? inject_segment(now) : inject_oldest(now))) return false;
  segment_next_ = !segment;
  return true;
}

bool LsuCore::inject_segment(Cycle now) {
  const Message m = transfers_->front();
  const unsigned flits = flits_.flits(m);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return false;
  put_on_wire(now, m, flits);
  transfers_->pop();
  return true;
}

/// The request leaves that the gate names, if there is one.
bool LsuCore::inject_by_tenant(Cycle now) {
  const unsigned place = gate_->next(now, miss_queue_.size(), [this](unsigned i) -> const Message& {
    return miss_queue_[i].message;
  });
  none_may_leave_ = place == RequestGate::kNobody;
  lacks_credits_ = false;
  if (none_may_leave_) return false;
  const Leaving leaving = miss_queue_[place];
  const unsigned flits = flits_.flits(leaving.message);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return false;
  depart(now, leaving, flits);
  miss_queue_.remove(place);
  gate_->left(leaving.message);
  return true;
}

/// What is next leaves if it may. Precondition: something waits, and the port is free.
bool LsuCore::inject_next(Cycle now) {
  if (transfers_ != nullptr) [[unlikely]]
    return inject_in_turn(now);
  if (gate_ != nullptr) [[unlikely]]
    return inject_by_tenant(now);
  return inject_oldest(now);
}

/// When what is next may leave. Precondition: something waits.
Cycle LsuCore::next_departure(Cycle now) const {
  const Cycle port =
      lacks_credits_ ? ports_.credit_in.next_arrival() : std::max(now + 1, inject_at_);
  if (gate_ == nullptr) return port;
  const Cycle tokens = std::max(now + 1, gate_->tokens_at());
  return none_may_leave_ ? tokens : std::min(port, tokens);
}

/// The knobs that concern the miss queue hold from cycle `at` on.
void LsuCore::limit_requests(Cycle at, const policy::Knobs& knobs) {
  if (!RequestGate::limits(knobs)) {
    if (gate_ != nullptr) gate_->close(at);
    gate_ = nullptr;
  } else {
    if (gate_ == nullptr) {
      if (sharing_ == nullptr) sharing_ = std::make_unique<RequestGate::Counts>(withdrawn_.slots());
      gate_ = std::make_unique<RequestGate>(clock_, *sharing_);
      for (unsigned i = 0; i < miss_queue_.size(); ++i)
        gate_->entered(miss_queue_[i].message.tenant);
    }
    gate_->obey(at, knobs);
  }
  // Nothing that leaves later may overtake.
  if (knobs.arbiter_cycles < arbiter_)
    inject_at_ = std::max(inject_at_, at + arbiter_ - knobs.arbiter_cycles);
  arbiter_ = knobs.arbiter_cycles;
  lacks_credits_ = false;  // of another request, if there is one
  none_may_leave_ = false;
  wake_heads();
}

// --- a front for each tenant ---------------------------------------------------------------------

/// What the tenant has in a front of its own is served there to its end; what it had in the common
/// one, likewise.
void LsuCore::give_fronts(const policy::Knobs& knobs) {
  const unsigned all = front_.queue.capacity();
  for (unsigned t = 0; t < kMostTenants; ++t) {
    const std::uint32_t places = knobs.tenant[t].lsu_queue;
    Front* own = find_front(*this, t);
    if (own == nullptr && places != policy::kNoLimit)
      own = &others_.emplace_back(all, pieces_of_each_, t);
    if (own != nullptr) own->places = places == policy::kNoLimit ? 0 : std::min(all, places);
  }
}

policy::WarpMask LsuCore::full_fronts(const policy::TenantMasks& of_tenant) const {
  policy::WarpMask out = 0;
  for (unsigned t = 0; t < kMostTenants; ++t)
    if (divided_front(*this, t).full()) out |= of_tenant[t];
  return out;
}

// --- the miss queue's end ------------------------------------------------------------------------

bool LsuCore::has_credits(Cycle now, unsigned flits) {
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  return credits_ >= flits;
}

stats::SharingCounters LsuCore::sharing(Cycle at) const {
  if (sharing_ == nullptr) return {};
  stats::SharingCounters sum = sharing_->total();
  if (gate_ != nullptr) sum.token_wait_cycles += gate_->waiting(at);
  return sum;
}

/// Not all that are over have left from the front when nobody looks.
void LsuCore::asked(std::uint16_t mshr) {
  const std::uint64_t number = asked_.empty() ? 1 : asked_.back().number + 1;
  if (asked_.size() >= 4 * last_asked_.size())
    std::erase_if(asked_, [&](const Asked& a) { return last_asked_[a.mshr] != a.number; });
  last_asked_[mshr] = number;
  asked_.push_back({number, mshr});
}

void LsuCore::keep_descriptor(unsigned load, const std::uint32_t* payload, unsigned pieces,
                              std::uint32_t base) {
  Descriptor& out = descriptors_[load];
  out.base = base;
  out.pieces = pieces;
  out.distinct = lines_.one_for_one() && lines_.whole_lines();
  for (unsigned i = 0; i < pieces; ++i, payload += trace::kPieceWords) {
    out.piece[i] = {payload[0], payload[1], payload[2]};
    out.distinct = out.distinct && (i == 0 || out.piece[i - 1].line < out.piece[i].line);
  }
}

policy::L1Access LsuCore::observed(Cycle now, const Entry& e, const LineAccess& a,
                                   std::uint8_t kept, policy::L1Outcome outcome) const {
  const policy::L1Kind kind = e.route == Route::Load    ? policy::L1Kind::Load
                              : e.route == Route::Store ? policy::L1Kind::Store
                                                        : policy::L1Kind::Atomic;
  return {now,
          a.line,
          e.owner.inst,
          front_.head.lanes,
          lines_.widened(a.sectors),
          kept,
          e.owner.warp,
          e.owner.kernel,
          kind,
          e.owner.code->local,
          e.bypass,
          outcome,
          e.owner.tenant};
}

}  // namespace raddle::timing

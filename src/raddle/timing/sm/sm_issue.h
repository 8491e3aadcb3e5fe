// The issue stage of an SM: which warps may go, why the others may not, and what an instruction
// does when it goes. Definitions for sm.cpp.
#pragma once
#include <algorithm>

#include "raddle/base/mask.h"
#include "raddle/timing/sm/sm_known.h"
#include "raddle/timing/sm/sm_of.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

namespace issue_detail {
inline void count_issue(stats::SmCounters& count, const DecodedInst& in, unsigned lanes) {
  static_assert(stats::kOpClasses == trace::kOpClasses);
  ++count.class_issued[in.op_class];
  count.class_lanes[in.op_class] += lanes;
  count.register_reads += in.register_reads;
  count.register_writes += in.register_writes;
}
}  // namespace issue_detail

// --- the next instruction of a warp; here, so that the compiler sees it with the issue ----------

template <L1Protocol L1>
inline void SmOf<L1>::check_hazards(unsigned w) {
  look_again_ |= bit_of(w);
  warps_.check_hazards(w);
}

// Precondition: the warp is in no set of those that wait or may issue.
template <L1Protocol L1>
void SmOf<L1>::present_next(unsigned w) {
  units_.want(w, warps_[w].next->unit);
  check_hazards(w);
}

// The instruction after `next` becomes the one to issue, from cycle `from` on.
template <L1Protocol L1>
inline void SmOf<L1>::advance(Cycle now, Cycle from, unsigned w) {
  Warp& warp = warps_[w];
  const DecodedInst* before = warp.next;
  if (!FrontEnd::decode_next(warp)) return end_stream(now, w);
  if (front_end_.limits_straight_code() || (front_end_.present() && warp.next != before + 1))
    fetch_next(now, from, w, before);
  else present_next(w);
}

// A barrier has opened or a sleep is over.
template <L1Protocol L1>
void SmOf<L1>::resume(Cycle now, unsigned w) {
  if (throttle_.present()) throttle_.barrier(now);
  warps_.at_barrier &= ~bit_of(w);
  warps_.sleeping &= ~bit_of(w);
  advance(now, now, w);
}

template <L1Protocol L1>
void SmOf<L1>::fetch_next(Cycle now, Cycle from, unsigned w, const DecodedInst* before) {
  const Warp& warp = warps_[w];
  const Cycle buffered = front_end_.buffered(now, from, w);
  if (warp.next == before + 1)
    return present_from(from, std::max(buffered, front_end_.line_ready(from, w, warp)), w);
  if (!warp.pending.test(trace::kPcRegister)) return refill_buffer(from, w);
  warps_.emptied |= bit_of(w);  // fetched from where the branch leads when that is known
  present_next(w);
}

template <L1Protocol L1>
void SmOf<L1>::refill_buffer(Cycle from, unsigned w) {
  present_from(from, front_end_.refilled(from, w, warps_[w]), w);
}

// The next instruction is there at `at`; it could issue from cycle `from` on.
template <L1Protocol L1>
void SmOf<L1>::present_from(Cycle from, Cycle at, unsigned w) {
  if (at <= from) return present_next(w);
  warps_.fetching |= bit_of(w);
  look_again_ |= bit_of(w);
  wheel_.push(at, Event::fetched(w));
}

template <L1Protocol L1>
void SmOf<L1>::recheck_hazards(Cycle now, unsigned w) {
  warps_.forget_hazards(w);
  if (!has(warps_.emptied, w) || warps_[w].pending.test(trace::kPcRegister))
    return check_hazards(w);
  warps_.emptied &= ~bit_of(w);
  units_.withdraw(w, warps_[w].next->unit);
  refill_buffer(now, w);
}

// --- issue --------------------------------------------------------------------------------------

template <L1Protocol L1>
inline void SmOf<L1>::write_back(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  if (in.destination < DecodedInst::kNone) {
    warp.pending.set(in.destination);
    wheel_.push(now + in.latency, Event::write(w, in.destination));
  } else if (in.destination == DecodedInst::kMultiple) {
    warp.pending |= warp.launch->code->multiple_destinations(in);
    const auto inst = static_cast<std::uint32_t>(&in - warp.launch->code->instructions());
    wheel_.push(now + in.latency, Event::write_multiple(w, inst));
  }
}

template <L1Protocol L1>
void SmOf<L1>::note_issue(Cycle now, unsigned w, const DecodedInst& in) {
  if (known_ != nullptr) known_->ledger.issued(now, w, warps_[w].block, in.route);
  if (profile_ != nullptr) profile_->issued(w);
}

template <L1Protocol L1>
inline void SmOf<L1>::issue_warp(Cycle now, unsigned scheduler, unsigned w) {
  Warp& warp = warps_[w];
  const DecodedInst& in = *warp.next;
  stats::SmCounters& count = counters_[warp.kernel];
  warps_.ready &= ~bit_of(w);
  units_.issued(w, in.unit);
  progress_ = now;
  if (notes_issues_) [[unlikely]]
    note_issue(now, w, in);
  issue_detail::count_issue(count, in, warp.active);
  if (in.interval > 1) units_.take(now, scheduler, in, wheel_);
  const Cycle late = units_.collect(now, scheduler, in, wheel_);
  count.operand_wait_cycles += late;
  if (in.route != Route::Pipeline) return perform(now, w, in);
  write_back(now + late, w, in);
  advance(now, now + 1, w);
}

// A scheduler for which nothing has changed stalls on for the reason found before; it is not looked
// at. Schedulers decide on the state before the loop, whatever those before them do in this cycle.
// Only shared units and the way into the LSU can be taken from one by another.
template <L1Protocol L1>
bool SmOf<L1>::issue(Cycle now) {
  const WarpMask look = skip_ ? look_again_ : ~WarpMask{0};
  const WarpMask memory = units_.wanting(Unit::Lsu);
  WarpMask open = units_.free_for(warps_.ready);
  WarpMask closed = lsu_.keeps_out(memory, warps_.of_tenant);  // ready for an LSU that is full
  WarpMask held = 0;   // ready, and not let go by the throttle
  WarpMask again = 0;  // will find open in the next cycle what is taken in this
  if ((open & throttle_.no_load()) != 0) [[unlikely]] {
    held = throttle_.denied(open, memory, warps_);
    closed |= held;
  }
  bool issued = false, spent = false;  // spent: the quota of a tenant
  look_again_ = 0;
  const SchedulerSlots& slots = schedulers_.slots();
  for (unsigned n = 0, s = schedulers_.first(); n < slots.schedulers(); ++n, s = slots.after(s)) {
    if ((look & slots[s]) == 0) continue;
    const WarpMask candidates = open & slots[s] & ~closed;
    if (candidates == 0) {
      stalled(now, s, reason(s, open, held));
      continue;
    }
    const unsigned w = schedulers_.pick(now, s, candidates, memory, warps_);
    if (w == policy::WarpPolicy::kNobody) [[unlikely]] {
      stalled(now, s, {stats::Stall::Throttled, candidates});
      again |= candidates;
      continue;
    }
    const auto unit = static_cast<unsigned>(warps_[w].next->unit);
    if (has(memory, w)) {
      closed |= memory;
      again |= memory;
      schedulers_.has_used_shared(s);
    } else if (units_.shared(unit)) {
      again |= units_.wanting(unit);
      open &= ~units_.wanting(unit);
      schedulers_.has_used_shared(s);
    }
    stalls_.issues(now, s, counters_);
    if (throttle_.present()) [[unlikely]]
      throttle_.issued(w);
    if (quota_ != nullptr && quota_->issued(warps_[w].launch->tenant)) [[unlikely]] {
      const WarpMask others = warps_.of_tenant[raddle::index(warps_[w].launch->tenant)];
      held |= open & others & ~closed;  // whom something else keeps is kept by that still
      closed |= others;
      spent = true;
    }
    issue_warp(now, s, w);
    look_again_ |= slots[s];
    issued = true;
  }
  if (spent) hold_inactive(now);
  look_again_ |= warps_.ready & again;
  return issued;
}

template <L1Protocol L1>
void SmOf<L1>::stalled(Cycle now, unsigned scheduler, const Wait& wait) {
  const std::uint8_t kernel =
      wait.nearest != 0 ? warps_[lowest(wait.nearest)].kernel : stalls_.charged(scheduler);
  stalls_.stalls(now, scheduler, wait.why, kernel, counters_);
}

template <L1Protocol L1>
typename SmOf<L1>::Wait SmOf<L1>::reason(unsigned scheduler, WarpMask open, WarpMask held) const {
  using stats::Stall;
  const WarpMask mine = schedulers_.slots()[scheduler] & warps_.resident;
  if (const WarpMask m = open & mine & ~held; m != 0) return {Stall::Lsu, m};
  if (const WarpMask m = held & mine; m != 0) return {Stall::Throttled, m};
  if (const WarpMask m = warps_.ready & mine; m != 0) return {Stall::Unit, m};
  const WarpMask awake = mine & ~warps_.at_barrier & ~warps_.sleeping;
  const WarpMask waiting = warps_.fetching | warps_.memory_wait | warps_.fence_wait;
  if (const WarpMask m = awake & ~waiting; m != 0) return {Stall::Dependence, m};
  if (const WarpMask m = awake & warps_.fetching; m != 0) return {Stall::Fetch, m};
  if (const WarpMask m = awake & warps_.memory_wait; m != 0) return {Stall::Memory, m};
  if (awake != 0) return {Stall::Fence, awake};
  if (const WarpMask m = mine & warps_.sleeping; m != 0) return {Stall::Sleep, m};
  return {mine != 0 ? Stall::Barrier : Stall::Idle, mine};
}

// --- what instructions do beside writing registers -----------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::perform(Cycle now, unsigned w, const DecodedInst& in) {
  switch (in.route) {
    case Route::Barrier:
      return arrive_at_barrier(now, w);
    case Route::Sleep:
      return fall_asleep(now, w, in);
    case Route::LaunchStream:
    case Route::LaunchBuffer:
    case Route::Launch:
      return call_device_runtime(now, w, in);
    case Route::Pipeline:
      break;
    case Route::Fence:
      if (!in.block_scope) lsu_.fence(now);
      break;
    default:
      if (warps_[w].pieces != 0) to_lsu(now, w, in);  // otherwise all lanes were predicated off
  }
  advance(now, now + 1, w);
}

// The registers that a memory instruction will write.
template <L1Protocol L1>
void SmOf<L1>::expect_load(Warp& warp, const DecodedInst& in) {
  if (in.destination < DecodedInst::kNone) {
    warp.pending.set(in.destination);
    warp.pending_memory.set(in.destination);
  } else if (in.destination == DecodedInst::kMultiple) {
    const RegisterSet& registers = warp.launch->code->multiple_destinations(in);
    warp.pending |= registers;
    warp.pending_memory |= registers;
  }
}

template <L1Protocol L1>
void SmOf<L1>::to_lsu(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  const DecodedKernel& code = *warp.launch->code;
  const LsuCore::Owner owner{static_cast<std::uint8_t>(w), warp.launch->slot, warp.launch->tenant,
                             static_cast<std::uint32_t>(&in - code.instructions()), &in};
  expect_load(warp, in);
  if (in.route == Route::Shared && is_adopted(w) && shared_ == policy::Passage::Shared::Remote)
    return access_at_home(w, in);
  if (!in.payload) return lsu_.enter_passes(owner, warp.pieces);
  const std::uint32_t base = in.local ? local_base(w) : warp.launch->first_line;
  const unsigned operations =
      lsu_.enter_lines(now, owner, warp.cursor.at + trace::kRecordWords, warp.pieces, base);
  warp.outstanding = static_cast<std::uint16_t>(warp.outstanding + operations);
  if (throttle_.present() && (in.route == Route::Load || in.route == Route::Atomic))
    throttle_.load_issued(now, owner.tenant);
}

template <L1Protocol L1>
std::uint32_t SmOf<L1>::local_base(unsigned w) const {
  const std::uint64_t bytes =
      std::uint64_t{warps_[w].launch->code->code().local_bytes_per_thread} * kLanes;
  const std::uint64_t window = (bytes + line_bytes_ - 1) / line_bytes_;
  return static_cast<std::uint32_t>(kLocalBase / line_bytes_ + warps_[w].local_window * window);
}

// Behind a barrier nothing is read before it opens: a live stream may not know it yet.
template <L1Protocol L1>
void SmOf<L1>::arrive_at_barrier(Cycle now, unsigned w) {
  const Warp& warp = warps_[w];
  const trace::BarrierRecord barrier{warp.mask};
  if (barrier.kind() == trace::BarrierKind::Warp) return advance(now, now + 1, w);
  const bool waits = barrier.kind() == trace::BarrierKind::Sync;
  if (waits) {
    warps_.at_barrier |= bit_of(w);
    if (throttle_.present()) throttle_.barrier(now);
  }
  if (is_adopted(w)) {
    HomeCall call = call_of(w, HomeCall::Kind::Arrive);
    call.barrier = barrier;
    tell(call);
  } else {
    open_barrier(
        counted_at(now), warp.block,
        blocks_.arrive(warp.block, barrier.id(), waits ? bit_of(w) : 0, barrier.expected_warps()));
  }
  if (!waits) advance(now, now + 1, w);
}

// When a warp that arrives now is counted: one after another, whichever their barrier is. Left out:
// arrivals of warps that are abroad, and warps whose end opens a barrier, take no turn.
template <L1Protocol L1>
Cycle SmOf<L1>::counted_at(Cycle now) {
  // Who waits arrives once; for who only arrives there is a place for each warp and no
  // back-pressure.
  const Cycle latest = now + Cycle{barrier_interval_} * SmSpec::kMostWarps;
  const Cycle at = std::min(std::max(now, barrier_free_), latest);
  barrier_free_ = at + barrier_interval_;
  return at;
}

// Warps go on as many cycles after the last arrival, or after they hear of it, as an instruction
// that needs the barrier's result would.
template <L1Protocol L1>
void SmOf<L1>::open_barrier(Cycle now, unsigned slot, const Opened& opened) {
  for (WarpMask m = opened.here; m != 0; m &= m - 1)
    wheel_.push(now + warps_[lowest(m)].next->latency, Event::resume(lowest(m)));
  for (WarpMask m = opened.abroad; m != 0; m &= m - 1) {
    HomeCall call;
    call.kind = HomeCall::Kind::Open;
    call.launch = blocks_[slot].launch;
    call.home = {id_, blocks_[slot].id, static_cast<std::uint8_t>(slot)};
    call.guest = guests_[slot * SmSpec::kMostWarps + lowest(m)];
    tell(call);
  }
}

// The record's pieces give the time as a power of two of nanoseconds (stream.h).
template <L1Protocol L1>
void SmOf<L1>::fall_asleep(Cycle now, unsigned w, const DecodedInst& in) {
  const Cycle time = (std::uint64_t{1} << warps_[w].pieces) * core_clock_mhz_ / 1000;
  warps_.sleep_until(now + std::max<Cycle>(in.latency, time), w);
}

// Calls that a launch is made of. The warp prepares its lanes' launches one after another and hands
// them over together.
template <L1Protocol L1>
void SmOf<L1>::call_device_runtime(Cycle now, unsigned w, const DecodedInst& in) {
  const Warp& warp = warps_[w];
  const unsigned lanes = warp.active;
  Cycle time = 0;
  if (lanes != 0) {
    if (in.route == Route::LaunchStream) time = device_launch_.stream_time();
    else if (in.route == Route::LaunchBuffer) time = device_launch_.buffer_time(lanes);
    else time = device_launch_.launch_time(lanes);
    if (in.route == Route::Launch)
      device_launches_.push_back({static_cast<std::uint32_t>(warp.launch->sequence), block_id(w),
                                  warp.index, lanes, id_, now + time});
  }
  write_back(now, w, in);
  if (time <= 1) return advance(now, now + 1, w);
  warps_.sleep_until(now + time, w);
}

}  // namespace raddle::timing

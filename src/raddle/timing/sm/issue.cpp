// The issue stage of an SM: which warps may go, why the others may not, and what an instruction
// does when it goes.
#include <algorithm>
#include <bit>

#include "raddle/base/mask.h"
#include "raddle/base/prefetch.h"
#include "raddle/timing/sm/sm.h"

namespace raddle::timing {

namespace {
// Local memory lies above all global addresses, one window per warp slot of the machine. Line
// numbers wrap at 32 bits into the unused space below the global range when windows are huge.
constexpr Address kLocalBase = 0x38'0000'0000ull;

// Most records are for all lanes, and counting bits is slow where there is no instruction for it.
std::uint8_t lanes_in(LaneMask mask) {
  return static_cast<std::uint8_t>(mask == kFullMask ? kLanes
                                                     : static_cast<unsigned>(std::popcount(mask)));
}

/// Hints that a record's pieces and what follows will be read: a warp comes back to its stream
/// after all other warps of the machine.
void prefetch_record(const std::uint32_t* at, unsigned words) {
  constexpr unsigned kLine = 64 / sizeof *at;
  for (unsigned i = kLine; i < words + kLine; i += kLine) prefetch(at + i);
}

void count_issue(stats::SmCounters& count, const DecodedInst& in, unsigned lanes) {
  static_assert(stats::kOpClasses == trace::kOpClasses);
  ++count.class_issued[in.op_class];
  count.class_lanes[in.op_class] += lanes;
  count.register_reads += in.register_reads, count.register_writes += in.register_writes;
}
}  // namespace

// --- the next instruction of a warp; here, so that the compiler sees it with the issue ----------

// The next record that stands for any machine instruction; false at the end of the warp's stream.
bool Sm::read_record(Warp& warp) {
  const DecodedKernel& code = *warp.launch->code;
  while (true) {
    if (warp.cursor.at == warp.cursor.end && !warp.launch->stream->refill(warp.cursor))
      return false;
    const std::uint32_t* at = warp.cursor.at;
    trace::Record r{at[0], at[1]};
    RADDLE_ASSERT(r.inst() + r.count() <= code.ptx_size());
    const Expansion& e = code.expansions()[r.inst()];
    std::uint32_t first = e.first(), end = code.expansions()[r.inst() + r.count()].first();
    unsigned words = trace::kRecordWords + (e.payload() ? trace::kPieceWords * r.pieces() : 0);
    if (first == end) {
      warp.cursor.at += words;
      continue;
    }
    warp.next = code.instructions() + first;
    warp.left = static_cast<std::uint16_t>(end - first);
    warp.mask = r.mask;
    warp.active = e.barrier() ? warp.lanes : lanes_in(r.mask);
    warp.pieces = static_cast<std::uint8_t>(r.pieces());
    warp.words = static_cast<std::uint8_t>(words);
    prefetch_record(at, words);
    return true;
  }
}

inline void Sm::judge(unsigned w) {
  const Warp& warp = warps_[w];
  Mask bit = 1ull << w;
  changed_ |= bit;
  if (warp.next->uses.meets(warp.pending)) {
    if (warp.next->uses.meets(warp.pending_memory)) memory_wait_ |= bit;
  } else if (warp.next->route == Route::Fence && !warp.next->block_scope && warp.outstanding != 0) {
    fence_wait_ |= bit;
  } else {
    ready_ |= bit;
  }
}

// Precondition: the warp is in no set of those that wait or may issue.
void Sm::show_next(unsigned w) {
  Mask bit = 1ull << w;
  auto unit = static_cast<unsigned>(warps_[w].next->unit);
  class_[unit] |= bit, blocked_ |= busy_[unit] & bit;
  judge(w);
}

// The instruction after `next` becomes the one to issue, from cycle `from` on.
inline void Sm::advance(Cycle now, Cycle from, unsigned w) {
  Warp& warp = warps_[w];
  const DecodedInst* before = warp.next;
  if (--warp.left != 0) {
    ++warp.next;
  } else {
    warp.cursor.at += warp.words;
    if (!read_record(warp)) return end_stream(now, w);
  }
  if (fetches_straight_ || (fetches_ && warp.next != before + 1))
    fetch_behind(now, from, w, before);
  else show_next(w);
}

void Sm::resume(Cycle now, unsigned w) {
  if (throttle_ != nullptr) tell_barrier(now);
  at_barrier_ &= ~(1ull << w), sleeping_ &= ~(1ull << w);
  advance(now, now, w);
}

void Sm::fetch_behind(Cycle now, Cycle from, unsigned w, const DecodedInst* before) {
  Warp& warp = warps_[w];
  Cycle at = from;
  if (short_buffer_) {
    unsigned entries = spec_.fetch.buffer;
    Cycle* left = &left_[std::size_t{w} * entries];
    left[entry_[w]] = now;
    entry_[w] = static_cast<std::uint8_t>(entry_[w] + 1u == entries ? 0 : entry_[w] + 1);
    at = std::max(at, left[entry_[w]] + spec_.fetch.cycles);
  }
  if (warp.next != before + 1) {
    if (!warp.pending.test(trace::kPcRegister)) return fetch(from, w);
    emptied_ |= 1ull << w;  // fetched from where the branch leads when that is known
    return show_next(w);
  }
  if (!instructions_.empty()) {
    const DecodedInst* first = warp.launch->code->instructions();
    auto index = static_cast<std::uint32_t>(warp.next - first);
    InstructionCache& cache = instructions_of(w);
    if (!cache.same_line(index - 1, index))
      at = std::max(at, cache.ready(from, warp.launch->sequence, index));
  }
  show_from(from, at, w);
}

// Into an empty buffer.
void Sm::fetch(Cycle from, unsigned w) {
  const Launch& launch = *warps_[w].launch;
  Cycle there = from;
  if (!instructions_.empty()) {
    auto index = static_cast<std::uint32_t>(warps_[w].next - launch.code->instructions());
    there = instructions_of(w).ready(from, launch.sequence, index);
  }
  show_from(from, there + spec_.fetch.cycles, w);
}

InstructionCache& Sm::instructions_of(unsigned w) {
  return instructions_[instructions_.size() == 1 ? 0 : scheduler_of(w)];
}

// The next instruction is there at `at`; it could issue from cycle `from` on.
void Sm::show_from(Cycle from, Cycle at, unsigned w) {
  if (at <= from) return show_next(w);
  fetching_ |= 1ull << w, changed_ |= 1ull << w;
  wheel_.push(at, Event::fetched(w));
}

void Sm::judge_again(Cycle now, unsigned w) {
  Mask bit = 1ull << w;
  ready_ &= ~bit, memory_wait_ &= ~bit, fence_wait_ &= ~bit;
  if ((emptied_ & bit) == 0 || warps_[w].pending.test(trace::kPcRegister)) return judge(w);
  emptied_ &= ~bit, blocked_ &= ~bit;
  class_[static_cast<unsigned>(warps_[w].next->unit)] &= ~bit;
  fetch(now, w);
}

// --- issue --------------------------------------------------------------------------------------

inline unsigned Sm::pick(Cycle now, unsigned s, Mask ready) {
  unsigned w = policies_[s]->pick({ready, resident_ & group_[s], age_, now});
  if (w >= 64 || (ready >> w & 1) == 0)
    assertion_failed(("warp policy '" + policy_name_ + "' picks a warp that is ready").c_str(),
                     __FILE__, __LINE__);
  return w;
}

// The cycles since since_[s] go to the reason found then.
inline void Sm::credit_stall(Cycle now, unsigned s) {
  Cycle n = now - since_[s];
  if (n == 0) return;
  auto why = static_cast<unsigned>(reason_[s]);
  scheduler_counters_.stall[why] += n;
  if (reason_[s] != stats::Stall::Idle) counters_[charged_[s]].stall[why] += n;
}

inline void Sm::take_unit(Cycle now, unsigned s, const DecodedInst& in) {
  auto unit = static_cast<unsigned>(in.unit);
  Mask slots = group_[s];
  if ((shared_units_ >> unit & 1) != 0) slots = ~Mask{0}, s = 0;
  busy_[unit] |= slots, blocked_ |= class_[unit] & slots;
  wheel_.push_unit(now + in.interval, 4 * unit + s);
}

inline void Sm::write_back(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  if (in.destination < DecodedInst::kNone) {
    warp.pending.set(in.destination);
    wheel_.push(now + in.latency, Event::write(w, in.destination));
  } else if (in.destination == DecodedInst::kSeveral) {
    warp.pending |= warp.launch->code->several(in);
    auto inst = static_cast<std::uint32_t>(&in - warp.launch->code->instructions());
    wheel_.push(now + in.latency, Event::write_several(w, inst));
  }
}

inline void Sm::issue_warp(Cycle now, unsigned s, unsigned w) {
  Warp& warp = warps_[w];
  const DecodedInst& in = *warp.next;
  stats::SmCounters& count = counters_[warp.kernel];
  ready_ &= ~(1ull << w), class_[static_cast<unsigned>(in.unit)] &= ~(1ull << w);
  progress_ = now;
  count_issue(count, in, warp.active);
  if (in.interval > 1) take_unit(now, s, in);
  Cycle late = 0;
  if (!collectors_.empty() && in.bank_reads != 0) {
    late = collect(now, s, in);
    count.operand_wait_cycles += late;
  }
  if (in.route != Route::Pipeline) return perform(now, w, in);
  write_back(now + late, w, in);
  advance(now, now + 1, w);
}

// A scheduler for which nothing has changed stalls on for the reason found before; it is not looked
// at.
bool Sm::issue(Cycle now) {
  Mask look = skip_ ? changed_ : ~Mask{0};
  Mask open = ready_ & ~blocked_ & ~collecting_, lsu = class_[static_cast<unsigned>(Unit::Lsu)];
  Mask closed = lsu_.accepts() ? 0 : lsu;  // ready for a load/store unit that accepts nothing
  Mask held = 0;                           // ready, and not let go by the throttle
  Mask again = 0;                          // will find open in the next cycle what is taken in this
  if ((open & no_load_) != 0) [[unlikely]]
    held = denied(open), closed |= held;
  bool issued = false;
  changed_ = 0;
  // Schedulers decide on this state, whatever those before them do in this cycle. Only shared units
  // and the way into the LSU can be taken from one by another: they take one instruction a cycle,
  // and the scheduler after the one that used them last is asked first.
  for (unsigned n = 0, s = turn_; n < schedulers_; ++n, s = s + 1 == schedulers_ ? 0 : s + 1) {
    if ((look & group_[s]) == 0) continue;
    Mask candidates = open & group_[s] & ~closed;
    if (candidates == 0) {
      stalled(now, s, reason(s, open, held));
      continue;
    }
    unsigned w = pick(now, s, candidates);
    auto unit = static_cast<unsigned>(warps_[w].next->unit);
    if ((lsu >> w & 1) != 0) {
      closed |= lsu, again |= lsu;
      turn_ = s + 1 == schedulers_ ? 0 : s + 1;
    } else if ((shared_units_ >> unit & 1) != 0) {
      again |= class_[unit], open &= ~class_[unit];
      turn_ = s + 1 == schedulers_ ? 0 : s + 1;
    }
    if (since_[s] != now) credit_stall(now, s);
    since_[s] = now + 1;
    if (throttle_ != nullptr) [[unlikely]]
      throttle_->on_issue(w);
    issue_warp(now, s, w);
    changed_ |= group_[s];
    issued = true;
  }
  changed_ |= ready_ & again;
  return issued;
}

void Sm::stalled(Cycle now, unsigned s, const Wait& wait) {
  std::uint8_t kernel = wait.nearest != 0 ? warps_[lowest(wait.nearest)].kernel : charged_[s];
  if (wait.why == reason_[s] && kernel == charged_[s]) return;
  credit_stall(now, s);
  reason_[s] = wait.why, charged_[s] = kernel, since_[s] = now;
}

// Of these warps those that the throttle does not let issue what they have next.
Sm::Mask Sm::denied(Mask open) const {
  Mask out = open & no_issue_;
  for (Mask m = open & no_load_ & class_[static_cast<unsigned>(Unit::Lsu)]; m != 0; m &= m - 1)
    if (warps_[lowest(m)].next->route == Route::Load) out |= m & -m;
  return out;
}

Sm::Wait Sm::reason(unsigned s, Mask open, Mask held) const {
  using stats::Stall;
  Mask mine = group_[s] & resident_;
  if (Mask m = open & mine & ~held; m != 0) return {Stall::Lsu, m};
  if (Mask m = held & mine; m != 0) return {Stall::Throttled, m};
  if (Mask m = ready_ & mine; m != 0) return {Stall::Unit, m};
  Mask awake = mine & ~at_barrier_ & ~sleeping_;
  Mask waiting = fetching_ | memory_wait_ | fence_wait_;
  if (Mask m = awake & ~waiting; m != 0) return {Stall::Dependence, m};
  if (Mask m = awake & fetching_; m != 0) return {Stall::Fetch, m};
  if (Mask m = awake & memory_wait_; m != 0) return {Stall::Memory, m};
  if (awake != 0) return {Stall::Fence, awake};
  if (Mask m = mine & sleeping_; m != 0) return {Stall::Sleep, m};
  return {mine != 0 ? Stall::Barrier : Stall::Idle, mine};
}

Cycle Sm::collect(Cycle now, unsigned s, const DecodedInst& in) {
  Cycle late = collectors_[s].collect(now, in.bank_reads), free = collectors_[s].free_at();
  if (free > now + 1) {
    collecting_ |= group_[s];
    wheel_.push_unit(free, 4 * kCollectors + s);
  }
  return late;
}

void Sm::perform(Cycle now, unsigned w, const DecodedInst& in) {
  switch (in.route) {
    case Route::Barrier:
      return come_to_barrier(now, w);
    case Route::Sleep:
      return fall_asleep(now, w, in);
    case Route::Launch:
      return launch_kernels(now, w);
    case Route::Pipeline:
      break;
    case Route::Fence:
      if (!in.block_scope) lsu_.acquire(now);
      break;
    default:
      if (warps_[w].pieces != 0) to_lsu(now, w, in);  // otherwise all lanes were predicated off
  }
  advance(now, now + 1, w);
}

void Sm::to_lsu(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  const DecodedKernel& code = *warp.launch->code;
  Lsu::Owner owner{static_cast<std::uint8_t>(w), warp.launch->slot,
                   static_cast<std::uint32_t>(&in - code.instructions()), &in};
  if (in.destination < DecodedInst::kNone) {
    warp.pending.set(in.destination), warp.pending_memory.set(in.destination);
  } else if (in.destination == DecodedInst::kSeveral) {
    warp.pending |= code.several(in), warp.pending_memory |= code.several(in);
  }
  if (!in.payload) return lsu_.enter_passes(owner, warp.pieces);
  std::uint32_t base = in.local ? local_base(w) : warp.launch->first_line;
  unsigned operations =
      lsu_.enter_lines(now, owner, warp.cursor.at + trace::kRecordWords, warp.pieces, base);
  warp.outstanding = static_cast<std::uint16_t>(warp.outstanding + operations);
}

void Sm::come_to_barrier(Cycle now, unsigned w) {
  Warp& warp = warps_[w];
  auto kind = static_cast<trace::BarrierKind>(warp.mask >> 4 & 3);
  if (kind == trace::BarrierKind::Warp) return advance(now, now + 1, w);
  Block& block = blocks_[warp.block];
  Barrier& barrier = block.barrier[warp.mask & 15];
  ++barrier.arrived;
  if (auto warps = static_cast<std::uint8_t>(warp.mask >> 8); warps != 0) barrier.expected = warps;
  if (kind == trace::BarrierKind::Sync) {
    barrier.waiting |= 1ull << w, at_barrier_ |= 1ull << w;
    if (throttle_ != nullptr) tell_barrier(now);
  }
  open_if_complete(now, block, barrier);
  // Behind a barrier nothing is read before it opens: a live stream may not know it yet.
  if (kind == trace::BarrierKind::Arrive) advance(now, now + 1, w);
}

// Warps go on as many cycles after the last arrival as an instruction that needs the barrier's
// result would.
void Sm::open_if_complete(Cycle now, Block& block, Barrier& barrier) {
  if (barrier.arrived < (barrier.expected != 0 ? barrier.expected : block.running)) return;
  for (Mask m = barrier.waiting; m != 0; m &= m - 1)
    wheel_.push(now + warps_[lowest(m)].next->latency, Event::resume(lowest(m)));
  barrier = {};
}

// The record's pieces give the time as a power of two of nanoseconds (stream.h).
void Sm::fall_asleep(Cycle now, unsigned w, const DecodedInst& in) {
  Cycle time = (std::uint64_t{1} << warps_[w].pieces) * core_clock_mhz_ / 1000;
  sleep_until(now + std::max<Cycle>(in.latency, time), w);
}

void Sm::sleep_until(Cycle then, unsigned w) {
  wake_[w] = then;
  sleeping_ |= 1ull << w;
  next_wake_ = std::min(next_wake_, then);
}

// The warp prepares its lanes' launches one after another and hands them over together.
void Sm::launch_kernels(Cycle now, unsigned w) {
  const Warp& warp = warps_[w];
  const Block& block = blocks_[warp.block];
  const unsigned lanes = warp.active;
  const Cycle time = lanes == 0 ? 0 : launch_cycles_ + Cycle{launch_lane_cycles_} * lanes;
  if (lanes != 0)
    device_launches_.push_back({static_cast<std::uint32_t>(warp.launch->sequence), block.id,
                                warp.index, lanes, id_, now + time});
  if (time <= 1) return advance(now, now + 1, w);
  sleep_until(now + time, w);
}

std::uint32_t Sm::local_base(unsigned w) const {
  std::uint64_t window =
      (std::uint64_t{warps_[w].launch->code->code().local_bytes_per_thread} * kLanes + line_bytes_ -
       1) /
      line_bytes_;
  std::uint64_t number = std::uint64_t{id_} * spec_.warps + w;
  return static_cast<std::uint32_t>(kLocalBase / line_bytes_ + number * window);
}

}  // namespace raddle::timing

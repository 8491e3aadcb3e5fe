// The issue stage of an SM: which warps may go, why the others may not, and what an instruction
// does when it goes.
#include "raddle/base/mask.h"
#include "raddle/timing/sm/sm.h"

namespace raddle::timing {

namespace {
// Local memory lies above all global addresses, one window per warp slot of the machine. Line
// numbers wrap at 32 bits into the unused space below the global range when windows are huge.
constexpr Address kLocalBase = 0x38'0000'0000ull;

void count_issue(stats::SmCounters& count, const DecodedInst& in, unsigned lanes) {
  static_assert(stats::kOpClasses == trace::kOpClasses);
  ++count.class_issued[in.op_class];
  count.class_lanes[in.op_class] += lanes;
  count.register_reads += in.register_reads, count.register_writes += in.register_writes;
}
}  // namespace

// A scheduler for which nothing has changed stalls on for the reason found before; it is not looked
// at.
bool Sm::issue(Cycle now) {
  Mask look = skip_ ? changed_ : ~Mask{0};
  Mask open = ready_ & ~blocked_by_units(), lsu = class_[static_cast<unsigned>(Unit::Lsu)];
  bool accepts = lsu_.accepts(), entered = false, issued = false;
  changed_ = 0;
  // Schedulers decide on this state, whatever those before them do in this cycle. Only the way into
  // the LSU is shared: it takes one instruction a cycle, and the scheduler after the one that used
  // it last is asked first.
  for (unsigned n = 0, s = lsu_turn_; n < schedulers_; ++n, s = s + 1 == schedulers_ ? 0 : s + 1) {
    if ((look & group_[s]) == 0) continue;
    Mask candidates = open & group_[s];
    if (!accepts) candidates &= ~lsu;
    if (candidates == 0) {
      stalled(now, s, reason(s, open));
      continue;
    }
    unsigned w = pick(now, s, candidates);
    if ((lsu >> w & 1) != 0) {
      accepts = false, entered = true;
      lsu_turn_ = s + 1 == schedulers_ ? 0 : s + 1;
    }
    credit_stall(now, s);
    since_[s] = now + 1;
    issue_warp(now, s, w);
    changed_ |= group_[s];
    issued = true;
  }
  if (entered) changed_ |= ready_ & lsu;  // the way in is free again in the next cycle
  return issued;
}

void Sm::stalled(Cycle now, unsigned s, const Wait& wait) {
  std::uint8_t kernel = wait.nearest != 0 ? warps_[lowest(wait.nearest)].kernel : charged_[s];
  if (wait.why == reason_[s] && kernel == charged_[s]) return;
  credit_stall(now, s);
  reason_[s] = wait.why, charged_[s] = kernel, since_[s] = now;
}

// The cycles since since_[s] go to the reason found then.
void Sm::credit_stall(Cycle now, unsigned s) {
  Cycle n = now - since_[s];
  if (n == 0) return;
  auto why = static_cast<unsigned>(reason_[s]);
  scheduler_counters_.stall[why] += n;
  if (reason_[s] != stats::Stall::Idle) counters_[charged_[s]].stall[why] += n;
}

Sm::Mask Sm::blocked_by_units() const {
  Mask blocked = 0;
  for (unsigned u = 0; u < kUnits; ++u) blocked |= class_[u] & busy_[u];
  return blocked;
}

Sm::Wait Sm::reason(unsigned s, Mask open) const {
  using stats::Stall;
  Mask mine = group_[s] & resident_;
  if (Mask m = open & mine; m != 0) return {Stall::Lsu, m};
  if (Mask m = ready_ & mine; m != 0) return {Stall::Unit, m};
  Mask awake = mine & ~at_barrier_ & ~sleeping_;
  if (Mask m = awake & ~memory_wait_ & ~fence_wait_; m != 0) return {Stall::Dependence, m};
  if (Mask m = awake & memory_wait_; m != 0) return {Stall::Memory, m};
  if (awake != 0) return {Stall::Fence, awake};
  if (Mask m = mine & sleeping_; m != 0) return {Stall::Sleep, m};
  return {mine != 0 ? Stall::Barrier : Stall::Idle, mine};
}

unsigned Sm::pick(Cycle now, unsigned s, Mask ready) {
  unsigned w = policies_[s]->pick({ready, resident_ & group_[s], age_, now});
  if (w >= 64 || (ready >> w & 1) == 0)
    assertion_failed(("warp policy '" + policy_name_ + "' picks a warp that is ready").c_str(),
                     __FILE__, __LINE__);
  return w;
}

void Sm::issue_warp(Cycle now, unsigned s, unsigned w) {
  Warp& warp = warps_[w];
  const DecodedInst& in = *warp.next;
  auto unit = static_cast<unsigned>(in.unit);
  progress_ = now;
  count_issue(counters_[warp.kernel], in, warp.active);
  ready_ &= ~(1ull << w), class_[unit] &= ~(1ull << w);
  if (in.interval > 1) {
    busy_[unit] |= group_[s];
    wheel_.push_unit(now + in.interval, 4 * unit + s);
  }
  switch (in.route) {
    case Route::Pipeline:
      write_back(now, w, in);
      break;
    case Route::Barrier:
      come_to_barrier(now, w);
      return;
    case Route::Sleep:
      fall_asleep(now, w, in);
      return;
    case Route::Fence:
      break;
    default:
      if (warp.pieces != 0) to_lsu(now, w, in);  // otherwise all lanes were predicated off
  }
  advance(now, w);
}

void Sm::write_back(Cycle now, unsigned w, const DecodedInst& in) {
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
  std::uint32_t base = in.local ? local_base(w) : 0;
  unsigned operations =
      lsu_.enter_lines(now, owner, warp.cursor.at + trace::kRecordWords, warp.pieces, base);
  warp.outstanding = static_cast<std::uint16_t>(warp.outstanding + operations);
}

void Sm::come_to_barrier(Cycle now, unsigned w) {
  Warp& warp = warps_[w];
  auto kind = static_cast<trace::BarrierKind>(warp.mask >> 4 & 3);
  if (kind == trace::BarrierKind::Warp) return advance(now, w);
  Block& block = blocks_[warp.block];
  Barrier& barrier = block.barrier[warp.mask & 15];
  ++barrier.arrived;
  barrier.expected = static_cast<std::uint8_t>(warp.mask >> 8);
  if (kind == trace::BarrierKind::Sync) barrier.waiting |= 1ull << w, at_barrier_ |= 1ull << w;
  open_if_complete(now, block, barrier);
  // Behind a barrier nothing is read before it opens: a live stream may not know it yet.
  if (kind == trace::BarrierKind::Arrive) advance(now, w);
}

// Warps go on as many cycles after the last arrival as an instruction that needs the barrier's
// result would.
void Sm::open_if_complete(Cycle now, Block& block, Barrier& barrier) {
  if (barrier.arrived < (barrier.expected != 0 ? barrier.expected : block.live)) return;
  for (Mask m = barrier.waiting; m != 0; m &= m - 1)
    wheel_.push(now + warps_[lowest(m)].next->latency, Event::resume(lowest(m)));
  barrier = {};
}

// The record's pieces give the time as a power of two of nanoseconds (stream.h).
void Sm::fall_asleep(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  Cycle time = (std::uint64_t{1} << warp.pieces) * core_clock_mhz_ / 1000;
  warp.wake = now + std::max<Cycle>(in.latency, time);
  sleeping_ |= 1ull << w;
  next_wake_ = std::min(next_wake_, warp.wake);
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

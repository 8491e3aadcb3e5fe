#include "raddle/timing/sm/sm.h"

#include <algorithm>

#include "raddle/base/mask.h"

namespace raddle::timing {

namespace {

unsigned longest_delay(const SmSpec& sm) {
  unsigned most = std::max({sm.l1d.hit_latency_cycles, sm.shared_latency_cycles + kLanes,
                            sm.const_latency_cycles + trace::kMaxPieces});
  for (const OpCost& c : sm.cost) most = std::max(most, c.latency);
  RADDLE_ASSERT(most < EventWheel::kHorizon);
  return most;
}
// Per cycle at most one write-back per scheduler and one event from the LSU, plus one resumption
// per warp.
unsigned events_under_way(const SmSpec& sm) {
  return (sm.schedulers + 1) * (longest_delay(sm) + sm.operands.latest() + 1) + sm.warps;
}
}  // namespace

Sm::Sm(const MachineSpec& machine, const AddressMap& map, unsigned id,
       const policy::Choice<policy::WarpPolicy>& warp_policy,
       const policy::Choice<policy::ThrottlePolicy>* throttle, std::uint64_t seed)
    : id_(id),
      schedulers_(machine.sm.schedulers),
      slots_(machine.sm.warps / machine.sm.schedulers),
      lsu_(machine, map, id),
      ports_(&lsu_.ports()),
      policy_name_(warp_policy.name()),
      warps_(machine.sm.warps),
      wake_(machine.sm.warps, kNever),
      wheel_(events_under_way(machine.sm)),
      blocks_(machine.sm.blocks),
      spec_(machine.sm),
      line_bytes_(machine.l2.line_bytes),
      core_clock_mhz_(machine.core_clock_mhz),
      dispatch_latency_(machine.dispatch_latency_cycles),
      launch_cycles_(machine.kernels.device_launch_cycles),
      launch_lane_cycles_(machine.kernels.device_launch_lane_cycles),
      block_in_(machine.sm.blocks + 64),
      block_out_(machine.sm.blocks + 64) {
  for (unsigned s = 0; s < schedulers_; ++s) {
    group_[s] = low_bits(slots_) << (s * slots_);
    policies_[s] = warp_policy.make({id, s, s * slots_, slots_, seed});
    if (policy::L1Observer* o = policies_[s]->l1_observer()) lsu_.observe(*o);
  }
  if (throttle != nullptr) throttle_ = throttle->make({id, machine.sm.warps, seed});
  if (throttle_ != nullptr && !throttle_->throttles()) throttle_ = nullptr;
  if (throttle_ != nullptr && throttle_->l1_observer() != nullptr)
    lsu_.observe(*throttle_->l1_observer());
  for (unsigned u = 0; u < kUnits; ++u)
    if (spec_.shared_unit[u]) shared_units_ = static_cast<std::uint8_t>(shared_units_ | 1u << u);
  const FetchSpec& fetch = spec_.fetch;
  if (fetch.cache_kib != 0)
    instructions_.assign(fetch.cache_per_scheduler ? schedulers_ : 1, InstructionCache(fetch));
  if (spec_.operands.collectors != 0)
    collectors_.assign(schedulers_, OperandCollectors(spec_.operands));
  short_buffer_ = fetch.buffer < fetch.cycles;
  if (short_buffer_)
    left_.resize(std::size_t{spec_.warps} * fetch.buffer), entry_.resize(spec_.warps);
  fetches_straight_ = short_buffer_ || !instructions_.empty();
  fetches_ = fetch.cycles != 0 || fetches_straight_;
}

void Sm::set_skip(bool skip) {
  skip_ = skip;
  lsu_.set_skip(skip);
}

Cycle Sm::tick(Cycle now) {
  if (now >= inbox_next_) drain_inbox(now);
  if (wheel_.due(now)) run_events(now);
  if (now >= next_wake_) wake_sleepers(now);
  if (throttle_ != nullptr && (now >= throttle_->until() || !skip_)) ask_throttle(now);
  bool active = false;
  if (changed_ != 0 || !skip_) active = issue(now);
  bool full = !lsu_.accepts();
  active |= lsu_.serve(now, wheel_, counters_, (fence_wait_ | ended_) != 0);
  if (full && lsu_.accepts()) changed_ |= ready_ & class_[static_cast<unsigned>(Unit::Lsu)];
  active |= lsu_.inject(now);
  return active || changed_ != 0 ? now + 1 : next_event(now);
}

Cycle Sm::next_event(Cycle now) const {
  const Cycle next =
      std::min({inbox_next_, wheel_.next(now + 1), next_wake_, lsu_.next_event(now)});
  return throttle_ == nullptr ? next : std::min(next, std::max(now + 1, throttle_->until()));
}

// What held until now is counted; then the throttle's answer is taken over, and the schedulers of
// the warps it concerns look again.
void Sm::ask_throttle(Cycle now) {
  const Mask running = resident_ & ~ended_;
  const policy::Admission a =
      throttle_->ask({running, at_barrier_ & running, age_, block_of_, now});
  RADDLE_ASSERT(a.until > now);
  const Mask no_issue = running & ~a.issue, no_load = running & ~(a.issue & a.load);
  const Mask other = (no_issue ^ no_issue_) | (no_load ^ no_load_);
  if (other == 0) return;
  count_warps(now);
  no_issue_ = no_issue, no_load_ = no_load;
  changed_ |= other & ready_;
}

void Sm::count_warps(Cycle now) {
  if (now == warps_since_) return;
  const stats::SchedulerCounters so_far = scheduler_counters(now);
  scheduler_counters_.warp_cycles = so_far.warp_cycles;
  scheduler_counters_.throttled_warp_cycles = so_far.throttled_warp_cycles;
  warps_since_ = now;
}

// --- arrivals -----------------------------------------------------------------------------------

void Sm::drain_inbox(Cycle now) {
  while (ports_->from_noc.next_arrival() <= now) {
    Message m = ports_->from_noc.front();
    ports_->from_noc.pop();
    progress_ = now;
    lsu_.reply(now, m, counters_, Arrivals{*this, now});
  }
  while (block_in_.next_arrival() <= now) {
    start_block(now, block_in_.front());
    block_in_.pop();
  }
  inbox_next_ = inbox();
}

void Sm::start_block(Cycle now, const BlockStart& start) {
  const bool first = lsu_.start_block(now, *start.launch, start.flush);
  if (first && throttle_ != nullptr) throttle_->on_kernel_start(now), throttle_->ask_again();
  kernels_ |= 1u << start.launch->slot;
  const trace::LaunchShape& shape = start.launch->stream->shape();
  Block& block = blocks_[start.slot];
  RADDLE_ASSERT(block.live == 0);
  auto warps = static_cast<std::uint8_t>(shape.warps_per_block());
  block = {start.launch, start.block, 0, warps, warps, {}};
  auto threads = static_cast<unsigned>(shape.block.count());
  for (unsigned i = 0; i < warps; ++i) {
    unsigned w = free_slot();
    block.warps |= 1ull << w;
    start_warp(now, w, start.slot, i, std::min(kLanes, threads - i * kLanes));
  }
  progress_ = now;
}

// Warps are dealt round-robin over the schedulers, skipping those that are full.
unsigned Sm::free_slot() {
  for (unsigned n = 0; n < schedulers_; ++n) {
    unsigned s = deal_turn_;
    deal_turn_ = deal_turn_ + 1 == schedulers_ ? 0 : deal_turn_ + 1;
    if (Mask free = group_[s] & ~resident_; free != 0) return lowest(free);
  }
  assertion_failed("a warp slot is free for every warp the dispatcher sends", __FILE__, __LINE__);
}

void Sm::start_warp(Cycle now, unsigned w, unsigned slot, unsigned index, unsigned lanes) {
  Warp& warp = warps_[w];
  const Block& block = blocks_[slot];
  warp = {};
  warp.launch = block.launch, warp.block = static_cast<std::uint8_t>(slot), warp.index = index;
  warp.lanes = static_cast<std::uint8_t>(lanes), warp.kernel = block.launch->slot;
  warp.cursor = block.launch->stream->open(block.id, index);
  count_warps(now);
  resident_ |= 1ull << w;
  age_.insert(w);
  block_of_[w] = warp.block;
  policies_[scheduler_of(w)]->on_warp_start(w);
  if (throttle_ != nullptr) throttle_->on_warp_start(now, w), throttle_->ask_again();
  lsu_.warp_started({now, block.launch->sequence, block.id, index, static_cast<std::uint8_t>(w),
                     block.launch->slot});
  if (!read_record(warp)) return end_stream(now, w);
  if (fetches_) fetch(now, w);
  else show_next(w);
}

// --- completions --------------------------------------------------------------------------------

inline void Sm::written(Cycle now, unsigned w, unsigned reg) {
  Warp& warp = warps_[w];
  Mask bit = 1ull << w;
  bool memory = warp.pending_memory.test(reg);
  warp.pending.clear(reg), warp.pending_memory.clear(reg);
  if (((ended_ | at_barrier_ | sleeping_ | fetching_) & bit) != 0) {
    if ((ended_ & bit) != 0) end_if_drained(now, w);
    return;
  }
  if (!warp.next->uses.test(reg)) return;
  changed_ |= bit;
  if ((emptied_ & bit) != 0 || warp.next->route == Route::Fence) return judge_again(now, w);
  if (memory && !warp.next->uses.meets(warp.pending_memory)) memory_wait_ &= ~bit;
  if (!warp.next->uses.meets(warp.pending)) ready_ |= bit;
}

void Sm::run_events(Cycle now) {
  auto units = [&](std::uint32_t free) {
    for (std::uint32_t m = free; m != 0; m &= m - 1) {
      unsigned unit = lowest(m) / 4;
      Mask group = group_[lowest(m) % 4];
      if (unit == kCollectors) {
        collecting_ &= ~group;
        changed_ |= ready_ & group;
        continue;
      }
      if ((shared_units_ >> unit & 1) != 0) group = ~Mask{0};
      busy_[unit] &= ~group;
      blocked_ &= ~(class_[unit] & group);
      changed_ |= class_[unit] & ready_ & group;
    }
  };
  wheel_.take(now, units, [&](Event e) {
    switch (e.kind()) {
      case Event::Kind::Write:
        written(now, e.warp(), e.reg());
        break;
      case Event::Kind::WriteSeveral: {
        unsigned w = e.warp();
        written_several(now, w, warps_[w].launch->code->instructions()[e.inst()]);
        break;
      }
      case Event::Kind::Piece:
        lsu_.hit_piece(now, e.load(), counters_, [&](const Lsu::Owner& o) { loaded(now, o); });
        break;
      case Event::Kind::Acknowledge:
        acknowledged(now, e.warp());
        break;
      case Event::Kind::Resume:
        resume(now, e.warp());
        break;
      case Event::Kind::Fetched:
        fetching_ &= ~(1ull << e.warp());
        show_next(e.warp());
        break;
    }
  });
}

void Sm::wake_sleepers(Cycle now) {
  next_wake_ = kNever;
  for (Mask m = sleeping_; m != 0; m &= m - 1) {
    unsigned w = lowest(m);
    if (wake_[w] <= now) resume(now, w);
    else next_wake_ = std::min(next_wake_, wake_[w]);
  }
}

void Sm::loaded(Cycle now, const Lsu::Owner& owner) {
  unsigned w = owner.warp;
  changed_ |= ready_ & class_[static_cast<unsigned>(Unit::Lsu)];  // a load slot is free
  --warps_[w].outstanding;
  if (owner.code->destination == DecodedInst::kSeveral) written_several(now, w, *owner.code);
  else if (owner.code->destination != DecodedInst::kNone) written(now, w, owner.code->destination);
  else if ((ended_ >> w & 1) != 0) end_if_drained(now, w);
  if ((fence_wait_ >> w & 1) != 0) judge_again(now, w);
}

void Sm::constant(Cycle now, const Lsu::Owner& owner) {
  if (owner.code->destination == DecodedInst::kSeveral)
    written_several(now, owner.warp, *owner.code);
  else written(now, owner.warp, owner.code->destination);
}

void Sm::acknowledged(Cycle now, unsigned w) {
  --warps_[w].outstanding;
  if ((ended_ >> w & 1) != 0) end_if_drained(now, w);
  else if ((fence_wait_ >> w & 1) != 0) judge_again(now, w);
}

void Sm::written_several(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  const RegisterSet& registers = warp.launch->code->several(in);
  warp.pending -= registers, warp.pending_memory -= registers;
  if (((ended_ | at_barrier_ | sleeping_ | fetching_) >> w & 1) == 0) judge_again(now, w);
  else if ((ended_ >> w & 1) != 0) end_if_drained(now, w);
}

// --- end of a warp ------------------------------------------------------------------------------

// Whoever has ended is not waited for at barriers that wait for the whole block.
void Sm::end_stream(Cycle now, unsigned w) {
  count_warps(now);
  ended_ |= 1ull << w, no_load_ &= ~ended_, no_issue_ &= ~ended_;
  if (throttle_ != nullptr) throttle_->on_warp_end(now, w), throttle_->ask_again();
  Block& block = blocks_[warps_[w].block];
  if (--block.running != 0)
    for (Barrier& b : block.barrier)
      if (b.arrived != 0) open_if_complete(now, block, b);
  end_if_drained(now, w);
}

void Sm::end_if_drained(Cycle now, unsigned w) {
  const Warp& warp = warps_[w];
  changed_ |= 1ull << w;
  memory_wait_ &= ~(1ull << w);
  if (warp.pending_memory.any() || warp.outstanding != 0) memory_wait_ |= 1ull << w;
  else if (!warp.pending.any()) end_warp(now, w);
}

void Sm::end_warp(Cycle now, unsigned w) {
  Block& block = blocks_[warps_[w].block];
  Mask bit = 1ull << w;
  resident_ &= ~bit, ended_ &= ~bit, block.warps &= ~bit;
  age_.remove(w);
  policies_[scheduler_of(w)]->on_warp_end(w);
  if (--block.live != 0) return;
  ++counters_[block.launch->slot].blocks;
  block.launch->stream->close(block.id);
  block_out_.push(now + dispatch_latency_, {warps_[w].block});
  dispatcher_box_->post(now + dispatch_latency_, id_);
}

stats::SmCounters Sm::counters(Cycle at, unsigned kernel) const {
  stats::SmCounters out = counters_[kernel];
  for (unsigned c = 0; c < trace::kOpClasses; ++c)
    out.issued += out.class_issued[c], out.thread_instructions += out.class_lanes[c];
  for (unsigned s = 0; s < schedulers_; ++s)
    if (reason_[s] != stats::Stall::Idle && charged_[s] == kernel)
      out.stall[static_cast<unsigned>(reason_[s])] += at - since_[s];
  lsu_.settle(at, kernel, out);
  return out;
}

stats::SmCounters Sm::counters(Cycle at) const {
  stats::SmCounters sum;
  for (std::uint64_t m = kernels_; m != 0; m &= m - 1)
    stats::accumulate(sum, counters(at, lowest(m)));
  return sum;
}

stats::SchedulerCounters Sm::scheduler_counters(Cycle at) const {
  stats::SchedulerCounters out = scheduler_counters_;
  for (unsigned s = 0; s < schedulers_; ++s)
    out.stall[static_cast<unsigned>(reason_[s])] += at - since_[s];
  const auto running = static_cast<unsigned>(std::popcount(resident_ & ~ended_)),
             throttled = static_cast<unsigned>(std::popcount(no_load_));
  out.warp_cycles += (at - warps_since_) * running;
  out.throttled_warp_cycles += (at - warps_since_) * throttled;
  return out;
}

}  // namespace raddle::timing

#include "raddle/timing/sm/sm.h"

#include <algorithm>

#include "raddle/base/mask.h"
#include "raddle/timing/sm/denovo_coherent_l1.h"
#include "raddle/timing/sm/gpu_coherent_l1.h"
#include "raddle/timing/sm/sm_describe.h"
#include "raddle/timing/sm/sm_home_calls.h"
#include "raddle/timing/sm/sm_issue.h"
#include "raddle/timing/sm/sm_known.h"
#include "raddle/timing/sm/sm_migration.h"
#include "raddle/timing/sm/sm_of.h"

namespace raddle::timing {

namespace {

unsigned longest_delay(const SmSpec& sm) {
  unsigned most = std::max({sm.l1d.hit_latency_cycles, sm.shared_latency_cycles + kLanes,
                            sm.const_latency_cycles + trace::kMaxPieces});
  for (const OpCost& c : sm.cost) most = std::max(most, c.latency);
  RADDLE_ASSERT(most < EventWheel::kHorizon);
  return most;
}
// Per cycle at most one write-back per scheduler and one event per line that the LSU serves, plus
// one resumption per warp.
unsigned events_under_way(const SmSpec& sm) {
  return (sm.schedulers + sm.lsu_lines) * (longest_delay(sm) + sm.operands.latest() + 1) + sm.warps;
}
// One end for each block and warp, and an access to a queue a cycle.
unsigned on_block_wire(const OneSmSpec& spec) {
  return spec.sm.blocks + SmSpec::kMostWarps + static_cast<unsigned>(spec.dispatch_latency) + 1;
}
}  // namespace

template <L1Protocol L1>
SmOf<L1>::SmOf(const OneSmSpec& spec, const AddressMap& map, const SmPolicies& policies,
               std::uint64_t seed)
    : warps_(spec.sm.warps),
      schedulers_(spec.sm, spec.id, policies.warp, seed),
      units_(spec.sm, schedulers_.slots()),
      throttle_(policies.throttle, {spec.id, spec.sm.warps, seed, spec.sm.schedulers}),
      stalls_(spec.sm.schedulers),
      front_end_(spec.sm, schedulers_.slots()),
      blocks_(spec.sm.blocks),
      lsu_(spec.lsu, map),
      ports_(&lsu_.ports()),
      wheel_(events_under_way(spec.sm)),
      register_unit_(spec.sm.register_unit),
      counters_(spec.kernel_slots),
      id_(spec.id),
      line_bytes_(spec.lsu.lines.line_bytes),
      core_clock_mhz_(spec.core_mhz),
      barrier_interval_(spec.sm.barrier_interval_cycles),
      dispatch_latency_(spec.dispatch_latency),
      device_launch_(spec.device_launch),
      block_in_(on_block_wire(spec)),
      block_out_(on_block_wire(spec)) {
  if (spec.lsu.port.packet.core_rank_bytes != 0) lsu_.rank_requests_by(warps_);
  for (unsigned s = 0; s < schedulers_.count(); ++s) show(policy(s));
  if (throttle_.present()) show(*throttle_.policy());
  const L1dSpec& l1d = spec.sm.l1d;
  if (policies.replacement != nullptr && l1d.present()) {
    auto replaces = policies.replacement->make({spec.id, l1d.sets(), l1d.ways, seed});
    if (!replaces->is_lru()) lsu_.replace_by(std::move(replaces));
  }
  if (policies.bypass != nullptr && l1d.present()) {
    auto bypass = policies.bypass->make({spec.id, l1d.sets(), l1d.ways, spec.sm.warps, seed});
    if (!bypass->bypasses()) return;
    show(*bypass);
    lsu_.l1().bypass_by(std::move(bypass));
  }
}

/// From now on the policy is shown what it wants to see.
template <L1Protocol L1>
template <class Policy>
void SmOf<L1>::show(Policy& policy) {
  if (policy::L1Observer* o = policy.l1_observer()) lsu_.observe(*o);
  if (policy::SmObserver* o = policy.sm_observer()) known().tell(*o);
}

template <L1Protocol L1>
void SmOf<L1>::set_skip(bool skip) {
  skip_ = skip;
  lsu_.set_skip(skip);
}

template <L1Protocol L1>
Cycle SmOf<L1>::tick(Cycle now) {
  if (profile_ != nullptr) [[unlikely]]
    see_warps(now);
  if (now >= inbox_next_) drain_inbox(now);
  if (wheel_.due(now)) run_events(now);
  if (now >= warps_.next_wake()) warps_.wake(now, [&](unsigned w) { resume(now, w); });
  if (known_ != nullptr) [[unlikely]]
    known_->look(now);
  if (throttle_.present() && (now >= throttle_.until() || !skip_)) ask_throttle(now);
  if (quota_ != nullptr) [[unlikely]]
    renew_quota(now);
  bool active = false;
  if (board_ != nullptr) [[unlikely]] {
    active = enter_arriving(now);
    active |= enter_foreign();
  }
  if (look_again_ != 0 || !skip_) active |= issue(now);
  const WarpMask memory = units_.wanting(Unit::Lsu);
  const WarpMask kept_out = lsu_.keeps_out(memory, warps_.of_tenant);
  active |= lsu_.serve(now, wheel_, counters_, (warps_.fence_wait | warps_.ended) != 0);
  if (kept_out != 0)
    look_again_ |= warps_.ready & kept_out & ~lsu_.keeps_out(kept_out, warps_.of_tenant);
  active |= lsu_.inject(now);
  if (board_ != nullptr) [[unlikely]] {
    last_tick_ = now;
    board_->mshrs[id_] = static_cast<std::uint16_t>(lsu_.l1().mshrs_taken());
    board_->ticked[id_] = 1;
    board_->any_ticked.store(true, std::memory_order_relaxed);
  }
  return active || look_again_ != 0 ? now + 1 : next_event(now);
}

template <L1Protocol L1>
Cycle SmOf<L1>::next_event(Cycle now) const {
  Cycle next =
      std::min({inbox_next_, wheel_.next(now + 1), warps_.next_wake(), lsu_.next_event(now)});
  if (quota_ != nullptr && warps_.running() != 0)
    next = std::min(next, std::max(now + 1, quota_->deadline()));
  return throttle_.present() ? std::min(next, std::max(now + 1, throttle_.until())) : next;
}

template <L1Protocol L1>
void SmOf<L1>::ask_throttle(Cycle now) {
  take_over(now, throttle_.ask(now, warps_));
}

// What held until now is counted; then the answer is taken over, and the schedulers of the warps it
// concerns look again.
template <L1Protocol L1>
void SmOf<L1>::take_over(Cycle now, const ThrottleGate::Answer& answer) {
  const WarpMask changes = throttle_.changes(answer);
  if (changes == 0) return;
  count_warps(now);
  throttle_.adopt(answer);
  look_again_ |= changes & warps_.ready;
}

// --- a scheme -----------------------------------------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::obey(Cycle at, const policy::Knobs& knobs) {
  RADDLE_ASSERT(board_ == nullptr);  // active_ takes it that a block's warps stay in their slots
  warps_.knobs = &knobs;
  if (active_ == nullptr) active_ = std::make_unique<ActiveBlocks>();
  active_->obey(knobs);
  if (!IssueQuota::limits(knobs)) quota_ = nullptr;
  else if (quota_ == nullptr) quota_ = std::make_unique<IssueQuota>();
  if (quota_ != nullptr) quota_->obey(at, knobs);
  hold_inactive(at);
  lsu_.obey(at, knobs);
  if (throttle_.present()) throttle_.policy()->ask_again();
  called_ = at;
}

template <L1Protocol L1>
void SmOf<L1>::hold_inactive(Cycle now) {
  const WarpMask spent = quota_ != nullptr ? quota_->held(warps_.of_tenant) : 0;
  throttle_.hold(active_->held() | spent);
  take_over(now, throttle_.answer(warps_.running()));
}

template <L1Protocol L1>
void SmOf<L1>::renew_quota(Cycle now) {
  if (quota_->renew(now, warps_.ready, warps_.running(), warps_.of_tenant)) hold_inactive(now);
}

// --- arrivals -----------------------------------------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::drain_inbox(Cycle now) {
  while (ports_->from_noc.next_arrival() <= now) {
    const Message m = ports_->from_noc.front();
    ports_->from_noc.pop();
    progress_ = now;
    lsu_.reply(now, m, counters_, Arrivals{*this, now});
  }
  while (block_in_.next_arrival() <= now) {
    const BlockStart& start = block_in_.front();
    if (start.launch != nullptr) start_block(now, start);
    else queue_requests_.push_back(start.queue);
    block_in_.pop();
  }
  if (!queue_requests_.empty()) send_queue_accesses(now);
  inbox_next_ = inbox();
}

template <L1Protocol L1>
void SmOf<L1>::start_block(Cycle now, const BlockStart& start) {
  const bool first = lsu_.start_block(now, *start.launch, start.flush);
  if (first && throttle_.present()) throttle_.kernel_started(now);
  kernels_.set(start.launch->slot);
  const trace::LaunchShape& shape = start.launch->stream->shape();
  const unsigned warps = shape.warps_per_block();
  blocks_.start(start.slot, *start.launch, start.block, warps);
  if (known_ != nullptr) known_->ledger.block_started(start.slot);
  const auto threads = static_cast<unsigned>(shape.block.count());
  for (unsigned i = 0; i < warps; ++i)
    start_warp(now, start.slot, i, std::min(kLanes, threads - i * kLanes));
  if (active_ != nullptr && blocks_[start.slot].live != 0) {
    active_->started(start.launch->tenant, start.slot, blocks_[start.slot].warps);
    hold_inactive(now);
  }
  progress_ = now;
}

template <L1Protocol L1>
void SmOf<L1>::send_queue_accesses(Cycle now) {
  while (!queue_requests_.empty() && lsu_.send_queue_access(queue_requests_.front(), counters_)) {
    kernels_.set(queue_requests_.front().kernel);
    queue_requests_.pop_front();
  }
  queue_retry_ = queue_requests_.empty() ? kNever : now + 1;
}

template <L1Protocol L1>
void SmOf<L1>::fetched(Cycle now, unsigned id) {
  block_out_.push(now + dispatch_latency_, {0, true, static_cast<std::uint16_t>(id)});
  dispatcher_box_->post(now + dispatch_latency_, id_);
}

template <L1Protocol L1>
void SmOf<L1>::start_warp(Cycle now, unsigned slot, unsigned index, unsigned lanes) {
  const Block& block = blocks_[slot];
  const Launch& launch = *block.launch;
  const unsigned w = schedulers_.deal(warps_.resident);
  blocks_.add_warp(slot, w);
  count_warps(now);
  Warp& warp = warps_.enter(w, slot);
  warp.launch = &launch;
  warp.index = index;
  warp.lanes = static_cast<std::uint8_t>(lanes);
  warp.kernel = launch.slot;
  warps_.of_tenant[raddle::index(launch.tenant)] |= bit_of(w);
  warp.local_window = id_ * warps_.slots() + w;
  warp.cursor = launch.stream->open(block.id, index);
  if (known_ != nullptr) known_->ledger.started(now, w);
  schedulers_.warp_started(w);
  if (throttle_.present()) throttle_.warp_started(now, w);
  lsu_.warp_started({now, launch.sequence, block.id, index, static_cast<std::uint8_t>(w),
                     launch.slot, launch.tenant});
  if (!FrontEnd::read_record(warp)) return end_stream(now, w);
  if (front_end_.present()) refill_buffer(now, w);
  else present_next(w);
}

template <L1Protocol L1>
void SmOf<L1>::tell_progress() {
  tells_progress_ = true;
  known();
}

// --- completions --------------------------------------------------------------------------------

template <L1Protocol L1>
inline void SmOf<L1>::register_written(Cycle now, unsigned w, unsigned reg) {
  Warp& warp = warps_[w];
  const WarpMask bit = bit_of(w);
  const bool memory = warp.pending_memory.test(reg);
  warp.pending.clear(reg);
  warp.pending_memory.clear(reg);
  if ((warps_.parked() & bit) != 0) {
    if ((warps_.ended & bit) != 0) end_if_drained(now, w);
    return;
  }
  if (!warp.next->uses.test(reg)) return;
  look_again_ |= bit;
  if ((warps_.emptied & bit) != 0 || warp.next->route == Route::Fence)
    return recheck_hazards(now, w);
  if (memory && !warp.next->uses.meets(warp.pending_memory)) warps_.memory_wait &= ~bit;
  if (!warp.next->uses.meets(warp.pending)) warps_.ready |= bit;
}

template <L1Protocol L1>
void SmOf<L1>::run_events(Cycle now) {
  auto units = [&](std::uint32_t free) { look_again_ |= units_.release(free, warps_.ready); };
  wheel_.take(now, units, [&](Event e) {
    switch (e.kind()) {
      case Event::Kind::Write:
        register_written(now, e.warp(), e.reg());
        break;
      case Event::Kind::WriteMultiple: {
        const unsigned w = e.warp();
        registers_written(now, w, warps_[w].launch->code->instructions()[e.inst()]);
        break;
      }
      case Event::Kind::Piece:
        lsu_.hit_piece(now, e.load(), counters_, [&](const LsuCore::Owner& o) { loaded(now, o); });
        break;
      case Event::Kind::Acknowledge:
        acknowledged(now, e.warp());
        break;
      case Event::Kind::Resume:
        resume(now, e.warp());
        break;
      case Event::Kind::Foreign:
        foreign_served();
        break;
      case Event::Kind::Fetched:
        warps_.fetching &= ~bit_of(e.warp());
        present_next(e.warp());
        break;
    }
  });
}

template <L1Protocol L1>
void SmOf<L1>::loaded(Cycle now, const LsuCore::Owner& owner) {
  const unsigned w = owner.warp;
  look_again_ |= warps_.ready & units_.wanting(Unit::Lsu);  // a load slot is free
  --warps_[w].outstanding;
  if (throttle_.present()) throttle_.load_done(now, owner.tenant);
  if (owner.code->destination == DecodedInst::kMultiple) registers_written(now, w, *owner.code);
  else if (owner.code->destination != DecodedInst::kNone)
    register_written(now, w, owner.code->destination);
  else if (has(warps_.ended, w)) end_if_drained(now, w);
  if (has(warps_.fence_wait, w)) recheck_hazards(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::constant(Cycle now, const LsuCore::Owner& owner) {
  if (owner.code->destination == DecodedInst::kMultiple)
    registers_written(now, owner.warp, *owner.code);
  else register_written(now, owner.warp, owner.code->destination);
}

template <L1Protocol L1>
void SmOf<L1>::acknowledged(Cycle now, unsigned w) {
  --warps_[w].outstanding;
  if (has(warps_.ended, w)) end_if_drained(now, w);
  else if (has(warps_.fence_wait, w)) recheck_hazards(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::registers_written(Cycle now, unsigned w, const DecodedInst& in) {
  Warp& warp = warps_[w];
  const RegisterSet& registers = warp.launch->code->multiple_destinations(in);
  warp.pending -= registers;
  warp.pending_memory -= registers;
  if (!has(warps_.parked(), w)) recheck_hazards(now, w);
  else if (has(warps_.ended, w)) end_if_drained(now, w);
}

// --- end of a warp ------------------------------------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::end_stream(Cycle now, unsigned w) {
  count_warps(now);
  warps_.ended |= bit_of(w);
  throttle_.forget(w);
  if (throttle_.present()) throttle_.warp_ended(now, w);
  if (const unsigned slot = warps_[w].block; !is_adopted(w))
    blocks_.stream_ended(slot, [&](const Opened& o) { open_barrier(now, slot, o); });
  end_if_drained(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::end_if_drained(Cycle now, unsigned w) {
  const Warp& warp = warps_[w];
  look_again_ |= bit_of(w);
  warps_.memory_wait &= ~bit_of(w);
  if (warp.pending_memory.any() || warp.outstanding != 0) warps_.memory_wait |= bit_of(w);
  else if (!warp.pending.any()) end_warp(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::end_warp(Cycle now, unsigned w) {
  const std::uint8_t slot = warps_[w].block;
  warps_.leave(w);
  schedulers_.warp_left(w);
  if (active_ != nullptr) active_->left(bit_of(w));
  if (is_adopted(w)) return end_adopted(now, w);
  if (blocks_.leave(slot, w)) end_block(now, slot);
}

template <L1Protocol L1>
void SmOf<L1>::end_block(Cycle now, unsigned slot) {
  if (active_ != nullptr) {
    active_->ended(slot);
    hold_inactive(now);
  }
  const Block& block = blocks_[slot];
  ++counters_[block.launch->slot].blocks;
  block.launch->stream->close(block.id);
  BlockEnd end{static_cast<std::uint8_t>(slot)};
  if (tells_progress_) end.progress = known_->progress(slot);
  block_out_.push(now + dispatch_latency_, end);
  dispatcher_box_->post(now + dispatch_latency_, id_);
}

// --- results ------------------------------------------------------------------------------------

template <L1Protocol L1>
stats::SmCounters SmOf<L1>::counters(Cycle at, unsigned kernel) const {
  stats::SmCounters out = counters_[kernel];
  for (unsigned c = 0; c < trace::kOpClasses; ++c) {
    out.issued += out.class_issued[c];
    out.thread_instructions += out.class_lanes[c];
  }
  stalls_.settle(at, kernel, out);
  lsu_.settle(at, kernel, out);
  return out;
}

template <L1Protocol L1>
stats::SmCounters SmOf<L1>::counters(Cycle at) const {
  stats::SmCounters sum;
  kernels_.each([&](unsigned slot) { stats::accumulate(sum, counters(at, slot)); });
  return sum;
}

template <L1Protocol L1>
stats::SchedulerCounters SmOf<L1>::scheduler_counters(Cycle at) const {
  return stalls_.counters(at, warps_.running(), throttle_.no_load());
}

// --- protocols that keep data over an acquire ----------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::keep_unwritten(const RegionWrites& writes) {
  if constexpr (requires { lsu_.l1().cache().keep_unwritten(writes); })
    lsu_.l1().cache().keep_unwritten(writes);
  else assertion_failed("the L1's protocol keeps words over an acquire", __FILE__, __LINE__);
}

template <L1Protocol L1>
std::vector<RegionWrite>& SmOf<L1>::region_writes() {
  if constexpr (requires { lsu_.l1().cache().written(); }) return lsu_.l1().cache().written();
  else assertion_failed("the L1's protocol notes what is written", __FILE__, __LINE__);
}

template <L1Protocol L1>
std::uint64_t SmOf<L1>::words_kept() const {
  if constexpr (requires { lsu_.l1().cache().kept(); }) return lsu_.l1().cache().kept();
  else return 0;
}

template <L1Protocol L1>
void SmOf<L1>::lose(std::uint32_t line, std::uint16_t words) {
  if constexpr (requires { lsu_.l1().cache().lose(line, words); })
    lsu_.l1().cache().lose(line, words);
  else assertion_failed("the L1's protocol owns words", __FILE__, __LINE__);
}

std::unique_ptr<Sm> make_sm(const OneSmSpec& spec, const AddressMap& map,
                            const SmPolicies& policies, std::uint64_t seed) {
  if (spec.lsu.coherence.ownership)
    return std::make_unique<SmOf<DenovoCoherentL1>>(spec, map, policies, seed);
  return std::make_unique<SmOf<GpuCoherentL1>>(spec, map, policies, seed);
}

}  // namespace raddle::timing

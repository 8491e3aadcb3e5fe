#include "raddle/timing/sm/sm.h"

#include <algorithm>

#include "raddle/base/mask.h"
#include "raddle/timing/sm/denovo_coherent_l1.h"
#include "raddle/timing/sm/gpu_coherent_l1.h"
#include "raddle/timing/sm/sm_copies.h"
#include "raddle/timing/sm/sm_issue.h"
#include "raddle/timing/sm/sm_of.h"
#include "raddle/timing/sm/warp_report.h"

namespace raddle::timing {

namespace {

unsigned longest_delay(const SmSpec& sm) {
  unsigned maximum = std::max({sm.l1d.hit_latency_cycles, sm.shared_latency_cycles + kLanes,
                               sm.const_latency_cycles + trace::kMaxTransactions});
  for (const OpCost& c : sm.cost) maximum = std::max(maximum, c.latency);
  maximum = std::max({maximum, sm.barrier_objects.visible_cycles, sm.barrier_objects.test_cycles});
  if (sm.warpgroup.interval_cycles != 0)
    maximum = std::max(maximum, sm.warpgroup.latency_cycles + 255);
  if (sm.cluster.present())
    maximum = std::max(maximum, sm.cluster.latency_cycles + kLanes * sm.cluster.row_cycles);
  RADDLE_ASSERT(maximum < EventWheel::kHorizon);
  return maximum;
}
// Per cycle at most one write-back per scheduler and one event per line that the LSU serves, plus
// one resumption per warp.
unsigned events_under_way(const SmSpec& sm) {
  return (sm.schedulers + sm.lsu_lines) * (longest_delay(sm) + sm.operands.latest() + 1) + sm.warps;
}
}  // namespace

template <L1Protocol L1>
SmOf<L1>::SmOf(const OneSmSpec& spec, const AddressMap& map, const SmPolicies& policies,
               std::uint64_t seed)
    : board_(spec.sm, SchedulerSlots(spec.sm), events_under_way(spec.sm)),
      issue_(spec.sm, spec.id, policies.warp, seed),
      gate_(policies.throttle, {spec.id, spec.sm.warps, seed, spec.sm.schedulers}, board_,
            issue_.stalls()),
      counters_(spec.kernel_slots),
      lsu_(spec.lsu, map),
      ports_(&lsu_.ports()),
      tma_(spec.sm.tma, spec.lsu.lines),
      blocks_(spec.sm.blocks),
      dispatcher_(spec),
      abroad_(spec.id),
      observation_({.warps = board_.warps(),
                    .blocks = blocks_,
                    .abroad = abroad_,
                    .stalls = issue_.stalls(),
                    .lsu = [this] { return lsu_.facts(); }}),
      block_stage_(spec.sm, blocks_, parts()),
      migration_(blocks_, block_stage_, parts(), called_),
      id_(spec.id),
      line_bytes_(spec.lsu.lines.line_bytes),
      core_clock_mhz_(spec.core_mhz),
      device_launch_(spec.device_launch) {
  if (spec.lsu.port.packet.core_rank_bytes != 0) lsu_.rank_requests_by(board_.warps());
  for (unsigned i = 0; i < issue_.schedulers().count(); ++i) show(policy(i));
  if (gate_.throttles()) show(*gate_.throttle());
  const L1dSpec& l1d = spec.sm.l1d;
  if (policies.replacement != nullptr && l1d.present()) {
    auto replaces = policies.replacement->make({spec.id, l1d.max_sets(), l1d.ways, seed});
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
  if (policy::SmObserver* o = policy.sm_observer()) observation_.add(*o);
}

template <L1Protocol L1>
void SmOf<L1>::set_skip(bool skip) {
  skip_ = skip;
  lsu_.set_skip(skip);
}

template <L1Protocol L1>
inline void SmOf<L1>::written(Cycle now, unsigned w, const DecodedInst& in) {
  if (board_.written(now, w, in)) block_stage_.end_if_drained(now, w);
}

template <L1Protocol L1>
inline void SmOf<L1>::run_events(Cycle now) {
  const auto units = [&](std::uint32_t free) {
    board_.look_again(board_.units().release(free, board_.warps().ready));
  };
  board_.wheel().take(
      now, units, [&](Event event) __attribute__((always_inline)) {
        switch (event.kind()) {
          case Event::Kind::Write:
            if (board_.register_written(now, event.warp(), event.reg()))
              block_stage_.end_if_drained(now, event.warp());
            break;
          case Event::Kind::WriteMultiple: {
            const unsigned warp = event.warp();
            written(now, warp, board_[warp].launch->code->instructions()[event.inst()]);
            break;
          }
          case Event::Kind::Transaction:
            lsu_.hit_transaction(now, event.load(), counters_,
                                 [&](const LsuCore::Owner& o) { loaded(now, o); });
            break;
          case Event::Kind::Acknowledge:
            acknowledged(now, event.warp());
            break;
          case Event::Kind::Resume:
            block_stage_.resume(now, event.warp());
            break;
          case Event::Kind::Foreign:
            migration_.foreign_served();
            break;
          case Event::Kind::Fetched:
            board_.fetched(event.warp());
            break;
        }
      });
}

template <L1Protocol L1>
Cycle SmOf<L1>::run(Cycle from, Cycle end) {
  if (has_extras()) {
    while (from < end) from = step<true>(from);
  } else {
    while (from < end) from = step<false>(from);
  }
  return from;
}

/// One cycle, as sm.h says.
template <L1Protocol L1>
template <bool kExtras>
[[gnu::always_inline]] inline Cycle SmOf<L1>::step(Cycle now) {
  WarpTable& warps = board_.warps();
  if (kExtras && observation_.profile() != nullptr) see_warps(now);
  if (kExtras && observation_.window() != nullptr) follow_warps(now);
  if (now >= inbox_next_) drain_inbox(now);
  if (board_.wheel().due(now)) run_events(now);
  if (now >= warps.next_wake()) warps.wake(now, [&](unsigned w) { block_stage_.resume(now, w); });
  if (kExtras && observation_.keeps_ledger()) observation_.look(now);
  if (kExtras) gate_.update(now, !skip_);
  bool active = false;
  if (kExtras && abroad_.allowed()) active = migration_.enter(now);
  if (board_.changed() != 0 || (kExtras && !skip_)) active |= issue<kExtras>(now);
  if (lsu_.has_work(now) || (kExtras && !skip_)) active |= serve(now);
  if (tma_.present()) [[unlikely]]
    active |= make_copies(now);
  active |= lsu_.inject(now);
  if (kExtras && abroad_.allowed()) migration_.note_tick(now);
  return active || board_.changed() != 0 ? now + 1 : next_event<kExtras>(now);
}

/// The load/store unit, and who finds it open again after that.
template <L1Protocol L1>
[[gnu::always_inline]] inline bool SmOf<L1>::serve(Cycle now) {
  const WarpTable& warps = board_.warps();
  const bool closed = !lsu_.accepts();
  const bool served =
      lsu_.serve(now, board_.wheel(), counters_, (warps.fence_wait | warps.ended) != 0);
  if (closed && served) {
    const WarpMask memory = warps.ready & board_.units().wanting(Unit::Lsu);
    board_.look_again(memory & ~lsu_.keeps_out(memory, warps.of_tenant));
  }
  return served;
}

template <L1Protocol L1>
template <bool kExtras>
inline Cycle SmOf<L1>::next_event(Cycle now) const {
  Cycle next = std::min({inbox_next_, board_.wheel().next(now + 1), board_.warps().next_wake(),
                         lsu_.next_event(now)});
  if (kExtras) next = std::min(next, gate_.next_event(now));
  return tma_.present() ? std::min(next, next_copy(now)) : next;
}

/// The unit waits for its rate; for room in the port's queue it looks again when some is there.
template <L1Protocol L1>
Cycle SmOf<L1>::next_copy(Cycle now) const {
  const Cycle next = tma_.next_step(now);
  if (next == kNever || lsu_.queue_takes(tma_.stepping_kernel())) return next;
  return std::max(next, lsu_.next_event(now));
}

template <L1Protocol L1>
void SmOf<L1>::obey(Cycle at, const policy::Knobs& knobs) {
  RADDLE_ASSERT(!abroad_.allowed());  // the gate takes it that a block's warps stay in their slots
  board_.warps().knobs = &knobs;
  gate_.obey(at, knobs);
  lsu_.obey(at, knobs);
  called_ = at;
}

// --- arrivals and completions -------------------------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::drain_inbox(Cycle now) {
  while (ports_->from_noc.next_arrival() <= now) {
    const Message m = ports_->from_noc.front();
    ports_->from_noc.pop();
    progress_ = now;
    lsu_.reply(now, m, counters_, Arrivals{*this, now});
  }
  if (dispatcher_next_ <= now) {
    const auto start = [&](const BlockStart& block) {
      block_stage_.start(now, block);
      progress_ = now;
    };
    const auto send = [&](const QueueRequest& access) {
      if (!lsu_.send_queue_access(access, counters_)) return false;
      block_stage_.note_kernel(access.kernel);
      return true;
    };
    dispatcher_.receive(now, start, send);
    dispatcher_next_ = dispatcher_.next_event();
  }
  inbox_next_ = std::min(ports_->from_noc.next_arrival(), dispatcher_next_);
}

template <L1Protocol L1>
void SmOf<L1>::loaded(Cycle now, const LsuCore::Owner& owner) {
  const unsigned w = owner.warp;
  if (lsu_.lacked_load_slots())
    board_.look_again(board_.warps().ready & board_.units().wanting(Unit::Lsu));
  RADDLE_ASSERT(board_[w].outstanding != 0);
  --board_[w].outstanding;
  gate_.load_done(now, owner.tenant);
  if (owner.code->acquires) [[unlikely]]
    lsu_.acquire(now);
  if (issue_detail::is_copy(*owner.code)) [[unlikely]] {
    board_.warps().groups.over(AsyncGroups::Kind::Copies, w, owner.group);
    block_stage_.copy_came(now, w);
  }
  written(now, w, *owner.code);
  if (has(board_.warps().fence_wait, w)) board_.recheck_hazards(now, w);
}

template <L1Protocol L1>
void SmOf<L1>::acknowledged(Cycle now, unsigned w) {
  RADDLE_ASSERT(board_[w].outstanding != 0);
  --board_[w].outstanding;
  if (has(board_.warps().ended, w)) block_stage_.end_if_drained(now, w);
  else if (has(board_.warps().fence_wait, w)) board_.recheck_hazards(now, w);
}

// --- results ------------------------------------------------------------------------------------

template <L1Protocol L1>
stats::SmCounters SmOf<L1>::counters(Cycle at, unsigned kernel) const {
  stats::SmCounters out = counters_[kernel];
  for (unsigned c = 0; c < trace::kOpClasses; ++c) {
    out.issued += out.class_issued[c];
    out.thread_instructions += out.class_lanes[c];
  }
  issue_.stalls().settle(at, kernel, out);
  lsu_.settle(at, kernel, out);
  return out;
}

template <L1Protocol L1>
stats::SmCounters SmOf<L1>::counters(Cycle at) const {
  stats::SmCounters sum;
  block_stage_.kernels().each([&](unsigned slot) { stats::accumulate(sum, counters(at, slot)); });
  return sum;
}

template <L1Protocol L1>
stats::SchedulerCounters SmOf<L1>::scheduler_counters(Cycle at) const {
  return issue_.stalls().counters(at, board_.warps().running(), gate_.no_load());
}

// --- what people may know -----------------------------------------------------------------------

template <L1Protocol L1>
void SmOf<L1>::describe(std::string& out, unsigned maximum) const {
  const WarpTable& warps = board_.warps();
  const auto total = static_cast<unsigned>(std::popcount(warps.resident));
  out += "SM " + std::to_string(id_) + ": " + std::to_string(total) + " warps\n";
  unsigned shown = 0;
  for (WarpMask m = warps.resident; m != 0 && shown < maximum; m &= m - 1, ++shown)
    describe_warp(out, {warps, blocks_, abroad_}, lowest(m));
  if (total > shown) out += "  ... and " + std::to_string(total - shown) + " more\n";
  out += "  ";
  lsu_.describe(out);
  out += "\n";
}

template <L1Protocol L1>
std::vector<std::string> SmOf<L1>::audit() const {
  const WarpTable& warps = board_.warps();
  std::vector<std::string> broken;
  const std::string name = "SM " + std::to_string(id_) + ": ";
  if (const char* law = warps.broken()) broken.push_back(name + law);
  if (const char* law = board_.units().broken(warps.resident & ~warps.parked()))
    broken.push_back(name + law);
  lsu_.audit(counters_, broken);
  return broken;
}

template <L1Protocol L1>
void SmOf<L1>::keep_profile(const SamplingTimes& samplings) {
  RADDLE_ASSERT(idle());
  observe(observation_.keep_profile(samplings));
}

/// The looks of all cycles before `now`: since the last tick nothing has changed.
template <L1Protocol L1>
void SmOf<L1>::see_warps(Cycle now) {
  InstructionProfile& profile = *observation_.profile();
  const std::uint64_t times = profile.samplings_before(now);
  if (times == 0) return;
  const WarpTable& warps = board_.warps();
  for (WarpMask m = warps.resident; m != 0; m &= m - 1)
    if (const unsigned w = lowest(m); warps[w].next != nullptr) profile.seen(w, state(w), times);
}

template <L1Protocol L1>
void SmOf<L1>::keep_window(Cycle begin, Cycle end) {
  RADDLE_ASSERT(idle());
  observe(observation_.keep_window(begin, end));
}

/// The states of all cycles before `now`: since the last tick nothing has changed.
template <L1Protocol L1>
void SmOf<L1>::follow_warps(Cycle now) {
  WarpWindow& window = *observation_.window();
  if (!window.wants(now)) return;
  const WarpTable& warps = board_.warps();
  for (WarpMask m = warps.resident; m != 0; m &= m - 1)
    if (const unsigned w = lowest(m); warps[w].next != nullptr) window.stands(now, w, state(w));
  window.settle(now);
}

/// Of a resident warp, as the cycle that is over leaves it: stats::kWarpStates.
template <L1Protocol L1>
unsigned SmOf<L1>::state(unsigned w) const {
  using stats::Stall;
  const WarpTable& warps = board_.warps();
  const auto in = [w](WarpMask m) { return has(m, w); };
  const auto is = [](Stall why) { return static_cast<unsigned>(why); };
  if (in(warps.memory_wait)) return is(Stall::Memory);
  if (in(warps.fence_wait)) return is(Stall::Fence);
  if (in(warps.at_barrier)) return is(Stall::Barrier);
  if (in(warps.sleeping)) return is(Stall::Sleep);
  if (in(warps.fetching)) return is(Stall::Fetch);
  if (!in(warps.ready)) return is(Stall::Dependence);
  const WarpMask memory = board_.units().wanting(Unit::Lsu);
  if (!in(board_.units().free_for(warps.ready))) return is(Stall::Unit);
  if (in(gate_.denied(warps.ready))) return is(Stall::Throttled);
  return in(lsu_.keeps_out(memory, warps.of_tenant)) ? is(Stall::Lsu) : stats::kReady;
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

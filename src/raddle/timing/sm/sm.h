// One streaming multiprocessor. In-order issue per warp, one instruction per scheduler and cycle; a
// scoreboard over registers (results are ready `latency` cycles after issue, no forwarding
// subtleties); units of a scheduler, or shared by all, taken for `interval` cycles. It puts its
// parts together, each of which is in a header of its own:
//   scoreboard.h      where each warp stands: its next instruction and its hazards
//     warps.h           warp slots, scoreboards, and the sets of warps that wait for this or that;
//                       groups of what runs beside warps (async_groups.h)
//     front_end.h       op stream, instruction buffer and instruction cache (instruction_cache.h)
//     units.h           execution units and operand collectors (operands.h)
//     event_wheel.h     everything that comes back after a fixed delay
//   issue_stage.h     which warps go, and why the others do not
//     schedulers.h      the warp policies, and the turns they take
//     stall_account.h   what the schedulers' empty cycles are charged to
//   issue_gate.h      who may issue: the throttle policy (throttle_gate.h) and a scheme's knobs
//   block_stage.h     blocks and their warps from arrival to end, barriers (barriers.h)
//   dispatcher_port.h the wires to the block dispatcher
//   lsu.h             load/store unit, whose L1D follows the machine's coherence protocol
//                     (l1_protocol.h), and the port to the interconnect
//   tma_unit.h        bulk and tensor copies (with the rest of the SM: sm_copies.h)
//   migration_stage.h warps that leave and arrive (warp_migration.h), warps_abroad.h
//   sm_observation.h  what policies and people may know of it
// Shapes: sets changed on events and never scanned, every scheduler decides on the state at the
// start of the cycle, fixed delays in a wheel, stalls credited for whole intervals. Left out:
// several issues per scheduler and cycle (Kepler, Maxwell), Fermi's hot clock (its schedulers take
// turns within a core cycle), partial-warp replays.
//
// tick(now) does one cycle and returns the next one in which anything could happen. Order inside a
// cycle: arrivals, events due, issue, load/store unit, interconnect port. Ticking more often never
// changes a counter (tested: skip off).
//
// Stalls. A scheduler that issues nothing is charged one reason, that of its nearest-to-ready warp,
// decided on the state at the start of the cycle. From nearest to farthest:
//   Lsu         a warp's operands and unit are there but the load/store unit accepts nothing (queue
//               full, no load slot free, or another scheduler's instruction entered this cycle)
//   Throttled   a warp's operands and unit are there, but the throttle policy does not let it issue
//   Unit        a warp's operands are there, its unit or every operand collector is taken
//   Dependence  a warp waits for the result of an execution unit, or for its branch
//   Fetch       a warp waits for its next instruction
//   Memory      a warp waits for a loaded register, or has ended and its memory operations are
//               still under way
//   Fence       a warp waits at a fence, or for groups of copies or products
//   Sleep       a warp sleeps
//   Barrier     all warps wait at barriers (until the cycle they may issue again)
//   Idle        no warp is resident
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/replacement/policy.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/warp/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/region_writes.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/instruction_profile.h"
#include "raddle/timing/sm/warp_migration.h"
#include "raddle/timing/sm/warp_window.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing {

/// What the rest of the machine sees of an SM; SmOf<L1> (sm_of.h) is one, for the L1's protocol.
class Sm {
 public:
  virtual ~Sm() = default;

  // --- wires -------------------------------------------------------------------------------------
  virtual SmPorts& ports() = 0;
  /// Null where the L1's protocol answers nobody.
  virtual AnswerPorts* answers() = 0;
  virtual BlockStartLink& block_in() = 0;
  virtual BlockEndLink& block_out() = 0;
  /// Gets post(arrival, id) with every push on block_out().
  virtual void connect_dispatcher(Mailbox& box) = 0;

  // --- component ---------------------------------------------------------------------------------
  /// false: every stage looks at everything in every tick; results must be the same.
  virtual void set_skip(bool skip) = 0;
  virtual Cycle next_arrival(Cycle from) const = 0;
  virtual void open_window() = 0;
  /// Hints what the replies that arrive before `end` will touch.
  virtual void prefetch(Cycle end) const = 0;
  /// Empties the instruction caches.
  virtual void forget_instructions() = 0;
  Cycle tick(Cycle now) { return run(now, now + 1); }
  /// tick() from cycle `from` on, in each cycle in which anything could happen, up to `end`;
  /// returns the next such cycle. Precondition: from < end.
  virtual Cycle run(Cycle from, Cycle end) = 0;

  /// The knobs hold from cycle `at` on, the first of the next window; they live on until the next
  /// call. First called before any block comes.
  virtual void obey(Cycle at, const policy::Knobs& knobs) = 0;

  /// Warps that leave and arrive.
  virtual WarpMigration& migration() = 0;

  // --- results -----------------------------------------------------------------------------------
  /// Counters when the clock shows `at` (cycles before `at` are over): of all kernels, of the
  /// launch in one slot, of the schedulers. Precondition: no state change after `at`.
  virtual stats::SmCounters counters(Cycle at) const = 0;
  virtual stats::SmCounters counters(Cycle at, unsigned kernel) const = 0;
  virtual stats::SchedulerCounters scheduler_counters(Cycle at) const = 0;
  virtual stats::SharingCounters sharing(Cycle at) const = 0;
  virtual stats::SharingCounters sharing(Cycle at, unsigned kernel) const = 0;
  /// The most MSHRs of the L1D that were taken when the launch in that slot missed, since it was
  /// last asked.
  virtual unsigned take_most_mshrs(unsigned kernel) = 0;
  /// Last cycle in which an instruction issued or data came; `now` while a warp sleeps.
  virtual Cycle last_progress(Cycle now) const = 0;
  virtual unsigned schedulers() const = 0;
  /// Warps of the tenant that have a slot.
  virtual unsigned resident_warps(TenantId tenant) const = 0;
  virtual policy::WarpPolicy& policy(unsigned scheduler) = 0;
  /// Shows the policies that decide here, for their statistics.
  template <class Visit>
  void each_policy(Visit&& visit) {
    for (unsigned s = 0; s < schedulers(); ++s) visit(policy(s));
    if (throttle() != nullptr) visit(*throttle());
    if (replacement() != nullptr) visit(*replacement());
    if (bypass() != nullptr) visit(*bypass());
  }
  /// Null when every warp may always issue.
  virtual policy::ThrottlePolicy* throttle() const = 0;
  /// Null where the order of use decides.
  virtual policy::ReplacementPolicy* replacement() const = 0;
  /// Null where no load that misses goes past the L1D.
  virtual policy::BypassPolicy* bypass() const = 0;
  virtual bool idle() const = 0;
  /// A sentence for each law of conservation that does not hold. Between cycles.
  virtual std::vector<std::string> audit() const = 0;
  /// Kernels launched by warps since the list was last cleared, in order of issue.
  virtual std::vector<DeviceLaunches>& device_launches() = 0;
  /// The observer must outlive the SM.
  virtual void observe(policy::L1Observer& observer) = 0;
  /// From now on there is a profile of its instructions, and where warps stand is looked at in the
  /// cycles of `looks`. Precondition: idle().
  virtual void keep_profile(const SamplingTimes& samplings) = 0;
  /// Null unless one is kept. With the looks of all cycles before `at`.
  virtual const InstructionProfile* profile(Cycle at) = 0;
  /// From now on it is kept what warps do in cycles [begin, end). Precondition: idle().
  virtual void keep_window(Cycle begin, Cycle end) = 0;
  /// Null unless one is kept. With the states of all cycles before `at`.
  virtual const WarpWindow* window(Cycle at) = 0;
  /// From now on the end of a block says what it has done. Precondition: idle().
  virtual void notify_progress() = 0;
  /// One line per resident warp (at most `most`): where it stands and what it waits for; then the
  /// queues.
  virtual void describe(std::string& out, unsigned maximum) const = 0;

  // --- protocols whose L1 keeps data over an acquire (DeNovo); others keep none ------------------
  /// An acquire keeps words of regions that nobody has written, as told by `writes`, which must
  /// outlive the SM. Precondition: the protocol can.
  virtual void keep_unwritten(const RegionWrites& writes) = 0;
  /// What the SM has written since the list was last cleared, for `writes` to gather. The same.
  virtual std::vector<RegionWrite>& region_writes() = 0;
  virtual std::uint64_t words_kept() const = 0;
  /// The host has taken words that the L1 owned.
  virtual void lose(std::uint32_t line, std::uint16_t words) = 0;
};

/// The policies of an SM. Without a throttle, or one that never throttles, every warp may issue;
/// without a replacement policy the L1D is LRU; without a bypass policy every load that misses
/// brings its line.
struct SmPolicies {
  const policy::Choice<policy::WarpPolicy>& warp;
  const policy::Choice<policy::ThrottlePolicy>* throttle = nullptr;
  const policy::Choice<policy::ReplacementPolicy>* replacement = nullptr;
  const policy::Choice<policy::BypassPolicy>* bypass = nullptr;
};

/// An SM whose L1 follows the machine's coherence. `map` must outlive it.
std::unique_ptr<Sm> make_sm(const OneSmSpec& spec, const AddressMap& map,
                            const SmPolicies& policies, std::uint64_t seed);

}  // namespace raddle::timing

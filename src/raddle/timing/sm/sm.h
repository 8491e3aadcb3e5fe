// One streaming multiprocessor. In-order issue per warp, one instruction per scheduler and cycle; a
// scoreboard over registers (results are ready `latency` cycles after issue, no forwarding
// subtleties); units of a scheduler, or shared by all, taken for `interval` cycles. It puts its
// parts together, each of which is in a header of its own:
//   warps.h           warp slots, scoreboards, and the sets of warps that wait for this or that
//   barriers.h        resident blocks and their barriers
//   front_end.h       op stream, instruction buffer and instruction cache (instruction_cache.h)
//   schedulers.h      the warp policies, and the turns they take
//   throttle_gate.h   the throttle policy, and whom it keeps from issuing
//   units.h           execution units and operand collectors (operands.h)
//   stall_account.h   what the schedulers' empty cycles are charged to
//   lsu.h             load/store unit with the L1D and the port to the interconnect
//   event_wheel.h     everything that comes back after a fixed delay
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
//   Fence       a warp waits at a fence
//   Sleep       a warp sleeps
//   Barrier     all warps wait at barriers (until the cycle they may issue again)
//   Idle        no warp is resident
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "raddle/policy/registry.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/active_blocks.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/front_end.h"
#include "raddle/timing/sm/lsu.h"
#include "raddle/timing/sm/schedulers.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/throttle_gate.h"
#include "raddle/timing/sm/units.h"
#include "raddle/timing/sm/warp_context.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class Sm {
 public:
  /// Without a throttle, or one that never throttles, every warp may issue.
  Sm(const MachineSpec& machine, const AddressMap& map, unsigned id,
     const policy::Choice<policy::WarpPolicy>& warp_policy,
     const policy::Choice<policy::ThrottlePolicy>* throttle, std::uint64_t seed);

  // --- wires -------------------------------------------------------------------------------------
  SmPorts& ports() { return lsu_.ports(); }
  BlockStartLink& block_in() { return block_in_; }
  BlockEndLink& block_out() { return block_out_; }
  /// Gets post(arrival, id) with every push on block_out().
  void connect_dispatcher(Mailbox& box) { dispatcher_box_ = &box; }

  // --- component ---------------------------------------------------------------------------------
  /// false: every stage looks at everything in every tick; results must be the same.
  void set_skip(bool skip);
  Cycle next_arrival(Cycle) const { return std::min({inbox(), lsu_.credits_at(), obeys_}); }
  void open_window() {
    inbox_next_ = inbox();
    obeys_ = kNever;
  }
  /// Hints what the replies that arrive before `end` will touch.
  void prefetch(Cycle end) const { lsu_.prefetch_replies(end); }
  Cycle tick(Cycle now);

  /// The knobs hold from cycle `at` on, the first of the next window; they live on until the next
  /// call. First called before any block comes.
  void obey(Cycle at, const policy::Knobs& knobs);

  // --- warps that leave and arrive (warp_context.h, migration.cpp) -------------------------------
  // Called before tick(now), whose SM must be ticked in this cycle even if it had nothing to do.
  /// From now on warps may come and go. The account is the dispatcher's of this SM, which knows of
  /// every warp that is resident: what a warp takes abroad it gives back here. Precondition: idle().
  void allow_migration(Occupancy& account);
  ExportRefusal may_export(unsigned warp) const;
  /// The warp's slot and context are free; its block stays. Precondition: may_export() is None.
  WarpContext export_warp(Cycle now, unsigned warp);
  ImportRefusal may_import(const WarpContext& context) const;
  /// The warp goes on in the slot that is returned, as the youngest of the SM. Precondition:
  /// may_import() is None.
  unsigned import_warp(Cycle now, const WarpContext& context);
  /// Of warps from elsewhere that have ended here since the list was last cleared.
  std::vector<WarpEnded>& ended_here() { return ended_here_; }
  /// One of this SM's has ended elsewhere.
  void warp_ended_abroad(Cycle now, const WarpEnded& ended);
  const MigrationCounters& migration() const { return migration_; }

  // --- results -----------------------------------------------------------------------------------
  /// Counters when the clock shows `at` (cycles before `at` are over): of all kernels, of the
  /// launch in one slot, of the schedulers. Precondition: no state change after `at`.
  stats::SmCounters counters(Cycle at) const;
  stats::SmCounters counters(Cycle at, unsigned kernel) const;
  stats::SchedulerCounters scheduler_counters(Cycle at) const;
  /// Last cycle in which an instruction issued or data came; `now` while a warp sleeps.
  Cycle last_progress(Cycle now) const { return warps_.sleeping != 0 ? now : progress_; }
  policy::WarpPolicy& policy(unsigned scheduler) { return schedulers_.policy(scheduler); }
  /// Shows the policies that decide here, for their statistics.
  template <class Visit>
  void each_policy(Visit&& visit) {
    for (unsigned s = 0; s < schedulers_.count(); ++s) visit(schedulers_.policy(s));
    if (throttle() != nullptr) visit(*throttle());
  }
  /// Null when every warp may always issue.
  policy::ThrottlePolicy* throttle() const { return throttle_.policy(); }
  bool idle() const { return warps_.resident == 0 && lsu_.idle(); }
  /// A sentence for each law of conservation that does not hold. Between cycles.
  std::vector<std::string> audit() const;
  /// Kernels launched by warps since the list was last cleared, in order of issue.
  std::vector<DeviceLaunches>& device_launches() { return device_launches_; }
  /// The observer must outlive the SM.
  void observe(policy::L1Observer& observer) { lsu_.observe(observer); }
  /// The L1D under DeNovo, else null.
  DenovoL1* denovo() const { return lsu_.denovo(); }
  /// One line per resident warp (at most `most`): where it stands and what it waits for; then the
  /// queues.
  void describe(std::string& out, unsigned most) const;

 private:
  /// Why a scheduler does not issue, and the warps that are nearest to ready; none when idle.
  struct Wait {
    stats::Stall why;
    WarpMask nearest;
  };
  /// What becomes of replies.
  struct Arrivals {
    Sm& sm;
    Cycle now;
    void loaded(const Lsu::Owner& o) { sm.loaded(now, o); }
    void acknowledged(unsigned w) { sm.acknowledged(now, w); }
    void constant(const Lsu::Owner& o) { sm.constant(now, o); }
  };

  Cycle inbox() const {
    return std::min(ports_->from_noc.next_arrival(), block_in_.next_arrival());
  }
  Cycle next_event(Cycle now) const;
  // arrivals (sm.cpp)
  void drain_inbox(Cycle now);
  void start_block(Cycle now, const BlockStart& start);
  void start_warp(Cycle now, unsigned slot, unsigned index, unsigned lanes);
  void count_warps(Cycle now) { stalls_.count_warps(now, warps_.running(), throttle_.no_load()); }
  void ask_throttle(Cycle now);
  void take_over(Cycle now, const ThrottleGate::Answer& answer);
  void hold_inactive(Cycle now);
  // completions (sm.cpp)
  void run_events(Cycle now);
  void loaded(Cycle now, const Lsu::Owner& owner);
  void acknowledged(Cycle now, unsigned w);
  void constant(Cycle now, const Lsu::Owner& owner);
  void register_written(Cycle now, unsigned w, unsigned reg);
  void registers_written(Cycle now, unsigned w, const DecodedInst& in);
  void resume(Cycle now, unsigned w);
  // the end of a warp (sm.cpp)
  void end_stream(Cycle now, unsigned w);
  void end_if_drained(Cycle now, unsigned w);
  void end_warp(Cycle now, unsigned w);
  void end_block(Cycle now, unsigned slot);
  // warps of blocks elsewhere (migration.cpp)
  bool is_adopted(unsigned w) const { return has(adopted_, w); }
  std::uint32_t block_id(unsigned w) const {
    return is_adopted(w) ? homes_[w].block : blocks_[warps_[w].block].id;
  }
  BlockNeeds context_needs(unsigned w) const;
  void load_again(Cycle now, unsigned w, const PendingLoad& load);
  static void expect_load(Warp& warp, const DecodedInst& in);
  void end_adopted(Cycle now, unsigned w);
  void release_adopted(unsigned w);
  // the next instruction of a warp (issue.cpp)
  void advance(Cycle now, Cycle from, unsigned w);
  void fetch_next(Cycle now, Cycle from, unsigned w, const DecodedInst* before);
  void refill_buffer(Cycle from, unsigned w);
  void present_from(Cycle from, Cycle at, unsigned w);
  void present_next(unsigned w);
  void check_hazards(unsigned w);
  void recheck_hazards(Cycle now, unsigned w);
  // issue (issue.cpp)
  bool issue(Cycle now);
  void stalled(Cycle now, unsigned scheduler, const Wait& wait);
  Wait reason(unsigned scheduler, WarpMask open, WarpMask held) const;
  void issue_warp(Cycle now, unsigned scheduler, unsigned w);
  void perform(Cycle now, unsigned w, const DecodedInst& in);
  void write_back(Cycle now, unsigned w, const DecodedInst& in);
  void to_lsu(Cycle now, unsigned w, const DecodedInst& in);
  std::uint32_t local_base(unsigned w) const;
  void arrive_at_barrier(Cycle now, unsigned w);
  void open_barrier(Cycle now, WarpMask waiting);
  void fall_asleep(Cycle now, unsigned w, const DecodedInst& in);
  void launch_kernels(Cycle now, unsigned w);
  // words (describe.cpp)
  void describe_warp(std::string& out, unsigned w) const;
  void describe_wait(std::string& out, unsigned w) const;
  void describe_barrier(std::string& out, unsigned w) const;

  WarpTable warps_;
  Schedulers schedulers_;
  ExecutionUnits units_;
  ThrottleGate throttle_;
  std::unique_ptr<ActiveBlocks> active_;  // null without a scheme
  Cycle obeys_ = kNever;                  // when knobs change
  StallAccount stalls_;
  FrontEnd front_end_;
  BlockTable blocks_;
  Lsu lsu_;
  SmPorts* ports_;  // of lsu_
  EventWheel wheel_;

  WarpMask adopted_ = 0;          // warps whose block is on another SM ...
  std::vector<HomeBlock> homes_;  // ... by warp slot: where; empty unless migration is allowed
  std::vector<WarpEnded> ended_here_;
  Occupancy* account_ = nullptr;
  MigrationCounters migration_;
  std::uint32_t register_unit_;

  WarpMask look_again_ = 0;  // for these warps' schedulers issue() may find another thing than last
  bool skip_ = true;
  Cycle inbox_next_ = kNever;
  Cycle progress_ = 0;
  SmKernelCounters counters_;
  std::uint32_t kernels_ = 0;  // launch slots that have been here
  std::vector<DeviceLaunches> device_launches_;

  unsigned id_;
  std::uint32_t line_bytes_, core_clock_mhz_;
  Cycle dispatch_latency_;
  std::uint32_t launch_cycles_, launch_lane_cycles_;
  BlockStartLink block_in_;
  BlockEndLink block_out_;
  Mailbox* dispatcher_box_ = nullptr;
};

}  // namespace raddle::timing

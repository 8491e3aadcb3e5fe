// The issue stage of an SM: which warps may go, and why the others may not. Schedulers decide on
// the state at the start of the cycle, whatever those before them do in it; only shared units and
// the way into the load/store unit can be taken from one by another. A scheduler for which nothing
// has changed stalls on for the reason found before; it is not looked at.
//
// It owns the schedulers (schedulers.h) and the account of their empty cycles (stall_account.h). It
// reads where warps stand (scoreboard.h) and who may issue (issue_gate.h). What the instruction
// does is the caller's: issue(scheduler, warp).
#pragma once
#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/sm/issue_gate.h"
#include "raddle/timing/sm/schedulers.h"
#include "raddle/timing/sm/scoreboard.h"
#include "raddle/timing/sm/stall_account.h"

namespace raddle::timing {

class IssueStage {
 public:
  IssueStage(const SmSpec& spec, unsigned sm, const policy::Choice<policy::WarpPolicy>& choice,
             std::uint64_t seed)
      : schedulers_(spec, sm, choice, seed), stalls_(spec.schedulers) {}
  Schedulers& schedulers() { return schedulers_; }
  const Schedulers& schedulers() const { return schedulers_; }
  StallAccount& stalls() { return stalls_; }
  const StallAccount& stalls() const { return stalls_; }

  /// `look`: warps whose schedulers are looked at. `kept_out`: warps whose memory instruction the
  /// load/store unit does not take. kGated: the gate may hold warps back. True: somebody issued.
  template <bool kGated, class Issue>
  bool run(Cycle now, WarpMask look, WarpMask kept_out, Scoreboard& board, IssueGate& gate,
           SmKernelCounters& counters, Issue issue);

 private:
  /// Why a scheduler does not issue, and the warps that are nearest to ready; none when idle.
  struct Wait {
    stats::Stall why;
    WarpMask nearest;
  };
  void stalled(Cycle now, unsigned scheduler, const Wait& wait, const WarpTable& warps,
               SmKernelCounters& counters) {
    const std::uint8_t kernel =
        wait.nearest != 0 ? warps[lowest(wait.nearest)].kernel : stalls_.charged(scheduler);
    stalls_.stalls(now, scheduler, wait.why, kernel, counters);
  }
  Wait reason(unsigned scheduler, WarpMask open, WarpMask held, const WarpTable& warps) const {
    using stats::Stall;
    const WarpMask mine = schedulers_.slots()[scheduler] & warps.resident;
    if (const WarpMask m = open & mine & ~held; m != 0) return {Stall::Lsu, m};
    if (const WarpMask m = held & mine; m != 0) return {Stall::Throttled, m};
    if (const WarpMask m = warps.ready & mine; m != 0) return {Stall::Unit, m};
    const WarpMask awake = mine & ~warps.at_barrier & ~warps.sleeping;
    const WarpMask waiting = warps.fetching | warps.memory_wait | warps.fence_wait;
    if (const WarpMask m = awake & ~waiting; m != 0) return {Stall::Dependence, m};
    if (const WarpMask m = awake & warps.fetching; m != 0) return {Stall::Fetch, m};
    if (const WarpMask m = awake & warps.memory_wait; m != 0) return {Stall::Memory, m};
    if (awake != 0) return {Stall::Fence, awake};
    if (const WarpMask m = mine & warps.sleeping; m != 0) return {Stall::Sleep, m};
    return {mine != 0 ? Stall::Barrier : Stall::Idle, mine};
  }

  Schedulers schedulers_;
  StallAccount stalls_;
};

template <bool kGated, class Issue>
bool IssueStage::run(Cycle now, WarpMask look, WarpMask kept_out, Scoreboard& board,
                     IssueGate& gate, SmKernelCounters& counters, Issue issue) {
  const WarpTable& warps = board.warps();
  const ExecutionUnits& units = board.units();
  const WarpMask memory = units.wanting(Unit::Lsu);
  WarpMask open = units.free_for(warps.ready);
  WarpMask closed = kept_out;  // ready for a load/store unit that is full
  WarpMask held = 0;           // ready, and not let go by the throttle
  WarpMask again = 0;          // will find open in the next cycle what is taken in this
  if (kGated && (open & gate.no_load()) != 0) {
    held = gate.denied(open);
    closed |= held;
  }
  bool issued = false;
  bool spent = false;  // the quota of a tenant
  board.clear_changed();
  const SchedulerSlots& slots = schedulers_.slots();
  for (unsigned n = 0, scheduler = schedulers_.first(); n < slots.schedulers();
       ++n, scheduler = slots.after(scheduler)) {
    if ((look & slots[scheduler]) == 0) continue;
    const WarpMask candidates = open & slots[scheduler] & ~closed;
    if (candidates == 0) {
      stalled(now, scheduler, reason(scheduler, open, held, warps), warps, counters);
      continue;
    }
    const unsigned chosen = schedulers_.pick(now, scheduler, candidates, memory, warps);
    if (chosen == policy::WarpPolicy::kInvalidId) [[unlikely]] {
      stalled(now, scheduler, {stats::Stall::Throttled, candidates}, warps, counters);
      again |= candidates;
      continue;
    }
    const auto unit = static_cast<unsigned>(warps[chosen].next->unit);
    if (has(memory, chosen)) {
      closed |= memory;
      again |= memory;
      schedulers_.has_used_shared(scheduler);
    } else if (units.shared(unit)) {
      again |= units.wanting(unit);
      open &= ~units.wanting(unit);
      schedulers_.has_used_shared(scheduler);
    }
    stalls_.issues(now, scheduler, counters);
    if (kGated && gate.issued(chosen)) {
      const WarpMask others = warps.of_tenant[raddle::index(warps[chosen].launch->tenant)];
      held |= open & others & ~closed;  // whom something else keeps is kept by that still
      closed |= others;
      spent = true;
    }
    issue(scheduler, chosen);
    board.look_again(slots[scheduler]);
    issued = true;
  }
  if (spent) gate.hold(now);
  board.look_again(warps.ready & again);
  return issued;
}

}  // namespace raddle::timing

// One streaming multiprocessor: schedulers with their warp slots, scoreboard, execution units,
// load/store unit, L1D. In-order issue per warp, one instruction per scheduler and cycle; a
// scoreboard over registers (results are ready `latency` cycles after issue, no forwarding
// subtleties); units of a scheduler, or shared by all, taken for `interval` cycles. Shapes after
// examples/timing_engine/REPORT.md: masks changed on events and never scanned, every scheduler
// decides on the state at the start of the cycle, fixed delays in a wheel, stalls credited for
// whole intervals. Left out: instruction several issues per scheduler and cycle (Kepler, Maxwell),
// Fermi's hot clock (its schedulers take turns within a core cycle), partial-warp replays.
// Instruction fetch is in fetch.h, operand collection in operands.h.
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
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/warp/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/fetch.h"
#include "raddle/timing/sm/lsu.h"
#include "raddle/timing/sm/operands.h"

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
  Cycle next_arrival(Cycle) const { return std::min(inbox(), lsu_.credits_at()); }
  void open_window() { inbox_next_ = inbox(); }
  /// Hints what the replies that arrive before `end` will touch.
  void prefetch(Cycle end) const { lsu_.prefetch_replies(end); }
  Cycle tick(Cycle now);

  // --- results -----------------------------------------------------------------------------------
  /// Counters when the clock shows `at` (cycles before `at` are over): of all kernels, of the
  /// launch in one slot, of the schedulers. Precondition: no state change after `at`.
  stats::SmCounters counters(Cycle at) const;
  stats::SmCounters counters(Cycle at, unsigned kernel) const;
  stats::SchedulerCounters scheduler_counters(Cycle at) const;
  /// Last cycle in which an instruction issued or data came; `now` while a warp sleeps.
  Cycle last_progress(Cycle now) const { return sleeping_ != 0 ? now : progress_; }
  policy::WarpPolicy& policy(unsigned scheduler) { return *policies_[scheduler]; }
  /// Shows the policies that decide here, for their statistics.
  template <class Visit>
  void each_policy(Visit&& visit) {
    for (unsigned s = 0; s < schedulers_; ++s) visit(*policies_[s]);
    if (throttle_ != nullptr) visit(*throttle_);
  }
  /// Null when every warp may always issue.
  policy::ThrottlePolicy* throttle() const { return throttle_.get(); }
  bool idle() const { return resident_ == 0 && lsu_.idle(); }
  /// A sentence for each law of conservation that does not hold.
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
  using Mask = policy::WarpMask;
  struct alignas(64) Warp {
    RegisterSet pending;                // registers with a write under way
    RegisterSet pending_memory;         // of these: by a load
    const DecodedInst* next = nullptr;  // to be issued; of a parked warp: the one it is parked at
    trace::WarpCursor cursor;           // at the record of `next`
    const Launch* launch = nullptr;
    LaneMask mask = 0;              // word 1 of the record
    std::uint32_t index = 0;        // in the block
    std::uint16_t outstanding = 0;  // global and local memory operations under way, lines of stores
    std::uint16_t left = 0;         // machine instructions left of the record
    std::uint8_t pieces = 0, words = 0;  // of the record: pieces, size
    std::uint8_t block = 0;              // block slot
    std::uint8_t kernel = 0;             // launch slot
    std::uint8_t lanes = 0;              // threads of the warp
    std::uint8_t active = 0;  // lanes in `mask`; of a barrier, whose record has none, all of them
  };
  static_assert(sizeof(Warp) == 128);
  static constexpr unsigned kCollectors = 7;  // beside the units, in the wheel
  static_assert(kCollectors == kUnits);
  /// Why a scheduler does not issue, and the warps that are nearest to ready; none when idle.
  struct Wait {
    stats::Stall why;
    Mask nearest;
  };
  struct Barrier {
    Mask waiting = 0;
    std::uint8_t arrived = 0, expected = 0;
  };
  struct Block {
    const Launch* launch = nullptr;
    std::uint32_t id = 0;
    Mask warps = 0;
    std::uint8_t live = 0;     // warps here
    std::uint8_t running = 0;  // warps whose stream has not ended: those a barrier waits for
    std::array<Barrier, 16> barrier;
  };

  /// What becomes of replies.
  struct Arrivals {
    Sm& sm;
    Cycle now;
    void loaded(const Lsu::Owner& o) { sm.loaded(now, o); }
    void acknowledged(unsigned w) { sm.acknowledged(now, w); }
    void constant(const Lsu::Owner& o) { sm.constant(now, o); }
  };

  unsigned scheduler_of(unsigned w) const { return w / slots_; }
  Cycle inbox() const {
    return std::min(ports_->from_noc.next_arrival(), block_in_.next_arrival());
  }
  Cycle next_event(Cycle now) const;
  // arrivals (sm.cpp)
  void drain_inbox(Cycle now);
  void start_block(Cycle now, const BlockStart& start);
  unsigned free_slot();
  void start_warp(Cycle now, unsigned w, unsigned slot, unsigned index, unsigned lanes);
  void count_warps(Cycle now);
  void ask_throttle(Cycle now);
  void tell_barrier(Cycle now) { throttle_->on_barrier(now), throttle_->ask_again(); }
  // completions (sm.cpp)
  void run_events(Cycle now);
  void wake_sleepers(Cycle now);
  void loaded(Cycle now, const Lsu::Owner& owner);
  void acknowledged(Cycle now, unsigned w);
  void constant(Cycle now, const Lsu::Owner& owner);
  void written(Cycle now, unsigned w, unsigned reg);
  void written_several(Cycle now, unsigned w, const DecodedInst& in);
  void resume(Cycle now, unsigned w);
  // the next instruction of a warp (issue.cpp), its end (sm.cpp)
  bool read_record(Warp& warp);
  void advance(Cycle now, Cycle from, unsigned w);
  void end_stream(Cycle now, unsigned w);
  void fetch_behind(Cycle now, Cycle from, unsigned w, const DecodedInst* before);
  void fetch(Cycle from, unsigned w);
  void show_from(Cycle from, Cycle at, unsigned w);
  void show_next(unsigned w);
  void judge(unsigned w);
  void judge_again(Cycle now, unsigned w);
  InstructionCache& instructions_of(unsigned w);
  void end_if_drained(Cycle now, unsigned w);
  void end_warp(Cycle now, unsigned w);
  // issue (issue.cpp)
  bool issue(Cycle now);
  void take_unit(Cycle now, unsigned scheduler, const DecodedInst& in);
  Cycle collect(Cycle now, unsigned scheduler, const DecodedInst& in);
  void stalled(Cycle now, unsigned scheduler, const Wait& wait);
  void credit_stall(Cycle now, unsigned scheduler);
  Mask denied(Mask open) const;
  Wait reason(unsigned scheduler, Mask open, Mask held) const;
  unsigned pick(Cycle now, unsigned scheduler, Mask ready);
  void issue_warp(Cycle now, unsigned scheduler, unsigned w);
  void perform(Cycle now, unsigned w, const DecodedInst& in);
  void write_back(Cycle now, unsigned w, const DecodedInst& in);
  void to_lsu(Cycle now, unsigned w, const DecodedInst& in);
  std::uint32_t local_base(unsigned w) const;
  void come_to_barrier(Cycle now, unsigned w);
  void open_if_complete(Cycle now, Block& block, Barrier& barrier);
  void fall_asleep(Cycle now, unsigned w, const DecodedInst& in);
  void sleep_until(Cycle then, unsigned w);
  void launch_kernels(Cycle now, unsigned w);
  // words (describe.cpp)
  void describe_warp(std::string& out, unsigned w) const;
  void describe_wait(std::string& out, unsigned w) const;

  // Sets of warps, changed when something happens.
  Mask resident_ = 0;
  Mask ready_ = 0;  // the next instruction has no hazard
  Mask memory_wait_ =
      0;  // ... waits for a loaded register; or the warp has ended and memory has not
  Mask fence_wait_ = 0;
  Mask at_barrier_ = 0, sleeping_ = 0, ended_ = 0;  // parked: `next` is not to be issued
  Mask fetching_ = 0;                               // parked too: `next` is not there yet
  Mask emptied_ = 0;  // the buffer is empty, to be filled from where the warp's branch leads
  std::array<Mask, kUnits> class_{};  // warps whose next instruction goes to this unit
  std::array<Mask, kUnits> busy_{};   // all slots of the schedulers whose unit is taken
  Mask blocked_ = 0;                  // of class_[u] & busy_[u], over all units
  Mask collecting_ = 0;               // all slots of the schedulers without an operand collector
  Mask no_load_ = 0;             // running warps that the throttle does not let issue loads ...
  Mask no_issue_ = 0;            // ... nor anything else
  std::array<Mask, 4> group_{};  // slots of each scheduler

  std::array<stats::Stall, 4> reason_{};   // why each scheduler has not issued ...
  std::array<std::uint8_t, 4> charged_{};  // ... the launch slot it is charged to, unless idle ...
  std::array<Cycle, 4> since_{};  // ... since this cycle; the cycles before are in the counters
  Cycle warps_since_ = 0;         // warps as they are now: counted until this cycle
  Mask changed_ =
      0;  // warps for whose schedulers issue() may find something else than when it last looked
  bool skip_ = true;
  Cycle inbox_next_ = kNever, next_wake_ = kNever, progress_ = 0;
  unsigned id_, schedulers_, slots_;  // slots of each scheduler
  unsigned turn_ = 0, deal_turn_ = 0;
  SmKernelCounters counters_;
  stats::SchedulerCounters scheduler_counters_;
  Lsu lsu_;
  SmPorts* ports_;  // of lsu_
  std::array<std::unique_ptr<policy::WarpPolicy>, 4> policies_;
  std::string policy_name_;
  std::unique_ptr<policy::ThrottlePolicy> throttle_;
  policy::BlockOfWarp block_of_{};
  AgeMatrix64 age_;
  std::vector<Warp> warps_;
  std::vector<Cycle> wake_;  // by slot: when it will have slept enough
  std::vector<Cycle> left_;  // by slot and buffer entry: when its instruction issued; see fetch.h
  std::vector<std::uint8_t> entry_;             // by slot: buffer entry of the next instruction
  std::vector<InstructionCache> instructions_;  // one, one for each scheduler, or none
  std::vector<OperandCollectors> collectors_;   // one for each scheduler, or none
  std::uint8_t shared_units_ = 0;               // bit u: all schedulers share the unit
  bool fetches_ = false, short_buffer_ = false;
  bool fetches_straight_ = false;  // straight code may have to wait too
  EventWheel wheel_;
  std::vector<Block> blocks_;
  SmSpec spec_;
  std::uint32_t line_bytes_, core_clock_mhz_;
  Cycle dispatch_latency_;
  std::uint32_t launch_cycles_, launch_lane_cycles_;
  std::vector<DeviceLaunches> device_launches_;
  std::uint32_t kernels_ = 0;  // launch slots that have been here
  BlockStartLink block_in_;
  BlockEndLink block_out_;
  Mailbox* dispatcher_box_ = nullptr;
};

}  // namespace raddle::timing

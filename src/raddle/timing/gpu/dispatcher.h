// The kernel distributor (KDU) and block dispatcher: holds the grids under way, keeps the account
// of what is free on every SM, and asks the dispatch policy which block of which grid goes to which
// SM. The kernel management unit stands before it (kmu.h). Blocks of several kernels share an SM as
// long as threads, warps, registers, shared memory and block slots last. Starts and ends travel
// dispatch_latency_cycles each way, so an SM's place is given out again only that much after its
// block's end. Between two cycles in which blocks leave (one, or one for each SM where the policy
// is decentralised) lie kernels.block_interval_millicycles. Left out: more time for blocks of many
// warps (H100: 1.5 cycles a block of 1024 threads).
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "raddle/policy/block/policy.h"
#include "raddle/policy/dispatch/policy.h"
#include "raddle/policy/kernel/policy.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/code/occupancy.h"
#include "raddle/timing/gpu/block_caps.h"
#include "raddle/timing/gpu/empty_times.h"
#include "raddle/timing/gpu/entries.h"
#include "raddle/timing/gpu/free_sms.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/grids.h"
#include "raddle/timing/gpu/kmu.h"
#include "raddle/timing/wire/link.h"

namespace raddle::timing {

class Dispatcher {
 public:
  /// `name`: the policy's, for messages.
  Dispatcher(const MachineSpec& machine, Cycle window,
             std::unique_ptr<policy::DispatchPolicy> policy, std::string name);
  void connect(unsigned sm, BlockStartLink& start, BlockEndLink& end);
  Mailbox& box() { return box_; }

  // --- between windows ---------------------------------------------------------------------------
  /// Comes to the management unit in cycle `arrival`. Precondition: a block fits an empty SM.
  void launch(GridLaunch launch, Cycle arrival) {
    launch.max_on_sm = sms_.front().resources.maximum(launch.needs);
    kmu_.launch(launch, arrival);
  }
  /// SMs must tell what a block that ends has done (Sm::tell_progress).
  bool wants_progress() const { return wants_progress_; }
  struct Entered {
    std::uint32_t job;
    unsigned entry;
    Cycle begin;  ///< its first block may leave
    bool joined;  ///< a kernel that was in the entry before
  };
  struct Ended {
    std::uint32_t job;
    Cycle at;           ///< when the end of the last block was heard of
    Cycle first, last;  ///< start of its first block on an SM, end of its last one
  };
  /// Since the last call, in that order. Cleared by the caller.
  std::vector<Entered>& entered() { return entered_; }
  std::vector<Ended>& ended() { return ended_; }
  /// When the next launch comes to the management unit; kNever: none is on its way.
  Cycle next_launch() const { return kmu_.next_arrival(); }
  /// When the kernel that entered last could or can send its first block.
  Cycle last_begin() const { return last_begin_; }
  bool idle() const { return entries_.empty(); }
  /// Caps of blocks are these from cycle `at` on, the first of the next window. From the first
  /// call on a grid of which no block fits anywhere holds up no other: tenants do not wait for each
  /// other.
  void obey(Cycle at, const policy::Knobs& knobs);
  const BlockCaps& caps() const { return caps_; }
  /// What is free on an SM. Whoever changes it beside the dispatcher says so, with the first cycle
  /// of the next window.
  Occupancy& resources(unsigned sm) { return sms_[sm].resources; }
  /// A block has gone out or ended since take_occupancy_changed(), so that what is free on an SM is
  /// other than it was. May be asked on any thread.
  bool occupancy_changed() const { return occupancy_changed_.load(std::memory_order_relaxed); }
  bool take_occupancy_changed() {
    return occupancy_changed_.exchange(false, std::memory_order_relaxed);
  }
  void resources_changed(Cycle at, unsigned sm);

  // Component; the policy is asked in every cycle in which a block is left and an SM has room.
  void open_window() {}
  Cycle next_arrival(Cycle from) const {
    return std::min({box_.next(from), next_begin_, std::max(from, kmu_.next_arrival()), called_});
  }
  /// Throws RunError when the policy gives nothing and nothing could ever change that.
  Cycle tick(Cycle now);

  const std::vector<BlockSpan>& spans() const { return spans_; }
  /// Cycles before `at` in which no block was on any SM, as far as it is known here.
  std::vector<Interval> empty_times(Cycle at) const { return empty_.until(spans_, at); }
  /// Shows the policies that decide here, for their statistics.
  template <class Visit>
  void each_policy(Visit&& visit) {
    visit(*policy_);
    if (policy_->kernel_policy() != nullptr) visit(*policy_->kernel_policy());
    if (policy_->block_policy() != nullptr) visit(*policy_->block_policy());
  }
  /// Names of the kernels under way, for messages: "'a', 'b'".
  std::string names() const;
  void describe(std::string& out) const;

 private:
  using ByTenant = std::array<std::uint64_t, kMaxTenants>;
  struct BlockSlot {
    std::size_t span = 0;
    GridId grid = kNoGrid;
  };
  struct SmState {
    explicit SmState(const SmSpec& sm) : resources(sm), slot(sm.blocks) {}
    BlockStartLink* start = nullptr;
    BlockEndLink* end = nullptr;
    Occupancy resources;
    ByTenant epoch{};  // in which it was last given a block
    std::vector<BlockSlot> slot;
    unsigned blocks = 0, kernel = 0;  // that it holds, and the entry of the last
  };
  Cycle step(Cycle now);
  void take_launches(Cycle now);
  void begin_grids(Cycle now);
  void take_ends(Cycle now, unsigned sm);
  void end_block(Cycle now, unsigned sm, unsigned slot);
  void take_queue_accesses();
  bool send_queue_access(Cycle now);
  void end_grid(Cycle now, GridId id);
  bool dispatch_blocks(Cycle now);
  void place(Cycle now, const policy::BlockDispatch& choice);
  bool flushes(const Grid& grid, unsigned sm);
  void check(const policy::BlockDispatch& choice, const SmSet& served) const;
  void check_standstill(Cycle now);
  bool fits(const BlockKind& kind, unsigned sm) const;
  void update_free(unsigned sm);
  template <class F>
  void each_grid(F f) const;

  std::string name_;
  std::unique_ptr<policy::DispatchPolicy> policy_;
  bool wants_progress_;
  Cycle latency_, window_;
  std::uint32_t interval_;
  bool flush_, flush_only_when_idle_, concurrent_on_sm_;
  std::vector<SmState> sms_;
  BlockCaps caps_;
  Grids grids_;
  Entries entries_;
  Kmu kmu_;
  std::vector<GridId> coming_;  // have entered and not begun
  GridList waiting_;            // have begun and have blocks left
  FreeSms free_sms_;
  std::uint64_t on_sms_ = 0;         // blocks that have gone out and not ended
  ByTenant under_way_{};             // grids that have an entry
  ByTenant epoch_{};                 // times that a grid entered while the tenant had no other
  std::uint64_t next_dispatch_ = 0;  // in 1/1000 cycles
  std::deque<policy::QueueAccess> accesses_;  // to the policy's queues in memory, not yet sent
  std::vector<GridId> fetched_;               // by QueueRequest::id: whose entry is fetched
  std::vector<std::uint16_t> free_ids_;
  Cycle next_begin_ = kNever, last_begin_ = 0;
  Cycle still_since_ = kNever;  // nothing is given, nothing is under way
  Cycle called_ = kNever;       // when something is done to it between windows
  bool shared_ = false;         // there is a scheme
  std::atomic<bool> occupancy_changed_{false};
  Mailbox box_;  // of the SMs
  std::vector<Entered> entered_;
  std::vector<Ended> ended_;
  std::vector<BlockSpan> spans_;
  EmptyTimes empty_;
};

}  // namespace raddle::timing

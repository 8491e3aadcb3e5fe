// The block dispatcher: knows what is free on every SM, asks the block policy, and sends blocks
// out. Starts and ends travel dispatch_latency_cycles each way, so an SM's place is given out again
// only that much after its block's end.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "raddle/policy/block/policy.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/residency.h"
#include "raddle/timing/link.h"
#include "raddle/timing/sm/launch.h"

namespace raddle::timing {

class Dispatcher {
 public:
  Dispatcher(const MachineSpec& machine, const policy::Choice<policy::BlockPolicy>& block_policy,
             std::uint64_t seed);
  void connect(unsigned sm, BlockStartLink& start, BlockEndLink& end) {
    sms_[sm].start = &start, sms_[sm].end = &end;
  }
  Mailbox& box() { return box_; }

  /// Hands out the launch's blocks from cycle `start` on. Preconditions: !busy(), a block fits an
  /// empty SM. `launch` must live until !busy().
  void launch(Cycle start, const Launch& launch, const policy::BlockLaunch& view,
              const BlockNeeds& needs);
  bool busy() const { return done_ != blocks_; }
  /// When the end of the last launch's last block was heard of. Precondition: !busy().
  Cycle finished() const { return finished_; }
  Cycle started() const { return started_; }

  // Component; the policy is asked in every cycle in which a block is left and an SM has room.
  void open_window() {}
  Cycle next_arrival(Cycle from) const { return std::min(box_.next(from), start_); }
  Cycle tick(Cycle now);

  const std::vector<BlockSpan>& spans() const { return spans_; }
  policy::BlockPolicy& policy() { return *policy_; }
  void describe(std::string& out) const;

 private:
  struct Slot {
    std::size_t span = 0;
    BlockNeeds needs;
  };
  struct SmState {
    BlockStartLink* start = nullptr;
    BlockEndLink* end = nullptr;
    BlockNeeds free;
    std::uint64_t free_slots = 0;
    std::vector<Slot> slot;
  };
  void take_ends(Cycle now, unsigned sm);
  void hand_out(Cycle now);
  void place(Cycle now, const policy::BlockChoice& choice);
  void check(const policy::BlockChoice& choice, const SmSet& room) const;
  void update_room(unsigned sm);

  std::string policy_name_;
  std::unique_ptr<policy::BlockPolicy> policy_;
  Cycle latency_;
  std::vector<SmState> sms_;
  SmSet room_;  // SMs that can hold one more block of this launch
  const Launch* launch_ = nullptr;
  std::uint32_t sequence_ = 0;
  BlockNeeds needs_;
  std::uint32_t blocks_ = 0, handed_ = 0, done_ = 0;
  std::vector<bool> is_handed_;
  Cycle start_ = kNever;  // of a launch that has not begun
  Cycle started_ = 0, finished_ = 0;
  Mailbox box_;
  std::vector<BlockSpan> spans_;
};

}  // namespace raddle::timing

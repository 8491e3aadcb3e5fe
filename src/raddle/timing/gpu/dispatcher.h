// The kernel distributor (KDU) and block dispatcher: holds the kernels under way, knows what is
// free on every SM, asks the kernel policy whose block goes out next and the block policy which one
// and where. Blocks of several kernels share an SM as long as threads, warps, registers, shared
// memory and block slots last. Starts and ends travel dispatch_latency_cycles each way, so an SM's
// place is given out again only that much after its block's end. Between two cycles in which blocks
// leave (one, or one for each SM where the block policy is decentralised) lie
// kernels.block_interval_millicycles. Left out: more time for blocks of many warps (H100: 1.5
// cycles a block of 1024 threads, facts/field.md).
//
// A kernel's slot names it in messages and statistics. Slots are given out in turn, so that what a
// kernel leaves behind (write-backs) is still counted as its own for a while.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/policy/block/policy.h"
#include "raddle/policy/kernel/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/gpu/block_caps.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/residency.h"
#include "raddle/timing/wire/link.h"

namespace raddle::timing {

/// What the dispatcher must know of a launch.
struct KernelEntry {
  std::uint32_t job = 0;  ///< comes back in Dispatcher::Ended
  std::uint64_t sequence = 0;
  std::string_view name;
  StreamId stream{};
  Dim3 grid;
  BlockNeeds needs;
  trace::KernelStream* ops = nullptr;
  const DecodedKernel* code = nullptr;
  policy::DeviceParent parent = {};
  TenantId tenant{};
  std::uint32_t first_line = 0;  ///< Launch::first_line
};

class Dispatcher {
 public:
  Dispatcher(const MachineSpec& machine, const policy::Choice<policy::KernelPolicy>& kernel_policy,
             const policy::Choice<policy::BlockPolicy>& block_policy, std::uint64_t seed);
  void connect(unsigned sm, BlockStartLink& start, BlockEndLink& end) {
    sms_[sm].start = &start, sms_[sm].end = &end;
  }
  Mailbox& box() { return box_; }

  // --- between windows ---------------------------------------------------------------------------
  bool full() const { return vacant_.empty(); }
  /// When the entry that the next kernel will take became free. Precondition: !full().
  Cycle vacant_since() const { return vacant_.front(); }
  /// The slot that the next kernel will have.
  unsigned next_slot() const;
  /// Hands out the kernel's blocks from cycle `start` on. Preconditions: !full(), a block fits an
  /// empty SM.
  void enter(const KernelEntry& kernel, Cycle start);
  struct Ended {
    std::uint32_t job;
    Cycle at;  ///< when the end of the last block was heard of
  };
  /// Kernels that have ended since the last call, in that order. Cleared by the caller.
  std::vector<Ended>& ended() { return ended_; }
  /// Makes the clock stop at that cycle: a kernel may enter then.
  void wake_at(Cycle at) { wake_ = at; }
  /// When the kernel that entered last could or can send its first block.
  Cycle last_begin() const { return last_begin_; }
  bool idle() const { return under_way_ == 0; }
  /// Caps of blocks are these from cycle `at` on, the first of the next window. From the first
  /// call on a kernel of which no block fits anywhere holds up no other, whatever the kernel policy:
  /// tenants do not wait for each other.
  void obey(Cycle at, const policy::Knobs& knobs);
  const BlockCaps& caps() const { return caps_; }

  // Component; the policies are asked in every cycle in which a block is left and an SM has room.
  void open_window() {}
  Cycle next_arrival(Cycle from) const {
    return std::min({box_.next(from), next_begin_, wake_, obeys_});
  }
  Cycle tick(Cycle now);

  const std::vector<BlockSpan>& spans() const { return spans_; }
  /// Shows the policies that decide here, for their statistics.
  template <class Visit>
  void each_policy(Visit&& visit) {
    visit(*kernel_policy_);
    visit(*block_policy_);
  }
  /// Names of the kernels under way, for messages: "'a', 'b'".
  std::string names() const;
  void describe(std::string& out) const;

 private:
  using Slots = std::uint32_t;
  static_assert(8 * sizeof(Slots) >= stats::kKernelSlots);
  struct Kernel {
    KernelEntry is;
    Launch launch;
    Cycle begin = 0;
    std::uint32_t blocks = 0, handed = 0, done = 0;
    std::vector<bool> is_handed;
    SmSet room;   // SMs that can hold one more block
    SmSet known;  // SMs that have had one
  };
  struct BlockSlot {
    std::size_t span = 0;
    unsigned kernel = 0;  // slot
  };
  struct SmState {
    explicit SmState(const SmSpec& sm) : resources(sm), slot(sm.blocks) {}
    BlockStartLink* start = nullptr;
    BlockEndLink* end = nullptr;
    Occupancy resources;
    std::uint64_t epoch = 0;  // in which its L1D was last flushed, with flush_only_when_idle
    std::vector<BlockSlot> slot;
  };
  void begin_kernels(Cycle now);
  void take_ends(Cycle now, unsigned sm);
  void end_kernel(Cycle now, unsigned slot);
  void hand_out(Cycle now);
  Slots with_room(Slots kernels, const SmSet& served) const;
  void place(Cycle now, unsigned slot, const policy::BlockChoice& choice);
  bool flushes(unsigned slot, unsigned sm);
  void check(unsigned slot, const policy::BlockChoice& choice, const SmSet& room) const;
  void update_room(unsigned sm);
  bool fits(const Kernel& kernel, unsigned sm) const;

  std::string kernel_policy_name_, block_policy_name_;
  std::unique_ptr<policy::KernelPolicy> kernel_policy_;
  std::unique_ptr<policy::BlockPolicy> block_policy_;
  Cycle latency_;
  std::uint32_t interval_;
  bool flush_, flush_only_when_idle_;
  std::vector<SmState> sms_;
  BlockCaps caps_;
  std::array<Kernel, stats::kKernelSlots> kernels_;
  Slots under_way_ = 0, waiting_ = 0;  // waiting: have begun and have blocks left
  AgeMatrix64 age_;
  unsigned last_slot_ = stats::kKernelSlots - 1;
  std::vector<Cycle> vacant_;  // entries without a kernel: since when, ascending
  std::uint64_t epoch_ = 0;
  std::uint64_t next_hand_out_ = 0;  // in 1/1000 cycles
  Cycle next_begin_ = kNever, last_begin_ = 0, wake_ = kNever;
  Cycle obeys_ = kNever;  // when caps change
  bool shared_ = false;   // there is a scheme
  Mailbox box_;           // of the SMs
  std::vector<Ended> ended_;
  std::vector<BlockSpan> spans_;
};

}  // namespace raddle::timing

// What a warp or throttle policy may know of its SM beyond the view it is asked with: whose each
// warp is, what it issues next, how far it has come, what it has waited for, and how full the
// load/store unit is. A policy that wants it returns an SmObserver; where none does, nothing is
// kept and the SM pays a test of a pointer per cycle and issue.
//
// All of it is read-only and comes from what happens, never from how often somebody looks. There
// are two kinds. What warps wait for changes only where waits_changed() says so, and so do sums of
// time. How full queues are may change in every cycle, without a word: a warp policy may go by it,
// for it is asked in the same cycles whether cycles are skipped or not; a throttle may only for
// as long as its answer does not outlive the cycle.
#pragma once
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::policy {

/// What an instruction does. Loads, stores and atomics (reductions too) are those of global and
/// local memory.
enum class InstKind : std::uint8_t {
  Arithmetic,
  Control,  ///< a branch, an exit
  Load,
  Store,
  Atomic,
  Shared,
  Constant,
  Barrier,
  Fence,
  Sleep,
  Launch,  ///< calls of the device runtime
};
/// Of global or local memory.
constexpr bool is_global(InstKind kind) {
  return kind >= InstKind::Load && kind <= InstKind::Atomic;
}

/// What keeps a warp from issuing, in the words of the stall rule (docs/reasons.md).
enum class WarpWait : std::uint8_t {
  Nothing,  ///< it is ready; a unit, the load/store unit or a policy may still hold it up
  Dependence,
  Fetch,
  Memory,
  Fence,
  Sleep,
  Barrier,
  Ended,  ///< no instruction is left; its memory operations may be under way
};
inline constexpr unsigned kWarpWaits = static_cast<unsigned>(WarpWait::Ended) + 1;

/// What a scheduler without an issue is charged (docs/reasons.md), in the order of
/// stats::Stall; an SM does not know of launches on their way.
enum class StallReason : std::uint8_t {
  Idle,
  Barrier,
  Memory,
  Dependence,
  Unit,
  Lsu,
  Fence,
  Sleep,
  Fetch,
  Throttled,
};

/// Of a warp that holds a slot.
struct WarpFacts {
  std::uint64_t launch = 0;       ///< number of the launch, in order of submission
  std::uint32_t block = 0;        ///< of the launch
  std::uint32_t index = 0;        ///< of the block
  std::uint8_t block_slot = 0;    ///< of the SM, as BlockOfWarp
  std::uint32_t blocks_most = 0;  ///< of its launch that an SM holds if it has nothing else
  Cycle started = 0;
  std::uint64_t issued = 0;  ///< instructions, since it came to this SM
  Cycle last_issue = 0;      ///< of these; meaningless before the first
  /// What it issues next, of `code_size` machine instructions. Of a warp that has ended: its last.
  std::uint32_t next = 0, code_size = 0;
  InstKind kind = InstKind::Arithmetic;
};

/// The load/store unit and the misses of the L1D.
struct LsuFacts {
  static constexpr unsigned kInvalidId = 64;
  std::uint32_t mshrs = 0, mshrs_taken = 0;  ///< of the L1D; without any, 0 of 0
  std::uint32_t queue = 0, queue_taken = 0;  ///< requests that wait to leave the SM
  std::uint32_t loads = 0, loads_taken = 0;  ///< loads and atomics that may be under way
  bool accepts = true;                       ///< takes another instruction
  unsigned last_user = kInvalidId;  ///< slot that issued an instruction of global memory last
};

/// Lives as long as the SM.
class SmView {
 public:
  virtual ~SmView() = default;
  /// Precondition: the slot holds a warp.
  virtual WarpFacts warp(unsigned slot) const = 0;
  /// Slots whose warp waits for that, as one word; all others are without a warp.
  virtual std::uint64_t waiting(WarpWait what) const = 0;
  /// Cycles before `now` in which the slot's warp has waited for that. Precondition: it holds one.
  virtual Cycle waited(unsigned slot, WarpWait what, Cycle now) const = 0;
  /// Instructions that the warps of a block have issued here, those that have ended included.
  virtual std::uint64_t block_issued(unsigned block_slot) const = 0;
  /// Cycles before `now` that all schedulers together have been charged that.
  virtual Cycle stalled(StallReason why, Cycle now) const = 0;
  virtual LsuFacts lsu() const = 0;
};

/// Implemented by policies. Called by one SM, from one thread at a time.
class SmObserver {
 public:
  virtual ~SmObserver() = default;
  /// Before anything happens.
  virtual void attach(const SmView&) = 0;
  /// Some warps wait for something else than before, or have come or gone. Told once for all of
  /// them, in a cycle before throttles are asked and warps are picked; from this cycle on it holds.
  virtual void waits_changed(Cycle /*now*/) {}
};

}  // namespace raddle::policy

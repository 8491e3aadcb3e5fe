// Warp table of an SM: one record for each warp slot, and the sets of warps that the pipeline works
// on. Sets are masks over the slots, changed when something happens to a warp and never gathered by
// a scan.
//
// Where a warp is. It is resident from its start until it has ended and its memory operations are
// over. A resident warp is parked (its `next` is not to be issued) or at an instruction:
//   parked: at_barrier, sleeping, fetching (`next` is not there yet), ended
//   at an instruction: ready (no hazard), or it waits for registers; of those that wait
//   memory_wait is the set whose register comes with a load, fence_wait of those at a fence.
// memory_wait also holds ended warps whose memory operations are under way. `emptied` warps wait
// for their branch: the instruction buffer is empty, to be filled from where the branch leads.
//
// Source of the shape: the instruction buffer and scoreboard of GPGPU-Sim's shader core, with sets
// in place of its scans.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/warp/policy.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/async_groups.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

/// Bit w stands for warp slot w.
using WarpMask = policy::WarpMask;
static_assert(SmSpec::kMaxWarps <= 8 * sizeof(WarpMask), "a set of warps is one word");

constexpr WarpMask bit_of(unsigned warp) { return WarpMask{1} << warp; }
constexpr bool has(WarpMask warps, unsigned warp) { return (warps >> warp & 1) != 0; }

/// One warp: its scoreboard, its place in the op stream, whose it is.
struct alignas(64) Warp {
  RegisterSet pending;                // registers with a write under way
  RegisterSet pending_memory;         // of these: by a load
  const DecodedInst* next = nullptr;  // to be issued; of a parked warp: the one it is parked at
  trace::WarpCursor cursor;           // at the record of `next`
  const Launch* launch = nullptr;
  LaneMask mask = 0;               // word 1 of the record
  std::uint32_t index = 0;         // in the block
  std::uint32_t local_window = 0;  // number of its local memory
  std::uint16_t outstanding = 0;   // global and local memory operations under way, lines of stores
  std::uint16_t remaining = 0;     // machine instructions left of the record
  std::uint8_t transactions = 0;   // of the record
  std::uint8_t record_words = 0;   // its size
  std::uint8_t block = 0;          // block slot
  std::uint8_t kernel = 0;         // launch slot
  std::uint8_t lanes = 0;          // threads of the warp
  std::uint8_t active = 0;  // lanes in `mask`; of a barrier, whose record has none, all of them
};
static_assert(sizeof(Warp) == 128, "a warp is two lines of the host");

/// Block slot of warps whose block is on another SM: the last of what throttles can tell apart.
inline constexpr std::uint8_t kAbroad = SmSpec::kMaxWarps - 1;

/// Which warp slots belong to which scheduler.
class SchedulerSlots {
 public:
  explicit SchedulerSlots(const SmSpec& spec)
      : schedulers_(spec.schedulers), slots_(spec.warps / spec.schedulers) {
    RADDLE_ASSERT(schedulers_ <= SmSpec::kMaxSchedulers && spec.warps <= SmSpec::kMaxWarps);
    for (unsigned s = 0; s < schedulers_; ++s) group_[s] = low_bits(slots_) << (s * slots_);
  }
  unsigned schedulers() const { return schedulers_; }
  unsigned slots_of_each() const { return slots_; }
  unsigned first_slot(unsigned scheduler) const { return scheduler * slots_; }
  WarpMask operator[](unsigned scheduler) const { return group_[scheduler]; }
  unsigned scheduler_of(unsigned warp) const { return warp / slots_; }
  /// The scheduler that comes after this one in turn.
  unsigned after(unsigned scheduler) const {
    return scheduler + 1 == schedulers_ ? 0 : scheduler + 1;
  }

 private:
  unsigned schedulers_, slots_;
  std::array<WarpMask, SmSpec::kMaxSchedulers> group_{};
};

/// The sets are open: the pipeline's stages move warps between them. broken() says what must hold
/// between cycles.
class WarpTable {
 public:
  explicit WarpTable(unsigned slots) : warp_(slots), wake_(slots, kNever) {}
  Warp& operator[](unsigned warp) { return warp_[warp]; }
  const Warp& operator[](unsigned warp) const { return warp_[warp]; }
  unsigned slots() const { return static_cast<unsigned>(warp_.size()); }

  WarpMask resident = 0;
  WarpMask ready = 0;
  WarpMask memory_wait = 0;
  WarpMask fence_wait = 0;
  WarpMask at_barrier = 0;
  WarpMask sleeping = 0;
  WarpMask ended = 0;
  WarpMask fetching = 0;
  WarpMask emptied = 0;
  AgeMatrix64 age;                 ///< order of arrival
  policy::BlockOfWarp block_of{};  ///< as throttles see it
  policy::TenantMasks of_tenant{};
  const policy::Knobs* knobs = nullptr;  ///< of the scheme, if there is one
  AsyncGroups groups;                    ///< of what runs beside the warps

  WarpMask parked() const { return ended | at_barrier | sleeping | fetching; }
  WarpMask running() const { return resident & ~ended; }
  /// How many eighths of the running warps are ready (policy/dram/policy.h). Ready is who waits for
  /// nothing of its own, also if a unit is taken or a throttle holds it back.
  std::uint8_t core_rank() const {
    const auto all = static_cast<unsigned>(std::popcount(running()));
    if (all == 0) return policy::kLastCoreRank;  // nobody waits
    const auto can_go = static_cast<unsigned>(std::popcount(ready));
    return std::min(policy::kLastCoreRank,
                    static_cast<std::uint8_t>(policy::kCoreRanks * can_go / all));
  }

  /// A warp takes the slot; its record is a fresh one. Precondition: nobody has it.
  Warp& enter(unsigned warp, unsigned block) {
    RADDLE_ASSERT(!has(resident, warp));
    resident |= bit_of(warp);
    age.insert(warp);
    block_of[warp] = static_cast<std::uint8_t>(block);
    groups.start_warp(warp);
    warp_[warp] = {};
    warp_[warp].block = static_cast<std::uint8_t>(block);
    return warp_[warp];
  }
  /// The slot is free again. Precondition: the warp waits for nothing.
  void leave(unsigned warp) {
    const WarpMask bit = bit_of(warp);
    RADDLE_ASSERT((resident & bit) != 0);
    resident &= ~bit;
    ended &= ~bit;
    for (WarpMask& warps : of_tenant) warps &= ~bit;
    RADDLE_ASSERT(((ready | memory_wait | fence_wait | parked() | emptied) & bit) == 0);
    age.remove(warp);
  }

  /// Where a warp at an instruction belongs: ready, or waiting for what. Precondition: it is in
  /// none of these sets.
  [[gnu::always_inline]] void check_hazards(unsigned w) {
    const Warp& warp = warp_[w];
    const WarpMask bit = bit_of(w);
    if (warp.next->uses.meets(warp.pending)) {
      if (warp.next->uses.meets(warp.pending_memory)) memory_wait |= bit;
    } else if (warp.next->releases && must_wait(w)) {
      fence_wait |= bit;
    } else {
      ready |= bit;
    }
  }
  /// A warp at a fence, or where it waits for groups, cannot go on. Out of line: few are.
  [[gnu::noinline]] bool must_wait(unsigned w) const {
    const Warp& warp = warp_[w];
    using Kind = AsyncGroups::Kind;
    const unsigned left = warp.next->groups_left();
    switch (warp.next->beside) {
      case Beside::Waits:
        return groups.waits(Kind::Copies, w, left);
      case Beside::WaitsForCopies:
        return groups.any(Kind::Copies, w);
      case Beside::WaitsForBulk:
        return groups.waits(Kind::Bulk, w, left);
      case Beside::WaitsForBulkReads:
        return groups.waits(Kind::BulkReads, w, left);
      case Beside::WaitsForProducts:
        return groups.waits(Kind::Products, w, left);
      default:
        return warp.outstanding != 0;
    }
  }
  /// The warp goes out of the sets that check_hazards() puts it into.
  void forget_hazards(unsigned warp) {
    const WarpMask bit = bit_of(warp);
    ready &= ~bit;
    memory_wait &= ~bit;
    fence_wait &= ~bit;
  }

  // --- sleep -------------------------------------------------------------------------------------
  void sleep_until(Cycle then, unsigned warp) {
    wake_[warp] = then;
    sleeping |= bit_of(warp);
    next_wake_ = std::min(next_wake_, then);
  }
  Cycle next_wake() const { return next_wake_; }
  Cycle wakes_at(unsigned warp) const { return wake_[warp]; }
  /// woken(warp) for those whose time is over, which takes them out of `sleeping`.
  template <class Wakeups>
  void wake(Cycle now, Wakeups wakeups) {
    next_wake_ = kNever;
    for (WarpMask m = sleeping; m != 0; m &= m - 1) {
      const unsigned w = lowest(m);
      if (wake_[w] <= now) wakeups(w);
      else next_wake_ = std::min(next_wake_, wake_[w]);
    }
  }

  /// Null, or the law of the sets that does not hold between cycles.
  const char* broken() const {
    const WarpMask at_instruction = resident & ~parked();
    if (((ready | memory_wait | fence_wait | parked() | emptied) & ~resident) != 0)
      return "only resident warps are in sets";
    if ((at_barrier & sleeping) != 0 || (fetching & (at_barrier | sleeping)) != 0)
      return "a warp is parked in one place";
    if ((ended & (at_barrier | sleeping | fetching)) != 0)
      return "a warp that has ended is nowhere else";
    if ((ready & ~at_instruction) != 0) return "a ready warp is at an instruction";
    if ((ready & (memory_wait | fence_wait)) != 0) return "a ready warp waits for nothing";
    if ((memory_wait & ~(at_instruction | ended)) != 0) return "who waits for memory is not parked";
    if (age.members() != resident) return "every resident warp has an age";
    return nullptr;
  }

 private:
  std::vector<Warp> warp_;
  std::vector<Cycle> wake_;  // by slot: when it will have slept enough
  Cycle next_wake_ = kNever;
};

}  // namespace raddle::timing

// Barrier objects in shared memory (mbarrier) of the blocks on an SM: a phase is over when the
// arrivals and the bytes it expects have come; warps wait for phases.
//
// Source of the rules: PTX ISA 9.0, 9.7.13.15. How many phases a warp waits for, the op stream
// knows: those that were over when it went on as it was executed. In a cluster, whose blocks bring
// arrivals and bytes to each other's objects, it waits for those that its own block had brought.
//
// Copies that nobody waits for by a register are counted for each warp as they are issued and as
// they come. What they tell an object it hears when so many have come as had been issued before.
// Left out: that a later copy may come before an earlier one and be counted for it.
//
// Values only: who changes something is told who may go on; the time that takes is the pipeline's.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/sm/warps.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class BarrierObjects {
 public:
  explicit BarrierObjects(unsigned block_slots) : objects_(block_slots) {}

  /// A block takes the slot: it has no objects, and what was still to come for those of the block
  /// before, which has ended without waiting for it, nobody hears.
  void start_block(unsigned slot) {
    RADDLE_ASSERT(slot < objects_.size());
    objects_[slot].clear();
    std::erase_if(late_, [&](const Late& late) { return late.slot == slot; });
  }
  /// A warp takes the slot: nothing of it is on its way.
  void start_warp(unsigned warp) { issued_[warp] = came_[warp] = 0; }
  /// A warp's instruction does `action` to the objects of `count` changes. Returns warps of the
  /// block that may go on because of it. Precondition: the action is not Wait.
  WarpMask act(unsigned slot, unsigned warp, trace::ObjectAction action,
               const std::uint32_t* changes, unsigned count);
  /// The warp comes to wait for the phases of the changes; true: they are over. Else it waits.
  bool passes(unsigned slot, unsigned warp, const std::uint32_t* changes, unsigned count);

  /// So many of the warp's copies are on their way.
  void issued(unsigned warp, unsigned copies) { issued_[warp] += copies; }
  /// One has come. Returns warps that may go on.
  WarpMask came(unsigned warp);

 private:
  struct Object {
    std::uint32_t number = 0, phases = 0;
    std::int64_t count = 0, pending = 0, bytes = 0;
    std::uint32_t brought = 0;              ///< arrivals and bytes so far, modulo 2^32
    WarpMask waiting = 0, for_brought = 0;  ///< of the warps, those that wait for these
  };
  /// What an object hears when the warp's copies up to a number have come.
  struct Late {
    std::uint64_t after;
    std::uint32_t object, arrivals, bytes;
    std::uint8_t slot, warp;
  };
  static constexpr unsigned kMaxWarps = SmSpec::kMaxWarps;

  Object& object(unsigned slot, std::uint32_t number);
  WarpMask hear(unsigned slot, std::uint32_t number, std::int64_t arrivals, std::int64_t bytes);
  void end_phase_if_done(Object& object) const;
  bool is_over(const Object& object, unsigned warp) const;
  WarpMask released(Object& object) const;

  std::vector<std::vector<Object>> objects_;  // by block slot
  std::vector<Late> late_;                    // oldest first
  std::array<std::uint64_t, kMaxWarps> issued_{}, came_{};
  std::array<std::uint32_t, kMaxWarps> wanted_{};  // phases, or what is brought, for each warp
};

inline BarrierObjects::Object& BarrierObjects::object(unsigned slot, std::uint32_t number) {
  RADDLE_ASSERT(slot < objects_.size());
  for (Object& known : objects_[slot])
    if (known.number == number) return known;
  objects_[slot].push_back({.number = number});
  return objects_[slot].back();
}

inline void BarrierObjects::end_phase_if_done(Object& object) const {
  if (object.count == 0 || object.pending > 0 || object.bytes != 0) return;
  ++object.phases;
  object.pending = object.count;
}

/// What the warp wants of it is there.
inline bool BarrierObjects::is_over(const Object& object, unsigned warp) const {
  if (!has(object.for_brought, warp)) return object.phases >= wanted_[warp];
  return static_cast<std::int32_t>(object.brought - wanted_[warp]) >= 0;
}

inline WarpMask BarrierObjects::released(Object& object) const {
  WarpMask out = 0;
  for (WarpMask m = object.waiting; m != 0; m &= m - 1)
    if (is_over(object, lowest(m))) out |= bit_of(lowest(m));
  object.waiting &= ~out;
  return out;
}

inline WarpMask BarrierObjects::hear(unsigned slot, std::uint32_t number, std::int64_t arrivals,
                                     std::int64_t bytes) {
  Object& heard = object(slot, number);
  heard.pending -= arrivals;
  heard.bytes -= bytes;
  heard.brought += static_cast<std::uint32_t>(arrivals + std::max<std::int64_t>(bytes, 0));
  end_phase_if_done(heard);
  return released(heard);
}

inline WarpMask BarrierObjects::act(unsigned slot, unsigned warp, trace::ObjectAction action,
                                    const std::uint32_t* changes, unsigned count) {
  using Action = trace::ObjectAction;
  RADDLE_ASSERT(action != Action::Wait);
  WarpMask out = 0;
  for (unsigned i = 0; i < count; ++i, changes += trace::kTransactionWords) {
    const auto change = trace::ObjectChange::of(changes);
    Object& changed = object(slot, change.object);
    switch (action) {
      case Action::Init:
        changed.count = changed.pending = change.arrivals;
        changed.bytes = 0;
        break;
      case Action::Arrive:
        out |= hear(slot, change.object, change.arrivals, -std::int64_t{change.value});
        break;
      case Action::Drop:
        changed.count -= change.arrivals;
        out |= hear(slot, change.object, change.arrivals, -std::int64_t{change.value});
        break;
      case Action::Come:
        out |= hear(slot, change.object, 0, change.value);
        break;
      case Action::Copies:
        changed.pending += change.arrivals;
        [[fallthrough]];
      case Action::Copied:
        if (came_[warp] >= issued_[warp])
          out |= hear(slot, change.object, change.arrivals, change.value);
        else
          late_.push_back({.after = issued_[warp],
                           .object = change.object,
                           .arrivals = change.arrivals,
                           .bytes = change.value,
                           .slot = static_cast<std::uint8_t>(slot),
                           .warp = static_cast<std::uint8_t>(warp)});
        break;
      case Action::Wait:
        break;
    }
  }
  return out;
}

inline bool BarrierObjects::passes(unsigned slot, unsigned warp, const std::uint32_t* changes,
                                   unsigned count) {
  for (unsigned i = 0; i < count; ++i, changes += trace::kTransactionWords) {
    const auto change = trace::ObjectChange::of(changes);
    Object& awaited = object(slot, change.object);
    wanted_[warp] = change.value;
    awaited.for_brought &= ~bit_of(warp);
    if (change.arrivals == trace::ObjectChange::kBrought) awaited.for_brought |= bit_of(warp);
    if (is_over(awaited, warp)) continue;
    awaited.waiting |= bit_of(warp);
    return false;
  }
  return true;
}

inline WarpMask BarrierObjects::came(unsigned warp) {
  if (came_[warp] == issued_[warp]) return 0;  // issued on another SM, where nobody waits for it
  ++came_[warp];
  if (late_.empty()) return 0;
  WarpMask out = 0;
  std::size_t kept = 0;
  for (const Late& late : late_) {
    if (late.warp == warp && late.after <= came_[warp])
      out |= hear(late.slot, late.object, late.arrivals, late.bytes);
    else late_[kept++] = late;
  }
  late_.resize(kept);
  return out;
}

}  // namespace raddle::timing

// The resources of one SM that thread blocks take while they are resident: threads, warps,
// registers, shared memory and block slots (CUDA C++ Programming Guide, "Compute Capabilities").
// Amounts are those that the machine hands out, already rounded up (timing/gpu/residency.h). One
// account per SM; nobody else counts. Left out: where in the register file or in shared memory a
// block lies, so fragmentation costs nothing.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

/// Resources of one block, rounded up to what the machine hands out.
struct BlockNeeds {
  std::uint32_t threads = 0, warps = 0, registers = 0, shared_bytes = 0;
  BlockNeeds& operator+=(const BlockNeeds& o) {
    threads += o.threads;
    warps += o.warps;
    registers += o.registers;
    shared_bytes += o.shared_bytes;
    return *this;
  }
  friend bool operator==(const BlockNeeds&, const BlockNeeds&) = default;
};

class Occupancy {
 public:
  explicit Occupancy(const SmSpec& sm)
      : all_{sm.threads, sm.warps, sm.registers, sm.shared_kib * 1024},
        free_(all_),
        free_slots_(low_bits(sm.blocks)),
        held_(sm.blocks) {
    RADDLE_ASSERT(sm.blocks <= 64);
  }

  /// How many blocks that need that an empty SM holds.
  std::uint32_t maximum(const BlockNeeds& needs) const {
    auto maximum = static_cast<std::uint32_t>(held_.size());
    const auto limit = [&](std::uint32_t all, std::uint32_t need) {
      if (need != 0 && all / need < maximum) maximum = all / need;
    };
    limit(all_.threads, needs.threads);
    limit(all_.warps, needs.warps);
    limit(all_.registers, needs.registers);
    limit(all_.shared_bytes, needs.shared_bytes);
    return maximum;
  }
  /// One more block: a block slot and all it needs.
  bool fits(const BlockNeeds& needs) const { return free_slots_ != 0 && fits_beside(needs); }
  /// Takes the lowest free block slot, which is returned. Precondition: fits(needs).
  unsigned reserve(const BlockNeeds& needs) {
    RADDLE_ASSERT(fits(needs));
    const unsigned slot = lowest(free_slots_);
    free_slots_ &= free_slots_ - 1;
    held_[slot] = needs;
    take(needs);
    return slot;
  }
  /// Gives back what the block in `slot` holds. Precondition: holds(slot).
  void release(unsigned slot) {
    RADDLE_ASSERT(holds(slot));
    free_slots_ |= 1ull << slot;
    give(held_[slot]);
    held_[slot] = {};
  }
  /// Gives back a part of what the block in `slot` holds, before it ends: of a warp that has gone
  /// to another SM. Precondition: it holds as much.
  void release_part(unsigned slot, const BlockNeeds& part) {
    RADDLE_ASSERT(holds(slot));
    BlockNeeds& held = held_[slot];
    RADDLE_ASSERT(held.threads >= part.threads && held.warps >= part.warps);
    RADDLE_ASSERT(held.registers >= part.registers && held.shared_bytes >= part.shared_bytes);
    held.threads -= part.threads;
    held.warps -= part.warps;
    held.registers -= part.registers;
    held.shared_bytes -= part.shared_bytes;
    give(part);
  }
  bool holds(unsigned slot) const { return slot < held_.size() && (free_slots_ >> slot & 1) == 0; }

  // What is resident without a block slot of its own, such as a warp that has come from another SM.
  bool fits_beside(const BlockNeeds& needs) const {
    return free_.threads >= needs.threads && free_.warps >= needs.warps &&
           free_.registers >= needs.registers && free_.shared_bytes >= needs.shared_bytes;
  }
  /// Precondition: fits_beside(needs).
  void reserve_beside(const BlockNeeds& needs) {
    RADDLE_ASSERT(fits_beside(needs));
    take(needs);
  }
  /// Precondition: as much is reserved beside the blocks.
  void release_beside(const BlockNeeds& needs) { give(needs); }

  const BlockNeeds& free() const { return free_; }
  unsigned free_blocks() const { return static_cast<unsigned>(std::popcount(free_slots_)); }

 private:
  void take(const BlockNeeds& needs) {
    free_.threads -= needs.threads;
    free_.warps -= needs.warps;
    free_.registers -= needs.registers;
    free_.shared_bytes -= needs.shared_bytes;
  }
  void give(const BlockNeeds& needs) {
    free_.threads += needs.threads;
    free_.warps += needs.warps;
    free_.registers += needs.registers;
    free_.shared_bytes += needs.shared_bytes;
    RADDLE_ASSERT(free_.threads <= all_.threads && free_.warps <= all_.warps);
    RADDLE_ASSERT(free_.registers <= all_.registers && free_.shared_bytes <= all_.shared_bytes);
  }

  BlockNeeds all_, free_;
  std::uint64_t free_slots_;
  std::vector<BlockNeeds> held_;  // by block slot
};

}  // namespace raddle::timing

// Blocks resident on an SM, and their barriers. A block is here from its start until the last of
// its warps has left. A barrier opens when as many warps as it expects have arrived: a number the
// program gives, or all warps of the block whose streams have not ended.
//
// Values only: who arrives is told who may go on; the time that takes is the pipeline's.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

struct Barrier {
  WarpMask waiting = 0;  ///< of the SM's warps
  WarpMask abroad = 0;   ///< of the block's warps at other SMs, by their index in the block
  std::uint8_t arrived = 0;
  std::uint8_t expected = 0;  ///< 0: all warps of the block that run
};

struct Block {
  static constexpr unsigned kBarriers = 16;  ///< of PTX
  const Launch* launch = nullptr;
  std::uint32_t id = 0;
  WarpMask warps = 0;        ///< those here
  std::uint8_t live = 0;     ///< warps that have not left for good
  std::uint8_t abroad = 0;   ///< of these: at other SMs
  std::uint8_t running = 0;  ///< warps whose stream has not ended: those a barrier waits for
  std::array<Barrier, kBarriers> barrier;
};

/// Who may go on.
struct Opened {
  WarpMask here = 0;    ///< warps of the SM
  WarpMask abroad = 0;  ///< indices in the block
};

class BlockTable {
 public:
  explicit BlockTable(unsigned slots) : block_(slots) {}
  unsigned slots() const { return static_cast<unsigned>(block_.size()); }
  Block& operator[](unsigned slot) { return block_[slot]; }
  const Block& operator[](unsigned slot) const { return block_[slot]; }

  /// A block of so many warps takes the slot. Precondition: nobody has it.
  Block& start(unsigned slot, const Launch& launch, std::uint32_t id, unsigned warps) {
    RADDLE_ASSERT(slot < block_.size());
    RADDLE_ASSERT(block_[slot].live == 0);
    RADDLE_ASSERT(warps != 0 && warps <= SmSpec::kMaxWarps);
    const auto all = static_cast<std::uint8_t>(warps);
    block_[slot] = {&launch, id, 0, all, 0, all, {}};
    return block_[slot];
  }
  void add_warp(unsigned slot, unsigned warp) { block_[slot].warps |= bit_of(warp); }

  /// A warp comes to a barrier, to wait there (`waits` is its bit) or only to be counted (0).
  /// `expected`: warps, if the program says how many. Returns those who may go on.
  Opened arrive(unsigned slot, unsigned barrier, WarpMask waits, unsigned expected) {
    return arrive(slot, barrier, {waits, 0}, expected);
  }
  /// The same of one of the block's that is at another SM: `waits` is a bit for its index.
  Opened arrive_abroad(unsigned slot, unsigned barrier, WarpMask waits, unsigned expected) {
    RADDLE_ASSERT(block_[slot].abroad != 0);
    return arrive(slot, barrier, {0, waits}, expected);
  }
  /// A warp's stream has ended. Whoever has ended is not waited for at barriers that wait for the
  /// whole block: open(Opened) for each barrier that opens for that.
  template <class Open>
  void stream_ended(unsigned slot, Open open) {
    Block& block = block_[slot];
    RADDLE_ASSERT(block.running != 0);
    if (--block.running == 0) return;
    for (Barrier& barrier : block.barrier)
      if (barrier.arrived != 0) open(opened(block, barrier));
  }
  /// A warp leaves for good; true: it was the last one, the slot is free.
  bool leave(unsigned slot, unsigned warp) {
    Block& block = block_[slot];
    RADDLE_ASSERT(has(block.warps, warp));
    RADDLE_ASSERT(block.live > block.running);
    block.warps &= ~bit_of(warp);
    return --block.live == 0;
  }
  /// A warp goes on at another SM: the block has it no longer here, and stays until it has ended.
  void leave_for_abroad(unsigned slot, unsigned warp) {
    Block& block = block_[slot];
    RADDLE_ASSERT(has(block.warps, warp));
    block.warps &= ~bit_of(warp);
    ++block.abroad;
  }
  /// One of those has ended; true: it was the last of the block's warps, the slot is free.
  /// Precondition: stream_ended() has been called for it.
  bool ended_abroad(unsigned slot) {
    Block& block = block_[slot];
    RADDLE_ASSERT(block.abroad != 0);
    RADDLE_ASSERT(block.live > block.running);
    --block.abroad;
    return --block.live == 0;
  }
  /// Warps that a barrier waits for before it opens.
  static unsigned expected(const Block& block, const Barrier& barrier) {
    return barrier.expected != 0 ? barrier.expected : block.running;
  }

 private:
  Opened arrive(unsigned slot, unsigned barrier, const Opened& waits, unsigned expected) {
    Block& block = block_[slot];
    Barrier& here = block.barrier[barrier];
    ++here.arrived;
    if (expected != 0) here.expected = static_cast<std::uint8_t>(expected);
    here.waiting |= waits.here;
    here.abroad |= waits.abroad;
    return opened(block, here);
  }
  static Opened opened(const Block& block, Barrier& barrier) {
    if (barrier.arrived < expected(block, barrier)) return {};
    const Opened out = {barrier.waiting, barrier.abroad};
    barrier = {};
    return out;
  }
  std::vector<Block> block_;
};

}  // namespace raddle::timing

// Which warps of an SM may issue under a scheme's knob active_blocks (policy/scheme/knobs.h): of
// each tenant's blocks those that came first; the warps of the others are held until one of those
// ends or the knob changes.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::timing {

class ActiveBlocks {
 public:
  using Mask = policy::WarpMask;
  ActiveBlocks() { limit_.fill(policy::kNoLimit); }

  /// A block has come to block slot `slot` with these warps.
  void started(TenantId tenant, unsigned slot, Mask warps) {
    RADDLE_ASSERT(index(tenant) < kMaxTenants && warps != 0);
    blocks_.push_back({tenant, static_cast<std::uint8_t>(slot), warps});
    update();
  }
  /// Its last warp has ended. A block whose warps had nothing to do has not been told as started.
  void ended(unsigned slot) {
    const std::size_t erased =
        std::erase_if(blocks_, [&](const Block& block) { return block.slot == slot; });
    RADDLE_ASSERT(erased <= 1);
    update();
  }
  /// The warp's slot is free; another block's may take it.
  void left(Mask warp) {
    for (Block& block : blocks_) block.warps &= ~warp;
    held_ &= ~warp;
  }
  void obey(const policy::Knobs& knobs) {
    for (unsigned t = 0; t < kMaxTenants; ++t) limit_[t] = knobs.tenant[t].active_blocks;
    update();
  }
  /// Warps that may not issue.
  Mask held() const { return held_; }

 private:
  struct Block {
    TenantId tenant;
    std::uint8_t slot;
    Mask warps;
  };
  void update() {
    std::array<std::uint32_t, kMaxTenants> active{};
    held_ = 0;
    for (const Block& block : blocks_) {
      std::uint32_t& n = active[index(block.tenant)];
      if (n == limit_[index(block.tenant)]) held_ |= block.warps;
      else ++n;
    }
  }
  std::array<std::uint32_t, kMaxTenants> limit_;
  std::vector<Block> blocks_;  // in order of arrival
  Mask held_ = 0;
};

}  // namespace raddle::timing

// Which ways of a cache may be filled for whom, where a scheme partitions it among tenants (knobs
// l1d_ways and l2_ways of policy/scheme/knobs.h). A line may be found in any way; only what a miss
// brings is confined, so lines of others leave a tenant's ways one by one when a mask changes.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "raddle/timing/cache/tags.h"

namespace raddle::timing {

/// For each of N holders of numbers: launch slots in an L1, tenants in an L2.
template <unsigned N>
class WayShares {
 public:
  WayShares() { mask_.fill(Tags::kAnyWay); }
  void set(unsigned holder, Tags::WayMask ways) {
    RADDLE_ASSERT(ways != 0);
    mask_[holder] = ways;
  }
  Tags::WayMask of(unsigned holder) const { return mask_[holder]; }
  bool any() const {
    return std::ranges::any_of(mask_, [](Tags::WayMask ways) { return ways != Tags::kAnyWay; });
  }

 private:
  std::array<Tags::WayMask, N> mask_;
};

}  // namespace raddle::timing

// Which ways of a cache may be filled for whom, where a scheme partitions it among tenants (knobs
// l1d_ways and l2_ways of policy/scheme/knobs.h). A line may be found in any way; only what a miss
// brings is confined, so lines of others leave a tenant's ways one by one when a mask changes.
#pragma once
#include <algorithm>
#include <vector>

#include "raddle/timing/cache/tags.h"

namespace raddle::timing {

/// For each of so many holders: launch slots in an L1, tenants in an L2.
class WayShares {
 public:
  explicit WayShares(unsigned holders) : mask_(holders, Tags::kAnyWay) {}
  unsigned holders() const { return static_cast<unsigned>(mask_.size()); }
  void set(unsigned holder, Tags::WayMask ways) {
    RADDLE_ASSERT(ways != 0);
    mask_[holder] = ways;
  }
  Tags::WayMask of(unsigned holder) const { return mask_[holder]; }
  bool any() const {
    return std::ranges::any_of(mask_, [](Tags::WayMask ways) { return ways != Tags::kAnyWay; });
  }

 private:
  std::vector<Tags::WayMask> mask_;
};

}  // namespace raddle::timing

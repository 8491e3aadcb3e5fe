// How much bandwidth a tenant uses with how many blocks on an SM, from a few measured points.
// docs/mechanisms/ccbp.md. Free of simulator types.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::policy {

/// Numbers of blocks that are measured: powers of two below `most`, and `most`.
inline std::vector<std::uint32_t> counts_of_interest(std::uint32_t maximum) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t n = 1; n < maximum; n *= 2) out.push_back(n);
  out.push_back(maximum);
  return out;
}

class BandwidthCurve {
 public:
  BandwidthCurve() = default;
  /// In proportion to the blocks.
  static BandwidthCurve linear(double of_each) {
    BandwidthCurve out;
    out.add(1, of_each);
    return out;
  }
  void add(std::uint32_t blocks, double bandwidth) {
    RADDLE_ASSERT(blocks != 0);
    points_[blocks] = bandwidth;
  }
  /// 0 for no blocks; straight lines between points, the first from there; behind the last point on
  /// as steeply as before it, but not down, and never above `cap`.
  double at(std::uint32_t blocks, double cap) const {
    if (blocks == 0 || points_.empty()) return 0;
    const auto above = points_.lower_bound(blocks);
    const auto right = above == points_.end() ? std::prev(above) : above;
    const Point b = point(*right);
    const Point a = right == points_.begin() ? Point{0, 0} : point(*std::prev(right));
    double slope = (b.bandwidth - a.bandwidth) / (b.blocks - a.blocks);
    if (above == points_.end()) slope = std::max(slope, 0.0);
    return std::min(cap, b.bandwidth + slope * (static_cast<double>(blocks) - b.blocks));
  }

 private:
  struct Point {
    double blocks, bandwidth;
  };
  static Point point(const std::pair<const std::uint32_t, double>& measured) {
    return {static_cast<double>(measured.first), measured.second};
  }
  std::map<std::uint32_t, double> points_;
};

}  // namespace raddle::policy

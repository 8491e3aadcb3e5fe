// How many blocks of each tenant an SM gets, from how each scales: the least loss of the one that
// loses most (Xu et al., "Warped-Slicer", ISCA 2016, as papers that compare with it tell it). Free
// of simulator types.
//
// Each begins with one block. The tenant that has least of its best gets as many more as it takes
// to have more, if they fit; one for which that cannot be is done. Left out: the fall-back to SMs
// of their own when what comes out is poor.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/policy/scheme/dominant_share.h"

namespace raddle::policy {

/// IPC alone with 1, 2, ... blocks on every SM.
using ScalingCurve = std::vector<double>;

struct WaterLevel {
  std::vector<std::uint32_t> blocks;
  double minimum = 0;  ///< of the tenants, what the one that loses most has of its best
};

/// Preconditions: one block of each fits; every curve has a point above 0.
inline WaterLevel fill_by_curves(const SmResources& sm, const std::vector<SharingBlocks>& tenants,
                                 const std::vector<ScalingCurve>& curves) {
  const auto level = [&](std::size_t t, std::uint32_t blocks) {
    return curves[t][blocks - 1] / *std::ranges::max_element(curves[t]);
  };
  WaterLevel out{std::vector<std::uint32_t>(tenants.size(), 1), 0};
  std::vector<bool> done(tenants.size(), false);
  for (;;) {
    std::size_t minimum = tenants.size();
    for (std::size_t t = 0; t < tenants.size(); ++t)
      if (!done[t] && (minimum == tenants.size() ||
                       level(t, out.blocks[t]) < level(minimum, out.blocks[minimum])))
        minimum = t;
    if (minimum == tenants.size()) break;
    const auto maximum = std::min<std::uint32_t>(static_cast<std::uint32_t>(curves[minimum].size()),
                                                 tenants[minimum].maximum);
    const std::uint32_t now = out.blocks[minimum];
    std::uint32_t next = now + 1;
    while (next <= maximum && !(level(minimum, next) > level(minimum, now))) ++next;
    out.blocks[minimum] = next;
    if (next <= maximum && fit_together(sm, tenants, out.blocks)) continue;
    out.blocks[minimum] = now;
    done[minimum] = true;
  }
  out.minimum = level(0, out.blocks[0]);
  for (std::size_t t = 1; t < tenants.size(); ++t)
    out.minimum = std::min(out.minimum, level(t, out.blocks[t]));
  return out;
}

}  // namespace raddle::policy

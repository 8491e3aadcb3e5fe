// Dominant resource fairness over what blocks take of an SM: who has the smallest share of the
// resource that it needs most gets the next block (Ghodsi et al., "Dominant Resource Fairness",
// NSDI 2011; of SMs: Wang et al., "Simultaneous Multikernel GPU", HPCA 2016). Free of simulator
// types.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/policy/scheme/resources.h"

namespace raddle::policy {

/// Tenants that share SMs, in order: what a block of each takes, and how many an SM can hold.
struct SharingBlocks {
  BlockResources block;
  std::uint32_t maximum = 0;
  friend bool operator==(const SharingBlocks&, const SharingBlocks&) = default;
};

/// The greatest share that `blocks` such blocks take of anything an SM has, their slots included.
inline double dominant_share(const SmResources& sm, const BlockResources& block,
                             std::uint32_t blocks) {
  // Products first: equal shares of different resources must be equal.
  double share = static_cast<double>(blocks) / sm.blocks;
  const auto has = sm.all.all(), needs = block.all();
  for (unsigned i = 0; i < BlockResources::kKinds; ++i)
    share = std::max(share, static_cast<double>(std::uint64_t{needs[i]} * blocks) / has[i]);
  return share;
}

/// Do so many blocks of each fit an SM together?
inline bool fit_together(const SmResources& sm, const std::vector<SharingBlocks>& tenants,
                         const std::vector<std::uint32_t>& blocks) {
  std::array<std::uint64_t, BlockResources::kKinds> sum{};
  std::uint64_t slots = 0;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    const auto needs = tenants[t].block.all();
    for (unsigned i = 0; i < sum.size(); ++i) sum[i] += std::uint64_t{needs[i]} * blocks[t];
    slots += blocks[t];
  }
  const auto has = sm.all.all();
  for (unsigned i = 0; i < sum.size(); ++i)
    if (sum[i] > has[i]) return false;
  return slots <= sm.blocks;
}

/// Throws InputError when one block of each does not fit an SM.
inline void expect_one_of_each(const SmResources& sm, const std::vector<SharingBlocks>& tenants,
                               const std::string& scheme) {
  if (fit_together(sm, tenants, std::vector<std::uint32_t>(tenants.size(), 1))) return;
  static constexpr const char* kNames[] = {"threads", "warps", "registers",
                                           "bytes of shared memory"};
  std::string what =
      "block slots: " + std::to_string(tenants.size()) + " of " + std::to_string(sm.blocks);
  for (unsigned i = 0; i < BlockResources::kKinds; ++i) {
    std::uint64_t sum = 0;
    for (const SharingBlocks& tenant : tenants) sum += tenant.block.all()[i];
    if (sum <= sm.all.all()[i]) continue;
    what = std::string(kNames[i]) + ": " + std::to_string(sum) + " of " +
           std::to_string(sm.all.all()[i]);
    break;
  }
  throw InputError("policy.scheme.name = \"" + scheme +
                   "\" has blocks of all tenants on every SM, and one of each does not fit: they "
                   "take more " +
                   what);
}

/// Blocks of each. A tenant whose next block does not fit, or that cannot use more, is out.
inline std::vector<std::uint32_t> share_by_dominant(const SmResources& sm,
                                                    const std::vector<SharingBlocks>& tenants) {
  std::vector<std::uint32_t> blocks(tenants.size(), 0);
  std::vector<bool> out(tenants.size(), false);
  for (;;) {
    std::size_t minimum = tenants.size();
    double share = 0;
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      const double own = dominant_share(sm, tenants[t].block, blocks[t]);
      if (out[t] || (minimum != tenants.size() && own >= share)) continue;
      minimum = t;
      share = own;
    }
    if (minimum == tenants.size()) return blocks;
    ++blocks[minimum];
    if (blocks[minimum] <= tenants[minimum].maximum && fit_together(sm, tenants, blocks)) continue;
    --blocks[minimum];
    out[minimum] = true;
  }
}

}  // namespace raddle::policy

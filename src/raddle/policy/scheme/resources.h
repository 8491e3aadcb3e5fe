// What a thread block takes of an SM and what an SM has, as schemes see it. Free of simulator
// types.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace raddle::policy {

/// Amounts are those that the machine hands out, already rounded up.
struct BlockResources {
  std::uint32_t threads = 0, warps = 0, registers = 0, shared_bytes = 0;
  static constexpr unsigned kKinds = 4;
  std::array<std::uint32_t, kKinds> all() const {
    return {threads, warps, registers, shared_bytes};
  }
  friend bool operator==(const BlockResources&, const BlockResources&) = default;
};

inline BlockResources largest_of(const BlockResources& a, const BlockResources& b) {
  return {std::max(a.threads, b.threads), std::max(a.warps, b.warps),
          std::max(a.registers, b.registers), std::max(a.shared_bytes, b.shared_bytes)};
}

struct SmResources {
  BlockResources all{2048, 64, 65536, 96 * 1024};
  std::uint32_t blocks = 32;  ///< slots
  friend bool operator==(const SmResources&, const SmResources&) = default;
};

/// How many such blocks an empty SM holds.
inline std::uint32_t blocks_that_fit(const SmResources& sm, const BlockResources& block) {
  std::uint32_t fit = sm.blocks;
  const auto has = sm.all.all(), needs = block.all();
  for (unsigned i = 0; i < BlockResources::kKinds; ++i)
    if (needs[i] != 0) fit = std::min(fit, has[i] / needs[i]);
  return fit;
}

}  // namespace raddle::policy

// From the lanes' addresses to what the op stream keeps of an access (trace/stream.h).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/trace/stream.h"

namespace raddle::accelsim {

/// By lane; those of lanes outside the mask mean nothing.
using Addresses = std::array<std::uint64_t, kLanes>;

/// Lines a global access of `bytes` per lane touches, appended to `out` in order of their lowest
/// lane, at most kMaxPieces. Returns how many. Line numbers must fit 32 bits.
unsigned global_transactions(const Addresses& at, LaneMask mask, unsigned bytes,
                             std::vector<std::uint32_t>& out);
/// The same of local memory, where a line is one word of all lanes: line = offset / 4.
unsigned local_transactions(const Addresses& at, LaneMask mask, unsigned bytes,
                            std::vector<std::uint32_t>& out);
/// Passes over the 32 banks of 4 bytes; 0 for no lanes. Lanes that mean one word share it; 8 and 16
/// bytes go by halves and quarters of the warp.
unsigned bank_passes(const Addresses& at, LaneMask mask, unsigned bytes);
/// The same of atomics, which a bank does for one lane at a time.
unsigned atomic_passes(const Addresses& at, LaneMask mask, unsigned bytes);
/// Distinct addresses.
unsigned distinct(const Addresses& at, LaneMask mask);

/// Real addresses have more bits than the op stream (40): each region of 4 GiB gets a place of its
/// own, the one it has if that is free, so that what lies below stays as it was.
class Regions {
 public:
  /// Throws InputError (without a place) when there are more regions than places.
  std::uint64_t map(std::uint64_t address) {
    const std::uint64_t region = address >> 32;
    if (region != last_) find(region);
    return place_ << 32 | (address & 0xffff'ffff);
  }

 private:
  /// Local memory lies above (timing/sm/sm_issue.h).
  static constexpr std::uint64_t kPlaces = 0x38;
  void find(std::uint64_t region);
  std::vector<std::uint64_t> taken_;  // region by place
  std::uint64_t last_ = ~std::uint64_t{0}, place_ = 0;
};

}  // namespace raddle::accelsim

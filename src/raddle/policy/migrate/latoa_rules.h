// The rules of LATOA (Bitalebi, Geraeinejad, Safaei, Ebrahimi, "LATOA: Load-Aware Task Offloading
// and Adoption in GPU", GPGPU 2023) that need nothing but numbers; docs/mechanisms/latoa.md.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/policy/migrate/policy.h"

namespace raddle::policy {

/// How near an SM is to a stall: by the share of its L1D's MSHRs that are taken (section 4.1).
enum class CoreState : std::uint8_t { Relaxed, Neutral, Critical };
inline constexpr unsigned kCoreStates = static_cast<unsigned>(CoreState::Critical) + 1;

/// Bounds of the states in twelfths of all MSHRs: the paper's third is 4, its two thirds are 8.
struct StateBounds {
  static constexpr unsigned kParts = 12;
  unsigned relaxed = 4;   ///< up to so much, that included
  unsigned critical = 8;  ///< above so much
  constexpr CoreState of(unsigned taken, unsigned mshrs) const {
    if (kParts * taken <= relaxed * mshrs) return CoreState::Relaxed;
    return kParts * taken > critical * mshrs ? CoreState::Critical : CoreState::Neutral;
  }
};

/// Accesses that may wait for a line without its being a popular one (section 4.2.2: up to 25 % of
/// the slots of an MSHR, that included).
constexpr bool is_irregular(unsigned waiting, unsigned slots, unsigned percent) {
  return 100 * waiting <= percent * slots;
}

/// Orders in which neighbours are looked at, as places in Neighbours (east, north, west, south).
enum class NeighbourOrder : std::uint8_t { Enws, Nwse, Wsen, Senw, Swne };
inline constexpr std::array<std::string_view, 5> kNeighbourOrderNames = {"enws", "nwse", "wsen",
                                                                         "senw", "swne"};
inline constexpr std::array<std::array<std::uint8_t, 4>, 5> kNeighbourOrders = {
    {{0, 1, 2, 3}, {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}, {3, 2, 1, 0}}};

/// Where a critical SM sends its warps: to the first relaxed neighbour in a fixed order, and to the
/// same one again for as long as it is relaxed (section 4.4). Places are those of Neighbours.
class StickyNeighbour {
 public:
  static constexpr unsigned kInvalidId = 4;
  /// `relaxed`: by place. Returns the place, or kNobody when none is relaxed.
  unsigned choose(const std::array<bool, 4>& relaxed, NeighbourOrder order) const {
    if (last_ != kInvalidId && relaxed[last_]) return last_;
    for (const unsigned place : kNeighbourOrders[static_cast<unsigned>(order)])
      if (relaxed[place]) return place;
    return kInvalidId;
  }
  void sent_to(unsigned place) { last_ = place; }

 private:
  unsigned last_ = kInvalidId;
};

}  // namespace raddle::policy

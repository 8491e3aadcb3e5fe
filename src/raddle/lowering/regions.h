// Where the lanes of a warp may part and meet again, as an assembler for Volta and later treats it:
// a short branch becomes predicates; behind a longer one that lanes may take differently they meet
// at a barrier of the warp, BSYNC, which BSSY has prepared before the branch. A branch that all
// lanes take alike has neither. Measured with ptxas 13.0 for sm_75, sm_80 and sm_90
// (docs/lowering.md, "Branches").
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/lowering/plan.h"

namespace raddle::lowering {

/// Sides of a branch with at most so many instructions are predicated; not those with atomics,
/// barriers and calls.
inline constexpr unsigned kMaxPredicated = 8, kMaxPredicatedUniform = 6;

/// By instruction of the code without its aliases.
struct Regions {
  explicit Regions(std::uint32_t size)
      : predicated(size), prepares(size), meets(size), branch(size, kNone), meeting(size, kNone) {}
  std::vector<bool> predicated;  ///< a branch of which no instruction is left
  std::vector<bool> prepares;    ///< BSSY before it
  std::vector<bool> meets;       ///< BSYNC before it
  /// On a predicated side: the branch whose guard is its predicate; else kNone.
  std::vector<std::uint32_t> branch;
  /// Of such a branch: the first instruction behind its sides; else kNone.
  std::vector<std::uint32_t> meeting;
};

Regions find_regions(const Plan& plan, Generation generation);

}  // namespace raddle::lowering

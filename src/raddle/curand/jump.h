// Far steps of XORWOW and MRG32k3a: powers of the matrices by which their states go on, computed
// when they are first needed.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/curand/kernels/engines.h"

namespace raddle::curand {

/// 160 x 160 bits: a column of 5 words for each bit of the state.
struct BitMatrix {
  std::vector<unsigned> columns;
  void apply(unsigned (&state)[5]) const;
};
/// This many steps of the five words of XORWOW.
BitMatrix xorwow_steps(std::uint64_t steps);

/// Subsequences of XORWOW are 2^67 steps apart: jumps over 0 .. kXorwowColumns - 1 of them, one
/// after the other, and one over kXorwowColumns.
struct XorwowJumps {
  std::vector<unsigned> columns;
  BitMatrix row;
};
const XorwowJumps& xorwow_jumps();

/// Matrices of 3 x 3 of both components, by rows.
using MrgMatrix = std::array<unsigned, kMrgJumpWords>;
MrgMatrix mrg_steps(std::uint64_t steps);
void advance(Mrg32k3a& to, const MrgMatrix& matrix);

/// Subsequences of MRG32k3a are 2^76 steps apart.
struct MrgJumps {
  std::vector<unsigned> columns;
  MrgMatrix row;
};
const MrgJumps& mrg_jumps();

}  // namespace raddle::curand

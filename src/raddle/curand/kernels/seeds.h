// Starting states of subsequences, as one thread makes them.
#pragma once
#include "raddle/curand/kernels/engines.h"

namespace raddle::curand {

RADDLE_SHARED void clear_spare(unsigned* state, int words, unsigned count, unsigned s) {
  for (int w = 0; w < kSpareWords; ++w) state[static_cast<long long>(words + w) * count + s] = 0;
}

RADDLE_SHARED void jumped_xorwow(const SequenceSeed& d, unsigned s) {
  const unsigned* const base = d.base + (s / d.columns) * kXorwowWords;
  const unsigned from[5] = {base[0], base[1], base[2], base[3], base[4]};
  Xorwow g;
  multiply_bits(d.jump + s % d.columns * kXorwowJumpWords, from, g.v);
  g.weyl = base[5];
  if (s < d.extra) g.next();
  g.store(d.state, d.count, s);
  clear_spare(d.state, kXorwowWords, d.count, s);
}

/// A seed for each subsequence.
RADDLE_SHARED void seeded_xorwow(const SeededDraw& d, unsigned s) {
  Xorwow g;
  g.seed(d.seed + static_cast<unsigned long long>(s) * kSeedStep);
  if (d.jump != nullptr) {
    const unsigned from[5] = {g.v[0], g.v[1], g.v[2], g.v[3], g.v[4]};
    multiply_bits(d.jump, from, g.v);
    g.weyl += d.added;
  }
  if (s < d.extra) g.next();
  g.store(d.state, d.count, s);
  clear_spare(d.state, kXorwowWords, d.count, s);
}

/// The three words of one component, by a matrix of 3 x 3.
RADDLE_SHARED void multiply_mod(const unsigned* matrix, const unsigned* from, unsigned* to,
                                unsigned long long modulus) {
  for (int row = 0; row < 3; ++row) {
    unsigned long long sum = 0;
    for (int column = 0; column < 3; ++column)
      sum += static_cast<unsigned long long>(matrix[row * 3 + column]) * from[column] % modulus;
    to[row] = static_cast<unsigned>(sum % modulus);
  }
}

RADDLE_SHARED void jumped_mrg(const SequenceSeed& d, unsigned s) {
  const unsigned* const base = d.base + (s / d.columns) * kMrgWords;
  const unsigned* const jump = d.jump + s % d.columns * kMrgJumpWords;
  Mrg32k3a g;
  multiply_mod(jump, base, g.s, kMrgModulus1);
  multiply_mod(jump + 9, base + 3, g.s + 3, kMrgModulus2);
  if (s < d.extra) g.next();
  g.store(d.state, d.count, s);
  clear_spare(d.state, kMrgWords, d.count, s);
}

}  // namespace raddle::curand

// Points of Sobol's sequence in the order of Gray codes (Antonov and Saleev, An economic method of
// computing LP tau-sequences, 1979).
#pragma once
#include "raddle/curand/kernels/distributions.h"

namespace raddle::curand {

template <class Word>
inline constexpr int kBitsOf = sizeof(Word) * 8;

/// Coordinate `number` of a dimension. The sequence begins anew when all words were there.
template <class Word>
RADDLE_SHARED Word sobol_point(const Word* vectors, unsigned long long number) {
  Word x = 0;
  const Word counted = static_cast<Word>(number);
  const Word gray = counted ^ counted >> 1;
  for (int bit = 0; bit < kBitsOf<Word>; ++bit)
    if ((gray >> bit & 1) != 0) x ^= vectors[bit];
  return x;
}

/// From coordinate `number` to the one 2^log_stride later: two bits of the Gray code change.
template <class Word>
RADDLE_SHARED Word sobol_step(Word x, const Word* vectors, unsigned long long number,
                              int log_stride) {
  if (log_stride > 0) x ^= vectors[log_stride - 1];
  const unsigned long long next = (number >> log_stride) + 1;
  const int bit = next == 0 ? kBitsOf<Word> : log_stride + __builtin_ctzll(next);
  return x ^ vectors[bit < kBitsOf<Word> ? bit : kBitsOf<Word> - 1];
}

}  // namespace raddle::curand

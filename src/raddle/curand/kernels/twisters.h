// MTGP32 (Saito and Matsumoto, Variants of Mersenne Twister suitable for graphic processors, 2013)
// and MT19937 (Matsumoto and Nishimura, Mersenne Twister, 1998).
#pragma once
#include "raddle/curand/kernels/distributions.h"

namespace raddle::curand {

struct MtgpSet {
  unsigned pos, sh1, sh2;
  unsigned table[16], tempering[16];
};

/// Entry i of a table of 16 is the sum of its rows 1, 2, 4, 8 that i has.
RADDLE_SHARED unsigned spanned(const unsigned* rows, unsigned i) {
  return ((i & 1) != 0 ? rows[0] : 0) ^ ((i & 2) != 0 ? rows[1] : 0) ^
         ((i & 4) != 0 ? rows[2] : 0) ^ ((i & 8) != 0 ? rows[3] : 0);
}

/// Word i + 351 of the sequence whose words 0 to 350 precede, and its tempered value.
RADDLE_SHARED unsigned mtgp_word(const unsigned* a, int i, const MtgpSet& set) {
  unsigned x = (a[i] & kMtgpMask) ^ a[i + 1];
  x ^= x << set.sh1;
  const unsigned y = x ^ (a[i + set.pos] >> set.sh2);
  return y ^ set.table[y & 15];
}
RADDLE_SHARED unsigned mtgp_tempered(const unsigned* a, int i, unsigned word, const MtgpSet& set) {
  unsigned t = a[i + set.pos - 1];
  t ^= t >> 16;
  t ^= t >> 8;
  return word ^ set.tempering[t & 15];
}

/// State from a seed, as MTGP's authors do it.
RADDLE_SHARED void mtgp_seed(unsigned* a, unsigned row4, unsigned row8, unsigned seed) {
  const unsigned hidden = row4 ^ row8 << 16;
  unsigned fill = hidden + (hidden >> 16);
  fill += fill >> 8;
  unsigned last = a[0] = seed;
  for (int i = 1; i < kMtgpWords; ++i) {
    const unsigned before = i == 1 ? hidden : (fill & 0xff) * 0x01010101u;
    last = before ^ (1812433253u * (last ^ (last >> 30)) + static_cast<unsigned>(i));
    a[i] = last;
  }
}

/// The word that follows `first`, `second`, and the one 397 further, by 624.
RADDLE_SHARED unsigned twisted(unsigned first, unsigned second, unsigned further) {
  const unsigned y = (first & 0x80000000u) | (second & 0x7fffffffu);
  return further ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
}
RADDLE_SHARED unsigned twister_tempered(unsigned x) {
  x ^= x >> 11;
  x ^= (x << 7) & 0x9d2c5680u;
  x ^= (x << 15) & 0xefc60000u;
  return x ^ (x >> 18);
}

/// Which of 624 words is number `lane` of eight of a row of 78: row 0 has the words at which runs
/// of 56 begin; the other rows take every seventh word of a run.
RADDLE_SHARED int twister_word(int row, int lane) {
  constexpr int kRun = 56, kStride = 7;
  // Runs before which such a word stands: 0, 2, 3, 5, 6, 7, 9, 10.
  if (row == 0) {
    const int run = lane + (lane >= 1 ? 1 : 0) + (lane >= 3 ? 1 : 0) + (lane >= 6 ? 1 : 0);
    return run * kRun + lane;
  }
  const int run = (row - 1) / kStride;
  const int heads = run < 2    ? 1
                    : run < 3  ? 2
                    : run < 5  ? 3
                    : run < 6  ? 4
                    : run < 7  ? 5
                    : run < 9  ? 6
                    : run < 10 ? 7
                               : 8;
  return run * kRun + heads + (row - 1) % kStride + lane * kStride;
}

}  // namespace raddle::curand

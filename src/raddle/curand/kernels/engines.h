// Generators whose state fits into registers: XORWOW (Marsaglia, Xorshift RNGs, 2003), MRG32k3a
// (L'Ecuyer, Good parameters and implementations for combined multiple recursive random number
// generators, 1999), Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
// 2011).
#pragma once
#include "raddle/curand/kernels/arguments.h"
#include "raddle/curand/kernels/shared.h"

namespace raddle::curand {

struct Xorwow {
  static constexpr int kWords = kXorwowWords;
  unsigned v[5], weyl;

  RADDLE_MEMBER void load(const unsigned* state, unsigned count, unsigned s) {
    for (int w = 0; w < 5; ++w) v[w] = state[w * static_cast<long long>(count) + s];
    weyl = state[5LL * count + s];
  }
  RADDLE_MEMBER void store(unsigned* state, unsigned count, unsigned s) const {
    for (int w = 0; w < 5; ++w) state[w * static_cast<long long>(count) + s] = v[w];
    state[5LL * count + s] = weyl;
  }
  /// As cuRAND mixes a seed into Marsaglia's starting values.
  RADDLE_MEMBER void seed(unsigned long long value) {
    const unsigned low = 1099087573u * (static_cast<unsigned>(value) ^ 0xaad26b49u);
    const unsigned high = 2591861531u * (static_cast<unsigned>(value >> 32) ^ 0xf7dcefddu);
    v[0] = 123456789u + low;
    v[1] = 362436069u ^ low;
    v[2] = 521288629u + high;
    v[3] = 88675123u ^ high;
    v[4] = 5783321u + low;
    weyl = 6615241u + high + low;
  }
  static constexpr unsigned kWeylStep = 362437;
  RADDLE_MEMBER unsigned next() {
    const unsigned t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
    weyl += kWeylStep;
    return weyl + v[4];
  }
};

/// to = matrix * from over the field of two elements: a column of 5 words for each bit of `from`.
RADDLE_SHARED void multiply_bits(const unsigned* matrix, const unsigned (&from)[5],
                                 unsigned (&to)[5]) {
  for (unsigned& word : to) word = 0;
  for (int word = 0; word < 5; ++word)
    for (int bit = 0; bit < 32; ++bit) {
      const unsigned all = 0u - (from[word] >> bit & 1u);
      const unsigned* const column = matrix + (word * 32 + bit) * 5;
      for (int w = 0; w < 5; ++w) to[w] ^= all & column[w];
    }
}

inline constexpr unsigned long long kMrgModulus1 = 4294967087ULL, kMrgModulus2 = 4294944443ULL;

struct Mrg32k3a {
  static constexpr int kWords = kMrgWords;
  unsigned s[6];  ///< three of each component, the oldest first

  RADDLE_MEMBER void load(const unsigned* state, unsigned count, unsigned at) {
    for (int w = 0; w < 6; ++w) s[w] = state[w * static_cast<long long>(count) + at];
  }
  RADDLE_MEMBER void store(unsigned* state, unsigned count, unsigned at) const {
    for (int w = 0; w < 6; ++w) state[w * static_cast<long long>(count) + at] = s[w];
  }
  /// 1 to the first modulus.
  RADDLE_MEMBER unsigned long long next() {
    constexpr unsigned long long kA12 = 1403580, kA13 = 810728, kA21 = 527612, kA23 = 1370589;
    const unsigned long long p1 = (kA12 * s[1] + kA13 * (kMrgModulus1 - s[0])) % kMrgModulus1;
    const unsigned long long p2 = (kA21 * s[5] + kA23 * (kMrgModulus2 - s[3])) % kMrgModulus2;
    s[0] = s[1];
    s[1] = s[2];
    s[2] = static_cast<unsigned>(p1);
    s[3] = s[4];
    s[4] = s[5];
    s[5] = static_cast<unsigned>(p2);
    return p1 > p2 ? p1 - p2 : p1 + kMrgModulus1 - p2;
  }
};

struct Four {
  unsigned at[4];
};

RADDLE_SHARED Four philox(unsigned long long counter, unsigned long long subsequence,
                          unsigned long long key) {
  constexpr unsigned long long kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  unsigned c0 = static_cast<unsigned>(counter), c1 = static_cast<unsigned>(counter >> 32);
  unsigned c2 = static_cast<unsigned>(subsequence), c3 = static_cast<unsigned>(subsequence >> 32);
  unsigned k0 = static_cast<unsigned>(key), k1 = static_cast<unsigned>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p = kMultiplier0 * c0, q = kMultiplier1 * c2;
    c0 = static_cast<unsigned>(q >> 32) ^ c1 ^ k0;
    c2 = static_cast<unsigned>(p >> 32) ^ c3 ^ k1;
    c1 = static_cast<unsigned>(q);
    c3 = static_cast<unsigned>(p);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace raddle::curand

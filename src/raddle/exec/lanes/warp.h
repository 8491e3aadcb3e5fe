// Shuffles and selections: what crosses lanes or mixes predicates with registers.
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

/// d = a in the lanes of `take`, b in the others.
RADDLE_INLINE void blend(u32* d, const u32* a, const u32* b, u32 take) {
#if defined(__AVX512F__)
  for (int half = 0; half < 2; ++half)
    _mm512_storeu_si512(d + 16 * half,
                        _mm512_mask_blend_epi32(static_cast<__mmask16>(take >> (16 * half)),
                                                _mm512_loadu_si512(b + 16 * half),
                                                _mm512_loadu_si512(a + 16 * half)));
#else
  RADDLE_LANES d[i] = (take & kBit[i]) != 0 ? a[i] : b[i];
#endif
}

template <class T>
RADDLE_INLINE void select(const Record* ip, char* frame, u32 e) {
  T* d = lanes<T>(frame, ip->d);
  const T* a = lanes<T>(frame, ip->a);
  const T* b = lanes<T>(frame, ip->b);
  const u32 p = predicate(frame, ip->c);
  if constexpr (sizeof(T) == 4) {
    alignas(64) u32 chosen[32];
    if (e == kFull) return blend(d, a, b, p);
    blend(chosen, a, b, p);
    return blend(d, chosen, d, e);
  }
  if (RADDLE_LIKELY(e == kFull)) {
    RADDLE_LANES d[i] = (p & kBit[i]) != 0 ? a[i] : b[i];
  } else {
    RADDLE_LANES {
      const T v = (p & kBit[i]) != 0 ? a[i] : b[i];
      d[i] = (e & kBit[i]) != 0 ? v : d[i];
    }
  }
}

RADDLE_INLINE void predicate_logic(const Record* ip, char* frame, u32 e) {
  const u32 a = predicate(frame, ip->a), b = predicate(frame, ip->b);
  const u32 t = static_cast<u32>(ip->imm);
  const u32 r = ((t & 1) != 0 ? ~a & ~b : 0) | ((t & 2) != 0 ? ~a & b : 0) |
                ((t & 4) != 0 ? a & ~b : 0) | ((t & 8) != 0 ? a & b : 0);
  u32& d = predicate(frame, ip->d);
  d = (d & ~e) | (r & e);
}

/// shfl: a value, b lane operand, c clamp and segment operand; aux: predicate result (0: none);
/// imm: mode (0 up, 1 down, 2 bfly, 3 idx). A lane whose source is out of its segment keeps its own
/// value. A source that does not take part gives 0, which is what GPUs were seen to give; PTX
/// leaves it open, and reductions over a part of a warp rely on it.
RADDLE_INLINE void shuffle(const Record* ip, char* frame, u32 mask) {
  const u32* operand = lanes<u32>(frame, ip->b);
  const u32* clamp = lanes<u32>(frame, ip->c);
  const u32* source = lanes<u32>(frame, ip->a);
  u32* result = lanes<u32>(frame, ip->d);
  alignas(64) u32 from[32], value[32];
  u32 inside = 0;
  const u32 mode = static_cast<u32>(ip->imm);
  RADDLE_LANES {
    const u32 lane = kIota[i], segment = clamp[i] >> 8 & 31, by = operand[i] & 31;
    const u32 maximum = (lane & segment) | (clamp[i] & 31 & ~segment), minimum = lane & segment;
    const u32 up = lane - by, down = lane + by, fly = lane ^ by, index = minimum | (by & ~segment);
    const u32 j = mode == 0 ? up : mode == 1 ? down : mode == 2 ? fly : index;
    const bool in = mode == 0 ? s32(j) >= s32(maximum) : j <= maximum;
    from[i] = in ? j : lane;
    inside |= in ? kBit[i] : 0;
  }
#if defined(__AVX512F__)
  const __m512i low = _mm512_loadu_si512(source);
  const __m512i high = _mm512_loadu_si512(source + 16);
  _mm512_store_si512(value, _mm512_permutex2var_epi32(low, _mm512_load_si512(from), high));
  _mm512_store_si512(value + 16,
                     _mm512_permutex2var_epi32(low, _mm512_load_si512(from + 16), high));
#else
  for (int i = 0; i < kWidth; ++i) value[i] = source[from[i] & 31];
#endif
  if (!RADDLE_LIKELY(mask == kFull)) {
    RADDLE_LANES value[i] = (mask >> (from[i] & 31) & 1) != 0 ? value[i] : 0;
  }
  blend(result, value, result, mask);
  if (ip->aux != 0) {
    u32& in_range = predicate(frame, ip->aux);
    in_range = (in_range & ~mask) | (inside & mask);
  }
}

}  // namespace raddle::exec::RADDLE_ISA

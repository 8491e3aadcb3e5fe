// What loads and stores of 32 lanes have in common: addresses, windows, elements.
#pragma once
#include "raddle/exec/lanes/stream.h"

namespace raddle::exec::RADDLE_ISA {

constexpr u64 kDeviceBase = 0x10'0000'0000ull;
constexpr u32 kDeviceLine = static_cast<u32>(kDeviceBase >> 7);

/// All 4-byte words of `words` lie within the first `valid` bytes of the line.
RADDLE_INLINE bool words_valid(u32 words, u32 valid) {
  return valid == 128 || (words >> (valid >> 2 & 31)) == 0;
}
RADDLE_INLINE u32 or_lanes(const u32* x) {
  u32 r = 0;
  RADDLE_LANES r |= x[i];
  return r;
}

/// reg = the T at each distance from `window`; distances below 128 * Lines. Inactive lanes keep
/// their value.
template <class T, int Lines>
RADDLE_INLINE void window_load(const char* window, const u32* distance, T* reg, u32 e) {
#if defined(__AVX512F__)
  __m512i w[2 * Lines];
  for (int k = 0; k < 2 * Lines; ++k) w[k] = _mm512_loadu_si512(window + 64 * k);
  if constexpr (sizeof(T) == 4) {
    for (int half = 0; half < 2; ++half) {
      const __m512i d = _mm512_loadu_si512(distance + 16 * half);
      const __m512i at = _mm512_srli_epi32(d, 2);
      __m512i v = _mm512_permutex2var_epi32(w[0], at, w[1]);
      if constexpr (Lines == 2) {
        const __m512i far = _mm512_permutex2var_epi32(w[2], at, w[3]);
        v = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(d, _mm512_set1_epi32(128)), v, far);
      }
      T* to = reg + 16 * half;
      const auto m = static_cast<__mmask16>(e >> (16 * half));
      if (e != kFull) v = _mm512_mask_blend_epi32(m, _mm512_loadu_si512(to), v);
      _mm512_storeu_si512(to, v);
    }
    return;
  } else if constexpr (sizeof(T) == 8) {
    for (int q = 0; q < 4; ++q) {
      const __m512i d = _mm512_cvtepu32_epi64(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(distance + 8 * q)));
      const __m512i at = _mm512_srli_epi64(d, 3);
      __m512i v = _mm512_permutex2var_epi64(w[0], at, w[1]);
      if constexpr (Lines == 2) {
        const __m512i far = _mm512_permutex2var_epi64(w[2], at, w[3]);
        v = _mm512_mask_blend_epi64(_mm512_test_epi64_mask(d, _mm512_set1_epi64(128)), v, far);
      }
      T* to = reg + 8 * q;
      const auto m = static_cast<__mmask8>(e >> (8 * q));
      if (e != kFull) v = _mm512_mask_blend_epi64(m, _mm512_loadu_si512(to), v);
      _mm512_storeu_si512(to, v);
    }
    return;
  }
#endif
  for (u32 k = e; k != 0; k &= k - 1) {
    const unsigned lane = lowest_lane(k);
    __builtin_memcpy(reg + lane, window + distance[lane], sizeof(T));
  }
}
template <class T>
RADDLE_INLINE void window_store(char* window, const u32* distance, const T* reg, u32 e) {
  if (e == kFull) {
    const u32 first = distance[0];
    u32 run = 0;
    RADDLE_LANES run |= (distance[i] - first) ^ (kIota[i] * static_cast<u32>(sizeof(T)));
    if (run == 0) {
      __builtin_memcpy(window + first, reg, 32 * sizeof(T));
      return;
    }
  }
  for (u32 k = e; k != 0; k &= k - 1) {
    const unsigned lane = lowest_lane(k);
    __builtin_memcpy(window + distance[lane], reg + lane, sizeof(T));
  }
}

/// One element of every lane of `e`: M in memory, R in the register (integers of their sizes; M's
/// sign extends).
template <class M, class R, bool Store, class Place>
RADDLE_INLINE void copy_typed(R* reg, u32 e, Place place) {
  for (; e != 0; e &= e - 1) {
    const unsigned lane = lowest_lane(e);
    M v;
    if constexpr (Store) {
      v = static_cast<M>(reg[lane]);
      __builtin_memcpy(place(lane), &v, sizeof(M));
    } else {
      __builtin_memcpy(&v, place(lane), sizeof(M));
      reg[lane] = static_cast<R>(v);
    }
  }
}
template <class M, bool Store, class Place>
RADDLE_INLINE void copy_register(char* frame, u32 reg, u16 flags, u32 e, Place place) {
  const u32 width = flags >> kRegisterShift & 3;
  if constexpr (sizeof(M) <= 2)
    if (width == 1) return copy_typed<M, u16, Store>(lanes<u16>(frame, reg), e, place);
  if constexpr (sizeof(M) <= 4)
    if (width == 2) return copy_typed<M, u32, Store>(lanes<u32>(frame, reg), e, place);
  copy_typed<M, u64, Store>(lanes<u64>(frame, reg), e, place);
}
/// place(lane): where the lane's element lies in memory.
template <bool Store, class Place>
RADDLE_INLINE void copy_elements(char* frame, u32 reg, u16 flags, u32 e, Place place) {
  switch (flags & (kElementMask | kSigned)) {
    case 0:
      return copy_register<u8, Store>(frame, reg, flags, e, place);
    case 1:
      return copy_register<u16, Store>(frame, reg, flags, e, place);
    case 2:
      return copy_register<u32, Store>(frame, reg, flags, e, place);
    case kSigned:
      return copy_register<signed char, Store>(frame, reg, flags, e, place);
    case kSigned | 1:
      return copy_register<s16, Store>(frame, reg, flags, e, place);
    case kSigned | 2:
      return copy_register<s32, Store>(frame, reg, flags, e, place);
    default:
      return copy_register<u64, Store>(frame, reg, flags, e, place);
  }
}
RADDLE_INLINE u32 elements_of(const Record* ip) { return (ip->flags >> kVectorShift & 3u) + 1; }
RADDLE_INLINE u32 bytes_of(const Record* ip) {
  return elements_of(ip) << (ip->flags & kElementMask);
}
RADDLE_INLINE u32 data_of(const Record* ip, u32 j) {
  return j == 0 ? ip->d : j == 1 ? ip->b : j == 2 ? ip->c : ip->aux;
}

/// Each lane's address plus the record's offset, minus `origin`; idle lanes repeat the first active
/// one.
RADDLE_INLINE void addresses_of(const Record* ip, char* frame, u32 e, u64 origin, u64* at) {
  const unsigned first = lowest_lane(e);
  const u64 bias = u64(s64(ip->imm)) - origin;
  if ((ip->flags & kNarrowAddress) != 0) {
    const u32* a = lanes<u32>(frame, ip->a);
    const u32 idle = a[first];
    RADDLE_LANES at[i] = u64((e & kBit[i]) != 0 ? a[i] : idle) + bias;
  } else {
    const u64* a = lanes<u64>(frame, ip->a);
    const u64 idle = a[first];
    RADDLE_LANES at[i] = ((e & kBit[i]) != 0 ? a[i] : idle) + bias;
  }
}

RADDLE_INLINE void pause_if_live(Context* c) {
  if (c->live != 0) c->out_limit = c->out;
}
RADDLE_INLINE u32 touched_words(u32 bytes) { return bytes >= 16 ? 15u : bytes == 8 ? 3u : 1u; }

}  // namespace raddle::exec::RADDLE_ISA

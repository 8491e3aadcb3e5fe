// What loads and stores of 32 lanes have in common: addresses, windows, elements.
#pragma once
#include "raddle/exec/lanes/stream.h"

namespace raddle::exec {
/// As memory_fault, but returns when the access is to be made all the same: it strays from its
/// allocation in global memory, and the machine lets that pass (OutOfBounds).
void stray_or_fault(Context* c, const Record* ip, char* frame, std::uint32_t mask);
}  // namespace raddle::exec

namespace raddle::exec::RADDLE_ISA {

constexpr u64 kDeviceBase = 0x10'0000'0000ull;
constexpr u32 kDeviceLine = static_cast<u32>(kDeviceBase >> 7);

/// All 4-byte words of `words` lie within the first `valid` bytes of the line.
RADDLE_INLINE bool words_valid(u32 words, u32 valid) {
  return valid == 128 || (words >> (valid >> 2 & 31)) == 0;
}

/// reg = the T at each distance from `window`; distances below 128 * Lines. Inactive lanes keep
/// their value.
template <class T, int Lines>
RADDLE_INLINE void window_load(const char* window, const u32* distance, T* reg, u32 mask) {
#if defined(__AVX512F__)
  __m512i parts[2 * Lines];
  for (int k = 0; k < 2 * Lines; ++k) parts[k] = _mm512_loadu_si512(window + 64 * k);
  if constexpr (sizeof(T) == 4) {
    for (int half = 0; half < 2; ++half) {
      const __m512i distances = _mm512_loadu_si512(distance + 16 * half);
      const __m512i at = _mm512_srli_epi32(distances, 2);
      __m512i values = _mm512_permutex2var_epi32(parts[0], at, parts[1]);
      if constexpr (Lines == 2) {
        const __m512i far = _mm512_permutex2var_epi32(parts[2], at, parts[3]);
        values = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(distances, _mm512_set1_epi32(128)),
                                         values, far);
      }
      T* to = reg + 16 * half;
      const auto selected = static_cast<__mmask16>(mask >> (16 * half));
      if (mask != kFull) values = _mm512_mask_blend_epi32(selected, _mm512_loadu_si512(to), values);
      _mm512_storeu_si512(to, values);
    }
    return;
  } else if constexpr (sizeof(T) == 8) {
    for (int quarter = 0; quarter < 4; ++quarter) {
      const __m512i distances = _mm512_cvtepu32_epi64(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(distance + 8 * quarter)));
      const __m512i at = _mm512_srli_epi64(distances, 3);
      __m512i values = _mm512_permutex2var_epi64(parts[0], at, parts[1]);
      if constexpr (Lines == 2) {
        const __m512i far = _mm512_permutex2var_epi64(parts[2], at, parts[3]);
        values = _mm512_mask_blend_epi64(_mm512_test_epi64_mask(distances, _mm512_set1_epi64(128)),
                                         values, far);
      }
      T* to = reg + 8 * quarter;
      const auto selected = static_cast<__mmask8>(mask >> (8 * quarter));
      if (mask != kFull) values = _mm512_mask_blend_epi64(selected, _mm512_loadu_si512(to), values);
      _mm512_storeu_si512(to, values);
    }
    return;
  }
#endif
  for (u32 k = mask; k != 0; k &= k - 1) {
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

#if defined(__AVX512F__)
/// The vector of T at 64 / sizeof(T) addresses, put together in registers: 16 words written one by
/// one would be waited for by the vector read that follows.
template <class T>
RADDLE_INLINE __m512i gather_vector(const char* base, const u64* at) {
  const auto word = [&](int i) {
    T v;
    __builtin_memcpy(&v, base + at[i], sizeof(T));
    return v;
  };
  if constexpr (sizeof(T) == 8)
    return _mm512_setr_epi64(s64(word(0)), s64(word(1)), s64(word(2)), s64(word(3)), s64(word(4)),
                             s64(word(5)), s64(word(6)), s64(word(7)));
  else
    return _mm512_setr_epi32(s32(word(0)), s32(word(1)), s32(word(2)), s32(word(3)), s32(word(4)),
                             s32(word(5)), s32(word(6)), s32(word(7)), s32(word(8)), s32(word(9)),
                             s32(word(10)), s32(word(11)), s32(word(12)), s32(word(13)),
                             s32(word(14)), s32(word(15)));
}
#endif
/// reg = the T (a 4- or 8-byte integer) at each address. Idle lanes, whose addresses can be read as
/// well, keep their value.
template <class T>
RADDLE_INLINE void gather(const char* base, const u64* at, T* reg, u32 e) {
#if defined(__AVX512F__)
  constexpr int kPer = 64 / sizeof(T);
  for (int k = 0; k < kWidth; k += kPer) {
    const __m512i v = gather_vector<T>(base, at + k);
    const u32 m = e >> k;
    const __m512i old = _mm512_loadu_si512(reg + k);
    if constexpr (sizeof(T) == 8)
      _mm512_storeu_si512(reg + k, _mm512_mask_blend_epi64(static_cast<__mmask8>(m), old, v));
    else _mm512_storeu_si512(reg + k, _mm512_mask_blend_epi32(static_cast<__mmask16>(m), old, v));
  }
#else
  if (e == kFull) {
    RADDLE_UNROLL for (int i = 0; i < kWidth; ++i)
        __builtin_memcpy(reg + i, base + at[i], sizeof(T));
    return;
  }
  for (; e != 0; e &= e - 1)
    __builtin_memcpy(reg + lowest_lane(e), base + at[lowest_lane(e)], sizeof(T));
#endif
}

/// Moves one element of every lane of `e` to or from place(lane), where it lies in memory.
template <class Place>
struct Scattered {
  u32 e;
  Place place;
  /// M in memory, R in the register (integers of their sizes; M's sign extends).
  template <class M, class R, bool Store>
  RADDLE_INLINE void move(R* reg) const {
    for (u32 k = e; k != 0; k &= k - 1) {
      const unsigned lane = lowest_lane(k);
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
};
template <class Place>
Scattered(u32, Place) -> Scattered<Place>;
/// Moves the elements of all lanes, which lie one behind the other.
struct Contiguous {
  char* from;
  template <class M, class R, bool Store>
  RADDLE_INLINE void move(R* reg) const {
    alignas(64) M v[kWidth];
    if constexpr (Store) {
      RADDLE_LANES v[i] = static_cast<M>(reg[i]);
      __builtin_memcpy(from, v, sizeof v);
    } else {
      __builtin_memcpy(v, from, sizeof v);
      RADDLE_LANES reg[i] = static_cast<R>(v[i]);
    }
  }
};
template <class M, bool Store, class Mover>
RADDLE_INLINE void copy_register(char* frame, u32 reg, u16 flags, const Mover& mover) {
  const u32 width = flags >> kRegisterShift & 3;
  if constexpr (sizeof(M) <= 2)
    if (width == 1) return mover.template move<M, u16, Store>(lanes<u16>(frame, reg));
  if constexpr (sizeof(M) <= 4)
    if (width == 2) return mover.template move<M, u32, Store>(lanes<u32>(frame, reg));
  mover.template move<M, u64, Store>(lanes<u64>(frame, reg));
}
template <bool Store, class Mover>
RADDLE_INLINE void copy_elements(char* frame, u32 reg, u16 flags, const Mover& mover) {
  switch (flags & (kElementMask | kSigned)) {
    case 0:
      return copy_register<u8, Store>(frame, reg, flags, mover);
    case 1:
      return copy_register<u16, Store>(frame, reg, flags, mover);
    case 2:
      return copy_register<u32, Store>(frame, reg, flags, mover);
    case kSigned:
      return copy_register<signed char, Store>(frame, reg, flags, mover);
    case kSigned | 1:
      return copy_register<s16, Store>(frame, reg, flags, mover);
    case kSigned | 2:
      return copy_register<s32, Store>(frame, reg, flags, mover);
    default:
      return copy_register<u64, Store>(frame, reg, flags, mover);
  }
}
/// A 4-byte element goes to or from a 4-byte register.
RADDLE_INLINE bool plain_words(u16 flags) {
  return (flags & (kElementMask | 3u << kRegisterShift)) == (2u | 2u << kRegisterShift);
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

/// 32-bit addresses of a block's or a thread's own memory wrap around; those of windows are wider.
RADDLE_INLINE void wrap_narrow(const Record* ip, u64 origin, u64* at) {
  if (origin != 0 || (ip->flags & kNarrowAddress) == 0) return;
  RADDLE_LANES at[i] = u32(at[i]);
}
RADDLE_INLINE void pause_if_live(Context* c) {
  if (c->live != 0) c->out_limit = c->out;
}
RADDLE_INLINE u32 touched_words(u32 bytes) { return bytes >= 16 ? 15u : bytes == 8 ? 3u : 1u; }

}  // namespace raddle::exec::RADDLE_ISA

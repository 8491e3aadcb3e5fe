// Loads and stores of 32 lanes. Global memory first: one pass of vector code finds each lane's distance from the first
// lane's line; nearly always all lie within two lines, and those two are the pieces of the op stream, the
// bounds check (valid bytes per line) and the window the data is permuted from. Anything else goes lane by lane.
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

/// reg = the T at each distance from `window`; distances below 128 * Lines. Inactive lanes keep their value.
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

/// One element of every lane of `e`: M in memory, R in the register (integers of their sizes; M's sign extends).
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
    case 0: return copy_register<u8, Store>(frame, reg, flags, e, place);
    case 1: return copy_register<u16, Store>(frame, reg, flags, e, place);
    case 2: return copy_register<u32, Store>(frame, reg, flags, e, place);
    case kSigned: return copy_register<signed char, Store>(frame, reg, flags, e, place);
    case kSigned | 1: return copy_register<s16, Store>(frame, reg, flags, e, place);
    case kSigned | 2: return copy_register<s32, Store>(frame, reg, flags, e, place);
    default: return copy_register<u64, Store>(frame, reg, flags, e, place);
  }
}
RADDLE_INLINE u32 elements_of(const Record* ip) { return (ip->flags >> kVectorShift & 3u) + 1; }
RADDLE_INLINE u32 bytes_of(const Record* ip) {
  return elements_of(ip) << (ip->flags & kElementMask);
}
RADDLE_INLINE u32 data_of(const Record* ip, u32 j) {
  return j == 0 ? ip->d : j == 1 ? ip->b : j == 2 ? ip->c : ip->aux;
}

/// Each lane's address plus the record's offset, minus `origin`; idle lanes repeat the first active one.
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
RADDLE_INLINE u32 touched_words(u32 bytes) {
  return bytes >= 16 ? 15u : bytes == 8 ? 3u : 1u;
}

// --- global --------------------------------------------------------------------------------------
/// Any pattern, any element. `origin` is what to take off the register's address.
template <bool Store>
RADDLE_INLINE void global_any(Context* c, const Record* ip, char* frame, u32 e, u32 inst) {
  alignas(64) u64 at[32];
  alignas(64) u32 line[32], words[32];
  addresses_of(ip, frame, e, kDeviceBase, at);
  const u32 bytes = bytes_of(ip), unit = touched_words(bytes);
  u64 all = 0;
  u32 low = 0;
  RADDLE_LANES {
    all |= at[i];
    low |= u32(at[i]);
    line[i] = u32(at[i] >> 7);
    words[i] = unit << (u32(at[i]) >> 2 & 31);
  }
  if ((low & (bytes - 1)) != 0 || all >> 39 != 0) memory_fault(c, ip, frame, e);
  Pieces pieces{c->out + 2, 0};
  collect_pieces(&pieces, line, words, e);
  const u32 lines = u32(c->extent >> 7);
  for (u32 k = 0; k < pieces.n; ++k) {
    u32* t = pieces.at + 3 * k;
    if (t[0] >= lines) memory_fault(c, ip, frame, e);
    const u32 valid = c->valid[t[0]];
    if (!words_valid(t[1], valid))  // a last word may be partly there
      for (u32 m = t[2]; m != 0; m &= m - 1)
        if ((at[lowest_lane(m)] & 127) + bytes > valid) memory_fault(c, ip, frame, e);
    t[0] += kDeviceLine;
  }
  single(c, inst, pieces.n, e);
  c->out += 3 * pieces.n;
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  for (u32 j = 0; j < n; ++j)
    copy_elements<Store>(frame, data_of(ip, j), ip->flags, e,
                         [&](unsigned lane) { return c->global + at[lane] + j * size; });
  if (Store || (ip->flags & kVisible) != 0) pause_if_live(c);
}

/// Distances in more than two lines: pieces, check, 32 scalar accesses.
template <class T, bool Store>
RADDLE_INLINE void global_scattered(Context* c, const Record* ip, char* frame, u32 e) {
  alignas(64) u64 at[32];
  alignas(64) u32 line[32], words[32];
  addresses_of(ip, frame, e, kDeviceBase, at);
  u64 all = 0;
  RADDLE_LANES {
    all |= at[i];
    line[i] = u32(at[i] >> 7);
    words[i] = (sizeof(T) == 8 ? 3u : 1u) << (u32(at[i]) >> 2 & 31);
  }
  if (all >> 39 != 0) memory_fault(c, ip, frame, e);
  Pieces pieces{c->out + 2, 0};
  collect_pieces(&pieces, line, words, e);
  const u32 lines = u32(c->extent >> 7);
  for (u32 k = 0; k < pieces.n; ++k) {
    u32* t = pieces.at + 3 * k;
    if (t[0] >= lines || !words_valid(t[1], c->valid[t[0]])) memory_fault(c, ip, frame, e);
    t[0] += kDeviceLine;
  }
  single(c, ip->inst, pieces.n, e);
  c->out += 3 * pieces.n;
  T* reg = lanes<T>(frame, ip->d);
  if (e == kFull) {
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 32
#endif
    for (int i = 0; i < kWidth; ++i) {
      if (Store) __builtin_memcpy(c->global + at[i], reg + i, sizeof(T));
      else __builtin_memcpy(reg + i, c->global + at[i], sizeof(T));
    }
    return;
  }
  for (u32 m = e; m != 0; m &= m - 1) {
    const unsigned lane = lowest_lane(m);
    if (Store) __builtin_memcpy(c->global + at[lane], reg + lane, sizeof(T));
    else __builtin_memcpy(reg + lane, c->global + at[lane], sizeof(T));
  }
}

/// 0: addresses run on from the first by sizeof(T); 1: they are all the same; 2: neither.
template <class T>
RADDLE_INLINE int address_pattern(const u64* a) {
#if defined(__AVX512F__)
  const __m512i first = _mm512_set1_epi64(s64(a[0]));
  const __m512i step = _mm512_setr_epi64(0, 1 * sizeof(T), 2 * sizeof(T), 3 * sizeof(T), 4 * sizeof(T),
                                         5 * sizeof(T), 6 * sizeof(T), 7 * sizeof(T));
  __m512i run = _mm512_setzero_si512(), same = run;
  for (int k = 0; k < 4; ++k) {
    const __m512i d = _mm512_sub_epi64(_mm512_loadu_si512(a + 8 * k), first);
    same = _mm512_or_si512(same, d);
    const __m512i expected = _mm512_add_epi64(step, _mm512_set1_epi64(8 * k * s64(sizeof(T))));
    run = _mm512_ternarylogic_epi64(run, d, expected, 0xf6);  // run | (d ^ expected)
  }
  if (_mm512_test_epi64_mask(run, run) == 0) return 0;
  return _mm512_test_epi64_mask(same, same) == 0 ? 1 : 2;
#else
  u64 run = 0, same = 0;
  RADDLE_LANES {
    const u64 d = a[i] - a[0];
    same |= d;
    run |= d ^ (kIota[i] * sizeof(T));
  }
  return run == 0 ? 0 : same == 0 ? 1 : 2;
#endif
}
/// The whole warp at consecutive addresses: pieces by arithmetic, data by copying. False: a slow path must look at it.
template <class T, bool Store>
RADDLE_INLINE bool global_run(Context* c, const Record* ip, u64 first, T* reg) {
  const u32 at = u32(first) & 127, word = at / 4, lane = at / sizeof(T);
  const u64 line = first >> 7;
  constexpr u32 kLines = 32 * sizeof(T) / 128;
  if (at % sizeof(T) != 0 || (line + kLines) * 128 >= c->extent) return false;
  const u8* valid = c->valid + line;
  const u32 tail = word == 0 ? 0 : (1u << word) - 1;
  for (u32 k = 0; k < kLines; ++k)
    if (valid[k] != 128) return false;
  if (tail != 0 && !words_valid(tail, valid[kLines])) return false;
  Pieces pieces{c->out + 2, 0};
  const u32 number = u32(line) + kDeviceLine;
  constexpr u32 kPerLine = 128 / sizeof(T);
  if constexpr (kPerLine == 32) {
    add_piece(&pieces, number, ~0u << word, kFull >> lane);
    if (tail != 0) add_piece(&pieces, number + 1, tail, ~(kFull >> lane));
  } else {
    add_piece(&pieces, number, ~0u << word, 0xffffu >> lane);
    add_piece(&pieces, number + 1, ~0u, 0xffffu << (kPerLine - lane));
    if (tail != 0) add_piece(&pieces, number + 2, tail, ~(kFull >> lane));
  }
  single(c, ip->inst, pieces.n, kFull);
  c->out += 3 * pieces.n;
  if (Store) __builtin_memcpy(c->global + first, reg, 32 * sizeof(T));
  else __builtin_memcpy(reg, c->global + first, 32 * sizeof(T));
  return true;
}

template <class T, bool Store>
RADDLE_INLINE void global_access(Context* c, const Record* ip, char* frame, u32 e) {
  const u64* a = lanes<u64>(frame, ip->a);
  T* reg = lanes<T>(frame, ip->d);
  const u64 bias = u64(s64(ip->imm)) - kDeviceBase;
  const u64 first = a[lowest_lane(e)] + bias, line = first & ~u64(127);
  const int pattern = RADDLE_LIKELY(e == kFull) ? address_pattern<T>(a) : 2;
  if (pattern == 0 && global_run<T, Store>(c, ip, first, reg)) {
    if (Store || (ip->flags & kVisible) != 0) pause_if_live(c);
    return;
  }
  if (!Store && pattern == 1 && first < c->extent && c->valid[first >> 7] == 128 &&
      (first & (sizeof(T) - 1)) == 0) {
    T v;
    __builtin_memcpy(&v, c->global + first, sizeof(T));
    Pieces pieces{c->out + 2, 0};
    add_piece(&pieces, u32(first >> 7) + kDeviceLine,
              (sizeof(T) == 8 ? 3u : 1u) << (u32(first) >> 2 & 31), kFull);
    single(c, ip->inst, 1, kFull);
    c->out += 3;
    RADDLE_LANES reg[i] = v;
    if ((ip->flags & kVisible) != 0) pause_if_live(c);
    return;
  }
  alignas(64) u32 distance[32];
  u64 all = 0;
  if (RADDLE_LIKELY(e == kFull)) {
    RADDLE_LANES {
      const u64 x = a[i] + bias - line;
      all |= x;
      distance[i] = u32(x);
    }
  } else {
    RADDLE_LANES {
      const u64 x = ((e & kBit[i]) != 0 ? a[i] + bias : first) - line;
      all |= x;
      distance[i] = u32(x);
    }
  }
  if ((all & (sizeof(T) - 1)) != 0) memory_fault(c, ip, frame, e);
  if (all >= 256) {
    global_scattered<T, Store>(c, ip, frame, e);
    if (Store || (ip->flags & kVisible) != 0) pause_if_live(c);
    return;
  }
  u32 near = 0, far = 0, beyond = 0;
  constexpr u32 kUnit = sizeof(T) == 8 ? 3 : 1;
  if (all < 128) {
    RADDLE_LANES near |= kUnit << (distance[i] >> 2);
  } else {
    RADDLE_LANES {
      const u32 word = kUnit << (distance[i] >> 2 & 31);
      const bool second = distance[i] >= 128;
      near |= second ? 0 : word;
      far |= second ? word : 0;
      beyond |= second ? kBit[i] : 0;
    }
    beyond &= e;
  }
  if (line >= c->extent || !words_valid(near, c->valid[line >> 7]) ||
      !words_valid(far, c->valid[(line >> 7) + 1]))
    memory_fault(c, ip, frame, e);
  Pieces pieces{c->out + 2, 0};
  add_piece(&pieces, u32(line >> 7) + kDeviceLine, near, e & ~beyond);
  if (far != 0) add_piece(&pieces, u32(line >> 7) + kDeviceLine + 1, far, beyond);
  single(c, ip->inst, pieces.n, e);
  c->out += 3 * pieces.n;
  char* window = c->global + line;
  if (Store) {
    window_store<T>(window, distance, reg, e);
    pause_if_live(c);
    return;
  }
  if (all < 128) window_load<T, 1>(window, distance, reg, e);
  else window_load<T, 2>(window, distance, reg, e);
  if ((ip->flags & kVisible) != 0) pause_if_live(c);
}

// --- shared --------------------------------------------------------------------------------------
/// Bank passes: 32 banks of 4 bytes; the same word is broadcast; 8 and 16 bytes go by halves and quarters of the warp.
RADDLE_INLINE u32 bank_passes(const u32* at, u32 e, u32 bytes) {
  alignas(64) u32 unit[32];
  const u32 shift = bytes >= 16 ? 4 : bytes == 8 ? 3 : 2;
  RADDLE_LANES unit[i] = at[i] >> shift;
  if (shift == 2) return passes(unit, e, 32);
  const u32 group = 128u >> shift;  // lanes served together
  u32 total = 0;
  for (u32 from = 0; from < 32; from += group) {
    const u32 part = e & ((1u << group) - 1) << from;
    if (part != 0) total += passes(unit, part, group);
  }
  return total;
}
/// Each lane's offset into shared memory, checked.
RADDLE_INLINE void shared_addresses(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                                    u32* at) {
  alignas(64) u64 wide[32];
  addresses_of(ip, frame, e, origin, wide);
  u64 all = 0;
  u32 most = 0;
  RADDLE_LANES {
    all |= wide[i];
    at[i] = u32(wide[i]);
    most = at[i] > most ? at[i] : most;
  }
  const u32 bytes = bytes_of(ip);
  if ((all & (bytes - 1)) != 0 || all >> 32 != 0 || u64(most) + bytes > c->shared_bytes)
    memory_fault(c, ip, frame, e);
}
template <bool Store>
RADDLE_INLINE void shared_any(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                              u32 inst) {
  alignas(64) u32 at[32];
  shared_addresses(c, ip, frame, e, origin, at);
  single(c, inst, bank_passes(at, e, bytes_of(ip)), e);
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  for (u32 j = 0; j < n; ++j)
    copy_elements<Store>(frame, data_of(ip, j), ip->flags, e,
                         [&](unsigned lane) { return c->shared + at[lane] + j * size; });
}
/// All 32 addresses in the bank row of the first one: one pass, one permute. False: not so, nothing done.
template <class Addr, bool Store>
RADDLE_INLINE bool shared_row(Context* c, const Record* ip, char* frame) {
#if defined(__AVX512F__)
  const Addr* a = lanes<Addr>(frame, ip->a);
  const Addr bias = Addr(s64(ip->imm));
  const Addr row = (a[0] + bias) & ~Addr(127);
  if (row + u64(128) > c->shared_bytes || row > c->shared_bytes) return false;
  __m512i low, high;
  if constexpr (sizeof(Addr) == 4) {
    const __m512i base = _mm512_set1_epi32(s32(row - bias)), top = _mm512_set1_epi32(128);
    low = _mm512_sub_epi32(_mm512_loadu_si512(a), base);
    high = _mm512_sub_epi32(_mm512_loadu_si512(a + 16), base);
    if ((_mm512_cmplt_epu32_mask(low, top) & _mm512_cmplt_epu32_mask(high, top)) != 0xffff)
      return false;
  } else {
    const __m512i base = _mm512_set1_epi64(s64(row - bias)), top = _mm512_set1_epi64(128);
    __m512i d[4];
    for (int k = 0; k < 4; ++k) d[k] = _mm512_sub_epi64(_mm512_loadu_si512(a + 8 * k), base);
    unsigned in = _mm512_cmplt_epu64_mask(d[0], top) & _mm512_cmplt_epu64_mask(d[1], top) &
                  _mm512_cmplt_epu64_mask(d[2], top) & _mm512_cmplt_epu64_mask(d[3], top);
    if (in != 0xff) return false;
    low = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(d[0])),
                             _mm512_cvtepi64_epi32(d[1]), 1);
    high = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(d[2])),
                              _mm512_cvtepi64_epi32(d[3]), 1);
  }
  if (_mm512_test_epi32_mask(_mm512_or_si512(low, high), _mm512_set1_epi32(3)) != 0) return false;
  single(c, ip->inst, 1, kFull);
  char* window = c->shared + row;
  u32* reg = lanes<u32>(frame, ip->d);
  if constexpr (!Store) {
    const __m512i x = _mm512_loadu_si512(window), y = _mm512_loadu_si512(window + 64);
    _mm512_storeu_si512(reg, _mm512_permutex2var_epi32(x, _mm512_srli_epi32(low, 2), y));
    _mm512_storeu_si512(reg + 16, _mm512_permutex2var_epi32(x, _mm512_srli_epi32(high, 2), y));
  } else {
    alignas(64) u32 distance[32];
    _mm512_store_si512(distance, low);
    _mm512_store_si512(distance + 16, high);
    window_store<u32>(window, distance, reg, kFull);
  }
  return true;
#else
  (void)c, (void)ip, (void)frame;
  return false;
#endif
}
/// 4-byte elements in 32-bit registers: the common shared access. 32-bit addresses wrap, 64-bit ones do not.
template <class Addr, bool Store>
RADDLE_INLINE void shared_word(Context* c, const Record* ip, char* frame, u32 e) {
  if (RADDLE_LIKELY(e == kFull) && RADDLE_LIKELY((shared_row<Addr, Store>(c, ip, frame)))) return;
  const Addr* a = lanes<Addr>(frame, ip->a);
  u32* reg = lanes<u32>(frame, ip->d);
  const Addr bias = Addr(s64(ip->imm));
  const Addr first = a[lowest_lane(e)] + bias;
  const u32 row = u32(first) & ~127u;
  alignas(64) u32 distance[32];
  Addr every = 0;
  u32 all = 0, most = 0;
  RADDLE_LANES {
    const Addr x = (e & kBit[i]) != 0 ? Addr(a[i] + bias) : first;
    every |= x;
    distance[i] = u32(x) - row;
    all |= distance[i];
    most = u32(x) > most ? u32(x) : most;
  }
  if ((all & 3) != 0 || u64(every) >> 32 != 0 || u64(most) + 4 > c->shared_bytes)
    memory_fault(c, ip, frame, e);
  char* window = c->shared + row;
  if (all < 128) {  // one row of the banks
    single(c, ip->inst, 1, e);
    if (Store) window_store<u32>(window, distance, reg, e);
    else window_load<u32, 1>(window, distance, reg, e);
    return;
  }
  u32 run = 0;
  RADDLE_LANES run |= (distance[i] - distance[0]) ^ (kIota[i] * 4);
  if (run == 0 && e == kFull) {
    single(c, ip->inst, 1, e);
    if (Store) __builtin_memcpy(window + distance[0], reg, 128);
    else __builtin_memcpy(reg, window + distance[0], 128);
    return;
  }
  alignas(64) u32 word[32];
  RADDLE_LANES word[i] = distance[i] >> 2;
  single(c, ip->inst, passes(word, e, 32), e);
  for (u32 m = e; m != 0; m &= m - 1) {
    const unsigned lane = lowest_lane(m);
    char* p = window + static_cast<s32>(distance[lane]);
    if (Store) __builtin_memcpy(p, reg + lane, 4);
    else __builtin_memcpy(reg + lane, p, 4);
  }
}

// --- local ---------------------------------------------------------------------------------------
/// Lane l's word w lies at word 32 w + l, so the lanes' equal offsets are one line.
template <bool Store>
RADDLE_INLINE void local_any(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                             u32 inst) {
  alignas(64) u64 wide[32];
  addresses_of(ip, frame, e, origin, wide);
  const u32 bytes = bytes_of(ip), rows = (bytes + 3) / 4;
  u64 all = 0, differ = 0;
  RADDLE_LANES {
    all |= wide[i];
    differ |= wide[i] ^ wide[0];
  }
  if ((all & (bytes - 1)) != 0) memory_fault(c, ip, frame, e);
  for (u32 m = e; m != 0; m &= m - 1)
    if (wide[lowest_lane(m)] > c->local_bytes - bytes || bytes > c->local_bytes)
      memory_fault(c, ip, frame, e);
  Pieces pieces{c->out + 2, 0};
  if (differ == 0) {
    for (u32 j = 0; j < rows; ++j) add_piece(&pieces, u32(wide[0] >> 2) + j, e, e);
  } else {
    LineTable table = {};
    for (u32 m = e; m != 0; m &= m - 1) {
      const unsigned lane = lowest_lane(m);
      for (u32 j = 0; j < rows; ++j)
        merge_piece(&pieces, &table, u32(wide[lane] >> 2) + j, kBit[lane], kBit[lane]);
    }
  }
  single(c, inst, pieces.n, e);
  c->out += 3 * pieces.n;
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  char* base = c->warp->local;
  for (u32 j = 0; j < n; ++j) {
    const auto place = [&](unsigned lane) {
      const u64 x = wide[lane] + j * size;
      return base + (x >> 2) * 128 + 4 * lane + (x & 3);
    };
    if (size < 8) {
      copy_elements<Store>(frame, data_of(ip, j), ip->flags, e, place);
      continue;
    }
    u32* reg = lanes<u32>(frame, data_of(ip, j));  // two words in two rows
    for (u32 m = e; m != 0; m &= m - 1) {
      const unsigned lane = lowest_lane(m);
      for (u32 half = 0; half < 2; ++half) {
        char* p = place(lane) + 128 * half;
        if (Store) __builtin_memcpy(p, reg + 2 * lane + half, 4);
        else __builtin_memcpy(reg + 2 * lane + half, p, 4);
      }
    }
  }
}

// --- constant, parameters, generic ---------------------------------------------------------------
RADDLE_INLINE u32 distinct_addresses(const u64* at, u32 e) {
  u32 n = 0;
  while (e != 0) {
    const u64 leader = at[lowest_lane(e)];
    u32 equal = 0;
    RADDLE_LANES equal |= at[i] == leader ? kBit[i] : 0;
    e &= ~equal;
    ++n;
  }
  return n;
}
/// Read-only bytes that all lanes share: module constants (in device memory) and kernel parameters.
RADDLE_INLINE void constant_any(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                                bool parameter) {
  alignas(64) u64 at[32];
  addresses_of(ip, frame, e, origin, at);
  const u32 bytes = bytes_of(ip), n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  u64 all = 0;
  RADDLE_LANES all |= at[i];
  if ((all & (bytes - 1)) != 0) memory_fault(c, ip, frame, e);
  const u64 end = parameter ? c->parameter_bytes : c->extent;
  for (u32 m = e; m != 0; m &= m - 1) {
    const u64 x = at[lowest_lane(m)];
    if (x >= end || x + bytes > end || (!parameter && (x & 127) + bytes > c->valid[x >> 7]))
      memory_fault(c, ip, frame, e);
  }
  single(c, ip->inst, distinct_addresses(at, e), e);
  const char* base = parameter ? c->parameters : c->global;
  for (u32 j = 0; j < n; ++j)
    copy_elements<false>(frame, data_of(ip, j), ip->flags, e,
                         [&](unsigned lane) { return base + at[lane] + j * size; });
}

/// The window says which memory a lane means; lanes that mean different ones make one record each. Addresses are read
/// again for each part, so a load whose result overlaps its address register runs on a copy (decoder's duty).
template <bool Store>
RADDLE_INLINE void generic_any(Context* c, const Record* ip, char* frame, u32 e) {
  alignas(64) u64 at[32];
  addresses_of(ip, frame, e, 0, at);
  u32 global = 0, shared = 0, local = 0, parameter = 0;
  RADDLE_LANES {
    global |= at[i] >= kDeviceBase ? kBit[i] : 0;
    shared |= at[i] - kSharedWindow < kWindowBytes ? kBit[i] : 0;
    local |= at[i] - kLocalWindow < kWindowBytes ? kBit[i] : 0;
    parameter |= at[i] - kParamWindow < kWindowBytes ? kBit[i] : 0;
  }
  if (Store) parameter = 0;
  if ((e & ~(global | shared | local | parameter)) != 0) memory_fault(c, ip, frame, e);
  const u32 alias = c->aliases[ip->inst];
  if ((e & global) != 0) global_any<Store>(c, ip, frame, e & global, ip->inst);
  if ((e & shared) != 0) shared_any<Store>(c, ip, frame, e & shared, kSharedWindow, alias);
  if ((e & local) != 0) local_any<Store>(c, ip, frame, e & local, kLocalWindow, alias + 1);
  if ((e & parameter) != 0) constant_any(c, ip, frame, e & parameter, kParamWindow, true);
}

}  // namespace raddle::exec::RADDLE_ISA

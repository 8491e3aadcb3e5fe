// Global memory. One pass of vector code finds each lane's distance from the first lane's line;
// nearly always all lie within two lines, and those two are the pieces of the op stream, the bounds
// check (valid bytes per line) and the window the data is permuted from. Anything else goes lane by
// lane.
#pragma once
#include "raddle/exec/lanes/memory.h"

namespace raddle::exec::RADDLE_ISA {

/// All lines are within the allocations and wholly valid.
RADDLE_INLINE bool whole_lines(const Context* c, const u32* line) {
  u32 maximum = 0, gaps = 0;
  RADDLE_LANES maximum = line[i] > maximum ? line[i] : maximum;
  if (maximum >= u32(c->extent >> 7)) return false;
  RADDLE_UNROLL for (int i = 0; i < kWidth; ++i) gaps |= c->valid[line[i]] ^ 128u;
  return gaps == 0;
}
/// An access of any pattern: its addresses, checked, and its record with the pieces.
RADDLE_INLINE void scattered_record(Context* context, const Record* ip, char* frame, u32 mask,
                                    u32 inst, u32 bytes, u64* at) {
  alignas(64) u32 line[32], words[32];
  addresses_of(ip, frame, mask, kDeviceBase, at);
  const u32 unit = touched_words(bytes);
  u64 all = 0;
  u32 low = 0;
  RADDLE_LANES {
    all |= at[i];
    low |= u32(at[i]);
    line[i] = u32(at[i] >> 7);
    words[i] = unit << (u32(at[i]) >> 2 & 31);
  }
  if ((low & (bytes - 1)) != 0 || all >> 39 != 0) memory_fault(context, ip, frame, mask);
  if (!whole_lines(context, line))
    for (u32 left = mask; left != 0; left &= left - 1) {
      const unsigned lane = lowest_lane(left);
      if (at[lane] >= context->extent || (at[lane] & 127) + bytes > context->valid[line[lane]]) {
        stray_or_fault(context, ip, frame, mask);
        break;
      }
    }
  Transactions transactions{context->out + 2, 0};
  if (context->traced != 0) {
    RADDLE_LANES line[i] += kDeviceLine;
    collect_transactions(&transactions, line, words, mask);
  }
  single(context, inst, transactions.n, mask);
  context->out += 3 * transactions.n;
}
/// A full warp's one- or two-byte elements that lie one behind the other. False: not so, nothing
/// done.
template <bool Store>
RADDLE_INLINE bool narrow_run(Context* c, const Record* ip, char* frame) {
  const u32 bytes = bytes_of(ip), span = kWidth * bytes;
  const u64* a = lanes<u64>(frame, ip->a);
  u64 run = 0;
  RADDLE_LANES run |= (a[i] - a[0]) ^ (kIota[i] * bytes);
  const u64 first = a[0] + u64(s64(ip->imm)) - kDeviceBase, line = first >> 7;
  if (run != 0 || first % bytes != 0 || first >= c->extent || c->extent - first < span)
    return false;
  const u32 at = u32(first) & 127, near = at + span <= 128 ? span : 128 - at, far = span - near;
  if (at + near > c->valid[line] || (far != 0 && far > c->valid[line + 1])) return false;
  const u32 number = u32(line) + kDeviceLine, in_near = near / bytes;
  Transactions transactions{c->out + 2, 0};
  const u32 up_to_near = kFull >> (31 - ((at + near - 1) >> 2));
  add_transaction(&transactions, number, up_to_near & kFull << (at >> 2),
                  in_near == kWidth ? kFull : kBit[in_near] - 1);
  if (far != 0)
    add_transaction(&transactions, number + 1, kFull >> (31 - ((far - 1) >> 2)), kFull << in_near);
  single(c, ip->inst, transactions.n, kFull);
  c->out += 3 * transactions.n;
  copy_elements<Store>(frame, ip->d, ip->flags, Contiguous{c->global + first});
  return true;
}
/// Any pattern, any element.
template <bool Store>
RADDLE_INLINE void global_any(Context* c, const Record* ip, char* frame, u32 e, u32 inst) {
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  const bool narrow = n == 1 && size <= 2 && (ip->flags & kNarrowAddress) == 0;
  if (!narrow || e != kFull || inst != ip->inst || !narrow_run<Store>(c, ip, frame)) {
    alignas(64) u64 at[32];
    scattered_record(c, ip, frame, e, inst, bytes_of(ip), at);
    for (u32 j = 0; j < n; ++j) {
      char* const base = c->global + j * size;
      if (!Store && plain_words(ip->flags)) gather(base, at, lanes<u32>(frame, data_of(ip, j)), e);
      else
        copy_elements<Store>(frame, data_of(ip, j), ip->flags,
                             Scattered{e, [&](unsigned lane) { return base + at[lane]; }});
    }
  }
  if (Store || (ip->flags & kVisible) != 0) pause_if_live(c);
}
/// Distances in more than two lines: 32 scalar accesses.
template <class T, bool Store>
RADDLE_INLINE void global_scattered(Context* c, const Record* ip, char* frame, u32 e) {
  alignas(64) u64 at[32];
  scattered_record(c, ip, frame, e, ip->inst, sizeof(T), at);
  T* reg = lanes<T>(frame, ip->d);
  if constexpr (!Store) return gather<T>(c->global, at, reg, e);
  if (e == kFull) {
    RADDLE_UNROLL for (int i = 0; i < kWidth; ++i)
        __builtin_memcpy(c->global + at[i], reg + i, sizeof(T));
    return;
  }
  for (u32 m = e; m != 0; m &= m - 1)
    __builtin_memcpy(c->global + at[lowest_lane(m)], reg + lowest_lane(m), sizeof(T));
}

/// 0: addresses run on from the first by sizeof(T); 1: they are all the same; 2: neither.
template <class T>
RADDLE_INLINE int address_pattern(const u64* a) {
#if defined(__AVX512F__)
  const __m512i first = _mm512_set1_epi64(s64(a[0]));
  const __m512i step =
      _mm512_setr_epi64(0, 1 * sizeof(T), 2 * sizeof(T), 3 * sizeof(T), 4 * sizeof(T),
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
/// The whole warp at consecutive addresses: pieces by arithmetic, data by copying. False: a slow
/// path must look at it.
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
  Transactions transactions{c->out + 2, 0};
  const u32 number = u32(line) + kDeviceLine;
  constexpr u32 kPerLine = 128 / sizeof(T);
  if constexpr (kPerLine == 32) {
    add_transaction(&transactions, number, ~0u << word, kFull >> lane);
    if (tail != 0) add_transaction(&transactions, number + 1, tail, ~(kFull >> lane));
  } else {
    add_transaction(&transactions, number, ~0u << word, 0xffffu >> lane);
    add_transaction(&transactions, number + 1, ~0u, 0xffffu << (kPerLine - lane));
    if (tail != 0) add_transaction(&transactions, number + 2, tail, ~(kFull >> lane));
  }
  single(c, ip->inst, transactions.n, kFull);
  c->out += 3 * transactions.n;
  if (Store) __builtin_memcpy(c->global + first, reg, 32 * sizeof(T));
  else __builtin_memcpy(reg, c->global + first, 32 * sizeof(T));
  return true;
}

template <class T, bool Store>
RADDLE_INLINE void global_access(Context* context, const Record* ip, char* frame, u32 mask) {
  const u64* address = lanes<u64>(frame, ip->a);
  T* reg = lanes<T>(frame, ip->d);
  const u64 bias = u64(s64(ip->imm)) - kDeviceBase;
  const u64 first = address[lowest_lane(mask)] + bias, line = first & ~u64(127);
  const int pattern = RADDLE_LIKELY(mask == kFull) ? address_pattern<T>(address) : 2;
  if (pattern == 0 && global_run<T, Store>(context, ip, first, reg)) {
    if (Store || (ip->flags & kVisible) != 0) pause_if_live(context);
    return;
  }
  if (!Store && pattern == 1 && first < context->extent && context->valid[first >> 7] == 128 &&
      (first & (sizeof(T) - 1)) == 0) {
    T value;
    __builtin_memcpy(&value, context->global + first, sizeof(T));
    Transactions transactions{context->out + 2, 0};
    add_transaction(&transactions, u32(first >> 7) + kDeviceLine,
                    (sizeof(T) == 8 ? 3u : 1u) << (u32(first) >> 2 & 31), kFull);
    single(context, ip->inst, 1, kFull);
    context->out += 3;
    RADDLE_LANES reg[i] = value;
    if ((ip->flags & kVisible) != 0) pause_if_live(context);
    return;
  }
  alignas(64) u32 distance[32];
  u64 all = 0;
  if (RADDLE_LIKELY(mask == kFull)) {
    RADDLE_LANES {
      const u64 x = address[i] + bias - line;
      all |= x;
      distance[i] = u32(x);
    }
  } else {
    RADDLE_LANES {
      const u64 x = ((mask & kBit[i]) != 0 ? address[i] + bias : first) - line;
      all |= x;
      distance[i] = u32(x);
    }
  }
  if ((all & (sizeof(T) - 1)) != 0) memory_fault(context, ip, frame, mask);
  if (all >= 256) {
    global_scattered<T, Store>(context, ip, frame, mask);
    if (Store || (ip->flags & kVisible) != 0) pause_if_live(context);
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
    beyond &= mask;
  }
  if (line >= context->extent || !words_valid(near, context->valid[line >> 7]) ||
      !words_valid(far, context->valid[(line >> 7) + 1]))
    stray_or_fault(context, ip, frame, mask);
  Transactions transactions{context->out + 2, 0};
  add_transaction(&transactions, u32(line >> 7) + kDeviceLine, near, mask & ~beyond);
  if (far != 0) add_transaction(&transactions, u32(line >> 7) + kDeviceLine + 1, far, beyond);
  single(context, ip->inst, transactions.n, mask);
  context->out += 3 * transactions.n;
  char* window = context->global + line;
  if (Store) {
    window_store<T>(window, distance, reg, mask);
    pause_if_live(context);
    return;
  }
  if (all < 128) window_load<T, 1>(window, distance, reg, mask);
  else window_load<T, 2>(window, distance, reg, mask);
  if ((ip->flags & kVisible) != 0) pause_if_live(context);
}

}  // namespace raddle::exec::RADDLE_ISA

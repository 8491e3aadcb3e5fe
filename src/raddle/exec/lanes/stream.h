// Writing the op stream (layout: trace/stream.h, asserted in stream_layout.cpp): straight runs,
// single records, pieces.
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

constexpr u32 kMaxTransactions = 63;

RADDLE_INLINE void put(Context* c, u32 inst, u32 count, u32 transactions, u32 mask) {
  c->out[0] = inst | count << 20 | transactions << 26;
  c->out[1] = mask;
  c->out += 2;
}
RADDLE_INLINE void count(Context* c, u32 instructions, u32 mask) {
  c->warp_instructions += instructions;
  c->thread_instructions += u64(instructions) * static_cast<u32>(__builtin_popcount(mask));
}
/// Writes the run up to instruction `upto`, which ran under `m`. The decoder cuts runs below 64.
RADDLE_INLINE void leave(Context* c, u32 upto, u32 m) {
  const u32 n = upto - c->run->inst;
  if (n == 0) return;
  put(c, c->run->inst, n, 0, m);
  count(c, n, m);
}
RADDLE_INLINE void single(Context* c, u32 inst, u32 transactions, u32 mask) {
  put(c, inst, 1, transactions, mask);
  count(c, 1, mask);
}

/// Distinct lines of an access, in order of their lowest lane, written straight behind the record's
/// head.
struct Transactions {
  u32* at;
  u32 n;
};
RADDLE_INLINE void add_transaction(Transactions* p, u32 line, u32 words, u32 lanes_of) {
  u32* t = p->at + 3 * p->n;
  t[0] = line;
  t[1] = words;
  t[2] = lanes_of;
  ++p->n;
}

/// Lines with a hash table of where their pieces are: the general case.
struct LineTable {
  u8 slot[128];  // piece number + 1
};
RADDLE_INLINE void merge_transaction(Transactions* p, LineTable* table, u32 line, u32 words,
                                     u32 lane_bit) {
  u32 h = (line * 0x9e3779b1u) >> 25;
  for (; table->slot[h] != 0; h = (h + 1) & 127) {
    u32* t = p->at + 3 * (table->slot[h] - 1u);
    if (t[0] == line) {
      t[1] |= words;
      t[2] |= lane_bit;
      return;
    }
  }
  if (p->n == kMaxTransactions) return;  // 8- and 16-byte local accesses by lanes at many offsets
  table->slot[h] = static_cast<u8>(p->n + 1);
  add_transaction(p, line, words, lane_bit);
}

/// Lanes of `e` whose value no lower lane of `e` has.
RADDLE_INLINE u32 first_occurrences(const u32* value, u32 e) {
#if defined(__AVX512CD__)
  const __m512i low = _mm512_loadu_si512(value), high = _mm512_loadu_si512(value + 16);
  const u32 e_low = e & 0xffff, e_high = e >> 16;
  const __m512i c_low = _mm512_conflict_epi32(low), c_high = _mm512_conflict_epi32(high);
  const u32 first_low = e_low & ~u32(_mm512_test_epi32_mask(c_low, _mm512_set1_epi32(s32(e_low))));
  u32 first_high = e_high & ~u32(_mm512_test_epi32_mask(c_high, _mm512_set1_epi32(s32(e_high))));
  for (u32 k = first_low; k != 0 && first_high != 0; k &= k - 1)
    first_high &=
        ~u32(_mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(s32(value[lowest_lane(k)]))));
  return first_low | first_high << 16;
#else
  u32 tag[64], first = 0;
  u8 full[64] = {};
  for (; e != 0; e &= e - 1) {
    const unsigned lane = lowest_lane(e);
    u32 h = (value[lane] * 0x9e3779b1u) >> 26;
    while (full[h] != 0 && tag[h] != value[lane]) h = (h + 1) & 63;
    if (full[h] == 0) first |= kBit[lane];
    full[h] = 1;
    tag[h] = value[lane];
  }
  return first;
#endif
}

#if defined(__AVX512F__)
/// Up to 16 pieces side by side: three columns become rows of three. Writes 48 words whatever n is.
RADDLE_INLINE void add_transactions(Transactions* p, __m512i line, __m512i words, __m512i lanes_of,
                                    u32 n) {
  alignas(64) static constexpr u32 kTwo[3][16] = {
      {0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5},
      {21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26},
      {0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0}};
  alignas(64) static constexpr u32 kThird[3][16] = {
      {0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15},
      {0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15},
      {26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31}};
  u32* t = p->at + 3 * p->n;
  for (int k = 0; k < 3; ++k) {
    const __m512i two = _mm512_permutex2var_epi32(line, _mm512_load_si512(kTwo[k]), words);
    _mm512_storeu_si512(t + 16 * k,
                        _mm512_permutex2var_epi32(two, _mm512_load_si512(kThird[k]), lanes_of));
  }
  p->n += n;
}

/// 32 line numbers with the words each lane touches. Every active lane is compared with all lanes:
/// no pattern is slow.
RADDLE_INLINE void collect_transactions(Transactions* transactions, const u32* line,
                                        const u32* words, u32 mask) {
  const __m512i low = _mm512_loadu_si512(line), high = _mm512_loadu_si512(line + 16);
  __m512i lanes_low = _mm512_setzero_si512(), lanes_high = lanes_low;
  __m512i words_low = lanes_low, words_high = lanes_low;
  for (u32 left = mask; left != 0; left &= left - 1) {
    const unsigned lane = lowest_lane(left);
    const __m512i its_line = _mm512_set1_epi32(s32(line[lane]));
    const __m512i its_words = _mm512_set1_epi32(s32(words[lane]));
    const __m512i its_bit = _mm512_set1_epi32(s32(left & (0 - left)));
    const __mmask16 in_low = _mm512_cmpeq_epi32_mask(low, its_line);
    const __mmask16 in_high = _mm512_cmpeq_epi32_mask(high, its_line);
    lanes_low = _mm512_mask_or_epi32(lanes_low, in_low, lanes_low, its_bit);
    lanes_high = _mm512_mask_or_epi32(lanes_high, in_high, lanes_high, its_bit);
    words_low = _mm512_mask_or_epi32(words_low, in_low, words_low, its_words);
    words_high = _mm512_mask_or_epi32(words_high, in_high, words_high, its_words);
  }
  // A piece belongs to the lowest of its lanes.
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i below_low = _mm512_sub_epi32(_mm512_load_si512(kBit), one);
  const __m512i below_high = _mm512_sub_epi32(_mm512_load_si512(kBit + 16), one);
  const auto first_low =
      static_cast<__mmask16>(mask & _mm512_testn_epi32_mask(lanes_low, below_low));
  const auto first_high =
      static_cast<__mmask16>(mask >> 16 & _mm512_testn_epi32_mask(lanes_high, below_high));
  add_transactions(transactions, _mm512_maskz_compress_epi32(first_low, low),
                   _mm512_maskz_compress_epi32(first_low, words_low),
                   _mm512_maskz_compress_epi32(first_low, lanes_low),
                   static_cast<u32>(__builtin_popcount(first_low)));
  add_transactions(transactions, _mm512_maskz_compress_epi32(first_high, high),
                   _mm512_maskz_compress_epi32(first_high, words_high),
                   _mm512_maskz_compress_epi32(first_high, lanes_high),
                   static_cast<u32>(__builtin_popcount(first_high)));
}
#else
/// 32 line numbers with the words each lane touches. Two "leaders" (take the first lane left, drop
/// its equals) settle the common patterns; then either all lines differ, or a table finds who
/// shares.
RADDLE_INLINE void collect_transactions(Transactions* p, const u32* line, const u32* words, u32 e) {
  for (int round = 0; e != 0 && round < 2; ++round) {
    const u32 leader = line[lowest_lane(e)];
    u32 equal = 0, touched = 0;
    RADDLE_LANES equal |= line[i] == leader ? kBit[i] : 0;
    equal &= e;
    RADDLE_LANES touched |= (equal & kBit[i]) != 0 ? words[i] : 0;
    add_transaction(p, leader, touched, equal);
    e &= ~equal;
  }
  if (e == 0) return;
  if (first_occurrences(line, e) == e) {
    for (; e != 0; e &= e - 1) {
      const unsigned lane = lowest_lane(e);
      add_transaction(p, line[lane], words[lane], kBit[lane]);
    }
    return;
  }
  LineTable table = {};
  for (; e != 0; e &= e - 1) {
    const unsigned lane = lowest_lane(e);
    merge_transaction(p, &table, line[lane], words[lane], kBit[lane]);
  }
}
#endif

/// Bank passes of shared memory: the most different values of any one class, value % classes.
RADDLE_INLINE u32 passes(const u32* value, u32 e, u32 classes) {
  u32 used = 0;
  RADDLE_LANES used |= (e & kBit[i]) != 0 ? 1u << (value[i] & (classes - 1)) : 0;
  if (__builtin_popcount(used) == __builtin_popcount(e)) return 1;  // all in different banks
  u8 per_class[32] = {};
  u32 maximum = 0;
  for (u32 m = first_occurrences(value, e); m != 0; m &= m - 1) {
    const u32 n = ++per_class[value[lowest_lane(m)] & (classes - 1)];
    maximum = n > maximum ? n : maximum;
  }
  return maximum;
}

}  // namespace raddle::exec::RADDLE_ISA

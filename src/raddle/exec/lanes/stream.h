// Writing the op stream (layout: trace/stream.h, asserted in stream_layout.cpp): straight runs, single records, pieces.
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

constexpr u32 kMaxPieces = 63;

RADDLE_INLINE void put(Context* c, u32 inst, u32 count, u32 pieces, u32 mask) {
  c->out[0] = inst | count << 20 | pieces << 26;
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
RADDLE_INLINE void single(Context* c, u32 inst, u32 pieces, u32 mask) {
  put(c, inst, 1, pieces, mask);
  count(c, 1, mask);
}

/// Distinct lines of an access, in order of their lowest lane, written straight behind the record's head.
struct Pieces {
  u32* at;
  u32 n;
};
RADDLE_INLINE void add_piece(Pieces* p, u32 line, u32 words, u32 lanes_of) {
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
RADDLE_INLINE void merge_piece(Pieces* p, LineTable* table, u32 line, u32 words, u32 lane_bit) {
  u32 h = (line * 0x9e3779b1u) >> 25;
  for (; table->slot[h] != 0; h = (h + 1) & 127) {
    u32* t = p->at + 3 * (table->slot[h] - 1u);
    if (t[0] == line) {
      t[1] |= words;
      t[2] |= lane_bit;
      return;
    }
  }
  if (p->n == kMaxPieces) return;  // 8- and 16-byte local accesses by lanes at many offsets
  table->slot[h] = static_cast<u8>(p->n + 1);
  add_piece(p, line, words, lane_bit);
}

/// 32 line numbers with the words each lane touches. Three "leaders" (take the first lane left, drop its equals)
/// settle the common patterns; the table does the rest.
RADDLE_INLINE void collect_pieces(Pieces* p, const u32* line, const u32* words, u32 e) {
  for (int round = 0; e != 0 && round < 3; ++round) {
    const u32 leader = line[lowest_lane(e)];
    u32 equal = 0, touched = 0;
    RADDLE_LANES equal |= line[i] == leader ? kBit[i] : 0;
    equal &= e;
    RADDLE_LANES touched |= (equal & kBit[i]) != 0 ? words[i] : 0;
    add_piece(p, leader, touched, equal);
    e &= ~equal;
  }
  if (e == 0) return;
  LineTable table = {};
  for (u32 k = 0; k < p->n; ++k) {
    u32 h = (p->at[3 * k] * 0x9e3779b1u) >> 25;
    while (table.slot[h] != 0) h = (h + 1) & 127;
    table.slot[h] = static_cast<u8>(k + 1);
  }
  for (; e != 0; e &= e - 1) {
    const unsigned lane = lowest_lane(e);
    merge_piece(p, &table, line[lane], words[lane], kBit[lane]);
  }
}

/// Number of different values among the lanes of `e`, the most of them in one class value % classes: bank passes of
/// shared memory when values are words and classes are banks.
RADDLE_INLINE u32 passes(const u32* value, u32 e, u32 classes) {
  u32 used = 0;
  for (u32 k = e; k != 0; k &= k - 1) used |= kBit[value[lowest_lane(k)] & (classes - 1)];
  if (__builtin_popcount(used) == __builtin_popcount(e)) return 1;  // all in different banks
  u32 tag[64];
  u8 full[64] = {}, per_class[32] = {};
  u32 most = 0;
  for (; e != 0; e &= e - 1) {
    const u32 v = value[lowest_lane(e)];
    u32 h = (v * 0x9e3779b1u) >> 26;
    while (full[h] != 0 && tag[h] != v) h = (h + 1) & 63;
    if (full[h] != 0) continue;
    full[h] = 1;
    tag[h] = v;
    const u32 n = ++per_class[v & (classes - 1)];
    most = n > most ? n : most;
  }
  return most;
}

}  // namespace raddle::exec::RADDLE_ISA

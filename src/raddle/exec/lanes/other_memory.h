// Shared, local and constant memory, kernel parameters, and generic addresses that mean any of
// them.
#pragma once
#include "raddle/exec/lanes/global_memory.h"

namespace raddle::exec::RADDLE_ISA {

// --- shared --------------------------------------------------------------------------------------
/// Bank passes: 32 banks of 4 bytes; the same word is broadcast; 8 and 16 bytes go by halves and
/// quarters of the warp.
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
/// Each lane's offset into shared memory, checked. False: some lie in another block's.
RADDLE_INLINE bool shared_addresses(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                                    u32* at) {
  alignas(64) u64 wide[32];
  addresses_of(ip, frame, e, origin, wide);
  wrap_narrow(ip, origin, wide);
  u64 all = 0;
  u32 maximum = 0;
  RADDLE_LANES {
    all |= wide[i];
    at[i] = u32(wide[i]);
    maximum = at[i] > maximum ? at[i] : maximum;
  }
  const u32 bytes = bytes_of(ip);
  if ((all & (bytes - 1)) != 0 || all >> 32 != 0 || u64(maximum) + bytes > c->shared_bytes) {
    if (c->clustered != 0) return false;
    memory_fault(c, ip, frame, e);
  }
  return true;
}
/// Bank passes of lanes that stay within two rows of the banks, `distance` from their start: a
/// class of banks is used in one row or in both.
RADDLE_INLINE u32 two_row_passes(const u32* distance, u32 e, u32 bytes) {
  const u32 shift = bytes >= 16 ? 4 : bytes == 8 ? 3 : 2, group = 128u >> shift;
  u32 total = 0;
  if (shift == 2) {
    u32 near = 0, far = 0;
    RADDLE_LANES {
      const u32 bank = (e & kBit[i]) != 0 ? 1u << (distance[i] >> 2 & 31) : 0;
      near |= distance[i] < 128 ? bank : 0;
      far |= distance[i] < 128 ? 0 : bank;
    }
    return (near & far) != 0 ? 2 : 1;
  }
  alignas(64) u32 unit[32];
  RADDLE_LANES unit[i] = (e & kBit[i]) != 0 ? 1u << (distance[i] >> shift & 31) : 0;
  for (u32 from = 0; from < 32; from += group) {
    u32 used = 0;
    for (u32 i = from; i < from + group; ++i) used |= unit[i];
    const bool twice = (used & used >> group & ((1u << group) - 1)) != 0;
    total += used == 0 ? 0 : twice ? 2 : 1;
  }
  return total;
}
/// Words of lanes that stay within two rows of the banks. False: not so, nothing done.
template <bool Store>
RADDLE_INLINE bool shared_two_rows(Context* c, const Record* ip, char* frame, u32 e, u32 inst,
                                   const u32* at) {
  if (Store || !plain_words(ip->flags)) return false;
  alignas(64) u32 distance[32];
  u32 row = ~0u, all = 0;
  RADDLE_LANES row = at[i] < row ? at[i] : row;
  row &= ~127u;
  RADDLE_LANES {
    distance[i] = at[i] - row;
    all |= distance[i];
  }
  if (all >= 256) return false;
  single(c, inst, two_row_passes(distance, e, bytes_of(ip)), e);
  for (u32 j = 0; j < elements_of(ip); ++j)
    window_load<u32, 2>(c->shared + row + 4 * j, distance, lanes<u32>(frame, data_of(ip, j)), e);
  return true;
}
template <bool Store>
RADDLE_INLINE void shared_any(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                              u32 inst) {
  alignas(64) u32 at[32];
  if (!shared_addresses(c, ip, frame, e, origin, at))
    return distant_shared(c, ip, frame, e, origin, inst, Store ? 1 : 0);
  if (shared_two_rows<Store>(c, ip, frame, e, inst, at)) return;
  single(c, inst, bank_passes(at, e, bytes_of(ip)), e);
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  for (u32 j = 0; j < n; ++j)
    copy_elements<Store>(
        frame, data_of(ip, j), ip->flags,
        Scattered{e, [&](unsigned lane) { return c->shared + at[lane] + j * size; }});
}
/// All 32 addresses in the bank row of the first one: one pass, one permute. False: not so, nothing
/// done.
template <class Addr, bool Store>
RADDLE_INLINE bool shared_row(Context* context, const Record* ip, char* frame) {
#if defined(__AVX512F__)
  const Addr* address = lanes<Addr>(frame, ip->a);
  const Addr bias = Addr(s64(ip->imm));
  const Addr row = (address[0] + bias) & ~Addr(127);
  if (row + u64(128) > context->shared_bytes || row > context->shared_bytes) return false;
  __m512i low, high;
  if constexpr (sizeof(Addr) == 4) {
    const __m512i base = _mm512_set1_epi32(s32(row - bias)), top = _mm512_set1_epi32(128);
    low = _mm512_sub_epi32(_mm512_loadu_si512(address), base);
    high = _mm512_sub_epi32(_mm512_loadu_si512(address + 16), base);
    if ((_mm512_cmplt_epu32_mask(low, top) & _mm512_cmplt_epu32_mask(high, top)) != 0xffff)
      return false;
  } else {
    const __m512i base = _mm512_set1_epi64(s64(row - bias)), top = _mm512_set1_epi64(128);
    __m512i distances[4];
    for (int k = 0; k < 4; ++k)
      distances[k] = _mm512_sub_epi64(_mm512_loadu_si512(address + 8 * k), base);
    unsigned in =
        _mm512_cmplt_epu64_mask(distances[0], top) & _mm512_cmplt_epu64_mask(distances[1], top) &
        _mm512_cmplt_epu64_mask(distances[2], top) & _mm512_cmplt_epu64_mask(distances[3], top);
    if (in != 0xff) return false;
    low = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(distances[0])),
                             _mm512_cvtepi64_epi32(distances[1]), 1);
    high = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(distances[2])),
                              _mm512_cvtepi64_epi32(distances[3]), 1);
  }
  if (_mm512_test_epi32_mask(_mm512_or_si512(low, high), _mm512_set1_epi32(3)) != 0) return false;
  single(context, ip->inst, 1, kFull);
  char* window = context->shared + row;
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
  (void)context;
  (void)ip;
  (void)frame;
  return false;
#endif
}
/// 4-byte elements in 32-bit registers: the common shared access. 32-bit addresses wrap, 64-bit
/// ones do not.
template <class Addr, bool Store>
RADDLE_INLINE void shared_word(Context* context, const Record* ip, char* frame, u32 mask) {
  if (RADDLE_LIKELY(mask == kFull) && RADDLE_LIKELY((shared_row<Addr, Store>(context, ip, frame))))
    return;
  const Addr* address = lanes<Addr>(frame, ip->a);
  u32* reg = lanes<u32>(frame, ip->d);
  const Addr bias = Addr(s64(ip->imm));
  const Addr first = address[lowest_lane(mask)] + bias;
  const u32 row = u32(first) & ~127u;
  alignas(64) u32 distance[32];
  Addr every = 0;
  u32 all = 0, maximum = 0;
  RADDLE_LANES {
    const Addr x = (mask & kBit[i]) != 0 ? Addr(address[i] + bias) : first;
    every |= x;
    distance[i] = u32(x) - row;
    all |= distance[i];
    maximum = u32(x) > maximum ? u32(x) : maximum;
  }
  if ((all & 3) != 0 || u64(every) >> 32 != 0 || u64(maximum) + 4 > context->shared_bytes) {
    if (context->clustered != 0)
      return distant_shared(context, ip, frame, mask, 0, ip->inst, Store ? 1 : 0);
    memory_fault(context, ip, frame, mask);
  }
  char* window = context->shared + row;
  if (all < 128) {  // one row of the banks
    single(context, ip->inst, 1, mask);
    if (Store) window_store<u32>(window, distance, reg, mask);
    else window_load<u32, 1>(window, distance, reg, mask);
    return;
  }
  u32 run = 0;
  RADDLE_LANES run |= (distance[i] - distance[0]) ^ (kIota[i] * 4);
  if (run == 0 && mask == kFull) {
    single(context, ip->inst, 1, mask);
    if (Store) __builtin_memcpy(window + distance[0], reg, 128);
    else __builtin_memcpy(reg, window + distance[0], 128);
    return;
  }
  if (!Store && all < 256) {
    single(context, ip->inst, two_row_passes(distance, mask, 4), mask);
    window_load<u32, 2>(window, distance, reg, mask);
    return;
  }
  alignas(64) u32 word[32];
  RADDLE_LANES word[i] = distance[i] >> 2;
  single(context, ip->inst, passes(word, mask, 32), mask);
  for (u32 left = mask; left != 0; left &= left - 1) {
    const unsigned lane = lowest_lane(left);
    char* at = window + static_cast<s32>(distance[lane]);
    if (Store) __builtin_memcpy(at, reg + lane, 4);
    else __builtin_memcpy(reg + lane, at, 4);
  }
}

// --- local ---------------------------------------------------------------------------------------
/// Lanes at different offsets. Wide elements of as many lanes touch more lines than a record holds:
/// then there are several, each of some lanes.
RADDLE_INLINE void local_records(Context* c, const u64* at, u32 rows, u32 e, u32 inst) {
  constexpr u32 kMaximum = 63;
  while (e != 0) {
    Transactions transactions{c->out + 2, 0};
    LineTable table = {};
    u32 part = 0;
    for (u32 m = e; m != 0 && transactions.n + rows <= kMaximum; m &= m - 1) {
      const unsigned lane = lowest_lane(m);
      for (u32 j = 0; j < rows; ++j)
        merge_transaction(&transactions, &table, u32(at[lane] >> 2) + j, kBit[lane], kBit[lane]);
      part |= kBit[lane];
    }
    single(c, inst, transactions.n, part);
    c->out += 3 * transactions.n;
    e &= ~part;
  }
}
/// Lane l's word w lies at word 32 w + l, so the lanes' equal offsets are one line.
template <bool Store>
RADDLE_INLINE void local_any(Context* context, const Record* ip, char* frame, u32 mask, u64 origin,
                             u32 inst) {
  alignas(64) u64 wide[32];
  addresses_of(ip, frame, mask, origin, wide);
  wrap_narrow(ip, origin, wide);
  const u32 bytes = bytes_of(ip), rows = (bytes + 3) / 4;
  u64 all = 0, differ = 0;
  RADDLE_LANES {
    all |= wide[i];
    differ |= wide[i] ^ wide[0];
  }
  if ((all & (bytes - 1)) != 0) memory_fault(context, ip, frame, mask);
  for (u32 left = mask; left != 0; left &= left - 1)
    if (wide[lowest_lane(left)] > context->local_bytes - bytes || bytes > context->local_bytes)
      memory_fault(context, ip, frame, mask);
  if (differ == 0) {
    Transactions transactions{context->out + 2, 0};
    for (u32 j = 0; j < rows; ++j)
      add_transaction(&transactions, u32(wide[0] >> 2) + j, mask, mask);
    single(context, inst, transactions.n, mask);
    context->out += 3 * transactions.n;
  } else {
    local_records(context, wide, rows, mask, inst);
  }
  const u32 n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  char* base = context->warp->local;
  for (u32 j = 0; j < n; ++j) {
    const auto place = [&](unsigned lane) {
      const u64 x = wide[lane] + j * size;
      return base + (x >> 2) * 128 + 4 * lane + (x & 3);
    };
    if (size < 8) {
      copy_elements<Store>(frame, data_of(ip, j), ip->flags, Scattered{mask, place});
      continue;
    }
    u32* reg = lanes<u32>(frame, data_of(ip, j));  // two words in two rows
    for (u32 left = mask; left != 0; left &= left - 1) {
      const unsigned lane = lowest_lane(left);
      for (u32 half = 0; half < 2; ++half) {
        char* at = place(lane) + 128 * half;
        if (Store) __builtin_memcpy(at, reg + 2 * lane + half, 4);
        else __builtin_memcpy(reg + 2 * lane + half, at, 4);
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
/// `inst` is what the stream is told.
RADDLE_INLINE void constant_any(Context* c, const Record* ip, char* frame, u32 e, u64 origin,
                                bool parameter, u32 inst) {
  alignas(64) u64 at[32];
  addresses_of(ip, frame, e, origin, at);
  const u32 bytes = bytes_of(ip), n = elements_of(ip), size = 1u << (ip->flags & kElementMask);
  u64 all = 0;
  RADDLE_LANES all |= at[i];
  if ((all & (bytes - 1)) != 0) memory_fault(c, ip, frame, e);
  const u64 end = parameter ? c->parameter_bytes : c->extent;
  for (u32 m = e; m != 0; m &= m - 1) {
    const u64 x = at[lowest_lane(m)];
    if (x >= end || x + bytes > end || (!parameter && (x & 127) + bytes > c->valid[x >> 7])) {
      if (parameter) memory_fault(c, ip, frame, e);
      stray_or_fault(c, ip, frame, e);
      break;
    }
  }
  single(c, inst, distinct_addresses(at, e), e);
  const char* base = parameter ? c->parameters : c->global;
  for (u32 j = 0; j < n; ++j)
    copy_elements<false>(frame, data_of(ip, j), ip->flags,
                         Scattered{e, [&](unsigned lane) { return base + at[lane] + j * size; }});
}

/// The window says which memory a lane means; lanes that mean different ones make one record each.
/// Addresses are read again for each part: a result in the address register has changed other lanes
/// only.
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
  if ((e & parameter) != 0)
    constant_any(c, ip, frame, e & parameter, kParamWindow, true, alias + 2);
}

}  // namespace raddle::exec::RADDLE_ISA

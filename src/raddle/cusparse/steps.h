// What analyses and conversions are made of (kernels/steps.cu), in the handle's stream.
#pragma once
#include "raddle/cusparse/handle.h"

namespace raddle::cusparse {

/// Sums of what is before: `to` gets n + 1 numbers, the last one the sum of all. May be in place.
/// T: int or long long.
template <class T>
void scan(Handle& h, const T* from, std::int64_t n, T first, T* to, T* sums);
/// Numbers that `sums` must have.
std::int64_t scan_sums(std::int64_t n);

/// Sorts keys below `bound`, with what goes along; equal keys keep their order. Memory of a sort:
struct SortMemory {
  unsigned *keys, *payloads, *other_keys, *other_payloads;
  int *counts, *sums;
};
SortMemory sort_memory(Buffer& buffer, std::int64_t n);
/// The result is in memory.keys and payloads, which the call may exchange with the others.
void sort(Handle& h, SortMemory& memory, std::int64_t n, std::int64_t bound);

/// to[i] = base + the line of entry i.
void expand(Handle& h, const Sparse& a, Indices to, int base);
/// Offsets of lines from the ascending lines of entries.
void compress(Handle& h, Indices positions, std::int64_t entries, int base, std::int64_t lines,
              Indices offsets, int offset_base);
/// to[i] = first + i.
void identity(Handle& h, int* to, std::int64_t n, int first);
/// to[i] = from[where[i]] + add, or from[i] + add.
void pick(Handle& h, Indices from, const int* where, std::int64_t n, int add, int* to);

inline Indices narrow(const void* at) { return {.at = at, .wide = 0}; }

}  // namespace raddle::cusparse

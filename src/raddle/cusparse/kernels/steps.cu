// What analyses and conversions are made of: prefix sums, a radix sort, and offsets from positions
// and back.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

/// The sum of the values before this thread's, and that of the block's.
template <class T>
DEVICE T sum_before(T value, T& whole) {
  __shared__ __align__(8) char bytes[kThreads * sizeof(T)];
  T* const sums = reinterpret_cast<T*>(bytes);
  const int thread = static_cast<int>(threadIdx.x);
  T sum = value;
  sums[thread] = sum;
  for (int by = 1; by < kThreads; by *= 2) {
    __syncthreads();
    const T other = thread >= by ? sums[thread - by] : T(0);
    __syncthreads();
    sums[thread] = sum += other;
  }
  __syncthreads();
  whole = sums[kThreads - 1];
  __syncthreads();  // the next call writes the same memory
  return sum - value;
}

/// Sums of each block's elements.
template <class T>
DEVICE void scan_sums(const T* from, long long n, T* sums) {
  const long long first = static_cast<long long>(blockIdx.x) * kScanElements;
  T sum = 0, whole;
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    const long long number = first + i * kThreads + threadIdx.x;
    if (number < n) sum += from[number];
  }
  sum_before(sum, whole);
  if (threadIdx.x == 0) sums[blockIdx.x] = whole;
}
/// In place, by one block: the sums of what is before.
template <class T>
DEVICE void scan_of_sums(T* sums, long long count) {
  T before = 0;
  for (long long first = 0; first < count; first += kThreads) {
    const long long number = first + threadIdx.x;
    T whole;
    const T sum = sum_before(number < count ? sums[number] : T(0), whole);
    if (number < count) sums[number] = before + sum;
    before += whole;
  }
}
/// to[i] = first + what is before i; to[n] = first + all of it. May be in place.
template <class T>
DEVICE void scan_apply(const T* from, long long n, const T* sums, T first_value, T* to) {
  const long long first = static_cast<long long>(blockIdx.x) * kScanElements;
  const long long mine = first + static_cast<long long>(threadIdx.x) * kScanItems;
  T value[kScanItems], sum = 0, whole;
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    value[i] = mine + i < n ? from[mine + i] : T(0);
    sum += value[i];
  }
  T before = first_value + (sums != nullptr ? sums[blockIdx.x] : T(0)) + sum_before(sum, whole);
#pragma unroll
  for (int i = 0; i < kScanItems; ++i) {
    if (mine + i <= n) to[mine + i] = before;
    before += value[i];
  }
}

DEVICE int digit_of(unsigned key, int shift) {
  return static_cast<int>(key >> shift & (kDigits - 1u));
}

/// How often each digit is in each block's keys: counts[digit * blocks + block].
DEVICE void count_digits(const unsigned* keys, int n, int shift, int* counts) {
  __shared__ int all[kDigits];
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kDigits) all[thread] = 0;
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * kSortElements;
#pragma unroll
  for (int i = 0; i < kSortItems; ++i) {
    const int number = first + i * kThreads + thread;
    if (number < n) atomic_add(&all[digit_of(keys[number], shift)], 1);
  }
  __syncthreads();
  if (thread < kDigits) counts[thread * static_cast<int>(gridDim.x) + blockIdx.x] = all[thread];
}

/// A stable pass. Each thread has kSortItems neighbours; its digits are counted beside those of
/// the others, and a prefix sum along the threads says how many equal ones are before.
DEVICE void move_by_digit(const unsigned* keys, const unsigned* payloads, int n, int shift,
                          const int* starts, unsigned* to_keys, unsigned* to_payloads) {
  __shared__ unsigned short before[kDigits][kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kSortElements + thread * kSortItems;
#pragma unroll
  for (int digit = 0; digit < kDigits; ++digit) before[digit][thread] = 0;
  for (int i = 0; i < kSortItems; ++i)
    if (first + i < n) ++before[digit_of(keys[first + i], shift)][thread];
  __syncthreads();
  // A group of 16 threads for each digit, 16 counts for each of them.
  constexpr int kGroup = kThreads / kDigits, kEach = kThreads / kGroup;
  __shared__ unsigned short of_group[kDigits][kGroup];
  const int digit = thread / kGroup, part = thread % kGroup;
  unsigned short sum = 0;
  for (int i = 0; i < kEach; ++i) sum += before[digit][part * kEach + i];
  of_group[digit][part] = sum;
  __syncthreads();
  unsigned short running = 0;
  for (int other = 0; other < part; ++other) running += of_group[digit][other];
  for (int i = 0; i < kEach; ++i) {
    const unsigned short count = before[digit][part * kEach + i];
    before[digit][part * kEach + i] = running;
    running += count;
  }
  __syncthreads();
  for (int i = 0; i < kSortItems; ++i) {
    if (first + i >= n) return;
    const unsigned key = keys[first + i];
    const int which = digit_of(key, shift);
    const int to =
        starts[which * static_cast<int>(gridDim.x) + blockIdx.x] + before[which][thread]++;
    to_keys[to] = key;
    to_payloads[to] = payloads[first + i];
  }
}

/// The line of an entry, by a search among the offsets.
DEVICE long long line_of(const Sparse& a, long long entry) {
  long long low = 0, high = a.lines;
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (start_of(a, middle) <= entry) low = middle;
    else high = middle;
  }
  return low;
}
DEVICE void expand(const Sparse& a, const Indices& to, int base) {
  const long long entry = thread_number();
  if (entry < a.entries) put_index(to, entry, line_of(a, entry) + base);
}
/// The lines of every `apart`th entry, and of the last one.
DEVICE void divide(const Sparse& a, int parts, int apart, long long* lines) {
  const long long part = thread_number();
  if (part > parts) return;
  const long long entry = part * apart;
  lines[part] = line_of(a, entry < a.entries ? entry : a.entries - 1);
}
/// Offsets from positions, which ascend: the thread of an entry writes those of the lines that
/// start there.
DEVICE void compress(const Indices& positions, long long entries, int base, long long lines,
                     const Indices& offsets, int offset_base) {
  const long long entry = thread_number();
  if (entry > entries) return;
  const long long line = entry < entries ? index_at(positions, entry) - base : lines;
  const long long before = entry > 0 ? index_at(positions, entry - 1) - base : -1;
  for (long long next = before + 1; next <= line; ++next)
    put_index(offsets, next, entry + offset_base);
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

#define SCAN(T, suffix)                                                                \
  extern "C" __global__ void __launch_bounds__(kThreads)                               \
      sparse_scan_sums##suffix(const T* from, long long n, T* sums) {                  \
    scan_sums(from, n, sums);                                                          \
  }                                                                                    \
  extern "C" __global__ void __launch_bounds__(kThreads)                               \
      sparse_scan_of_sums##suffix(T* sums, long long count) {                          \
    scan_of_sums(sums, count);                                                         \
  }                                                                                    \
  extern "C" __global__ void __launch_bounds__(kThreads)                               \
      sparse_scan##suffix(const T* from, long long n, const T* sums, T first, T* to) { \
    scan_apply(from, n, sums, first, to);                                              \
  }
SCAN(int, )
SCAN(long long, _64)

extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_sort_count(const unsigned* keys, int n, int shift, int* counts) {
  count_digits(keys, n, shift, counts);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_sort_move(const unsigned* keys, const unsigned* payloads, int n, int shift,
                     const int* starts, unsigned* to_keys, unsigned* to_payloads) {
  move_by_digit(keys, payloads, n, shift, starts, to_keys, to_payloads);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_expand(const Sparse a, const Indices to, int base) {
  expand(a, to, base);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_divide(const Sparse a, int parts, int apart, long long* lines) {
  divide(a, parts, apart, lines);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_compress(const Indices positions, long long entries, int base, long long lines,
                    const Indices offsets, int offset_base) {
  compress(positions, entries, base, lines, offsets, offset_base);
}
extern "C" __global__ void sparse_identity(int* to, int n, int first) {
  const long long i = thread_number();
  if (i < n) to[i] = first + static_cast<int>(i);
}
/// to[i] = from[where[i]] + add, of indices.
extern "C" __global__ void sparse_pick(const Indices from, const int* where, int n, int add,
                                       int* to) {
  const long long i = thread_number();
  if (i < n) to[i] = static_cast<int>(index_at(from, where != nullptr ? where[i] : i)) + add;
}

/// The same of values.
#define PICK_VALUES(letter, T)                                                             \
  extern "C" __global__ void sparse_##letter##pick(const T* from, const int* where, int n, \
                                                   int conjugate, T* to) {                 \
    const long long i = thread_number();                                                   \
    if (i < n) to[i] = conjugated(from[where != nullptr ? where[i] : i], conjugate != 0);  \
  }
PICK_VALUES(s, float)
PICK_VALUES(d, double)
PICK_VALUES(c, ComplexFloat)
PICK_VALUES(z, ComplexDouble)
PICK_VALUES(h, Half)

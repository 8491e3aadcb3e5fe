// The lines' way from memory into shared memory and back, with what is done on the way: pairs of
// real numbers, spectra of real numbers, factors of Bluestein's algorithm, roots between passes.
#pragma once
#include "raddle/cufft/kernels/lines.h"

namespace raddle::cufft {

/// Where the block's lines begin, for all its threads.
template <int kThreads>
static __device__ __forceinline__ void find_lines(const Pass& p, Line (&lines)[kMaxBlockLines]) {
  static_assert(kThreads >= kMaxBlockLines);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < p.block_lines)
    lines[thread] = line_of(
        p, block_number() * static_cast<unsigned>(p.block_lines) + static_cast<unsigned>(thread));
  __syncthreads();
}

/// What is in flight at once of what a thread loads.
inline constexpr int kInFlight = 4;

template <class T>
struct Ends {
  const Pass& p;
  const Line* lines;
  Tile<T> tile;
  using C = Complex<T>;

  __device__ __forceinline__ const C* complex_in(int line) const {
    return static_cast<const C*>(p.in) + lines[line].in;
  }
  /// Of the array, for element j of a line.
  __device__ __forceinline__ int read_element(int line, int j) const {
    return lines[line].in_first + j * p.in_jump;
  }
  __device__ __forceinline__ int written_element(int line, int k) const {
    return lines[line].out_first + k * p.out_jump;
  }

  template <Kind kKind>
  __device__ __forceinline__ C load(int line, int element) const {
    if constexpr (kKind == kComplex) return complex_in(line)[element * p.in_step];
    const T* const real = static_cast<const T*>(p.in) + lines[line].in;
    if constexpr (kKind == kReal) return C{real[element * p.in_step], 0};
    if constexpr (kKind == kPair)
      return C{real[2 * element * p.in_step], real[(2 * element + 1) * p.in_step]};
    if constexpr (kKind == kHermitian) {
      const bool mirrored = element > p.in_count - element;
      const int there = mirrored ? p.in_count - element : element;
      const C value = complex_in(line)[there * p.in_step];
      return C{value.x, mirrored ? -value.y : element == 0 ? 0 : value.y};
    }
  }
  __device__ __forceinline__ void put(int line, int j, C value) const {
    if (p.swap_in != 0) value = swapped(value);
    if (p.in_factors != nullptr)
      value = times(value, static_cast<const C*>(p.in_factors)[read_element(line, j)]);
    tile(line, j) = value;
  }
  __device__ __forceinline__ C get(int line, int k) const {
    C value = tile(line, k);
    if (p.swap_before_factors != 0) value = swapped(value);
    if (p.out_factors != nullptr)
      value = times(value, static_cast<const C*>(p.out_factors)[written_element(line, k)]);
    if (p.root_axis >= 0)
      value = times(value, root_of<C>(p.roots, lines[line].turn * static_cast<unsigned>(k)));
    return p.swap_out != 0 ? swapped(value) : value;
  }

  /// Line and element of `number`, where each line has `by_each.by` of them. Both orders are one
  /// calculation, whose results are exchanged by a mask: no loop for each.
  __device__ __forceinline__ void find(int number, bool by_lines, const Divisor& by_each, int& line,
                                       int& element) const {
    // By value: addresses of parameters would bring them into local memory.
    const Divisor inner{by_lines ? p.by_lines.by : by_each.by,
                        by_lines ? p.by_lines.magic : by_each.magic,
                        by_lines ? p.by_lines.ones : by_each.ones};
    number = unknown(number);  // see stage_across
    const int mask = by_lines ? -1 : 0;
    const int quotient = divided(number, inner);
    const int rest = number - quotient * static_cast<int>(inner.by);
    const int exchanged = (quotient ^ rest) & mask;
    line = quotient ^ exchanged;
    element = rest ^ exchanged;
  }

  template <Kind kKind, int kThreads>
  __device__ __forceinline__ void load_all() const {
#pragma unroll 1
    for (int from = 0; from < p.block_lines * p.n; from += kInFlight * kThreads) {
      C values[kInFlight];
      int line[kInFlight], j[kInFlight];
      bool inside[kInFlight], there[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        find(from + i * kThreads + static_cast<int>(threadIdx.x), p.in_by_lines != 0, p.by_n,
             line[i], j[i]);
        values[i] = C{0, 0};
        inside[i] = line[i] < p.block_lines && j[i] < p.n;
        if (!inside[i]) continue;
        const int element = read_element(line[i], j[i]);
        there[i] = element < p.in_count && lines[line[i]].exists;
        if (there[i]) values[i] = load<kKind>(line[i], element);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i)
        if (inside[i] && there[i]) put(line[i], j[i], values[i]);
        else if (inside[i]) tile(line[i], j[i]) = C{0, 0};
    }
  }

  /// Spectra of 2 h real numbers become those of h pairs; elements k and h - k come from k and
  /// h - k. The imaginary parts of elements 0 and h do not count.
  template <int kThreads>
  __device__ __forceinline__ void join_all() const {
    const int h = p.in_count, pairs = static_cast<int>(p.by_pairs.by);
#pragma unroll 1
    for (int number = static_cast<int>(threadIdx.x); number < p.block_lines * pairs;
         number += kThreads) {
      int line, k;
      find(number, p.in_by_lines != 0, p.by_pairs, line, k);
      if (!lines[line].exists) continue;
      C low = complex_in(line)[k * p.in_step], high = complex_in(line)[(h - k) * p.in_step];
      join_pair(p.roots, k, low, high);
      put(line, k, low);
      if (k > 0 && 2 * k != h) put(line, h - k, high);
    }
    // What Bluestein's algorithm has behind them.
#pragma unroll 1
    for (int number = static_cast<int>(threadIdx.x); number < p.block_lines * p.n;
         number += kThreads) {
      const int line = divided(number, p.by_n), j = number - line * p.n;
      if (j >= h) tile(line, j) = C{0, 0};
    }
  }

  template <int kThreads>
  __device__ __forceinline__ void fill() const {
    switch (p.in_kind) {
      case kComplex:
        return load_all<kComplex, kThreads>();
      case kReal:
        return load_all<kReal, kThreads>();
      case kPair:
        return load_all<kPair, kThreads>();
      case kHermitian:
        return load_all<kHermitian, kThreads>();
      case kHalf:
        return join_all<kThreads>();
    }
  }

  __device__ __forceinline__ void store(int line, int element, C value) const {
    C* const complex = static_cast<C*>(p.out) + lines[line].out;
    T* const real = static_cast<T*>(p.out) + lines[line].out;
    if (p.out_kind == kReal) {
      real[element * p.out_step] = value.x;
    } else if (p.out_kind == kPair) {
      real[2 * element * p.out_step] = value.x;
      real[(2 * element + 1) * p.out_step] = value.y;
    } else {
      complex[element * p.out_step] = value;
    }
  }

  template <int kThreads>
  __device__ __forceinline__ void empty() const {
    const bool halves = p.out_kind == kHalf;
    const Divisor each = halves ? p.by_pairs : p.by_n;
#pragma unroll 1
    for (int number = static_cast<int>(threadIdx.x);
         number < p.block_lines * static_cast<int>(each.by); number += kThreads) {
      int line, k;
      find(number, p.out_by_lines != 0, each, line, k);
      if (line >= p.block_lines || !lines[line].exists) continue;
      const int element = written_element(line, k);
      if (!halves && element >= p.out_count) continue;
      C low = get(line, k);
      if (halves) {
        const int h = p.out_count;
        C high = get(line, k == 0 ? 0 : h - k);
        split_pair(p.roots, k, low, high);
        store(line, h - k, high);
      }
      store(line, element, low);
    }
  }
};

}  // namespace raddle::cufft

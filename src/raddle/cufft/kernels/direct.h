// Complex transforms of powers of two, from 8 on: a thread loads its eight elements from memory
// into registers, and stores them from there. Shared memory is for what is between two stages.
// Length and lines of a block are known when it is compiled, so most addresses are constants. One
// end may be the spectrum of twice as many real numbers, which the other end has in pairs.
#pragma once
#include "raddle/cufft/kernels/lines.h"

namespace raddle::cufft {

/// A thread's eight elements: b, b + span, ..., b + 7 span of a line, span = n / 8.
struct Share {
  int line, b;
};

template <int kLogN, int kLogLines>
static __device__ __forceinline__ Share share_of(bool by_lines) {
  constexpr int kLogSpan = kLogN - kEachLog;
  const int thread = static_cast<int>(threadIdx.x);
  if (by_lines) return {thread & ((1 << kLogLines) - 1), thread >> kLogLines};
  return {thread >> kLogSpan, thread & ((1 << kLogSpan) - 1)};
}

/// Elements first, first + kStep, ..., as an address and constants: adding i kStep carries nothing
/// into the padding that first has not, as first is below kStep, or that and a multiple of 8 kStep.
template <class T>
static __device__ __forceinline__ constexpr int apart(int i, int step) {
  return padded<T>(i * step);
}

/// The last stage: one butterfly of 8, two of 4, or four of 2.
template <int kLogN, int kLogDone, class C>
static __device__ __forceinline__ void last_stage(C (&v)[kEach], const C* twiddles, int b) {
  constexpr int kSpan = 1 << (kLogN - kEachLog), kLeft = kLogN - kLogDone;
  static_assert(kLeft >= 1 && kLeft <= kEachLog);
  if constexpr (kLeft == 3) {
    twiddle(v, twiddles + b, kSpan);
    butterfly8(v);
  } else if constexpr (kLeft == 2) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      C four[4] = {v[c], v[c + 2], v[c + 4], v[c + 6]};
      twiddle(four, twiddles + b + c * kSpan, 2 * kSpan);
      butterfly<4>(four);
#pragma unroll
      for (int i = 0; i < 4; ++i) v[c + 2 * i] = four[i];
    }
  } else {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      v[c + 4] = times(v[c + 4], twiddles[b + c * kSpan]);
      butterfly2(v[c], v[c + 4]);
    }
  }
}

/// Multiplies element k = b + i span with w^(k turn).
template <class C>
static __device__ __forceinline__ void turn_all(const Pass& p, unsigned turn, int b, int span,
                                                C (&v)[kEach]) {
  const unsigned step = turn * static_cast<unsigned>(span);
  C power[kEach];
  power[0] = root_of<C>(p.roots, turn * static_cast<unsigned>(b));
#pragma unroll
  for (int high = 1; high < kEach; high *= 2) {
    const C root = root_of<C>(p.roots, step * static_cast<unsigned>(high));
#pragma unroll
    for (int i = 0; i < high; ++i) power[high + i] = times(power[i], root);
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) v[i] = times(v[i], power[i]);
}

/// What is between the first stage and the end of the last one. `share` becomes that of the stores.
template <class T, int kLogN, int kLogLines>
static __device__ __forceinline__ void other_stages(const Pass& p, const Tile<T>& tile,
                                                    Share& share, Complex<T> (&v)[kEach]) {
  using C = Complex<T>;
  constexpr int kSpan = 1 << (kLogN - kEachLog), kLogLast = (kLogN - 1) / kEachLog * kEachLog;
  const C* twiddles = static_cast<const C*>(p.twiddles);
  C* to = &tile(share.line, share.b * kEach);
#pragma unroll
  for (int i = 0; i < kEach; ++i) to[apart<T>(i, 1)] = v[i];
  __syncthreads();
#pragma unroll
  for (int log_done = kEachLog; log_done < kLogLast; log_done += kEachLog) {
    const int done = 1 << log_done, j = share.b & (done - 1);
    const C* const from = &tile(share.line, share.b);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = from[apart<T>(i, kSpan)];
    __syncthreads();
    twiddle(v, twiddles + j, done);
    butterfly8(v);
    to = &tile(share.line, ((share.b - j) << kEachLog) + j);
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[apart<T>(i, done)] = v[i];
    __syncthreads();
    twiddles += 3 * done;
  }
  if (p.in_by_lines != p.out_by_lines) share = share_of<kLogN, kLogLines>(p.out_by_lines != 0);
  const C* const from = &tile(share.line, share.b);
#pragma unroll
  for (int i = 0; i < kEach; ++i) v[i] = from[apart<T>(i, kSpan)];
  last_stage<kLogN, kLogLast>(v, twiddles, share.b);
}

/// From the spectrum of real numbers to that of pairs, into shared memory. A thread has elements
/// b + i span of the lower half, and what mirrors them; the middle one is its own mirror.
template <class T, int kLogN>
static __device__ __forceinline__ void join_line(const Pass& p, const Tile<T>& tile,
                                                 const Share& share, const Line& line) {
  using C = Complex<T>;
  constexpr int kN = 1 << kLogN, kSpan = 1 << (kLogN - kEachLog);
  const C* const from = static_cast<const C*>(p.in) + line.in;
  C low[kEach / 2], high[kEach / 2];
#pragma unroll
  for (int i = 0; i < kEach / 2; ++i) {
    const int k = share.b + i * kSpan;
    low[i] = line.exists ? from[k * p.in_step] : C{0, 0};
    high[i] = line.exists ? from[(kN - k) * p.in_step] : C{0, 0};
  }
#pragma unroll
  for (int i = 0; i < kEach / 2; ++i) {
    const int k = share.b + i * kSpan;
    join_pair(p.roots, k, low[i], high[i]);
    tile(share.line, k) = low[i];
    if (k > 0) tile(share.line, kN - k) = high[i];
  }
  if (share.b != 0) return;
  C middle = line.exists ? from[kN / 2 * p.in_step] : C{0, 0}, mirror = middle;
  join_pair(p.roots, kN / 2, middle, mirror);
  tile(share.line, kN / 2) = middle;
}

/// The way back, from shared memory.
template <class T, int kLogN>
static __device__ __forceinline__ void split_line(const Pass& p, const Tile<T>& tile,
                                                  const Share& share, const Line& line) {
  using C = Complex<T>;
  constexpr int kN = 1 << kLogN, kSpan = 1 << (kLogN - kEachLog);
  C* const to = static_cast<C*>(p.out) + line.out;
#pragma unroll
  for (int i = 0; i < kEach / 2; ++i) {
    const int k = share.b + i * kSpan;
    C low = tile(share.line, k), high = tile(share.line, k == 0 ? 0 : kN - k);
    split_pair(p.roots, k, low, high);
    to[k * p.out_step] = low;
    to[(kN - k) * p.out_step] = high;
  }
  if (share.b != 0) return;
  C middle = tile(share.line, kN / 2), mirror = middle;
  split_pair(p.roots, kN / 2, middle, mirror);
  to[kN / 2 * p.out_step] = middle;
}

template <class T, int kLogN>
static __device__ __forceinline__ void load_line(const Pass& p, const Tile<T>& tile,
                                                 const Share& share, const Line& line,
                                                 Complex<T> (&v)[kEach]) {
  using C = Complex<T>;
  constexpr int kSpan = 1 << (kLogN - kEachLog);
  if (p.in_kind == kHalf) {
    join_line<T, kLogN>(p, tile, share, line);
    __syncthreads();
    const C* const from = &tile(share.line, share.b);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = from[apart<T>(i, kSpan)];
    __syncthreads();
  } else {
    const C* const from =
        static_cast<const C*>(p.in) + line.in + (line.in_first + share.b * p.in_jump) * p.in_step;
    const long long in_apart = kSpan * p.in_jump * p.in_step;
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = line.exists ? from[i * in_apart] : C{0, 0};
  }
  if (p.swap_in != 0) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = swapped(v[i]);
  }
}

template <class T, int kLogN>
static __device__ __forceinline__ void store_line(const Pass& p, const Tile<T>& tile,
                                                  const Share& share, const Line& line,
                                                  Complex<T> (&v)[kEach]) {
  using C = Complex<T>;
  constexpr int kSpan = 1 << (kLogN - kEachLog);
  if (p.out_kind == kHalf) {
    __syncthreads();
    C* const to = &tile(share.line, share.b);
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[apart<T>(i, kSpan)] = v[i];
    __syncthreads();
    if (line.exists) split_line<T, kLogN>(p, tile, share, line);
    return;
  }
  if (!line.exists) return;
  if (p.root_axis >= 0) turn_all(p, line.turn, share.b, kSpan, v);
  if (p.swap_out != 0) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = swapped(v[i]);
  }
  C* const to =
      static_cast<C*>(p.out) + line.out + (line.out_first + share.b * p.out_jump) * p.out_step;
  const long long out_apart = kSpan * p.out_jump * p.out_step;
#pragma unroll
  for (int i = 0; i < kEach; ++i) to[i * out_apart] = v[i];
}

template <class T, int kLogN, int kLogLines>
static __device__ __forceinline__ void direct(const Pass& p) {
  __shared__ Complex<T> memory[shared_elements<T>(1 << (kLogN + kLogLines))];
  const Tile<T> tile{memory, p.pitch};
  const unsigned first = block_number() << kLogLines;
  Share share = share_of<kLogN, kLogLines>(p.in_by_lines != 0);
  Line line = line_of(p, first + static_cast<unsigned>(share.line));
  Complex<T> v[kEach];
  load_line<T, kLogN>(p, tile, share, line, v);
  butterfly8(v);
  if constexpr (kLogN > kEachLog) {
    other_stages<T, kLogN, kLogLines>(p, tile, share, v);
    if (p.in_by_lines != p.out_by_lines)
      line = line_of(p, first + static_cast<unsigned>(share.line));
  }
  store_line<T, kLogN>(p, tile, share, line, v);
}

}  // namespace raddle::cufft

// A kernel fft_<type>_direct_<n>x<lines>. Bounds say how many blocks an SM is to hold: as many as
// the registers allow that ptxas gives them (64 a thread, 80 of double precision).
#define DIRECT(type, T, n, log_n, lines, log_lines)                       \
  extern "C" __global__ void __launch_bounds__(                           \
      n* lines / raddle::cufft::kEach,                                    \
      (sizeof(T) == 4 ? 1024 : 768) * raddle::cufft::kEach / (n * lines)) \
      fft_##type##_direct_##n##x##lines(const raddle::cufft::Pass p) {    \
    static_assert(n == 1 << log_n && lines == 1 << log_lines);            \
    raddle::cufft::direct<T, log_n, log_lines>(p);                        \
  }

// Where the lines of a pass begin, and the steps of their transforms in shared memory.
#pragma once
#include "raddle/cufft/kernels/butterflies.h"

namespace raddle::cufft {

struct Line {
  long long in, out;        ///< where its array begins
  int in_first, out_first;  ///< the line's first element of the array
  unsigned turn;            ///< its number on the axis of roots
  bool exists;
};

static __device__ __forceinline__ Line line_of(const Pass& p, unsigned number) {
  Line line{0, 0, 0, 0, 0, number < p.line_count};
#pragma unroll
  for (int i = 0; i < kMaxAxes; ++i) {
    if (i >= p.axis_count) break;
    const unsigned rest = i + 1 < p.axis_count ? number / p.axes[i].count : 0;
    const unsigned here = number - rest * p.axes[i].count;
    line.in += here * p.axes[i].in;
    line.out += here * p.axes[i].out;
    line.in_first += static_cast<int>(here) * p.axes[i].in_first;
    line.out_first += static_cast<int>(here) * p.axes[i].out_first;
    if (i == p.root_axis) line.turn = here;
    number = rest;
  }
  return line;
}

/// Grids of old machines have at most 65,535 blocks in a dimension: the host takes two.
static __device__ __forceinline__ unsigned block_number() {
  return blockIdx.y * gridDim.x + blockIdx.x;
}

static __device__ __forceinline__ int divided(int number, const Divisor& divisor) {
  const auto n = static_cast<unsigned>(number);
  return static_cast<int>(__umulhi(n, divisor.magic) + (n & divisor.ones));
}

template <class T>
static __device__ __forceinline__ int padded(int element) {
  return element + (element >> kPadShift<T>);
}

/// Complex numbers of a block's lines in shared memory.
template <class T>
struct Tile {
  Complex<T>* at;
  int pitch;
  __device__ __forceinline__ Complex<T>& operator()(int line, int element) const {
    return at[line * pitch + padded<T>(element)];
  }
};

/// One butterfly, number `b` of its line, from where its elements lie to where they belong.
template <int kRadix, class T>
static __device__ __forceinline__ void load_butterfly(const Stage& stage, const Tile<T>& tile,
                                                      int line, int b, Complex<T> (&v)[kRadix]) {
#pragma unroll
  for (int i = 0; i < kRadix; ++i) v[i] = tile(line, b + i * static_cast<int>(stage.span.by));
}
template <int kRadix, class T>
static __device__ __forceinline__ void finish_butterfly(const Pass& p, const Stage& stage,
                                                        const Tile<T>& tile, int line, int b,
                                                        Complex<T> (&v)[kRadix]) {
  const int done = static_cast<int>(stage.done.by);
  const int group = divided(b, stage.done), j = b - group * done;
  if (done > 1) twiddle(v, static_cast<const Complex<T>*>(p.twiddles) + stage.twiddles + j, done);
  butterfly(v);
#pragma unroll
  for (int i = 0; i < kRadix; ++i) tile(line, (group * kRadix + i) * done + j) = v[i];
}

/// In one tile: all butterflies of a block are in registers before one is written.
template <int kRadix, int kThreads, class T>
static __device__ __forceinline__ void stage_in_place(const Pass& p, const Stage& stage,
                                                      const Tile<T>& tile) {
  constexpr int kCount = kEach / kRadix;
  Complex<T> v[kCount][kRadix];
  const int span = static_cast<int>(stage.span.by), all = p.block_lines * span;
#pragma unroll
  for (int c = 0; c < kCount; ++c) {
    const int number = static_cast<int>(threadIdx.x) + c * kThreads;
    const int line = divided(number, stage.span);
    if (number < all) load_butterfly(stage, tile, line, number - line * span, v[c]);
  }
  __syncthreads();
#pragma unroll
  for (int c = 0; c < kCount; ++c) {
    const int number = static_cast<int>(threadIdx.x) + c * kThreads;
    const int line = divided(number, stage.span);
    if (number < all) finish_butterfly(p, stage, tile, line, number - line * span, v[c]);
  }
  __syncthreads();
}

/// From one tile to another: one butterfly after another.
template <int kRadix, int kThreads, class T>
static __device__ __forceinline__ void stage_across(const Pass& p, const Stage& stage,
                                                    const Tile<T>& from, const Tile<T>& to) {
  const int span = static_cast<int>(stage.span.by), all = p.block_lines * span;
#pragma unroll 1
  for (int next = static_cast<int>(threadIdx.x); next < all; next += kThreads) {
    // Or addresses would be derived from the loop's counter, in 64 bits, at twice the length.
    const int number = unknown(next);
    const int line = divided(number, stage.span), b = number - line * span;
    Complex<T> v[kRadix];
    load_butterfly(stage, from, line, b, v);
    finish_butterfly(p, stage, to, line, b, v);
  }
  __syncthreads();
}

/// The transforms of the tile's lines, of powers of two. All threads begin and end together.
template <int kThreads, class T>
static __device__ __forceinline__ void do_stages(const Pass& p, const Tile<T>& tile) {
#pragma unroll 1
  for (int number = 0; number < p.stage_count; ++number) {
    const Stage& stage = p.stages[number];
    if (stage.radix == 8) stage_in_place<8, kThreads>(p, stage, tile);
    else if (stage.radix == 4) stage_in_place<4, kThreads>(p, stage, tile);
    else stage_in_place<2, kThreads>(p, stage, tile);
  }
}

/// Of all lengths, with `other` for half of the stages. `tile` is that of the results.
template <int kThreads, class T>
static __device__ __forceinline__ void do_all_stages(const Pass& pass, Tile<T>& tile,
                                                     Tile<T> other) {
#pragma unroll 1
  for (int number = 0; number < pass.stage_count; ++number) {
    const Stage& stage = pass.stages[number];
    switch (stage.radix) {
      case 2:
        stage_across<2, kThreads>(pass, stage, tile, other);
        break;
      case 3:
        stage_across<3, kThreads>(pass, stage, tile, other);
        break;
      case 4:
        stage_across<4, kThreads>(pass, stage, tile, other);
        break;
      case 5:
        stage_across<5, kThreads>(pass, stage, tile, other);
        break;
      case 7:
        stage_across<7, kThreads>(pass, stage, tile, other);
        break;
      case 8:
        stage_across<8, kThreads>(pass, stage, tile, other);
        break;
      case 11:
        stage_across<11, kThreads>(pass, stage, tile, other);
        break;
      default:
        stage_across<13, kThreads>(pass, stage, tile, other);
    }
    const Tile<T> last = tile;
    tile = other;
    other = last;
  }
}

}  // namespace raddle::cufft

// Matrix products on the arithmetic units of all machines: a block makes a square tile of D. Its
// panels of A and B go through shared memory, widened to the type of the sums, so that lines of a
// tile's depth lie one after another whichever way the operand is transposed; the next panels are
// on their way in registers while those of one step are multiplied.
#include "raddle/cublas/kernels/finish.h"

namespace raddle::cublas {

/// `kTile` rows of op(A), or columns of op(B).
template <class In, class Acc, int kTile, int kDepth>
struct Panel {
  static constexpr int kEach = kTile * kDepth / kSimtThreads;
  const In* at;
  long long ld;
  int first, count, depth;  ///< the tile's first line, how many there are, their length
  bool along_depth;         ///< what lies side by side in memory
  Acc held[kEach];

  __device__ __forceinline__ void fetch(int from) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int number = static_cast<int>(threadIdx.x) + i * kSimtThreads;
      const int line = first + (along_depth ? number / kDepth : number % kTile);
      const int step = from + (along_depth ? number % kDepth : number / kTile);
      const bool inside = line < count && step < depth;
      const long long where = along_depth ? line * ld + step : step * ld + line;
      held[i] = inside ? widened<Acc>(at[where]) : Acc{};
    }
  }
  __device__ __forceinline__ void put(Acc (*tile)[kTile + 4]) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int number = static_cast<int>(threadIdx.x) + i * kSimtThreads;
      if (along_depth) tile[number % kDepth][number / kDepth] = held[i];
      else tile[number / kTile][number % kTile] = held[i];
    }
  }
};

// A function, because clang takes the alignment of a dereferenced array element from the array.
template <class Acc>
static __device__ __forceinline__ void load_four(const Acc* from, Acc* to) {
  using Four = Acc __attribute__((ext_vector_type(4)));
  const Four four = *reinterpret_cast<const Four*>(from);
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = four[i];
}

/// A thread makes groups of 4 x 4 elements, which lie kTile / kGroups apart.
template <class Acc, int kTile, int kDepth>
static __device__ __forceinline__ void multiply(const Acc (*left)[kTile + 4],
                                                const Acc (*right)[kTile + 4], int x, int y,
                                                Acc (*sum)[kTile / 16]) {
  constexpr int kSide = kTile / 16, kGroups = kSide / 4;
  constexpr int kUnroll = kTile == kLargeTile ? 2 : kDepth;  // or registers would not do
#pragma unroll kUnroll
  for (int step = 0; step < kDepth; ++step) {
    Acc l[kSide], r[kSide];
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      load_four(&left[step][group * 64 + x * 4], l + group * 4);
      load_four(&right[step][group * 64 + y * 4], r + group * 4);
    }
#pragma unroll
    for (int j = 0; j < kSide; ++j)
#pragma unroll
      for (int i = 0; i < kSide; ++i) sum[j][i] += l[i] * r[j];
  }
}

template <class In, class Acc, int kTile, int kDepth, class Finish>
static __device__ __forceinline__ void gemm(const Gemm& g) {
  constexpr int kSide = kTile / 16;
  __shared__ __align__(16) Acc left[2][kDepth][kTile + 4];
  __shared__ __align__(16) Acc right[2][kDepth][kTile + 4];
  const int tiles = (g.m - 1) / kTile + 1;
  const int row0 = static_cast<int>(blockIdx.x) % tiles * kTile;
  const int column0 = static_cast<int>(blockIdx.x) / tiles * kTile;
  const int number = g.first + static_cast<int>(blockIdx.z);
  const Finish finish(g, number);
  const int depth = finish.wants_products() ? g.k : 0;
  Panel<In, Acc, kTile, kDepth> a{matrix<const In>(g.a, number), g.a.ld, row0, g.m, depth,
                                  g.transposed_a != 0,           {}};
  Panel<In, Acc, kTile, kDepth> b{matrix<const In>(g.b, number), g.b.ld, column0, g.n, depth,
                                  g.transposed_b == 0,           {}};
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  Acc sum[kSide][kSide] = {};

  // Each round fetches a step's panels and multiplies those of the step before.
#pragma unroll 1
  for (int from = 0, now = 0;; from += kDepth, now ^= 1) {
    const bool more = from < depth;
    if (more) {
      a.fetch(from);
      b.fetch(from);
    }
    if (from > 0) multiply<Acc, kTile, kDepth>(left[now ^ 1], right[now ^ 1], x, y, sum);
    if (!more) break;
    a.put(left[now]);
    b.put(right[now]);
    __syncthreads();
  }

  // A column at a time, which the others take the place of: no more code than for one.
#pragma unroll 1
  for (int j = 0; j < kSide; ++j) {
    const int column = column0 + j / 4 * 64 + y * 4 + j % 4;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      const int row = row0 + i / 4 * 64 + x * 4 + i % 4;
      if (row < g.m && column < g.n) finish.put(row, column, sum[0][i]);
    }
#pragma unroll
    for (int next = 1; next < kSide; ++next)
#pragma unroll
      for (int i = 0; i < kSide; ++i) sum[next - 1][i] = sum[next][i];
  }
}

}  // namespace raddle::cublas

using namespace raddle::cublas;

// Bounds say how many blocks an SM is to hold: as many as the registers allow that ptxas gives
// them (80 a thread, 128 of the double and the large ones).
#define GEMM(name, In, Acc, tile, depth, blocks, Finish)                                  \
  extern "C" __global__ void __launch_bounds__(kSimtThreads, blocks) name(const Gemm g) { \
    gemm<In, Acc, tile, depth, Finish>(g);                                                \
  }
GEMM(blas_sgemm_128x128, float, float, kLargeTile, 8, 2, PlainFinish<float>)
GEMM(blas_sgemm_64x64, float, float, kSmallTile, 8, 3, PlainFinish<float>)
GEMM(blas_sgemm_bias_64x64, float, float, kSmallTile, 8, 3, FloatFinish)
GEMM(blas_dgemm_64x64, double, double, kSmallTile, 8, 2, PlainFinish<double>)
GEMM(blas_hgemm_64x64, Half, float, kSmallTile, 8, 3, FloatFinish)
GEMM(blas_bgemm_64x64, Bfloat, float, kSmallTile, 8, 3, FloatFinish)
GEMM(blas_igemm_64x64, signed char, int, kSmallTile, 8, 3, PlainFinish<int>)
GEMM(blas_igemm_float_64x64, signed char, int, kSmallTile, 8, 3, FloatFinish)

// Matrix products by warp-wide matrix instructions. Panels of A and B lie in shared memory as they
// do in global memory, so that a transposed operand is a matter of how its fragments are loaded.
// Each has 64 bytes along its depth, fetched in chunks of 16; the next panels are on their way in
// registers while those of one step are multiplied.
#pragma once
#include "raddle/cublas/kernels/finish.h"

namespace raddle::cublas {

inline constexpr int kChunkBytes = 16, kDepthBytes = 64;  // bytes
inline constexpr int kFragment = 16;                      // rows and columns

/// How much of a chunk there is.
template <class Element>
static __device__ __forceinline__ uint4 load_chunk(const Element* from, int count, bool aligned) {
  constexpr int kCount = kChunkBytes / sizeof(Element);
  uint4 out = {};
  if (count <= 0) return out;
  if (aligned && count >= kCount) return *reinterpret_cast<const uint4*>(from);
  constexpr unsigned kPerWord = 4 / sizeof(Element);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (i < count)
      out[i / kPerWord] |= static_cast<unsigned>(from[i]) << (i % kPerWord * 8 * sizeof(Element));
  return out;
}

/// `kTile` rows of op(A), or columns of op(B), as lines in memory: along the depth, or across.
template <class Element, int kTile, bool kAlongDepth>
struct TensorPanel {
  static constexpr int kCount = kChunkBytes / sizeof(Element);
  static constexpr int kDepth = kDepthBytes / sizeof(Element);
  static constexpr int kLine = kAlongDepth ? kDepth : kTile;
  static constexpr int kLines = kAlongDepth ? kTile : kDepth;
  static constexpr int kStride = kLine + kCount;  // padded: lines begin in different banks
  static constexpr int kElements = kStride * kLines;
  static constexpr int kChunksOfLine = kLine / kCount, kThreads = tensor_threads(kTile);
  static constexpr int kEach = kChunksOfLine * kLines / kThreads;
  const Element* at;
  long long ld;
  int first, count, depth;
  bool aligned;
  uint4 held[kEach];

  __device__ __forceinline__ TensorPanel(const Operand& operand, int number, int first_line,
                                         int lines, int deep)
      : at(matrix<const Element>(operand, number)),
        ld(operand.ld),
        first(first_line),
        count(lines),
        depth(deep),
        aligned(((reinterpret_cast<unsigned long long>(at) | ld * sizeof(Element)) &
                 (kChunkBytes - 1)) == 0) {}

  __device__ __forceinline__ void fetch(int from) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int chunk = static_cast<int>(threadIdx.x) + i * kThreads;
      const int line = chunk / kChunksOfLine + (kAlongDepth ? first : from);
      const int start = chunk % kChunksOfLine * kCount + (kAlongDepth ? from : first);
      const int lines = kAlongDepth ? count : depth, length = kAlongDepth ? depth : count;
      held[i] = load_chunk(at + line * ld + start, line < lines ? length - start : 0, aligned);
    }
  }
  template <class Kind>
  __device__ __forceinline__ void put(Element* panel) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int chunk = static_cast<int>(threadIdx.x) + i * kThreads;
      Element* const to = panel + chunk / kChunksOfLine * kStride + chunk % kChunksOfLine * kCount;
      *reinterpret_cast<uint4*>(to) = Kind::prepared(held[i]);
    }
  }
  /// The fragment whose first line of the tile is `line`, at this depth.
  static __device__ __forceinline__ const Element* fragment(const Element* panel, int line,
                                                            int step) {
    return panel + (kAlongDepth ? line * kStride + step : step * kStride + line);
  }
};

/// 16 columns of the warp's part of the tile go through its own part of shared memory, so that a
/// thread knows where its elements belong and neighbours store side by side.
template <class Kind, class Finish, int kRows>
static __device__ __forceinline__ void finish_columns(
    const Finish& finish, const Gemm& g, int row, int column,
    const typename Kind::Sum (&sum)[kRows / kFragment][8], typename Kind::Sum* own) {
  constexpr int kStride = kRows + 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < kRows / kFragment; ++i) Kind::store(own + i * kFragment, sum[i], kStride);
  __nvvm_bar_warp_sync(~0u);
#pragma unroll 1
  for (int element = lane; element < kRows * kFragment; element += 32) {
    const int i = element % kRows, j = element / kRows;
    if (row + i < g.m && column + j < g.n) finish.put(row + i, column + j, own[j * kStride + i]);
  }
  __nvvm_bar_warp_sync(~0u);
}

inline constexpr int kAcross = 2;  ///< fragments of a warp, along a row

template <class Kind, class Left, class Right, bool kTransA, bool kTransB, int kDown>
static __device__ __forceinline__ void multiply_panels(
    const typename Kind::Element* left, int row, int column,
    typename Kind::Sum (&sum)[kAcross][kDown][8]) {
  const typename Kind::Element* const right = left + Left::kElements;
#pragma unroll
  for (int step = 0; step < Left::kDepth; step += Kind::kStep) {
    typename Kind::FragmentA l[kDown];
    typename Kind::FragmentB r[kAcross];
#pragma unroll
    for (int i = 0; i < kDown; ++i)
      Kind::template load_a<kTransA>(l[i], Left::fragment(left, row + i * kFragment, step),
                                     Left::kStride);
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
      Kind::template load_b<kTransB>(r[j], Right::fragment(right, column + j * kFragment, step),
                                     Right::kStride);
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        Kind::template multiply<kTransA, kTransB>(sum[j][i], l[i], r[j]);
  }
}

template <class Kind, class Finish, int kTile, bool kTransA, bool kTransB>
static __device__ __forceinline__ void tensor_gemm(const Gemm& gemm) {
  using Element = typename Kind::Element;
  using Sum = typename Kind::Sum;
  using Left = TensorPanel<Element, kTile, kTransA>;
  using Right = TensorPanel<Element, kTile, !kTransB>;
  constexpr int kDown = kTile / 2 / kFragment;
  constexpr int kBoth = Left::kElements + Right::kElements;
  __shared__ __align__(128) Element panels[2 * kBoth];
  const int tiles = (gemm.m - 1) / kTile + 1;
  const int row0 = static_cast<int>(blockIdx.x) % tiles * kTile;
  const int column0 = static_cast<int>(blockIdx.x) / tiles * kTile;
  const int number = gemm.first + static_cast<int>(blockIdx.z);
  const Finish finish(gemm, number);
  const int depth = finish.wants_products() ? gemm.k : 0;
  Left from_a(gemm.a, number, row0, gemm.m, depth);
  Right from_b(gemm.b, number, column0, gemm.n, depth);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp % 2 * (kTile / 2), column = warp / 2 * 32;  // of the tile
  Sum sum[kAcross][kDown][8] = {};

  // Each round fetches a step's panels and multiplies those of the step before.
#pragma unroll 1
  for (int from = 0, now = 0;; from += Left::kDepth, now ^= 1) {
    const bool more = from < depth;
    if (more) {
      from_a.fetch(from);
      from_b.fetch(from);
    }
    if (from > 0)
      multiply_panels<Kind, Left, Right, kTransA, kTransB>(panels + (now ^ 1) * kBoth, row, column,
                                                           sum);
    if (!more) break;
    from_a.template put<Kind>(panels + now * kBoth);
    from_b.template put<Kind>(panels + now * kBoth + Left::kElements);
    __syncthreads();
  }

  __syncthreads();  // panels are read no more
  Sum* const own = reinterpret_cast<Sum*>(panels) + warp * kFragment * (kTile / 2 + 4);
#pragma unroll 1
  for (int j = 0; j < kAcross; ++j) {
    finish_columns<Kind, Finish, kTile / 2>(finish, gemm, row0 + row,
                                            column0 + column + j * kFragment, sum[0], own);
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int part = 0; part < 8; ++part) sum[0][i][part] = sum[1][i][part];
  }
}

}  // namespace raddle::cublas

// A kernel for each way to transpose; the layouts of fragments are part of the instructions.
#define TENSOR_GEMM(name, tile, Kind, Finish, letters, trans_a, trans_b)             \
  extern "C" __global__ void __launch_bounds__(raddle::cublas::tensor_threads(tile), \
                                               raddle::cublas::tensor_blocks(tile))  \
      name##_##tile##x##tile##_##letters(const raddle::cublas::Gemm g) {             \
    raddle::cublas::tensor_gemm<Kind, Finish, tile, trans_a, trans_b>(g);            \
  }
#define TENSOR_GEMMS(name, tile, Kind, Finish)            \
  TENSOR_GEMM(name, tile, Kind, Finish, nn, false, false) \
  TENSOR_GEMM(name, tile, Kind, Finish, nt, false, true)  \
  TENSOR_GEMM(name, tile, Kind, Finish, tn, true, false)  \
  TENSOR_GEMM(name, tile, Kind, Finish, tt, true, true)

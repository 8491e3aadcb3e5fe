// Products of the tokens of each expert with its weights, by the tiles of gemm_mma. See README.md.
#pragma once
#include "gemm_mma/tile.h"

namespace moe_of {

using gemm_of::kChunks;
using gemm_of::kDepth;
using gemm_of::kRowBytes;

/// As gemm_of::DenseCopies, of rows whose numbers are in a list.
template <unsigned kRows, unsigned kThreads>
struct GatheredCopies {
  static constexpr unsigned kApart = kThreads / kChunks, kCount = kRows / kApart;
  static constexpr unsigned kOfStep = kCount / gemm_of::kSteps;
  static_assert(kRows % kApart == 0 && kApart % 8 == 0 && kCount % gemm_of::kSteps == 0);
  const half_bits *from, *next;
  unsigned begins[kCount];  // of the thread's rows, in chunks: one register each
  unsigned left;            // of the list, from the thread's first row on
  SharedAddress to;

  __device__ __forceinline__ GatheredCopies(const half_bits* matrix, const unsigned* list,
                                            unsigned count, unsigned depth, SharedAddress panel)
      : from(matrix + threadIdx.x % kChunks * 8),
        next(from),
        to(panel + gemm_of::slot(threadIdx.x / kChunks, threadIdx.x % kChunks)) {
    const unsigned row = threadIdx.x / kChunks;
    left = row < count ? count - row : 0;
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i)
      begins[i] = i * kApart < left ? list[row + i * kApart] * (depth / 8) : 0;
  }
  __device__ __forceinline__ void begin(unsigned depth0) { next = from + depth0; }
  template <unsigned kStep>
  __device__ __forceinline__ void copy(SharedAddress panel) {
    copy_rows<kStep * kOfStep, (kStep + 1) * kOfStep>(to + panel, gemm_of::Always());
  }
  template <unsigned kStep>
  __device__ __forceinline__ void copy(SharedAddress panel, bool inside) {
    copy_rows<kStep * kOfStep, (kStep + 1) * kOfStep>(to + panel,
                                                      gemm_of::Within{inside ? left : 0});
  }

 private:
  template <unsigned kRow, unsigned kEnd, class Wanted>
  __device__ __forceinline__ void copy_rows(SharedAddress panel, Wanted wanted) {
    constexpr unsigned kOffset = kRow * kApart * kRowBytes;
    const half_bits* const row = next + static_cast<unsigned long long>(begins[kRow]) * 8;
    if constexpr (Wanted::kAlways) copy_16<kOffset>(panel, row);
    else copy_16<kOffset>(panel, row, wanted.row(kRow * kApart));
    if constexpr (kRow + 1 < kEnd) copy_rows<kRow + 1, kEnd>(panel, wanted);
  }
};

static __device__ __forceinline__ float gated(float gate, float up) {
  return up * __fdividef(gate, 1.0f + __expf(-gate));
}
static __device__ __forceinline__ void put_two(half_bits* to, float low, float high) {
  *reinterpret_cast<unsigned*>(to) = two_halves(low, high);
}

/// Of sixteen columns the first eight are of gates and the others what they are multiplied with, so
/// a thread has both. store(row, column of the results, two neighbours), of the tile.
template <class Of, class Store>
static __device__ __forceinline__ void store_gated(const gemm_of::WarpTile<Of>& tile, Store store) {
#pragma unroll
  for (unsigned i = 0; i < Of::kWarpM / 16; ++i)
#pragma unroll
    for (unsigned j = 0; j < Of::kWarpN / 16; ++j) {
      const float* const gate = tile.sum[i][2 * j].at;
      const float* const up = tile.sum[i][2 * j + 1].at;
      const unsigned row = tile.row + i * 16 + tile.lane / 4;
      const unsigned column = tile.column / 2 + j * 8 + tile.lane % 4 * 2;
      store(row, column, gated(gate[0], up[0]), gated(gate[1], up[1]));
      store(row + 8, column, gated(gate[2], up[2]), gated(gate[3], up[3]));
    }
}

/// Rows `left` copies times rows of `right`, `columns` of them and all of `depth` halves. kWhole:
/// nothing of the tile is outside.
template <class Of, bool kWhole, class Left>
static __device__ __forceinline__ void multiply(gemm_of::WarpTile<Of>& tile, const Left& left,
                                                const half_bits* right, unsigned columns,
                                                unsigned depth, unsigned stages,
                                                SharedAddress panels) {
  using Right = gemm_of::DenseCopies<Of::kN, Of::kThreads>;
  const Right copies(right, columns, depth, blockIdx.x * Of::kN, panels + Of::kM * kRowBytes);
  gemm_of::Product<Of, kWhole, Left, Right>(left, copies, depth, stages).run(tile);
}

// A row of `gate_up` for each output, in sixteens: eight of the gate, then eight of the other.
template <class Of>
static __device__ __forceinline__ void gate_up(const half_bits* x, const half_bits* weights,
                                               half_bits* out, const unsigned* sorted,
                                               const uint4* tiles, const unsigned* used,
                                               unsigned hidden, unsigned intermediate,
                                               unsigned stages) {
  extern __shared__ __align__(128) unsigned char panels[];
  if (blockIdx.y >= *used) return;
  const uint4 at = tiles[blockIdx.y];
  const unsigned rows = at.z - at.y, columns = 2 * intermediate, column0 = blockIdx.x * Of::kN;
  const half_bits* const right = weights + static_cast<unsigned long long>(at.x) * columns * hidden;
  const SharedAddress shared = shared_address(panels);
  const GatheredCopies<Of::kM, Of::kThreads> left(x, sorted + at.y, rows, hidden, shared);
  half_bits* const to = out + static_cast<unsigned long long>(at.y) * intermediate + column0 / 2;
  auto store = [&](unsigned row, unsigned column, float first, float second) {
    put_two(to + static_cast<unsigned long long>(row) * intermediate + column, first, second);
  };
  gemm_of::WarpTile<Of> tile(shared);
  if (rows == Of::kM && column0 + Of::kN <= columns && hidden % kDepth == 0) {
    multiply<Of, true>(tile, left, right, columns, hidden, stages, shared);
    return store_gated(tile, store);
  }
  multiply<Of, false>(tile, left, right, columns, hidden, stages, shared);
  store_gated(tile, [&](unsigned row, unsigned column, float first, float second) {
    if (row < rows && column0 / 2 + column < intermediate) store(row, column, first, second);
  });
}

template <class Of>
static __device__ __forceinline__ void down(const half_bits* activated, const half_bits* weights,
                                            half_bits* out, const uint4* tiles,
                                            const unsigned* used, unsigned hidden,
                                            unsigned intermediate, unsigned stages) {
  using Left = gemm_of::DenseCopies<Of::kM, Of::kThreads>;
  extern __shared__ __align__(128) unsigned char panels[];
  if (blockIdx.y >= *used) return;
  const uint4 at = tiles[blockIdx.y];
  const unsigned rows = at.z - at.y, column0 = blockIdx.x * Of::kN;
  const half_bits* const right =
      weights + static_cast<unsigned long long>(at.x) * hidden * intermediate;
  const SharedAddress shared = shared_address(panels);
  const Left left(activated, at.z, intermediate, at.y, shared);
  half_bits* const to = out + static_cast<unsigned long long>(at.y) * hidden + column0;
  auto store = [&](unsigned row, unsigned column, float first, float second) {
    put_two(to + static_cast<unsigned long long>(row) * hidden + column, first, second);
  };
  gemm_of::WarpTile<Of> tile(shared);
  if (rows == Of::kM && column0 + Of::kN <= hidden && intermediate % kDepth == 0) {
    multiply<Of, true>(tile, left, right, hidden, intermediate, stages, shared);
    return tile.store(store);
  }
  multiply<Of, false>(tile, left, right, hidden, intermediate, stages, shared);
  tile.store([&](unsigned row, unsigned column, float first, float second) {
    if (row < rows && column0 + column < hidden) store(row, column, first, second);
  });
}

}  // namespace moe_of

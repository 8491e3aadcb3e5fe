// Attention of a tile of queries by matrix instructions of machines since 8.0, whose layout is
// known: scores and weights stay in registers. See README.md.
#pragma once
#include "common/mma_lite.h"

namespace flash_of {

constexpr unsigned kWarps = 4, kThreads = 32 * kWarps;
constexpr float kUnder = -1.0e37f;  // finite: differences of it are numbers

/// kDim: numbers of a head; kParts: of 16 queries for each warp; kKeys: of a tile.
template <unsigned kHead, unsigned kOfWarp, unsigned kOfTile>
struct Form {
  static constexpr unsigned kDim = kHead, kParts = kOfWarp, kKeys = kOfTile;
  static constexpr unsigned kQueries = 16 * kParts * kWarps;
  static constexpr unsigned kChunks = kDim / 8, kRowBytes = kDim * 2;
  static constexpr unsigned kQueryBytes = kQueries * kRowBytes, kTileBytes = kKeys * kRowBytes;
  static constexpr unsigned kSteps = kDim / 16;  // of matrix instructions along a head
};

/// Where a chunk of 16 bytes lies: its place among eight changes with the row, so that eight rows
/// of one chunk lie in all banks.
template <class Of>
static __device__ __forceinline__ unsigned slot(unsigned row, unsigned chunk) {
  return row * Of::kRowBytes + (chunk ^ row % 8) * 16;
}
/// From where step 0's chunks of a row lie to where those of `step` do; chunks go in pairs.
static __device__ __forceinline__ SharedAddress at_step(SharedAddress row, unsigned first,
                                                        unsigned step) {
  return row + (first ^ step % 4 * 32) + step / 4 * 128;
}

/// kRows rows of a head that lie `stride` numbers apart; those from `count` on become zeros.
template <class Of, unsigned kRows, unsigned kRow = 0>
static __device__ __forceinline__ void copy_rows(SharedAddress to, const half_bits* from,
                                                 unsigned long long apart, unsigned count) {
  constexpr unsigned kApart = kThreads / Of::kChunks;
  copy_16<kRow * Of::kRowBytes>(to, from, kRow < count);
  if constexpr (kRow + kApart < kRows)
    copy_rows<Of, kRows, kRow + kApart>(to, from + apart, apart, count);
}
template <class Of, unsigned kRows>
static __device__ __forceinline__ void copy_tile(SharedAddress tile, const half_bits* from,
                                                 unsigned stride, unsigned count) {
  const unsigned row = threadIdx.x / Of::kChunks, chunk = threadIdx.x % Of::kChunks;
  copy_rows<Of, kRows>(tile + slot<Of>(row, chunk),
                       from + static_cast<unsigned long long>(row) * stride + chunk * 8,
                       static_cast<unsigned long long>(kThreads / Of::kChunks) * stride,
                       row < count ? count - row : 0);
}

/// The queries of a warp: rows 16 i + g and 16 i + g + 8 of part i are those of lane 4 g + t.
template <class Of>
struct Rows {
  static constexpr unsigned kDim = Of::kDim, kParts = Of::kParts, kSteps = Of::kSteps;
  static constexpr unsigned kKeys = Of::kKeys;
  unsigned lane = threadIdx.x % 32;
  SharedAddress queries;
  FourMatrices query[kParts][kSteps];
  Sums out[kParts][kDim / 8];
  float maximum[kParts][2], sum[kParts][2];  // `sum`: of the lane's keys alone

  __device__ __forceinline__ explicit Rows(SharedAddress query_tile)
      : queries(query_tile + threadIdx.x / 32 * kParts * 16 * Of::kRowBytes), out{} {
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        maximum[i][half] = kUnder;
        sum[i][half] = 0.0f;
      }
  }

  __device__ __forceinline__ void load_queries() {
    const SharedAddress row = queries + lane % 16 * Of::kRowBytes;
    const unsigned first = (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
      for (unsigned step = 0; step < kSteps; ++step)
        query[i][step] = load_matrices<0>(at_step(row + i * 16 * Of::kRowBytes, first, step));
  }

  __device__ __forceinline__ void score(Sums (&scores)[kParts][kKeys / 8],
                                        SharedAddress keys) const {
    const SharedAddress row = keys + (lane / 16 * 8 + lane % 8) * Of::kRowBytes;
    const unsigned first = (lane / 8 % 2 ^ lane % 8) * 16;
#pragma unroll
    for (unsigned step = 0; step < kSteps; ++step) {
      FourMatrices key[kKeys / 16];
      load_matrices<kKeys / 16, 16 * Of::kRowBytes>(key, at_step(row, first, step));
#pragma unroll
      for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
        for (unsigned j = 0; j < kKeys / 16; ++j) {
          add_product(scores[i][2 * j], query[i][step], key[j].word[0], key[j].word[1]);
          add_product(scores[i][2 * j + 1], query[i][step], key[j].word[2], key[j].word[3]);
        }
    }
  }

  /// Keys behind `last` (of the row; 0 is the tile's first) do not count: `last` of the warp's
  /// first row, and how much it grows from row to row.
  static __device__ __forceinline__ void hide(Sums (&scores)[kParts][kKeys / 8], int last,
                                              int grows) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < static_cast<int>(kParts); ++i)
#pragma unroll
      for (int j = 0; j < static_cast<int>(kKeys / 8); ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int key = j * 8 + lane % 4 * 2 + k % 2, row = i * 16 + lane / 4 + k / 2 * 8;
          if (key > last + grows * row) scores[i][j].at[k] = kUnder;
        }
  }

  /// Scores become weights; where a maximum grows, what was summed shrinks. `scale`: to powers of
  /// two.
  __device__ __forceinline__ void weigh(Sums (&scores)[kParts][kKeys / 8], float scale) {
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        float largest = kUnder;
#pragma unroll
        for (unsigned j = 0; j < kKeys / 8; ++j)
          largest = fmaxf(largest, fmaxf(scores[i][j].at[2 * half], scores[i][j].at[2 * half + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
        const float grown = fmaxf(maximum[i][half], largest * scale);
        const float shrink = power_of_two(maximum[i][half] - grown);
        maximum[i][half] = grown;
        float added = 0.0f;
#pragma unroll
        for (unsigned j = 0; j < kKeys / 8; ++j)
#pragma unroll
          for (unsigned k = 2 * half; k < 2 * half + 2; ++k) {
            const float weight = power_of_two(fmaf(scores[i][j].at[k], scale, -grown));
            scores[i][j].at[k] = weight;
            added += weight;
          }
        sum[i][half] = fmaf(sum[i][half], shrink, added);
#pragma unroll
        for (unsigned d = 0; d < kDim / 8; ++d)
#pragma unroll
          for (unsigned k = 2 * half; k < 2 * half + 2; ++k) out[i][d].at[k] *= shrink;
      }
  }

  /// What a product leaves in a lane is what the next one takes there as its left factor.
  __device__ __forceinline__ void add_values(const Sums (&weights)[kParts][kKeys / 8],
                                             SharedAddress values) {
    FourMatrices weight[kParts][kKeys / 16];
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
      for (unsigned j = 0; j < kKeys / 8; ++j) {
        const Sums& two = weights[i][j];
        weight[i][j / 2].word[j % 2 * 2] = two_halves(two.at[0], two.at[1]);
        weight[i][j / 2].word[j % 2 * 2 + 1] = two_halves(two.at[2], two.at[3]);
      }
    const SharedAddress row = values + lane % 16 * Of::kRowBytes;
    const unsigned first = (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (unsigned d = 0; d < kSteps; d += 2) {  // two at a time: sums enough to hide a product
      FourMatrices value[2][kKeys / 16];
      load_all_transposed<kKeys / 16, 16 * Of::kRowBytes>(value[0], at_step(row, first, d));
      load_all_transposed<kKeys / 16, 16 * Of::kRowBytes>(value[1], at_step(row, first, d + 1));
#pragma unroll
      for (unsigned j = 0; j < kKeys / 16; ++j)
#pragma unroll
        for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
          for (unsigned k = 0; k < 2; ++k) {
            const FourMatrices& by = value[k][j];
            add_product(out[i][2 * (d + k)], weight[i][j], by.word[0], by.word[1]);
            add_product(out[i][2 * (d + k) + 1], weight[i][j], by.word[2], by.word[3]);
          }
    }
  }

  /// What is not yet divided: [row][number], and of each row the largest score and the sum.
  __device__ __forceinline__ void leave(float* sums, float2* states) const {
    static_assert(kParts == 1);
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = lane / 4 + half * 8;
      float all = sum[0][half];
      all += __shfl_xor_sync(~0u, all, 1);
      all += __shfl_xor_sync(~0u, all, 2);
      float2 state = {maximum[0][half], all};
      if (lane % 4 == 0) states[row] = state;
#pragma unroll
      for (unsigned d = 0; d < kDim / 8; ++d) {
        float2 two = {out[0][d].at[2 * half], out[0][d].at[2 * half + 1]};
        *reinterpret_cast<float2*>(sums + row * kDim + d * 8 + lane % 4 * 2) = two;
      }
    }
  }

  /// Through the queries' place, which the warp alone has read: eight numbers of a row to a lane.
  __device__ __forceinline__ void store(half_bits* to, unsigned stride, unsigned rows) {
#pragma unroll
    for (unsigned i = 0; i < kParts; ++i)
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        float all = sum[i][half];
        all += __shfl_xor_sync(~0u, all, 1);
        all += __shfl_xor_sync(~0u, all, 2);
        const float factor = 1.0f / all;
        const unsigned row = i * 16 + lane / 4 + half * 8;
#pragma unroll
        for (unsigned d = 0; d < kDim / 8; ++d) {
          const Sums& two = out[i][d];
          put_word(queries + slot<Of>(row, d) + lane % 4 * 4,
                   two_halves(two.at[2 * half] * factor, two.at[2 * half + 1] * factor));
        }
      }
    sync_lanes();
#pragma unroll
    for (unsigned chunk = lane; chunk < kParts * 16 * Of::kChunks; chunk += 32) {
      const unsigned row = chunk / Of::kChunks, at = chunk % Of::kChunks;
      if (row < rows)
        *reinterpret_cast<float4*>(to + static_cast<unsigned long long>(row) * stride + at * 8) =
            get_chunk(queries + slot<Of>(row, at));
    }
  }
};

}  // namespace flash_of

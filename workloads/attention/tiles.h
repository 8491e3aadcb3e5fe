// Attention of tiles: 32 queries of a head against 32 keys and values at a time, or 16, all in
// shared memory. See README.md.
#pragma once
#include "common/half_lite.h"

namespace attention_of {

constexpr int kQueries = 32, kThreads = 128;
constexpr int kColumns = 8;  // threads that share a row of scores
constexpr int kRowsOfThread = 2;
constexpr float kBelowAll = -3.0e38f;  // finite: differences of it are numbers

static __device__ __forceinline__ void load_four(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

// Over the threads that share a row.
static __device__ __forceinline__ float row_max(float value) {
#pragma unroll
  for (int lanes = kColumns / 2; lanes > 0; lanes /= 2)
    value = fmaxf(value, __shfl_xor_sync(~0u, value, lanes));
  return value;
}
static __device__ __forceinline__ float row_sum(float value) {
#pragma unroll
  for (int lanes = kColumns / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

template <int kDim>
struct Tiles {
  /// Of a tile; of short heads so few that all tiles fit 16 KB, as older machines have.
  static constexpr int kKeys = kDim == 64 ? 16 : 32;
  static constexpr int kKeysOfThread = kKeys / kColumns;
  static constexpr int kWeightLine = kKeys + 4;         // padded: rows begin in different banks
  static constexpr int kLine = kDim + 4;                // padded: rows begin in different banks
  static constexpr int kParts = kDim / (4 * kColumns);  // vectors of a row that a thread sums
  float* queries;
  float* keys;  // and then their values
  float* weights;
  int column, row;  // of the thread: first of its keys, first of its rows
  float out[kRowsOfThread][kParts][4];
  float maximum[kRowsOfThread], sum[kRowsOfThread];

  __device__ __forceinline__ Tiles(float* query_tile, float* key_tile, float* weight_tile)
      : queries(query_tile),
        keys(key_tile),
        weights(weight_tile),
        column(static_cast<int>(threadIdx.x) % kColumns),
        row(static_cast<int>(threadIdx.x) / kColumns * kRowsOfThread),
        out{} {
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) {
      maximum[i] = kBelowAll;
      sum[i] = 0.0f;
    }
  }

  // Rows of half precision become floats; those from `count` on are zeros.
  static __device__ __forceinline__ void stage(float* tile, const half_bits* from, unsigned stride,
                                               int lines, int count) {
    constexpr int kChunks = kDim / 8;
    for (int chunk = static_cast<int>(threadIdx.x); chunk < lines * kChunks; chunk += kThreads) {
      const int line = chunk / kChunks, first = chunk % kChunks * 8;
      Eight x = {};
      if (line < count)
        x = load_eight(from + static_cast<unsigned long long>(line) * stride + first);
      float* const to = tile + line * kLine + first;
      *reinterpret_cast<float4*>(to) = {x.at[0], x.at[1], x.at[2], x.at[3]};
      *reinterpret_cast<float4*>(to + 4) = {x.at[4], x.at[5], x.at[6], x.at[7]};
    }
  }

  __device__ __forceinline__ void scores(float (&score)[kRowsOfThread][kKeysOfThread]) const {
#pragma unroll 4
    for (int d = 0; d < kDim; d += 4) {
      float query[kRowsOfThread][4];
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i) load_four(queries + (row + i) * kLine + d, query[i]);
#pragma unroll
      for (int j = 0; j < kKeysOfThread; ++j) {
        float key[4];
        load_four(keys + (column + j * kColumns) * kLine + d, key);
#pragma unroll
        for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
          for (int part = 0; part < 4; ++part)
            score[i][j] = fmaf(query[i][part], key[part], score[i][j]);
      }
    }
  }

  // A row's keys from `end` on do not count. Where the maximum grows, what was summed shrinks.
  __device__ __forceinline__ void weigh(int i, float (&score)[kKeysOfThread], int end,
                                        float scale) {
    float largest = kBelowAll;
#pragma unroll
    for (int j = 0; j < kKeysOfThread; ++j) {
      score[j] = column + j * kColumns < end ? score[j] * scale : kBelowAll;
      largest = fmaxf(largest, score[j]);
    }
    const float grown = fmaxf(maximum[i], row_max(largest));
    const float shrink = __expf(maximum[i] - grown);
    maximum[i] = grown;
    float added = 0.0f;
#pragma unroll
    for (int j = 0; j < kKeysOfThread; ++j) {
      const float weight = __expf(score[j] - grown);
      weights[(row + i) * kWeightLine + column + j * kColumns] = weight;
      added += weight;
    }
    sum[i] = sum[i] * shrink + row_sum(added);
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int k = 0; k < 4; ++k) out[i][part][k] *= shrink;
  }

  // `keys` holds the values.
  __device__ __forceinline__ void add_values() {
#pragma unroll 1
    for (int key = 0; key < kKeys; key += 4) {
      float weight[kRowsOfThread][4];
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i)
        load_four(weights + (row + i) * kWeightLine + key, weight[i]);
#pragma unroll
      for (int u = 0; u < 4; ++u)
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          float value[4];
          load_four(keys + (key + u) * kLine + (part * kColumns + column) * 4, value);
#pragma unroll
          for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
            for (int k = 0; k < 4; ++k)
              out[i][part][k] = fmaf(weight[i][u], value[k], out[i][part][k]);
        }
    }
  }

  __device__ __forceinline__ void store(int i, half_bits* to) const {
    const float factor = 1.0f / sum[i];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const float* const four = out[i][part];
      const unsigned long long low = joined_word(four[0] * factor, four[1] * factor);
      const unsigned long long high = joined_word(four[2] * factor, four[3] * factor);
      *reinterpret_cast<unsigned long long*>(to + (part * kColumns + column) * 4) =
          high << 32 | low;
    }
  }
};

}  // namespace attention_of

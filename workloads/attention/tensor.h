// Attention by matrix instructions: 64 queries of a head, 16 to a warp, against 32 keys and values
// at a time. See README.md.
#pragma once
#include "common/wmma_lite.h"

namespace attention_of {

constexpr unsigned kTensorQueries = 64, kTensorKeys = 32, kTensorThreads = 128, kFragment = 16;

template <int kDim>
struct TensorTiles {
  static constexpr unsigned kLine = kDim + 8;  // halves; padded: rows begin in other banks
  static constexpr unsigned kScoreLine = kTensorKeys + 4;  // floats
  static constexpr unsigned kWeightLine = 2 * kScoreLine;  // the same lines as halves
  static constexpr unsigned kFragments = kDim / kFragment;
  static constexpr float kUnder = -3.0e38f;  // finite: differences of it are numbers
  const half_bits* queries;                  // the warp's 16 lines
  const half_bits* keys;
  const half_bits* values;
  float* lines;  // the warp's own: scores, then weights in front and factors behind
  unsigned row = threadIdx.x % 32 / 2, side = threadIdx.x % 2;  // half a line of scores
  SumFragment out[kFragments];
  float maximum = kUnder, sum = 0.0f;

  __device__ __forceinline__ TensorTiles(const half_bits* query_tile, const half_bits* key_tile,
                                         const half_bits* value_tile, float* score_tile)
      : queries(query_tile + threadIdx.x / 32 * kFragment * kLine),
        keys(key_tile),
        values(value_tile),
        lines(score_tile + threadIdx.x / 32 * kFragment * kScoreLine),
        out{} {}

  // Rows from `count` on are zeros.
  static __device__ __forceinline__ void stage(half_bits* tile, const half_bits* from,
                                               unsigned stride, unsigned rows, int count) {
    constexpr unsigned kChunks = kDim / 8;
    for (unsigned chunk = threadIdx.x; chunk < rows * kChunks; chunk += kTensorThreads) {
      const unsigned line = chunk / kChunks, first = chunk % kChunks * 8;
      float4 words = {};  // as floats: see half_lite.h
      if (static_cast<int>(line) < count)
        words = *reinterpret_cast<const float4*>(
            from + static_cast<unsigned long long>(line) * stride + first);
      *reinterpret_cast<float4*>(tile + line * kLine + first) = words;
    }
  }

  __device__ __forceinline__ void score() {
    SumFragment score[2] = {};
#pragma unroll
    for (unsigned d = 0; d < kDim; d += kFragment) {
      FactorFragment query;
      load_left(query, queries + d, kLine);
#pragma unroll
      for (unsigned part = 0; part < 2; ++part) {
        FactorFragment key;
        load_right_transposed(key, keys + part * kFragment * kLine + d, kLine);
        multiply_transposed(score[part], query, key);
      }
    }
    store_sum(lines, score[0], kScoreLine);
    store_sum(lines + kFragment, score[1], kScoreLine);
    sync_warp();
  }

  // Half a line of 16 numbers to a lane. Keys from `end` on do not count.
  __device__ __forceinline__ void weigh(int end, float scale) {
    const float* const own = lines + row * kScoreLine + side * kFragment;
    float number[kFragment];
    float largest = kUnder;
#pragma unroll
    for (unsigned i = 0; i < kFragment; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(own + i);
      const float scores[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const int key = static_cast<int>(side * kFragment + i + k);
        number[i + k] = key < end ? scores[k] * scale : kUnder;
        largest = fmaxf(largest, number[i + k]);
      }
    }
    const float grown = fmaxf(maximum, fmaxf(largest, __shfl_xor_sync(~0u, largest, 1)));
    const float shrink = __expf(maximum - grown);
    maximum = grown;
    float added = 0.0f;
#pragma unroll
    for (unsigned i = 0; i < kFragment; ++i) {
      number[i] = __expf(number[i] - grown);
      added += number[i];
    }
    sum = sum * shrink + added + __shfl_xor_sync(~0u, added, 1);
    sync_warp();  // all lanes have read their scores
    half_bits* const weights =
        reinterpret_cast<half_bits*>(lines) + row * kWeightLine + side * kFragment;
    store_eight(weights, number);
    store_eight(weights + 8, number + 8);
    spread(shrink);
  }

  // A factor for each row, where its sums will be multiplied by it.
  __device__ __forceinline__ void spread(float factor) {
    float* const to = lines + row * kScoreLine + kFragment + side * 8;
    *reinterpret_cast<float4*>(to) = {factor, factor, factor, factor};
    *reinterpret_cast<float4*>(to + 4) = {factor, factor, factor, factor};
    sync_warp();
    SumFragment factors;
    load_sum(factors, lines + kFragment, kScoreLine);
#pragma unroll
    for (unsigned part = 0; part < kFragments; ++part)
#pragma unroll
      for (int k = 0; k < 8; ++k) out[part].at[k] *= factors.at[k];
  }

  __device__ __forceinline__ void add_values() {
#pragma unroll
    for (unsigned key = 0; key < kTensorKeys; key += kFragment) {
      FactorFragment weight;
      load_left(weight, reinterpret_cast<const half_bits*>(lines) + key, kWeightLine);
#pragma unroll
      for (unsigned part = 0; part < kFragments; ++part) {
        FactorFragment value;
        load_right(value, values + key * kLine + part * kFragment, kLine);
        multiply(out[part], weight, value);
      }
    }
  }

  // 16 columns at a time through the warp's lines; eight numbers of a row to a lane.
  __device__ __forceinline__ void store(half_bits* to, unsigned stride, int rows) {
    sync_warp();
    spread(1.0f / sum);
#pragma unroll
    for (unsigned part = 0; part < kFragments; ++part) {
      sync_warp();
      store_sum(lines, out[part], kScoreLine);
      sync_warp();
      if (static_cast<int>(row) < rows)
        store_eight(
            to + static_cast<unsigned long long>(row) * stride + part * kFragment + side * 8,
            lines + row * kScoreLine + side * 8);
    }
  }
};

}  // namespace attention_of

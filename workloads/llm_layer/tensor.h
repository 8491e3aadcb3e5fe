// The product of many tokens by matrix instructions. See README.md.
#pragma once
#include "common/wmma_lite.h"
#include "llm_layer/products.h"

namespace llm_layer_of {

constexpr unsigned kTensorThreads = 128;      // four warps, each 32 x 32 of the tile
constexpr unsigned kTensorLine = kDepth + 8;  // halves; padded: rows begin in other banks
constexpr unsigned kFragment = 16, kSumLine = kFragment + 4;

// 64 rows of 32 numbers, in two vectors of eight for each thread.
struct TensorPanel {
  const half_bits* from;
  unsigned rows, inputs;
  float4 held[2];  // as floats: see half_lite.h

  __device__ __forceinline__ void fetch(unsigned row0, unsigned depth0) {
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = row0 + threadIdx.x / 4 + i * 32, depth = depth0 + threadIdx.x % 4 * 8;
      held[i] = {};
      if (row < rows && depth < inputs)
        held[i] = *reinterpret_cast<const float4*>(
            from + static_cast<unsigned long long>(row) * inputs + depth);
    }
  }
  __device__ __forceinline__ void put(half_bits* panel) const {
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
      *reinterpret_cast<float4*>(panel + (threadIdx.x / 4 + i * 32) * kTensorLine +
                                 threadIdx.x % 4 * 8) = held[i];
  }
};

static __device__ __forceinline__ void multiply_panels(const half_bits* left,
                                                       const half_bits* right,
                                                       SumFragment (&sum)[2][2]) {
#pragma unroll
  for (unsigned depth = 0; depth < kDepth; depth += kFragment) {
    FactorFragment token[2], weight[2];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      load_left(token[i], left + i * kFragment * kTensorLine + depth, kTensorLine);
      load_right_transposed(weight[i], right + i * kFragment * kTensorLine + depth, kTensorLine);
    }
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
#pragma unroll
      for (unsigned j = 0; j < 2; ++j) multiply_transposed(sum[i][j], token[i], weight[j]);
  }
}

// A fragment goes through the warp's part of shared memory; eight numbers of a row to a lane.
static __device__ __forceinline__ void store_fragment(const Product& of, unsigned token0,
                                                      unsigned output0, const SumFragment& sum,
                                                      float* own) {
  const unsigned row = threadIdx.x % 32 / 2, column = threadIdx.x % 2 * 8;
  store_sum(own, sum, kSumLine);
  sync_warp();
  if (token0 + row < of.tokens && output0 + column < of.outputs)
    store_eight(
        of.out + static_cast<unsigned long long>(token0 + row) * of.outputs + output0 + column,
        own + row * kSumLine + column);
  sync_warp();
}

// The next panels are on their way in registers while those of one step are multiplied.
static __device__ __forceinline__ void tensor(const Product& of) {
  __shared__ __align__(128) half_bits left[kTile * kTensorLine];
  __shared__ __align__(128) half_bits right[kTile * kTensorLine];
  __shared__ __align__(128) float sums[4 * kFragment * kSumLine];
  const unsigned token0 = blockIdx.y * kTile, output0 = blockIdx.x * kTile;
  const unsigned warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
  TensorPanel tokens = {of.rows, of.tokens, of.inputs, {}};
  TensorPanel weights = {of.weights, of.outputs, of.inputs, {}};
  tokens.fetch(token0, 0);
  weights.fetch(output0, 0);
  SumFragment sum[2][2] = {};
#pragma unroll 1
  for (unsigned depth0 = 0; depth0 < of.inputs; depth0 += kDepth) {
    tokens.put(left);
    weights.put(right);
    __syncthreads();
    tokens.fetch(token0, depth0 + kDepth);
    weights.fetch(output0, depth0 + kDepth);
    multiply_panels(left + row * kTensorLine, right + column * kTensorLine, sum);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 2; ++i)
#pragma unroll
    for (unsigned j = 0; j < 2; ++j)
      store_fragment(of, token0 + row + i * kFragment, output0 + column + j * kFragment, sum[i][j],
                     sums + warp * kFragment * kSumLine);
}

}  // namespace llm_layer_of

// Products of rows in half precision with a matrix whose rows are those of a linear layer: as many
// weights as there are inputs for each output. Sums in single precision. See README.md.
#pragma once
#include "common/half_lite.h"

namespace llm_layer_of {

struct Product {
  const half_bits* rows;     // [tokens][inputs]
  const half_bits* weights;  // [outputs][inputs]
  half_bits* out;            // [tokens][outputs]
  unsigned tokens, inputs, outputs;
};

constexpr unsigned kTile = 64;      // tokens and outputs of a block
constexpr unsigned kDepth = 32;     // inputs staged at a time
constexpr unsigned kThreads = 256;  // 16 x 16, each 4 x 4 results
constexpr int kOfThread = 4;

// 64 rows of 32 numbers, eight to a thread, become 32 lines of 64 floats. Where a line's numbers
// lie depends on its eighth, so that neither these stores nor the loads of four meet in a bank.
static __device__ __forceinline__ unsigned slot(unsigned depth, unsigned row) {
  return depth * kTile + (row ^ (depth & ~7u));
}
static __device__ __forceinline__ void stage(float* tile, const half_bits* from, unsigned rows,
                                             unsigned inputs, unsigned row0, unsigned depth0) {
  const unsigned row = threadIdx.x / 4, depth = threadIdx.x % 4 * 8;
  Eight x = {};
  if (row0 + row < rows && depth0 + depth < inputs)
    x = load_eight(from + static_cast<unsigned long long>(row0 + row) * inputs + depth0 + depth);
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) tile[slot(depth + k, row)] = x.at[k];
}

static __device__ __forceinline__ void load_four(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

static __device__ __forceinline__ void multiply_tiles(const float* left, const float* right,
                                                      unsigned row, unsigned column,
                                                      float (&sum)[kOfThread][kOfThread]) {
#pragma unroll
  for (unsigned depth = 0; depth < kDepth; ++depth) {
    float token[4], weight[4];
    load_four(left + slot(depth, row), token);
    load_four(right + slot(depth, column), weight);
#pragma unroll
    for (int i = 0; i < kOfThread; ++i)
#pragma unroll
      for (int j = 0; j < kOfThread; ++j) sum[i][j] = fmaf(token[i], weight[j], sum[i][j]);
  }
}

static __device__ __forceinline__ void tiled(const Product& of) {
  __shared__ __align__(16) float left[kDepth * kTile];
  __shared__ __align__(16) float right[kDepth * kTile];
  const unsigned token0 = blockIdx.y * kTile, output0 = blockIdx.x * kTile;
  const unsigned row = threadIdx.x / 16 * kOfThread, column = threadIdx.x % 16 * kOfThread;
  float sum[kOfThread][kOfThread] = {};
#pragma unroll 1
  for (unsigned depth0 = 0; depth0 < of.inputs; depth0 += kDepth) {
    stage(left, of.rows, of.tokens, of.inputs, token0, depth0);
    stage(right, of.weights, of.outputs, of.inputs, output0, depth0);
    __syncthreads();
    multiply_tiles(left, right, row, column, sum);
    __syncthreads();
  }
  if (output0 + column >= of.outputs) return;
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const unsigned token = token0 + row + static_cast<unsigned>(i);
    if (token >= of.tokens) return;
    const unsigned long long low = joined_word(sum[i][0], sum[i][1]);
    const unsigned long long high = joined_word(sum[i][2], sum[i][3]);
    half_bits* const to = of.out + static_cast<unsigned long long>(token) * of.outputs;
    *reinterpret_cast<unsigned long long*>(to + output0 + column) = high << 32 | low;
  }
}

constexpr int kOutputsOfWarp = 4;

// Sums over the lanes of four numbers: lane 8 j and the seven behind it get that of number j.
static __device__ __forceinline__ float warp_sums(const float (&number)[kOutputsOfWarp]) {
  const bool upper = (threadIdx.x & 16) != 0, odd = (threadIdx.x & 8) != 0;
  const float first =
      (upper ? number[2] : number[0]) + __shfl_xor_sync(~0u, upper ? number[0] : number[2], 16);
  const float second =
      (upper ? number[3] : number[1]) + __shfl_xor_sync(~0u, upper ? number[1] : number[3], 16);
  float sum = (odd ? second : first) + __shfl_xor_sync(~0u, odd ? first : second, 8);
#pragma unroll
  for (int lanes = 4; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  return sum;
}

// A warp has four outputs of `kTokens` tokens; its lanes divide the inputs. Every weight is read
// once, a token's inputs once for four outputs.
template <int kTokens>
static __device__ __forceinline__ void few(const Product& of) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned output0 = (blockIdx.x * (blockDim.x / 32) + warp) * kOutputsOfWarp;
  const unsigned token0 = blockIdx.y * kTokens;
  if (output0 >= of.outputs) return;
  const half_bits* const weights =
      of.weights + static_cast<unsigned long long>(output0) * of.inputs;
  const half_bits* const rows = of.rows + static_cast<unsigned long long>(token0) * of.inputs;
  float sum[kTokens][kOutputsOfWarp] = {};
  for (unsigned i = lane * 8; i < of.inputs; i += 32 * 8) {
    Eight weight[kOutputsOfWarp];
#pragma unroll
    for (unsigned j = 0; j < kOutputsOfWarp; ++j)
      weight[j] = load_eight(weights + j * of.inputs + i);
#pragma unroll
    for (unsigned token = 0; token < kTokens; ++token) {
      if (token0 + token >= of.tokens) continue;
      const Eight x = load_eight(rows + token * of.inputs + i);
#pragma unroll
      for (int j = 0; j < kOutputsOfWarp; ++j)
#pragma unroll
        for (int k = 0; k < 8; ++k) sum[token][j] = fmaf(x.at[k], weight[j].at[k], sum[token][j]);
    }
  }
#pragma unroll
  for (unsigned token = 0; token < kTokens; ++token) {
    if (token0 + token >= of.tokens) return;
    const float all = warp_sums(sum[token]);
    const unsigned long long at = static_cast<unsigned long long>(token0 + token) * of.outputs;
    if (lane % 8 == 0) of.out[at + output0 + lane / 8] = to_half(all);
  }
}

}  // namespace llm_layer_of

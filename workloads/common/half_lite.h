// Half precision for kernels: 16 bits in memory, floats in registers. The conversions are those of
// every machine since the first with PTX; nothing computes in half precision here. Sums and maxima
// over warps and blocks.
#pragma once
#include "common/cuda_lite.h"

using half_bits = unsigned short;

#ifndef __NVCC__
static __device__ __forceinline__ float __shfl_xor_sync(unsigned mask, float value, int lanes) {
  return __nvvm_shfl_sync_bfly_f32(mask, value, lanes, 31);
}
#endif

static __device__ __forceinline__ float from_half(half_bits bits) {
  float value;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
/// To the nearest, ties to even.
static __device__ __forceinline__ half_bits to_half(float value) {
  half_bits bits;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

/// Two halves of a word, the lower one first.
static __device__ __forceinline__ void split_word(unsigned word, float& low, float& high) {
  half_bits first, second;
  __asm__("mov.b32 {%0, %1}, %2;" : "=h"(first), "=h"(second) : "r"(word));
  low = from_half(first);
  high = from_half(second);
}
static __device__ __forceinline__ unsigned joined_word(float low, float high) {
  unsigned word;
  __asm__("mov.b32 %0, {%1, %2};" : "=r"(word) : "h"(to_half(low)), "h"(to_half(high)));
  return word;
}

/// Eight numbers, in memory one vector access of 16 bytes.
struct Eight {
  float at[8];
};
static __device__ __forceinline__ Eight load_eight(const half_bits* from) {
  // As floats: clang 19 makes four loads of a vector of integers whose parts are used one by one.
  const float4 words = *reinterpret_cast<const float4*>(from);
  Eight out;
  split_word(__float_as_uint(words.x), out.at[0], out.at[1]);
  split_word(__float_as_uint(words.y), out.at[2], out.at[3]);
  split_word(__float_as_uint(words.z), out.at[4], out.at[5]);
  split_word(__float_as_uint(words.w), out.at[6], out.at[7]);
  return out;
}
static __device__ __forceinline__ void store_eight(half_bits* to, const float* values) {
  uint4 words;
  words.x = joined_word(values[0], values[1]);
  words.y = joined_word(values[2], values[3]);
  words.z = joined_word(values[4], values[5]);
  words.w = joined_word(values[6], values[7]);
  *reinterpret_cast<uint4*>(to) = words;
}
static __device__ __forceinline__ void store_eight(half_bits* to, const Eight& values) {
  store_eight(to, values.at);
}

// All lanes get the result.
static __device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}
static __device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value = fmaxf(value, __shfl_xor_sync(~0u, value, lanes));
  return value;
}

// All threads of the block get the result; the block is whole warps. `warps`: 32 words of shared
// memory that no thread still reads.
static __device__ __forceinline__ float block_sum(float value, float* warps) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  return warp_sum(lane < blockDim.x / 32 ? warps[lane] : 0.0f);
}
/// Of numbers that are not below `minimum`.
static __device__ __forceinline__ float block_max(float value, float minimum, float* warps) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_max(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  return warp_max(lane < blockDim.x / 32 ? warps[lane] : minimum);
}

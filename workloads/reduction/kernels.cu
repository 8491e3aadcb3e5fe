// One value from many: grid stride, tree in shared memory, warp shuffles. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kThreads = 256;
constexpr unsigned kWarp = 32;

struct Sum {
  static __device__ float identity() { return 0.0f; }
  static __device__ float combine(float a, float b) { return a + b; }
};
struct Max {
  static __device__ float identity() { return -__builtin_inff(); }
  static __device__ float combine(float a, float b) { return fmaxf(a, b); }
};

// out[block] = the block's part of in[0..n).
template <class Operation>
static __device__ __forceinline__ void reduce(const float* __restrict__ in, float* __restrict__ out,
                                              unsigned n) {
  __shared__ float part[kThreads];
  unsigned t = threadIdx.x;
  float value = Operation::identity();
  for (unsigned i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads)
    value = Operation::combine(value, in[i]);
  part[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half >= kWarp; half /= 2) {
    if (t < half) part[t] = Operation::combine(part[t], part[t + half]);
    __syncthreads();
  }
  if (t < kWarp) {
    value = part[t];
#pragma unroll
    for (unsigned delta = kWarp / 2; delta > 0; delta /= 2)
      value = Operation::combine(value, __shfl_down_sync(0xffffffffu, value, delta));
    if (t == 0) out[blockIdx.x] = value;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    reduce_sum(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  reduce<Sum>(in, out, n);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    reduce_max(const float* __restrict__ in, float* __restrict__ out, unsigned n) {
  reduce<Max>(in, out, n);
}

// Two words in a round, a block's width apart; the tree goes down to two warps, the shuffles from
// one. There is a barrier for each step of a tree of up to 512 threads, also where the block has
// fewer.
template <unsigned kBlock>
static __device__ __forceinline__ void reduce_in_pairs(const int* in, int* out, unsigned n) {
  __shared__ int part[kBlock < 64 ? 64 : kBlock];
  unsigned t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * (2 * kBlock) + t; i < n; i += gridDim.x * (2 * kBlock)) {
    sum += in[i];
    if (__builtin_expect(i + kBlock < n, true)) sum += in[i + kBlock];
  }
  part[t] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned half = 256; half >= 2 * kWarp; half /= 2) {
    if (kBlock >= 2 * half && t < half) part[t] = sum = sum + part[t + half];
    __syncthreads();
  }
  if (t < kWarp) {
    if (kBlock >= 2 * kWarp) sum += part[t + kWarp];
#pragma unroll
    for (unsigned delta = kWarp / 2; delta > 0; delta /= 2)
      sum += static_cast<int>(__shfl_down_sync(0xffffffffu, static_cast<unsigned>(sum), delta));
  }
  if (t == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_pairs_256(const int* in, int* out, unsigned n) {
  reduce_in_pairs<256>(in, out, n);
}

extern "C" __global__ void reduce_pairs_32(const int* in, int* out, unsigned n) {
  reduce_in_pairs<32>(in, out, n);
}

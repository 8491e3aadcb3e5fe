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

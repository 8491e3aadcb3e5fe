// Many small kernels that have nothing to do with each other, and one that needs them all. See
// README.md.
#include "common/cuda_lite.h"

// A step of the linear congruential generator of Numerical Recipes, `rounds` times.
extern "C" __global__ void churn(unsigned* __restrict__ x, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = x[i];
#pragma unroll 1
  for (unsigned r = 0; r < rounds; ++r) v = v * 1664525u + 1013904223u;
  x[i] = v;
}

// Adds all n elements to *out: one atomic per warp.
extern "C" __global__ void total(const unsigned* __restrict__ x, unsigned n,
                                 unsigned* __restrict__ out) {
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

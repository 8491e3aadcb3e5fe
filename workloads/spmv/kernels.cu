// y = A x, A in compressed sparse rows. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kWarp = 32;

// One thread per row: neighbouring lanes walk different rows.
extern "C" __global__ void spmv_scalar(const unsigned* __restrict__ row,
                                       const unsigned* __restrict__ column,
                                       const float* __restrict__ value, const float* __restrict__ x,
                                       float* __restrict__ y, unsigned rows) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (unsigned e = row[r]; e < row[r + 1]; ++e) sum += value[e] * x[column[e]];
  y[r] = sum;
}

// One warp per row: the lanes stride over it and add up with shuffles. blockDim.x is a multiple
// of 32.
extern "C" __global__ void spmv_vector(const unsigned* __restrict__ row,
                                       const unsigned* __restrict__ column,
                                       const float* __restrict__ value, const float* __restrict__ x,
                                       float* __restrict__ y, unsigned rows) {
  unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (r >= rows) return;
  float sum = 0.0f;
  for (unsigned e = row[r] + lane; e < row[r + 1]; e += kWarp) sum += value[e] * x[column[e]];
#pragma unroll
  for (unsigned delta = kWarp / 2; delta > 0; delta /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, delta);
  if (lane == 0) y[r] = sum;
}

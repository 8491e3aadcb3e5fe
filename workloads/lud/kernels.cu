// In-place LU decomposition by blocks, without pivoting: L has a unit diagonal. See README.md.
// Every element subtracts its products one by one in ascending order, each fused, as the textbook
// loop does: the blocks change where values are kept, not a bit of them.
#include "common/cuda_lite.h"

constexpr int kSide = 16;

static __device__ __forceinline__ float minus_product(float from, float a, float b) {
  return fmaf(-a, b, from);
}

// The block on the diagonal whose top left element `block` points to: 16 threads, thread = row of L
// and column of U.
extern "C" __global__ void __launch_bounds__(kSide) lud_diagonal(float* block, int n) {
  __shared__ float a[kSide][kSide];
  int t = static_cast<int>(threadIdx.x);
  for (int row = 0; row < kSide; ++row) a[row][t] = block[row * n + t];
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < kSide - 1; ++step) {
    if (t > step) {  // column `step` of L
      float value = a[t][step];
      for (int k = 0; k < step; ++k) value = minus_product(value, a[t][k], a[k][step]);
      a[t][step] = value / a[step][step];
    }
    __syncthreads();
    if (t > step) {  // row `step + 1` of U
      float value = a[step + 1][t];
      for (int k = 0; k <= step; ++k) value = minus_product(value, a[step + 1][k], a[k][t]);
      a[step + 1][t] = value;
    }
    __syncthreads();
  }
  for (int row = 1; row < kSide; ++row) block[row * n + t] = a[row][t];
}

// The blocks right of the diagonal block and below it, one of each per thread block: of 32 threads
// the first half does columns of U, the second rows of L.
extern "C" __global__ void __launch_bounds__(2 * kSide) lud_perimeter(float* block, int n) {
  __shared__ float diagonal[kSide][kSide];
  __shared__ float right[kSide][kSide];
  __shared__ float below[kSide][kSide];
  int lane = static_cast<int>(threadIdx.x) % kSide;
  bool first = static_cast<int>(threadIdx.x) < kSide;
  int away = (static_cast<int>(blockIdx.x) + 1) * kSide;
  float* to_right = block + away;
  float* to_below = block + away * n;
  if (first) {
    for (int row = 0; row < kSide / 2; ++row) diagonal[row][lane] = block[row * n + lane];
    for (int row = 0; row < kSide; ++row) right[row][lane] = to_right[row * n + lane];
  } else {
    for (int row = kSide / 2; row < kSide; ++row) diagonal[row][lane] = block[row * n + lane];
    for (int row = 0; row < kSide; ++row) below[row][lane] = to_below[row * n + lane];
  }
  __syncthreads();
  if (first) {
#pragma unroll 1
    for (int row = 1; row < kSide; ++row) {
      float value = right[row][lane];
      for (int k = 0; k < row; ++k) value = minus_product(value, diagonal[row][k], right[k][lane]);
      right[row][lane] = value;
    }
  } else {
#pragma unroll 1
    for (int column = 0; column < kSide; ++column) {
      float value = below[lane][column];
      for (int k = 0; k < column; ++k)
        value = minus_product(value, below[lane][k], diagonal[k][column]);
      below[lane][column] = value / diagonal[column][column];
    }
  }
  __syncthreads();
  if (first) {
    for (int row = 1; row < kSide; ++row) to_right[row * n + lane] = right[row][lane];
  } else {
    for (int row = 0; row < kSide; ++row) to_below[row * n + lane] = below[row][lane];
  }
}

// The rest of the matrix less the product of the two perimeters: 16 x 16 threads. `done` rows and
// columns lie before the diagonal block.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    lud_internal(float* matrix, int n, int done) {
  __shared__ float upper[kSide][kSide];
  __shared__ float lower[kSide][kSide];
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int column = done + (static_cast<int>(blockIdx.x) + 1) * kSide + tx;
  int row = done + (static_cast<int>(blockIdx.y) + 1) * kSide + ty;
  upper[ty][tx] = matrix[(done + ty) * n + column];
  lower[ty][tx] = -matrix[row * n + done + tx];  // negated once instead of in each product
  __syncthreads();
  float value = matrix[row * n + column];
  for (int k = 0; k < kSide; ++k) value = fmaf(lower[ty][k], upper[k][tx], value);
  matrix[row * n + column] = value;
}

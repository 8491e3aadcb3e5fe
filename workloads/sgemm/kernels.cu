// C = alpha * A * B + beta * C, single precision, row-major. See README.md.
#include "common/cuda_lite.h"

constexpr int kTile = 64;      // rows and columns of C per block
constexpr int kDepth = 16;     // columns of A, rows of B staged at a time
constexpr int kThreads = 256;  // 16 x 16 threads, each 4 x 4 results
constexpr int kPerThread = 4;
constexpr int kRowA = kTile + 4;  // padded: the transposing stores would meet in few banks

// A (64 x 16) goes to shared memory transposed, so that a thread reads its four rows as one vector.
static __device__ __forceinline__ void stage_a(float (*tile)[kRowA], const float* __restrict__ a,
                                               int m, int k, int row0, int k0) {
  int column = static_cast<int>(threadIdx.x) % kDepth;
  int first = static_cast<int>(threadIdx.x) / kDepth;
#pragma unroll
  for (int i = 0; i < kTile; i += kThreads / kDepth) {
    int row = row0 + first + i;
    bool inside = row < m && k0 + column < k;
    tile[column][first + i] = inside ? a[row * k + k0 + column] : 0.0f;
  }
}

static __device__ __forceinline__ void stage_b(float (*tile)[kTile], const float* __restrict__ b,
                                               int n, int k, int column0, int k0) {
  int column = static_cast<int>(threadIdx.x) % kTile;
  int first = static_cast<int>(threadIdx.x) / kTile;
#pragma unroll
  for (int i = 0; i < kDepth; i += kThreads / kTile) {
    int row = k0 + first + i;
    bool inside = row < k && column0 + column < n;
    tile[first + i][column] = inside ? b[row * n + column0 + column] : 0.0f;
  }
}

// A function, because clang takes the alignment of a dereferenced array element from the array.
static __device__ __forceinline__ float4 load_vector(const float* at) {
  return *reinterpret_cast<const float4*>(at);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
          int n, int k, float alpha, float beta) {
  __shared__ __align__(16) float tile_a[kDepth][kRowA];
  __shared__ __align__(16) float tile_b[kDepth][kTile];
  int tx = static_cast<int>(threadIdx.x) % 16, ty = static_cast<int>(threadIdx.x) / 16;
  int row0 = static_cast<int>(blockIdx.y) * kTile, column0 = static_cast<int>(blockIdx.x) * kTile;
  float sum[kPerThread][kPerThread] = {};

  for (int k0 = 0; k0 < k; k0 += kDepth) {
    stage_a(tile_a, a, m, k, row0, k0);
    stage_b(tile_b, b, n, k, column0, k0);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float4 left = load_vector(&tile_a[d][ty * kPerThread]);
      float4 right = load_vector(&tile_b[d][tx * kPerThread]);
      const float l[] = {left.x, left.y, left.z, left.w};
      const float r[] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int i = 0; i < kPerThread; ++i)
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) sum[i][j] += l[i] * r[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    int row = row0 + ty * kPerThread + i;
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      int column = column0 + tx * kPerThread + j;
      if (row < m && column < n) {
        float* at = &c[row * n + column];
        *at = alpha * sum[i][j] + beta * *at;
      }
    }
  }
}

constexpr int kStripRows = 128;    // rows of C per block, one per thread
constexpr int kStripColumns = 16;  // results of a thread
constexpr int kStripDepth = 8;     // rows of B staged at a time

// The other tiling: A is streamed from global memory, only B goes through shared memory. A and C
// are stored by columns, so that lanes touch consecutive words.
extern "C" __global__ void __launch_bounds__(kStripRows)
    sgemm_streamed(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
                   float beta) {
  __shared__ float tile[kStripDepth][kStripColumns];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kStripRows + ty * kStripColumns + tx;
  const int column0 = static_cast<int>(blockIdx.y) * kStripColumns;
  float sum[kStripColumns] = {};

  for (int k0 = 0; k0 < k; k0 += kStripDepth) {
    bool inside = k0 + ty < k && column0 + tx < n;
    tile[ty][tx] = inside ? b[(k0 + ty) * n + column0 + tx] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kStripDepth; ++d) {
      float left = row < m && k0 + d < k ? a[(k0 + d) * m + row] : 0.0f;
#pragma unroll
      for (int j = 0; j < kStripColumns; ++j) sum[j] += left * tile[d][j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < kStripColumns; ++j) {
    if (row >= m || column0 + j >= n) continue;
    float* at = &c[(column0 + j) * m + row];
    *at = alpha * sum[j] + beta * *at;
  }
}

// As sgemm_streamed where m, n and k are whole tiles: nothing is tested.
extern "C" __global__ void sgemm_whole(const float* a, const float* b, float* c, int m, int n,
                                       int k, float alpha, float beta) {
  __shared__ float tile[kStripDepth][kStripColumns];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kStripRows + ty * kStripColumns + tx;
  const int column0 = static_cast<int>(blockIdx.y) * kStripColumns;
  float sum[kStripColumns] = {};

  for (int k0 = 0; k0 < k; k0 += kStripDepth) {
    tile[ty][tx] = b[(k0 + ty) * n + column0 + tx];
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kStripDepth; ++d) {
      const float left = a[(k0 + d) * m + row];
#pragma unroll
      for (int j = 0; j < kStripColumns; ++j) sum[j] += left * tile[d][j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < kStripColumns; ++j) {
    float* at = &c[(column0 + j) * m + row];
    *at = alpha * sum[j] + beta * *at;
  }
}

// Out-of-place transposition of a row-major matrix, three ways. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kTile = 32;
constexpr unsigned kRowsPerPass = 8;  // block: 32 x 8 threads, each moves four elements

// kRow is the length of a tile row in shared memory: 33 words spread a column over all 32 banks,
// 32 put it into one.
template <unsigned kRow>
static __device__ __forceinline__ void transpose_tile(const float* __restrict__ in,
                                                      float* __restrict__ out, unsigned rows,
                                                      unsigned columns) {
  __shared__ float tile[kTile][kRow];
  unsigned column = blockIdx.x * kTile + threadIdx.x, row0 = blockIdx.y * kTile;
#pragma unroll
  for (unsigned i = threadIdx.y; i < kTile; i += kRowsPerPass)
    if (row0 + i < rows && column < columns)
      tile[i][threadIdx.x] = in[(row0 + i) * columns + column];
  __syncthreads();
  unsigned row = row0 + threadIdx.x, column0 = blockIdx.x * kTile;
#pragma unroll
  for (unsigned i = threadIdx.y; i < kTile; i += kRowsPerPass)
    if (column0 + i < columns && row < rows) out[(column0 + i) * rows + row] = tile[threadIdx.x][i];
}

extern "C" __global__ void transpose_padded(const float* __restrict__ in, float* __restrict__ out,
                                            unsigned rows, unsigned columns) {
  transpose_tile<kTile + 1>(in, out, rows, columns);
}

extern "C" __global__ void transpose_conflicting(const float* __restrict__ in,
                                                 float* __restrict__ out, unsigned rows,
                                                 unsigned columns) {
  transpose_tile<kTile>(in, out, rows, columns);
}

extern "C" __global__ void transpose_naive(const float* __restrict__ in, float* __restrict__ out,
                                           unsigned rows, unsigned columns) {
  unsigned column = blockIdx.x * kTile + threadIdx.x, row0 = blockIdx.y * kTile;
#pragma unroll
  for (unsigned i = threadIdx.y; i < kTile; i += kRowsPerPass)
    if (row0 + i < rows && column < columns)
      out[column * rows + row0 + i] = in[(row0 + i) * columns + column];
}

// Separable convolution: along rows, then along columns. See README.md.
#include "common/cuda_lite.h"

constexpr int kRadius = 8;
constexpr int kSteps = 8;             // results of a thread
constexpr int kHalo = 1;              // steps of the tile on either side, at least kRadius wide
constexpr int kRowX = 16, kRowY = 4;  // threads of a block along rows
constexpr int kColX = 16, kColY = 8;  // threads of a block along columns
constexpr int kTile = kSteps + 2 * kHalo;  // steps of the tile

__constant__ float convolution_weights[2 * kRadius + 1];

// A block has 8 x 16 results of each of 4 rows; pixels beyond the image count as 0.
extern "C" __global__ void __launch_bounds__(kRowX* kRowY)
    convolution_rows(const float* source, float* target, int columns, int rows) {
  __shared__ float tile[kRowY][kTile * kRowX];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int y = static_cast<int>(blockIdx.y) * kRowY + ty;
  const int first = (static_cast<int>(blockIdx.x) * kSteps - kHalo) * kRowX + tx;
  const float* row = source + y * columns;
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
    int x = first + i * kRowX;
    tile[ty][tx + i * kRowX] = x >= 0 && x < columns && y < rows ? row[x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = kHalo; i < kHalo + kSteps; ++i) {
    float sum = 0;
#pragma unroll
    for (int j = -kRadius; j <= kRadius; ++j)
      sum += convolution_weights[kRadius - j] * tile[ty][tx + i * kRowX + j];
    int x = first + i * kRowX;
    if (x < columns && y < rows) target[y * columns + x] = sum;
  }
}

// A block has 8 x 8 results of each of 16 columns.
extern "C" __global__ void __launch_bounds__(kColX* kColY)
    convolution_columns(const float* source, float* target, int columns, int rows) {
  __shared__ float tile[kColX][kTile * kColY + 1];  // padded: a column to a bank
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * kColX + tx;
  const int first = (static_cast<int>(blockIdx.y) * kSteps - kHalo) * kColY + ty;
#pragma unroll
  for (int i = 0; i < kTile; ++i) {
    int y = first + i * kColY;
    tile[tx][ty + i * kColY] = y >= 0 && y < rows && x < columns ? source[y * columns + x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int i = kHalo; i < kHalo + kSteps; ++i) {
    float sum = 0;
#pragma unroll
    for (int j = -kRadius; j <= kRadius; ++j)
      sum += convolution_weights[kRadius - j] * tile[tx][ty + i * kColY + j];
    int y = first + i * kColY;
    if (y < rows && x < columns) target[y * columns + x] = sum;
  }
}

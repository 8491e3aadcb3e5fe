// One explicit step of heat conduction on a chip, tiles with a one-cell rim. See README.md.
#include "common/cuda_lite.h"

constexpr int kBlock = 16;
constexpr int kInner = kBlock - 2;  // cells a block computes per side

// t' = t + step (p + (n + s - 2 t) per_y + (e + w - 2 t) per_x + (ambient - t) per_z);
// beyond the chip's edge lies a copy of the edge cell.
extern "C" __global__ void __launch_bounds__(kBlock* kBlock)
    hotspot(const float* __restrict__ temperature, const float* __restrict__ power,
            float* __restrict__ next, int rows, int columns, float step, float per_x, float per_y,
            float per_z, float ambient) {
  __shared__ float t[kBlock][kBlock];
  __shared__ float p[kBlock][kBlock];
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int column = static_cast<int>(blockIdx.x) * kInner + tx - 1;
  int row = static_cast<int>(blockIdx.y) * kInner + ty - 1;
  int from = min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1);
  t[ty][tx] = temperature[from];
  p[ty][tx] = power[from];
  __syncthreads();
  bool inner = tx >= 1 && tx <= kInner && ty >= 1 && ty <= kInner;
  if (!inner || row >= rows || column >= columns) return;
  float own = t[ty][tx];
  float vertical = t[ty - 1][tx] + t[ty + 1][tx] - 2.0f * own;
  float horizontal = t[ty][tx - 1] + t[ty][tx + 1] - 2.0f * own;
  float flow = p[ty][tx] + vertical * per_y + horizontal * per_x + (ambient - own) * per_z;
  next[row * columns + column] = own + step * flow;
}

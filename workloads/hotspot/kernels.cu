// Explicit steps of heat conduction on a chip, tiles with a rim as wide as a launch has steps. See
// README.md.
#include "common/cuda_lite.h"

constexpr int kBlock = 16;
constexpr float kAmbient = 80.0f;

struct Range {
  int first, last;
  __device__ __forceinline__ bool has(int i) const { return i >= first && i <= last; }
};

// Rows (columns) of a tile that lie on a chip of `length` of them; the tile's first is `origin`.
static __device__ __forceinline__ Range on_chip(int origin, int length) {
  return {max(-origin, 0), min(kBlock - 1, length - 1 - origin)};
}

// t' = t + step / capacity (p + (n + s - 2 t) / r_y + (e + w - 2 t) / r_x + (ambient - t) / r_z);
// beyond the chip's edge lies a copy of the edge cell. 2 t is a double, and all that it meets.
extern "C" __global__ void __launch_bounds__(kBlock* kBlock)
    hotspot(const float* temperature, const float* power, float* next, int rows, int columns,
            int rim_rows, int rim_columns, int steps, float step, float capacity, float r_x,
            float r_y, float r_z) {
  __shared__ float t[kBlock][kBlock];
  __shared__ float p[kBlock][kBlock];
  __shared__ float result[kBlock][kBlock];
  const float scale = step / capacity;
  const float per_x = 1.0f / r_x, per_y = 1.0f / r_y, per_z = 1.0f / r_z;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int inner = kBlock - 2 * steps;  // cells a block computes per side
  const int top = static_cast<int>(blockIdx.y) * inner - rim_rows;
  const int left = static_cast<int>(blockIdx.x) * inner - rim_columns;
  const int at = (top + ty) * columns + left + tx;
  if (Range{0, rows - 1}.has(top + ty) && Range{0, columns - 1}.has(left + tx)) {
    t[ty][tx] = temperature[at];
    p[ty][tx] = power[at];
  }
  __syncthreads();
  const Range vertical = on_chip(top, rows), horizontal = on_chip(left, columns);
  const int north = max(ty - 1, vertical.first), south = min(ty + 1, vertical.last);
  const int west = max(tx - 1, horizontal.first), east = min(tx + 1, horizontal.last);
  bool computed = false;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    const Range left_over{s + 1, kBlock - 2 - s};  // whose neighbours are still right
    computed = left_over.has(tx) && left_over.has(ty) && horizontal.has(tx) && vertical.has(ty);
    if (computed) {
      const float own = t[ty][tx];
      const double along = t[south][tx] + t[north][tx] - 2.0 * own;
      const double across = t[ty][east] + t[ty][west] - 2.0 * own;
      const float upward = (kAmbient - own) * per_z;
      result[ty][tx] =
          static_cast<float>(own + scale * (p[ty][tx] + along * per_y + across * per_x + upward));
    }
    __syncthreads();
    if (s == steps - 1) break;
    if (computed) t[ty][tx] = result[ty][tx];
    __syncthreads();
  }
  if (computed) next[at] = result[ty][tx];
}

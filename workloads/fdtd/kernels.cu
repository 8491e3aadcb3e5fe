// Finite differences in time, two dimensions: an update of each field from the others. See
// README.md.
#include "common/cuda_lite.h"

// Fields lie row by row; blocks are of two dimensions, x along a row.
struct Cell {
  int row, column;
};

static __device__ __forceinline__ Cell own_cell() {
  return {static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y),
          static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)};
}

// ey from the rows of hz on both sides of it; the source's value of this step enters at row 0.
extern "C" __global__ void fdtd_ey(const float* source, float* ey, const float* hz, int rows,
                                   int columns, int step) {
  const Cell cell = own_cell();
  if (cell.row >= rows || cell.column >= columns) return;
  if (cell.row == 0) {
    ey[cell.column] = source[step];
    return;
  }
  const int at = cell.row * columns + cell.column;
  const float before = hz[at - columns];
  ey[at] = fmaf(hz[at] - before, -0.5f, ey[at]);
}

// ex from the columns of hz on both sides of it.
extern "C" __global__ void fdtd_ex(float* ex, const float* hz, int rows, int columns) {
  const Cell cell = own_cell();
  if (cell.row >= rows || cell.column >= columns || cell.column <= 0) return;
  const int at = cell.row * columns + cell.column;
  const float before = hz[at - 1];
  ex[at] = fmaf(hz[at] - before, -0.5f, ex[at]);
}

// hz from the four sides of its cell.
extern "C" __global__ void fdtd_hz(const float* ex, const float* ey, float* hz, int rows,
                                   int columns) {
  const Cell cell = own_cell();
  if (cell.row >= rows - 1 || cell.column >= columns - 1) return;
  const int at = cell.row * columns + cell.column;
  const float across = ex[at + 1] - ex[at];
  const float sum = (across + ey[at + columns]) - ey[at];
  hz[at] = fmaf(sum, -0.7f, hz[at]);
}

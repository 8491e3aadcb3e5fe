// Weighted mean of a cell and its six neighbours in space, plane by plane. See README.md.
#include "common/cuda_lite.h"

// A thread walks up two columns of cells, kWidth apart; shared memory holds the block's cells of
// the plane it is in, and a rim of one cell.
constexpr int kWidth = 32, kHeight = 4, kColumns = 2;
constexpr int kTileWidth = kColumns * kWidth;
using Tile = float[kHeight + 2][kTileWidth + 2];

constexpr float kOwn = 0.25f, kNeighbour = 0.125f;

struct Column {
  int tx, x;    // place in the tile and in the grid
  bool inside;  // the grid
  float below, here, above;
};

// Beyond the grid's edge lies a copy of the edge: in the rim, and with threads that are out there.
static __device__ __forceinline__ void fill(Tile& tile, const float* plane, const Column& c, int ty,
                                            int y, int columns, int rows) {
  tile[ty + 1][c.tx + 1] = c.here;
  if (ty == 0) tile[0][c.tx + 1] = plane[max(y - 1, 0) * columns + c.x];
  if (ty == kHeight - 1) tile[kHeight + 1][c.tx + 1] = plane[min(y + 1, rows - 1) * columns + c.x];
  if (c.tx == 0) tile[ty + 1][0] = plane[y * columns + max(c.x - 1, 0)];
  if (c.tx == kTileWidth - 1)
    tile[ty + 1][kTileWidth + 1] = plane[y * columns + min(c.x + 1, columns - 1)];
}

static __device__ __forceinline__ float mean(const Tile& tile, const Column& c, int ty) {
  float across = tile[ty + 1][c.tx] + tile[ty + 1][c.tx + 2];
  float along = tile[ty][c.tx + 1] + tile[ty + 2][c.tx + 1];
  return fmaf(kNeighbour, (across + along) + (c.below + c.above), kOwn * c.here);
}

// `stride` words from a plane to the next.
extern "C" __global__ void __launch_bounds__(kWidth* kHeight)
    stencil(const float* from, float* to, int columns, int rows, int planes, int stride) {
  __shared__ Tile tile;
  int ty = static_cast<int>(threadIdx.y);
  int row = static_cast<int>(blockIdx.y) * kHeight + ty, y = min(row, rows - 1);
  Column pair[kColumns];
  for (int i = 0; i < kColumns; ++i) {
    Column& c = pair[i];
    c.tx = static_cast<int>(threadIdx.x) + i * kWidth;
    int x = static_cast<int>(blockIdx.x) * kTileWidth + c.tx;
    c.x = min(x, columns - 1);
    c.inside = x < columns && row < rows;
    c.below = c.here = from[y * columns + c.x];
  }
  for (const Column& c : pair) fill(tile, from, c, ty, y, columns, rows);
#pragma unroll 1
  for (int z = 0;; ++z) {
    bool top = z == planes - 1;
    for (Column& c : pair) c.above = top ? c.here : from[stride + y * columns + c.x];
    __syncthreads();
    for (const Column& c : pair)
      if (c.inside) to[y * columns + c.x] = mean(tile, c, ty);
    if (top) return;
    from += stride;
    to += stride;
    __syncthreads();
    for (Column& c : pair) {
      c.below = c.here;
      c.here = c.above;
      fill(tile, from, c, ty, y, columns, rows);
    }
  }
}

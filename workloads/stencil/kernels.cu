// Weighted sum of a cell and its six neighbours in space, plane by plane. See README.md.
#include "common/cuda_lite.h"

// A thread walks up two columns of cells, kWidth apart; shared memory holds the block's cells of
// the plane it is in. What lies beyond the block's sides comes from global memory.
constexpr int kWidth = 32, kHeight = 4, kTileWidth = 2 * kWidth;
using Tile = float[kHeight][kTileWidth];

struct Grid {
  const float* cells;
  int columns, stride;  // stride: words from a plane to the next
  __device__ __forceinline__ float at(int x, int y, int z) const {
    return cells[x + columns * y + stride * z];
  }
};

// Neighbours in the plane, in the order of the sum. The side is that neighbour in x which may lie
// in another block: the western one of a thread's first column, the eastern one of its second.
static __device__ __forceinline__ float sum_in_plane(const Tile& tile, const Grid& from, int tx,
                                                     int x, int y, int z, int side,
                                                     float vertical) {
  const int ty = static_cast<int>(threadIdx.y);
  const float south = ty == kHeight - 1 ? apart(from.at(x, y + 1, z)) : tile[ty + 1][tx];
  const float north = ty == 0 ? apart(from.at(x, y - 1, z)) : tile[ty - 1][tx];
  const bool outside = side < 0 ? tx == 0 : tx == kTileWidth - 1;
  const float beside = outside ? apart(from.at(x + side, y, z)) : tile[ty][tx + side];
  const float sum = vertical + south + north;
  return side < 0 ? sum + tile[ty][tx + 1] + beside : sum + beside + tile[ty][tx - 1];
}

// to = neighbour * (sum of six) - own * cell. Cells of the surface stay as they are.
extern "C" __global__ void __launch_bounds__(kWidth* kHeight)
    stencil(float own, float neighbour, const float* cells, float* to, int columns, int rows,
            int planes, int stride) {
  __shared__ Tile tile;
  const Grid from{cells, columns, stride};
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int second = tx + kWidth;
  const int x = static_cast<int>(blockIdx.x) * kTileWidth + tx, x2 = x + kWidth;
  const int y = static_cast<int>(blockIdx.y) * kHeight + ty;
  tile[ty][tx] = 0;
  tile[ty][second] = 0;
  __syncthreads();
  const bool inside = x < columns && y < rows, inside2 = x2 < columns && y < rows;
  const bool inner = x > 0 && y > 0 && x < columns - 1 && y < rows - 1;
  const bool inner2 = y > 0 && x2 < columns - 1 && y < rows - 1;
  float below = 0, below2 = 0, above = 0, above2 = 0;
  if (inside) {
    below = from.at(x, y, 0);
    tile[ty][tx] = from.at(x, y, 1);
  }
  if (inside2) {
    below2 = from.at(x2, y, 0);
    tile[ty][second] = from.at(x2, y, 1);
  }
  __syncthreads();
#pragma unroll 1
  for (int z = 1; z < planes - 1; ++z) {
    if (inside) above = from.at(x, y, z + 1);
    if (inner) {
      const float sum = sum_in_plane(tile, from, tx, x, y, z, -1, above + below);
      to[x + columns * y + stride * z] = fmaf(-own, tile[ty][tx], __fmul_rn(sum, neighbour));
    }
    if (inside2) above2 = from.at(x2, y, z + 1);
    if (inner2) {
      const float sum = sum_in_plane(tile, from, second, x2, y, z, 1, above2 + below2);
      to[x2 + columns * y + stride * z] = fmaf(-own, tile[ty][second], __fmul_rn(sum, neighbour));
    }
    __syncthreads();
    below = tile[ty][tx];
    tile[ty][tx] = above;
    below2 = tile[ty][second];
    tile[ty][second] = above2;
    __syncthreads();
  }
}

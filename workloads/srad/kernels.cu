// Speckle-reducing anisotropic diffusion: version 1 (srad1_*) through global memory only, version 2
// (srad2_*) through tiles in shared memory. See README.md.
#include "common/cuda_lite.h"

struct Steps {
  float north, south, west, east;
};

// Coefficient of diffusion. Its constants are doubles.
static __device__ __forceinline__ float coefficient(Steps d, float pixel, float speckle) {
  float squares = d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east;
  float gradient = squares / (pixel * pixel);
  float laplacian = (d.north + d.south + d.west + d.east) / pixel;
  auto numerator = static_cast<float>(0.5 * gradient - (1.0 / 16.0) * (laplacian * laplacian));
  auto denominator = static_cast<float>(1 + 0.25 * laplacian);
  float q = numerator / (denominator * denominator);
  float excess = (q - speckle) / (speckle * (1 + speckle));
  auto c = static_cast<float>(1.0 / (1.0 + excess));
  const float most = c > 1.0f ? 1.0f : c;
  return c < 0.0f ? 0.0f : most;
}
// --- version 1: thread = pixel, images by columns, neighbours by index arrays ---
// Written as the well-known program is: pixels are counted from one to find row and column, and
// what a kernel has written may be what it reads next.

constexpr int kThreads = 512;

static __device__ __forceinline__ int pixel_of_thread() {
  return static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
}

struct Place {
  int row, column;
};

static __device__ __forceinline__ Place place_of(int pixel, int rows) {
  Place at{(pixel + 1) % rows - 1, (pixel + 1) / rows};
  if ((pixel + 1) % rows == 0) {
    at.row = rows - 1;
    at.column -= 1;
  }
  return at;
}

extern "C" __global__ void __launch_bounds__(kThreads) srad1_extract(float* image, long pixels) {
  int p = pixel_of_thread();
  if (p < pixels) image[p] = __expf(image[p] / 255.0f);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_prepare(const float* image, float* sums, float* squares, long pixels) {
  int p = pixel_of_thread();
  if (p >= pixels) return;
  sums[p] = image[p];
  read_again();
  squares[p] = image[p] * image[p];
}

// Sums kThreads of the `count` values at distance `stride` to where the first of them was. Of a
// block that has fewer, as many as the largest power of two in them are summed as a tree, the rest
// by the last thread of these.
struct Sums {
  float sum[kThreads], square[kThreads];
};

static __device__ __forceinline__ void add_pairs(Sums& s, int t, int reach, int width) {
  if ((t + 1) % reach == 0 && t < width) {
    s.sum[t] += s.sum[t - reach / 2];
    s.square[t] += s.square[t - reach / 2];
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_reduce(float* sums, float* squares, int count, int stride) {
  __shared__ Sums s;
  int t = static_cast<int>(threadIdx.x), i = pixel_of_thread();
  int here = min(count - (i - t), kThreads), width = kThreads;
  if (i < count) {
    s.sum[t] = sums[i * stride];
    s.square[t] = squares[i * stride];
  }
  __syncthreads();
  if (here == kThreads) {
#pragma unroll
    for (int reach = 2; reach <= kThreads; reach *= 2) add_pairs(s, t, reach, kThreads);
  } else {
#pragma unroll 1
    while (width > here) width /= 2;
#pragma unroll 1
    for (int reach = 2; reach <= width; reach *= 2) add_pairs(s, t, reach, width);
  }
  if (t != width - 1) return;
#pragma unroll 1
  for (int other = width; other < here; ++other) {
    s.sum[t] += s.sum[other];
    s.square[t] += s.square[other];
  }
  sums[(i - t) * stride] = s.sum[t];
  squares[(i - t) * stride] = s.square[t];
}

// `steps`: the differences to the north, south, west and east, of all pixels each.
extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_gradient(const float* image, const int* row_north, const int* row_south,
                   const int* column_west, const int* column_east, float* steps, float* c, int rows,
                   long pixels, float speckle) {
  int p = pixel_of_thread();
  Place at = place_of(p, rows);
  if (p >= pixels) return;
  float here = image[p];
  Steps d;
  d.north = image[row_north[at.row] + rows * at.column] - here;
  d.south = image[row_south[at.row] + rows * at.column] - here;
  d.west = image[at.row + rows * column_west[at.column]] - here;
  d.east = image[at.row + rows * column_east[at.column]] - here;
  float own = coefficient(d, here, speckle);
  float* to = steps + p;
  to[0] = d.north;
  to[pixels] = d.south;
  to[2 * pixels] = d.west;
  to[3 * pixels] = d.east;
  c[p] = own;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_update(float* image, const int* row_south, const int* column_east, const float* steps,
                 const float* c, int rows, long pixels, float rate) {
  int p = pixel_of_thread();
  Place at = place_of(p, rows);
  if (p >= pixels) return;
  float here = c[p];
  float c_south = c[row_south[at.row] + rows * at.column];
  float c_east = c[at.row + rows * column_east[at.column]];
  const float* d = steps + p;
  float divergence = here * d[0] + c_south * d[pixels] + here * d[2 * pixels];
  divergence += c_east * d[3 * pixels];
  image[p] = static_cast<float>(image[p] + 0.25 * rate * divergence);
}

extern "C" __global__ void __launch_bounds__(kThreads) srad1_compress(float* image, long pixels) {
  int p = pixel_of_thread();
  if (p < pixels) image[p] = __logf(image[p]) * 255.0f;
}

// --- version 2: 16 x 16 threads, images by rows, sides multiples of 16 ---
// A tile, and per side another of which one row or column is used: as much shared memory as the
// well-known program takes, which bounds the blocks on an SM.

constexpr int kSide = 16, kLast = kSide - 1;
using Tile = float[kSide][kSide];

struct Pixel {
  int tx, ty, at;  // place in the tile and in the image
  bool top, bottom, leftmost, rightmost;
  // Of the tile.
  __device__ __forceinline__ bool at_rim() const {
    return tx == 0 || ty == 0 || tx == kLast || ty == kLast;
  }
};

static __device__ __forceinline__ Pixel own_pixel(int columns) {
  Pixel p;
  p.tx = static_cast<int>(threadIdx.x);
  p.ty = static_cast<int>(threadIdx.y);
  int bx = static_cast<int>(blockIdx.x), by = static_cast<int>(blockIdx.y);
  p.at = (by * kSide + p.ty) * columns + bx * kSide + p.tx;
  p.top = by == 0;
  p.bottom = by == static_cast<int>(gridDim.y) - 1;
  p.leftmost = bx == 0;
  p.rightmost = bx == static_cast<int>(gridDim.x) - 1;
  return p;
}

extern "C" __global__ void __launch_bounds__(kSide* kSide)
    srad2_gradient(const float* image, float* north, float* south, float* west, float* east,
                   float* c, int columns, float speckle) {
  __shared__ Tile tile, above, below, before, after, result;
  Pixel p = own_pixel(columns);
  int tx = p.tx, ty = p.ty;
  int corner = p.at - ty * columns - tx;
  // Beyond the image's edge lies a copy of the edge.
  above[ty][tx] = image[corner + tx + (p.top ? 0 : -columns)];
  below[ty][tx] = image[corner + tx + (p.bottom ? kLast : kSide) * columns];
  __syncthreads();
  before[ty][tx] = image[corner + ty * columns + (p.leftmost ? 0 : -1)];
  after[ty][tx] = image[corner + ty * columns + (p.rightmost ? kLast : kSide)];
  __syncthreads();
  tile[ty][tx] = image[p.at];
  __syncthreads();
  float here = tile[ty][tx];
  Steps d;
  if (p.at_rim()) {
    d.north = (ty == 0 ? above[ty][tx] : tile[ty - 1][tx]) - here;
    d.south = (ty == kLast ? below[ty][tx] : tile[ty + 1][tx]) - here;
    d.west = (tx == 0 ? before[ty][tx] : tile[ty][tx - 1]) - here;
    d.east = (tx == kLast ? after[ty][tx] : tile[ty][tx + 1]) - here;
  } else {
    d.north = apart(tile[ty - 1][tx]) - here;
    d.south = apart(tile[ty + 1][tx]) - here;
    d.west = apart(tile[ty][tx - 1]) - here;
    d.east = apart(tile[ty][tx + 1]) - here;
  }
  result[ty][tx] = coefficient(d, here, speckle);
  __syncthreads();
  c[p.at] = result[ty][tx];
  north[p.at] = d.north;
  south[p.at] = d.south;
  west[p.at] = d.west;
  east[p.at] = d.east;
}

extern "C" __global__ void __launch_bounds__(kSide* kSide)
    srad2_update(float* image, const float* north, const float* south, const float* west,
                 const float* east, const float* c, int columns, float rate) {
  __shared__ Tile tile, pixel, below, after, result;
  Pixel p = own_pixel(columns);
  int tx = p.tx, ty = p.ty;
  int corner = p.at - ty * columns - tx;
  pixel[ty][tx] = image[p.at];
  below[ty][tx] = c[corner + tx + (p.bottom ? kLast : kSide) * columns];
  __syncthreads();
  after[ty][tx] = c[corner + ty * columns + (p.rightmost ? kLast : kSide)];
  __syncthreads();
  tile[ty][tx] = c[p.at];
  __syncthreads();
  float here = tile[ty][tx];
  float c_south = ty == kLast ? below[ty][tx] : tile[ty + 1][tx];
  float c_east = tx == kLast ? after[ty][tx] : tile[ty][tx + 1];
  float divergence =
      here * north[p.at] + c_south * south[p.at] + here * west[p.at] + c_east * east[p.at];
  result[ty][tx] = static_cast<float>(pixel[ty][tx] + 0.25 * rate * divergence);
  __syncthreads();
  image[p.at] = result[ty][tx];
}

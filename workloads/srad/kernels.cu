// Speckle-reducing anisotropic diffusion: version 1 (srad1_*) through global memory only, version 2
// (srad2_*) through tiles in shared memory. See README.md.
#include "common/cuda_lite.h"

// Coefficient of diffusion from the squared gradient, the Laplacian (both over the pixel) and the
// speckle scale q0^2.
static __device__ __forceinline__ float diffusion(float gradient2, float laplacian, float speckle) {
  float numerator = 0.5f * gradient2 - 0.0625f * (laplacian * laplacian);
  float denominator = 1.0f + 0.25f * laplacian;
  float q = numerator / (denominator * denominator);
  float excess = (q - speckle) / (speckle * (1.0f + speckle));
  return fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

struct Steps {
  float north, south, west, east;
};

static __device__ __forceinline__ float coefficient(Steps d, float pixel, float speckle) {
  float squares = d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east;
  return diffusion(squares / (pixel * pixel), (d.north + d.south + d.west + d.east) / pixel,
                   speckle);
}

// --- version 1: thread = pixel, images by columns, neighbours by index arrays ---

constexpr int kThreads = 512;

static __device__ __forceinline__ int pixel_of_thread() {
  return static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
}

extern "C" __global__ void __launch_bounds__(kThreads) srad1_extract(float* image, int pixels) {
  int p = pixel_of_thread();
  if (p < pixels) image[p] = __expf(image[p] / 255.0f);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_prepare(const float* image, float* sums, float* squares, int pixels) {
  int p = pixel_of_thread();
  if (p >= pixels) return;
  sums[p] = image[p];
  squares[p] = image[p] * image[p];
}

// Sums kThreads of the `count` values at distance `stride` to where the first of them was.
extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_reduce(float* sums, float* squares, int count, int stride) {
  __shared__ float sum[kThreads];
  __shared__ float square[kThreads];
  int t = static_cast<int>(threadIdx.x), i = pixel_of_thread();
  sum[t] = i < count ? sums[i * stride] : 0.0f;
  square[t] = i < count ? squares[i * stride] : 0.0f;
  for (int reach = 1; reach < kThreads; reach *= 2) {
    __syncthreads();
    if (t % (2 * reach) == 0) {
      sum[t] += sum[t + reach];
      square[t] += square[t + reach];
    }
  }
  if (t != 0) return;
  sums[i * stride] = sum[0];
  squares[i * stride] = square[0];
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_gradient(const float* image, const int* row_north, const int* row_south,
                   const int* column_west, const int* column_east, float* north, float* south,
                   float* west, float* east, float* c, int rows, int pixels, float speckle) {
  int p = pixel_of_thread();
  if (p >= pixels) return;
  int row = p % rows, column = p / rows;
  float here = image[p];
  Steps d;
  d.north = image[row_north[row] + rows * column] - here;
  d.south = image[row_south[row] + rows * column] - here;
  d.west = image[row + rows * column_west[column]] - here;
  d.east = image[row + rows * column_east[column]] - here;
  north[p] = d.north;
  south[p] = d.south;
  west[p] = d.west;
  east[p] = d.east;
  c[p] = coefficient(d, here, speckle);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    srad1_update(float* image, const int* row_south, const int* column_east, const float* north,
                 const float* south, const float* west, const float* east, const float* c, int rows,
                 int pixels, float rate) {
  int p = pixel_of_thread();
  if (p >= pixels) return;
  int row = p % rows, column = p / rows;
  float here = c[p];
  float c_south = c[row_south[row] + rows * column];
  float c_east = c[row + rows * column_east[column]];
  float divergence = here * north[p] + c_south * south[p] + here * west[p] + c_east * east[p];
  image[p] += 0.25f * rate * divergence;
}

extern "C" __global__ void __launch_bounds__(kThreads) srad1_compress(float* image, int pixels) {
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
  before[ty][tx] = image[corner + ty * columns + (p.leftmost ? 0 : -1)];
  after[ty][tx] = image[corner + ty * columns + (p.rightmost ? kLast : kSide)];
  tile[ty][tx] = image[p.at];
  __syncthreads();
  float here = tile[ty][tx];
  Steps d;
  d.north = (ty == 0 ? above[ty][tx] : tile[ty - 1][tx]) - here;
  d.south = (ty == kLast ? below[ty][tx] : tile[ty + 1][tx]) - here;
  d.west = (tx == 0 ? before[ty][tx] : tile[ty][tx - 1]) - here;
  d.east = (tx == kLast ? after[ty][tx] : tile[ty][tx + 1]) - here;
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
  after[ty][tx] = c[corner + ty * columns + (p.rightmost ? kLast : kSide)];
  tile[ty][tx] = c[p.at];
  __syncthreads();
  float here = tile[ty][tx];
  float c_south = ty == kLast ? below[ty][tx] : tile[ty + 1][tx];
  float c_east = tx == kLast ? after[ty][tx] : tile[ty][tx + 1];
  float divergence =
      here * north[p.at] + c_south * south[p.at] + here * west[p.at] + c_east * east[p.at];
  result[ty][tx] = pixel[ty][tx] + 0.25f * rate * divergence;
  __syncthreads();
  image[p.at] = result[ty][tx];
}

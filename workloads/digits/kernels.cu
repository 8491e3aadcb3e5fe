// A neural network that reads digits, a launch for each layer. See README.md.
#include "common/cuda_lite.h"

// Where the words of a window of 5 x 5 lie, in pictures of 29 words a line and in maps of 13.
extern "C" {
__constant__ int digits_window_29[25] = {0,  1,  2,  3,  4,  29, 30, 31,  32,  33,  58,  59, 60,
                                         61, 62, 87, 88, 89, 90, 91, 116, 117, 118, 119, 120};
__constant__ int digits_window_13[25] = {0,  1,  2,  3,  4,  13, 14, 15, 16, 17, 26, 27, 28,
                                         29, 30, 39, 40, 41, 42, 43, 52, 53, 54, 55, 56};
}

constexpr unsigned kPicture = 29 * 29, kMap = 13 * 13, kMaps = 6, kSmallMap = 5 * 5;

// Large numbers by the exponential, small ones by the beginning of the series, without a branch; as
// exact as CUDA's and as long.
static __device__ __forceinline__ float tanh_of(float x) {
  float size = fabsf(x);
  float power = 0.0f, inverse = 0.0f;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(size * 2.88539004f));
  __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
  float large = size >= 9.0f ? 1.0f : fmaf(inverse, -2.0f, 1.0f);
  large = __uint_as_float(__float_as_uint(large) | (__float_as_uint(x) & 0x80000000u));
  // -1/3, 2/15, -17/315, 62/2835: of the series, the last two less for what is cut off.
  float square = x * x;
  float series = fmaf(1.57e-2f, square, -5.23e-2f);
  series = fmaf(series, square, 1.3315e-1f);
  series = fmaf(series, square, -3.3333e-1f) * square;
  return size >= 0.6f ? large : fmaf(series, x, x);
}

// Scaled in double precision, as the constants of the published program are.
static __device__ __forceinline__ float fired(float sum) {
  float inner = static_cast<float>(0.66666667 * sum);
  return static_cast<float>(1.7159 * tanh_of(inner));
}

// Block: a map of an image. Every second window, a bias before each map's weights.
extern "C" __global__ void digits_first(const float* pictures, const float* weights, float* maps) {
  unsigned map = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  const float* weight = weights + map * 26;
  unsigned window = 2 * y * 29 + 2 * x + kPicture * blockIdx.y;
  float sum = 0.0f + weight[0];
#pragma unroll
  for (int i = 0; i < 25; ++i) {
    unsigned place = window + static_cast<unsigned>(digits_window_29[i]);
    sum += pictures[place] * weight[1 + i];
  }
  maps[kMap * map + y * 13 + x + kMap * kMaps * blockIdx.y] = fired(sum);
}

// Block: one of the small maps of an image; six words, one of each map, for a place of the window.
extern "C" __global__ void digits_second(const float* maps, const float* weights, float* small) {
  unsigned map = blockIdx.x, x = threadIdx.x, y = threadIdx.y;
  const float* weight = weights + map * (25 * kMaps + 1);
  unsigned window = 2 * x + 26 * y + kMap * kMaps * blockIdx.y;
  float sum = 0.0f + *weight++;
#pragma unroll 2
  for (int i = 0; i < 25; ++i, weight += kMaps) {
    unsigned place = window + static_cast<unsigned>(digits_window_13[i]);
#pragma unroll
    for (unsigned m = 0; m < kMaps; ++m) sum += maps[place + kMap * m] * weight[m];
  }
  small[kSmallMap * (map + gridDim.x * blockIdx.y) + y * 5 + x] = fired(sum);
}

// A neuron that sees all of the layer before, one after the other.
template <int kUnrolled>
static __device__ __forceinline__ float all_of(const float* neurons, const float* weights,
                                               unsigned inputs) {
  const float* weight = weights + blockIdx.x * (inputs + 1);
  unsigned first = inputs * blockIdx.y;
  float sum = 0.0f + weight[0];
#pragma unroll kUnrolled
  for (unsigned i = 0; i < inputs; ++i) sum += neurons[first + i] * weight[1 + i];
  return fired(sum);
}

// Blocks of one thread: a neuron of an image.
extern "C" __global__ void digits_third(const float* small, const float* weights, float* hidden,
                                        unsigned inputs) {
  hidden[blockIdx.x + gridDim.x * blockIdx.y] = all_of<2>(small, weights, inputs);
}

extern "C" __global__ void digits_fourth(const float* hidden, const float* weights, float* outputs,
                                         unsigned inputs) {
  outputs[blockIdx.x + gridDim.x * blockIdx.y] = all_of<4>(hidden, weights, inputs);
}

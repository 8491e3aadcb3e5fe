// Points of a digital sequence, and the normal distribution's quantiles of evenly spaced numbers.
// See README.md.
#include "common/cuda_lite.h"

constexpr int kBits = 31, kDimensions = 3;

// By dimension: what each bit of a point's number adds to it.
__constant__ unsigned quasirandom_table[kDimensions * kBits];

// A row of the block for each dimension.
extern "C" __global__ void quasirandom_points(float* out, unsigned first, unsigned n) {
  const unsigned step = blockDim.x * gridDim.x;
  const unsigned* table = quasirandom_table + threadIdx.y * kBits;
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += step) {
    unsigned sum = 0, bits = first + at;
#pragma unroll
    for (int bit = 0; bit < kBits; ++bit, bits >>= 1)
      if ((bits & 1) != 0) sum ^= table[bit];
    out[threadIdx.y * n + at] = static_cast<float>(sum + 1) * 0x1p-31f;
  }
}

// Moro's approximation of the quantile of x / 2^32: a quotient of polynomials in the middle, a
// polynomial of the logarithm of the logarithm towards the ends.
static __device__ __forceinline__ float quantile(unsigned x) {
  bool low = true;
  if (x >= 0x80000000u) {
    x = 0xffffffffu - x;
    low = false;
  }
  const float share = static_cast<float>(x) * 0x1p-32f + 0x1p-33f, middle = share - 0.5f;
  float z;
  if (middle > -0.42f) {
    z = middle * middle;
    z = middle *
        (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
        ((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z +
         1.0f);
  } else {
    z = __logf(-__logf(share));
    z = 0.3374754822726147f +
        z * (0.9761690190917186f +
             z * (0.1607979714918209f +
                  z * (0.0276438810333863f +
                       z * (0.0038405729373609f +
                            z * (0.0003951896511919f +
                                 z * (0.0000321767881768f +
                                      z * (0.0000002888167364f + z * 0.0000003960315187f)))))));
    z = -z;
  }
  return low ? z : -z;
}

extern "C" __global__ void quasirandom_quantiles(float* out, unsigned n) {
  const unsigned distance = 0xffffffffu / (n + 1), step = blockDim.x * gridDim.x;
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += step)
    out[at] = quantile((at + 1) * distance);
}

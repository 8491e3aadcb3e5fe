// Sobol points by Gray code, a dimension per row of blocks. See README.md.
#include "common/cuda_lite.h"

constexpr int kDirections = 32;

static __device__ __forceinline__ int lowest_set(unsigned word) { return __builtin_ctz(word); }

// A thread begins at its own number and goes on in steps of a power of two, `step` = all threads of
// a row; between two of its points only two bits of the Gray code change.
extern "C" __global__ void sobol_points(unsigned vectors, const unsigned* directions, float* out) {
  __shared__ unsigned direction[kDirections];
  const unsigned thread = threadIdx.x;
  directions += kDirections * blockIdx.y;
  out += vectors * blockIdx.y;
  if (thread < kDirections) direction[thread] = directions[thread];
  __syncthreads();

  const unsigned begin = thread + blockIdx.x * blockDim.x, step = gridDim.x * blockDim.x;
  unsigned gray = begin ^ begin >> 1, point = 0;
  const int bits = lowest_set(step);
  for (int k = 0; k < bits; ++k, gray >>= 1) point ^= -(gray & 1) & direction[k];
  if (begin < vectors) out[begin] = static_cast<float>(point) * 0x1p-32f;

  const unsigned always = direction[bits - 1];
  for (unsigned i = begin + step; i < vectors; i += step) {
    point ^= always ^ direction[lowest_set(~((i - step) | (step - 1)))];
    out[i] = static_cast<float>(point) * 0x1p-32f;
  }
}

// Fast Walsh transform: passes through global memory, then blocks in shared memory. See README.md.
#include "common/cuda_lite.h"

constexpr int kMaxBlockThreads = 512;  // of arrays of 2048

// Two stages at once (radix 4): sums and differences over distances 2 and 1.
struct Four {
  float a, b, c, d;
  __device__ __forceinline__ void transform() {
    float even = a + c, odd = b + d;
    float even_less = a - c, odd_less = b - d;
    a = even + odd;
    b = even - odd;
    c = even_less + odd_less;
    d = even_less - odd_less;
  }
};

// Elements of which a thread handles four, `stride` (a power of two) apart: the first.
static __device__ __forceinline__ int first_of_four(int thread, int stride) {
  int low = thread & (stride - 1);
  return ((thread - low) << 2) + low;
}

// One element from each quarter of every array of 4 stride elements. A row of the grid is a vector;
// here there is one row.
extern "C" __global__ void walsh_pass(float* out, const float* in, int stride) {
  int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned vector = blockIdx.y * (gridDim.x * blockDim.x * 4);
  in += vector;
  out += vector;
  int i = first_of_four(thread, stride), j = i + stride, k = j + stride, l = k + stride;
  Four four = {in[i], in[j], in[k], in[l]};
  four.transform();
  out[i] = four.a;
  out[j] = four.b;
  out[k] = four.c;
  out[l] = four.d;
}

// Arrays of 2^order elements, one to a block of a quarter as many threads. An odd order leaves a
// last stage of single sums and differences.
extern "C" __global__ void __launch_bounds__(kMaxBlockThreads)
    walsh_block(float* out, const float* in, int order) {
  extern __shared__ float values[];
  const unsigned own = threadIdx.x;
  // Unsigned: addresses are computed anew for each element, which is shorter than to step them.
#pragma unroll 1
  for (unsigned i = own; i < 1u << order; i += blockDim.x)
    values[i] = in[(blockIdx.x << order) + i];
#pragma unroll 1
  for (int stride = 1 << order >> 2; stride > 0; stride >>= 2) {
    float* at = values + first_of_four(static_cast<int>(own), stride);
    float *second = at + stride, *third = second + stride, *fourth = third + stride;
    __syncthreads();
    Four four = {*at, *second, *third, *fourth};
    four.transform();
    *at = four.a;
    *second = four.b;
    *third = four.c;
    *fourth = four.d;
  }
  order = unknown(order);  // what depends on it is not kept in registers over the stages
  if ((order & 1) != 0) {
    __syncthreads();
#pragma unroll 1
    for (unsigned i = own; i < 1u << order >> 1; i += blockDim.x) {
      float2* at = reinterpret_cast<float2*>(values) + i;
      float2 pair = *at;
      *at = float2{pair.x + pair.y, pair.x - pair.y};
    }
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned i = own; i < 1u << order; i += blockDim.x)
    out[(blockIdx.x << order) + i] = values[i];
}

// a = a b / n, element by element, four in a round.
extern "C" __global__ void walsh_modulate(float* a, const float* b, int n) {
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  const float share = 1.0f / static_cast<float>(n);
#pragma unroll 4
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += threads)
    a[i] *= b[i] * share;
}

// Softmax of rows in single precision, two ways. See README.md.
#include "common/half_lite.h"

namespace softmax_of {

constexpr float kBelowAll = -3.0e38f;  // finite: differences of it are numbers

static __device__ __forceinline__ float4 load_four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
static __device__ __forceinline__ float largest(float4 x) {
  return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
}
static __device__ __forceinline__ float sum_of_powers(float4 x, float maximum) {
  return __expf(x.x - maximum) + __expf(x.y - maximum) + __expf(x.z - maximum) +
         __expf(x.w - maximum);
}

// The last reading of the row.
static __device__ __forceinline__ void write_row(const float* row, float* out, unsigned columns,
                                                 float maximum, float sum) {
  const float factor = 1.0f / sum;
  for (unsigned i = threadIdx.x * 4; i < columns; i += blockDim.x * 4) {
    float4 x = load_four(row + i);
    x.x = __expf(x.x - maximum) * factor;
    x.y = __expf(x.y - maximum) * factor;
    x.z = __expf(x.z - maximum) * factor;
    x.w = __expf(x.w - maximum) * factor;
    *reinterpret_cast<float4*>(out + i) = x;
  }
}

}  // namespace softmax_of

// Block: a row. Maximum and sum in one reading: where the maximum grows, the sum so far shrinks.
// `columns` is a multiple of 4; rows are aligned to 16 bytes.
extern "C" __global__ void softmax_online(const float* __restrict__ in, float* __restrict__ out,
                                          unsigned columns) {
  using namespace softmax_of;
  __shared__ float maxima[32];
  __shared__ float sums[32];
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * columns;
  float maximum = kBelowAll, sum = 0.0f;
  for (unsigned i = threadIdx.x * 4; i < columns; i += blockDim.x * 4) {
    const float4 x = load_four(in + first + i);
    const float grown = fmaxf(maximum, largest(x));
    sum = sum * __expf(maximum - grown) + sum_of_powers(x, grown);
    maximum = grown;
  }
  const float of_row = block_max(maximum, kBelowAll, maxima);
  const float total = block_sum(sum * __expf(maximum - of_row), sums);
  write_row(in + first, out + first, columns, of_row, total);
}

// The same with a reading for each: maximum, sum, result.
extern "C" __global__ void softmax_three(const float* __restrict__ in, float* __restrict__ out,
                                         unsigned columns) {
  using namespace softmax_of;
  __shared__ float maxima[32];
  __shared__ float sums[32];
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * columns;
  float maximum = kBelowAll, sum = 0.0f;
  for (unsigned i = threadIdx.x * 4; i < columns; i += blockDim.x * 4)
    maximum = fmaxf(maximum, largest(load_four(in + first + i)));
  maximum = block_max(maximum, kBelowAll, maxima);
  for (unsigned i = threadIdx.x * 4; i < columns; i += blockDim.x * 4)
    sum += sum_of_powers(load_four(in + first + i), maximum);
  write_row(in + first, out + first, columns, maximum, block_sum(sum, sums));
}

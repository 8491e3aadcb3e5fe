// Rows of half precision to bytes with a scale each. See README.md.
#include "common/half_lite.h"

namespace quantize_of {

// The nearest whole number, ties to even.
static __device__ __forceinline__ unsigned byte_of(float value) {
  int whole;
  __asm__("cvt.rni.s32.f32 %0, %1;" : "=r"(whole) : "f"(value));
  return static_cast<unsigned>(whole) & 0xffu;
}
static __device__ __forceinline__ unsigned four_bytes(const float* values, float factor) {
  return byte_of(values[0] * factor) | byte_of(values[1] * factor) << 8 |
         byte_of(values[2] * factor) << 16 | byte_of(values[3] * factor) << 24;
}

}  // namespace quantize_of

// Block: a row, read twice: for its largest size, then to be scaled so that it becomes 127.
// `columns` is a multiple of 8, rows are aligned to 16 bytes.
extern "C" __global__ void quantize(const half_bits* __restrict__ in, unsigned* __restrict__ out,
                                    float* __restrict__ scales, unsigned columns) {
  __shared__ float warps[32];
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * columns;
  float largest = 0.0f;
  for (unsigned i = threadIdx.x * 8; i < columns; i += blockDim.x * 8) {
    const Eight x = load_eight(in + first + i);
#pragma unroll
    for (int k = 0; k < 8; ++k) largest = fmaxf(largest, fabsf(x.at[k]));
  }
  largest = block_max(largest, 0.0f, warps);
  const float factor = largest > 0.0f ? 127.0f / largest : 0.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = largest / 127.0f;
  for (unsigned i = threadIdx.x * 8; i < columns; i += blockDim.x * 8) {
    const Eight x = load_eight(in + first + i);
    const unsigned long long bytes =
        quantize_of::four_bytes(x.at, factor) |
        static_cast<unsigned long long>(quantize_of::four_bytes(x.at + 4, factor)) << 32;
    *reinterpret_cast<unsigned long long*>(out + (first + i) / 4) = bytes;
  }
}

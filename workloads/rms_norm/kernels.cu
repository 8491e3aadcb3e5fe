// Rows divided by their root mean square, in half precision with sums in single. See README.md.
#include "common/half_lite.h"

namespace rms_norm_of {

// Second reading of the row: x / rms(x) * weight.
static __device__ __forceinline__ void write_row(const half_bits* row, const half_bits* weight,
                                                 half_bits* out, unsigned hidden, float factor) {
  for (unsigned i = threadIdx.x * 8; i < hidden; i += blockDim.x * 8) {
    Eight x = load_eight(row + i);
    const Eight w = load_eight(weight + i);
#pragma unroll
    for (int k = 0; k < 8; ++k) x.at[k] = x.at[k] * factor * w.at[k];
    store_eight(out + i, x);
  }
}

static __device__ __forceinline__ float factor_of(float sum, unsigned hidden, float epsilon) {
  return rsqrtf(sum / static_cast<float>(hidden) + epsilon);
}

}  // namespace rms_norm_of

// Block: a row. `hidden` is a multiple of 8; rows are aligned to 16 bytes.
extern "C" __global__ void rms_norm(const half_bits* __restrict__ in,
                                    const half_bits* __restrict__ weight,
                                    half_bits* __restrict__ out, unsigned hidden, float epsilon) {
  __shared__ float warps[32];
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * hidden;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x * 8; i < hidden; i += blockDim.x * 8) {
    const Eight x = load_eight(in + first + i);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum = fmaf(x.at[k], x.at[k], sum);
  }
  const float factor = rms_norm_of::factor_of(block_sum(sum, warps), hidden, epsilon);
  rms_norm_of::write_row(in + first, weight, out + first, hidden, factor);
}

// The same of `residual` + `in`; the sum, rounded to half precision, becomes the new residual.
extern "C" __global__ void rms_norm_add(const half_bits* __restrict__ in, half_bits* residual,
                                        const half_bits* __restrict__ weight,
                                        half_bits* __restrict__ out, unsigned hidden,
                                        float epsilon) {
  __shared__ float warps[32];
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * hidden;
  float sum = 0.0f;
  for (unsigned i = threadIdx.x * 8; i < hidden; i += blockDim.x * 8) {
    Eight x = load_eight(in + first + i);
    const Eight before = load_eight(residual + first + i);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      x.at[k] = from_half(to_half(x.at[k] + before.at[k]));
      sum = fmaf(x.at[k], x.at[k], sum);
    }
    store_eight(residual + first + i, x);
  }
  const float factor = rms_norm_of::factor_of(block_sum(sum, warps), hidden, epsilon);
  rms_norm_of::write_row(residual + first, weight, out + first, hidden, factor);
}

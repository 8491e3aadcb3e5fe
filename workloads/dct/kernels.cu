// Cosine transform of squares of 8 x 8 pixels, a thread per row and column. See README.md.
#include "common/cuda_lite.h"

constexpr int kSide = 8, kAcross = 4, kDown = 2;
constexpr int kStride = kSide * kAcross + 1;  // words, so that columns lie in different banks

// sqrt(1/8) and cos(k pi / 16) / 2.
constexpr float kNorm = 0.35355339059327379f;
constexpr float kCos1 = 0.49039264020161522f, kCos2 = 0.46193976625564337f,
                kCos3 = 0.41573480615127262f, kCos5 = 0.27778511650980109f,
                kCos6 = 0.19134171618254492f, kCos7 = 0.09754516100806413f;

// In place: 8 values `step` words apart. Sums and differences of opposite ends halve the work.
static __device__ __forceinline__ void transform(float* at, int step) {
  const float s0 = at[0] + at[7 * step], d0 = at[0] - at[7 * step];
  const float s1 = at[step] + at[6 * step], d1 = at[step] - at[6 * step];
  const float s2 = at[2 * step] + at[5 * step], d2 = at[2 * step] - at[5 * step];
  const float s3 = at[3 * step] + at[4 * step], d3 = at[3 * step] - at[4 * step];
  const float outer = s0 + s3, inner = s1 + s2, apart = s0 - s3, within = s1 - s2;
  at[0] = kNorm * (outer + inner);
  at[step] = kCos1 * d0 + kCos3 * d1 + kCos5 * d2 + kCos7 * d3;
  at[2 * step] = kCos2 * apart + kCos6 * within;
  at[3 * step] = kCos3 * d0 - kCos7 * d1 - kCos1 * d2 - kCos5 * d3;
  at[4 * step] = kNorm * (outer - inner);
  at[5 * step] = kCos5 * d0 - kCos1 * d1 + kCos7 * d2 + kCos3 * d3;
  at[6 * step] = kCos6 * apart - kCos2 * within;
  at[7 * step] = kCos7 * d0 - kCos5 * d1 + kCos3 * d2 - kCos1 * d3;
}

extern "C" __global__ void dct(float* out, const float* image, int stride) {
  __shared__ float tile[kSide * kDown * kStride];
  const int x = static_cast<int>(threadIdx.x), across = static_cast<int>(threadIdx.y),
            down = static_cast<int>(threadIdx.z);
  const int column = (static_cast<int>(blockIdx.x) * kAcross + across) * kSide + x;
  const int row = (static_cast<int>(blockIdx.y) * kDown + down) * kSide;
  image += row * stride + column;
  out += row * stride + column;
  float* square = tile + down * kSide * kStride + across * kSide;
#pragma unroll
  for (int i = 0; i < kSide; ++i) square[i * kStride + x] = image[i * stride];
  __syncthreads();
  transform(square + x * kStride, 1);
  __syncthreads();
  transform(square + x, kStride);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSide; ++i) out[i * stride] = square[i * kStride + x];
}

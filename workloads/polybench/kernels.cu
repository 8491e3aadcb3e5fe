// Dense loops of Polybench, a thread per element of the result. See README.md.
#include "common/cuda_lite.h"

// out may be one of the arrays read, for all the compiler knows, so every sum goes to memory in
// every step, as in the published kernels.
extern "C" __global__ void polybench_rows(const float* matrix, const float* vector, float* out,
                                          int n) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n) return;
  for (int column = 0; column < n; ++column) out[row] += matrix[row * n + column] * vector[column];
}

extern "C" __global__ void polybench_columns(const float* matrix, const float* vector, float* out,
                                             int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= n) return;
  for (int row = 0; row < n; ++row) out[column] += matrix[row * n + column] * vector[row];
}

extern "C" __global__ void polybench_gesummv(const float* a, const float* b, const float* vector,
                                             float* sum, float* out, int n, float alpha,
                                             float beta) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n) return;
  for (int column = 0; column < n; ++column) {
    sum[row] += a[row * n + column] * vector[column];
    out[row] += b[row * n + column] * vector[column];
  }
  out[row] = alpha * sum[row] + beta * out[row];
}

extern "C" __global__ void polybench_gemm(const float* a, const float* b, float* c, int n,
                                          float alpha, float beta) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= n || column >= n) return;
  c[row * n + column] *= beta;
  for (int k = 0; k < n; ++k) c[row * n + column] += alpha * a[row * n + k] * b[k * n + column];
}

// Nine points; as in README.md.
extern "C" __global__ void polybench_conv2d(const float* a, float* out, int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1) return;
  const float* above = a + (row - 1) * n + column;
  const float* here = above + n;
  const float* below = here + n;
  out[row * n + column] = 0.25f * above[-1] + 0.5f * here[-1] - 0.75f * below[-1] -
                          0.375f * above[0] + 0.625f * here[0] - 0.875f * below[0] +
                          0.4375f * above[1] + 0.6875f * here[1] + 0.125f * below[1];
}

// Eleven points of three planes; a launch makes one plane.
extern "C" __global__ void polybench_conv3d(const float* a, float* out, int n, int plane) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1) return;
  const float* before = a + (plane - 1) * n * n + row * n + column;
  const float* here = before + n * n;
  const float* after = here + n * n;
  out[plane * n * n + row * n + column] =
      0.25f * before[-n - 1] + 0.4375f * after[-n - 1] - 0.375f * here[-n] + 0.625f * here[0] -
      0.875f * here[n] + 0.5f * before[1 - n] + 0.6875f * after[1 - n] - 0.75f * before[1] +
      0.125f * after[1] - 0.3125f * before[n + 1] + 0.5625f * after[n + 1];
}

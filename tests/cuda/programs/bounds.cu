// What programs do at the edges: registers beyond what __launch_bounds__ leaves, shared addresses
// of 32 bits that wrap, lanes that do not take part in a shuffle. Checks itself.
#include <cstdio>
#include <cstring>

template <int N>
__device__ float mix(float* p, int n) {
  float a[N];
#pragma unroll
  for (int i = 0; i < N; i++) a[i] = p[i * 1024 + threadIdx.x];
  for (int j = 0; j < n; j++) {
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = a[i] * a[(i + 7) % N] + a[(i + 13) % N];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < N; i++) sum += a[i];
  return sum;
}
__global__ void __launch_bounds__(1024) wide(float* p, int n) { p[threadIdx.x] = mix<100>(p, n); }
__global__ void __launch_bounds__(320) tall(float* p, int n) { p[threadIdx.x] = mix<240>(p, n); }
__global__ void most(float* p, int n) { p[threadIdx.x] = mix<300>(p, n); }

__global__ void wrap(double* out) {
  __shared__ double s[64];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  const unsigned a = (unsigned)__cvta_generic_to_shared(s) + 8u * t - 8u;
  double v;
  asm volatile("ld.shared.f64 %0,[%1+8];" : "=d"(v) : "r"(a));
  out[t] = v;
}

__global__ void partial(int* out) {
  const int t = threadIdx.x;
  int value = t + 1;
  if (t < 20) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xfffff, value, d);
    out[t] = value;
  }
}

template <class K>
static int registers(K kernel) {
  cudaFuncAttributes a;
  return cudaFuncGetAttributes(&a, kernel) == cudaSuccess ? a.numRegs : -1;
}

int main() {
  float* p;
  double* d;
  int* q;
  cudaMalloc(&p, 300 * 1024 * sizeof(float));
  cudaMalloc(&d, 64 * sizeof(double));
  cudaMalloc(&q, 32 * sizeof(int));
  cudaMemset(p, 0, 300 * 1024 * sizeof(float));
  wide<<<1, 1024>>>(p, 2);
  tall<<<1, 320>>>(p, 2);
  most<<<1, 128>>>(p, 2);
  wrap<<<1, 64>>>(d);
  partial<<<1, 32>>>(q);
  double h[64];
  int k[32];
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(k, q, sizeof k, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaGetLastError();
  printf("registers %d %d %d, wrapped %g %g, sum %d, %s\n", registers(wide), registers(tall),
         registers(most), h[0], h[63], k[0], cudaGetErrorName(error));
  return error;
}

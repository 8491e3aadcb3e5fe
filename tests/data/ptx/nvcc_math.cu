// Library functions that expand into long straight code, loops and tables.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void doubles(double* v, int n) {
  double x = v[threadIdx.x];
  v[n] = sin(x) + pow(x, 1.3) + exp(x) + lgamma(x) + fmod(x, 3.7) + j1(x) + erfinv(x) + tgamma(x);
}
__global__ void floats(float* v, int n) {
  float x = v[threadIdx.x];
  v[n] = sinf(x) + cosf(x) + powf(x, 1.3f) + expf(x) + logf(x) / x + __fdividef(x, 3) + rsqrtf(x) + fmodf(x, 0.3f);
}
__global__ void integers(long long* v, int n) {
  long long x = v[threadIdx.x];
  v[n] = x / v[1] + x % v[2] + __mul64hi(x, 3) + __ffsll(x) + __byte_perm(n, 5, 0x3210) + __funnelshift_l(n, 3, 4) +
         __vabsdiffu4(n, 5) + __dp4a(n, 4, 3) + __vadd2(n, 9) + __sad(n, 4, 7);
}
__global__ void halves(__half2* h, __nv_bfloat162* b, int n) {
  h[n] = __hfma2(h[0], h[1], hsin(__low2half(h[2])) > __float2half(1.0f) ? h[3] : h2exp(h[4]));
  b[n] = __hadd2(b[0], __hmul2(b[1], b[2]));
  atomicAdd(h, h[7]);
}

// What cuFFT or cuRAND would compute, and a kernel of the program's own; ends with 0 whatever
// they say, or crashes.
#ifdef FFT
#include <cufft.h>
#else
#include <curand.h>
#endif
#include <cstdio>

__global__ void fill(float* to) { to[threadIdx.x] = 1; }

int main() {
  float* at;
  cudaMalloc(&at, 4096);
#ifdef FFT
  cufftHandle handle;
  std::printf("create %d\n", cufftPlan1d(&handle, 64, CUFFT_C2C, 1));
#ifdef CRASH  // as a program may that goes on without its handle
  *static_cast<volatile int*>(nullptr) = 1;
#endif
#else
  curandGenerator_t generator;
  std::printf("create %d\n", curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
#endif
  fill<<<1, 256>>>(at);
  cudaDeviceSynchronize();
  return 0;
}

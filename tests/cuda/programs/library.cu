// What cuSOLVER would compute, and a kernel of the program's own; ends with 0 whatever it says, or
// crashes.
#include <cusolverDn.h>

#include <cstdio>

__global__ void fill(float* to) { to[threadIdx.x] = 1; }

int main() {
  float* at;
  cudaMalloc(&at, 4096);
  cusolverDnHandle_t handle;
  std::printf("create %d\n", static_cast<int>(cusolverDnCreate(&handle)));
#ifdef CRASH  // as a program may that goes on without its handle
  *static_cast<volatile int*>(nullptr) = 1;
#endif
  fill<<<1, 256>>>(at);
  cudaDeviceSynchronize();
  return 0;
}

// Kernels that do not end. endless same|changing|warps
#include <cstdio>
#include <cstring>

__global__ void same(volatile int* a) {
  while (a[0] == 0) {
  }
}

// Registers and memory differ in every round.
__global__ void changing(volatile unsigned* a) {
  unsigned x = threadIdx.x;
  while (x != 0xdeadbeef || a[0] == 0) x = x * 1664525u + 1013904223u + (a[1] = a[1] ^ x);
  a[2] = x;
}

// Some warps are at a barrier, to which the others never come.
__global__ void warps(volatile int* a) {
  if (threadIdx.x < 40) {
    a[threadIdx.x] = 1;
    __syncthreads();
  } else if (threadIdx.x < 64) {
    while (a[0] != 7) {
    }
    __syncthreads();
  }
  a[threadIdx.x] = 2;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int* a;
  cudaMalloc(&a, 4096);
  cudaMemset(a, 0, 4096);
  if (strcmp(argv[1], "same") == 0) same<<<1, 32>>>(a);
  if (strcmp(argv[1], "changing") == 0) changing<<<80, 256>>>((unsigned*)a);
  if (strcmp(argv[1], "warps") == 0) warps<<<1, 128>>>(a);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}

// Kernels launched by two host threads, one after the other, or by one thread that is not the first.
#include <cuda_runtime.h>

#include <cstring>
#include <thread>

__global__ void count(unsigned* to) { atomicAdd(to, 1u); }

int main(int words, char** word) {
  unsigned *counter = nullptr, found = 0;
  cudaMalloc(&counter, sizeof *counter);
  cudaMemset(counter, 0, sizeof *counter);
  const auto launch = [&] {
    count<<<1, 32>>>(counter);
    cudaDeviceSynchronize();
  };
  if (words < 2 || std::strcmp(word[1], "other") != 0) launch();
  std::thread(launch).join();
  cudaMemcpy(&found, counter, sizeof found, cudaMemcpyDeviceToHost);
  return found == (words < 2 ? 64 : 32) ? 0 : 1;
}

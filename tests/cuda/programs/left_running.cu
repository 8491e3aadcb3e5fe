// main() returns while a thread is still using the device.
#include <unistd.h>

#include <atomic>
#include <thread>

__global__ void busy(float* to, int rounds) {
  float a = threadIdx.x;
  for (int i = 0; i < rounds; ++i) a = a * 1.1f + 1;
  to[threadIdx.x] = a;
}

int main() {
  static std::atomic<bool> begun = false;
  float* to = nullptr;
  cudaMalloc(&to, 32 * sizeof *to);
  std::thread([to] {
    begun = true;
    busy<<<1, 32>>>(to, 1 << 30);
    cudaDeviceSynchronize();
  }).detach();
  while (!begun) usleep(1000);
  usleep(500'000);
  return 0;
}

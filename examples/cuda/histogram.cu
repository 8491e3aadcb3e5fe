// Weighted histogram: managed memory, constant and device variables, atomics in shared and global
// memory, as many blocks as fit on the device. Arguments: values (default 50000).
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t code = (call);                                             \
    if (code != cudaSuccess) {                                                   \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));         \
      std::exit(2);                                                              \
    }                                                                            \
  } while (false)

constexpr int kBins = 64;
__constant__ int weight[kBins];
__device__ unsigned long long total;
__managed__ int blocks_run = 0;

__global__ void histogram(const unsigned char* values, int n, int* bins) {
  __shared__ int local[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[values[i] % kBins], weight[values[i] % kBins]);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) {
    atomicAdd(&bins[i], local[i]);
    atomicAdd(&total, (unsigned long long)local[i]);
  }
  if (threadIdx.x == 0) atomicAdd(&blocks_run, 1);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 50000;
  if (n <= 0) return 2;
  unsigned char* values;
  int* bins;
  CHECK(cudaMallocManaged(&values, n));
  CHECK(cudaMallocManaged(&bins, kBins * sizeof(int)));
  int weights[kBins];
  std::vector<int> expected(kBins, 0);
  unsigned long long expected_total = 0;
  for (int i = 0; i < kBins; ++i) weights[i] = i % 5 + 1, bins[i] = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = (unsigned char)(i * 2654435761u >> 13);
    expected[values[i] % kBins] += weights[values[i] % kBins];
    expected_total += weights[values[i] % kBins];
  }
  CHECK(cudaMemcpyToSymbol(weight, weights, sizeof weights));
  const unsigned long long zero = 0;
  CHECK(cudaMemcpyToSymbol(total, &zero, sizeof zero));

  int device = -1, sms = 0, resident = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, histogram, 256, 0));
  const int most = (n + 255) / 256, blocks = sms * resident < most ? sms * resident : most;
  histogram<<<blocks, 256>>>(values, n, bins);
  CHECK(cudaDeviceSynchronize());

  unsigned long long sum = 0;
  CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  for (int i = 0; i < kBins; ++i)
    if (bins[i] != expected[i]) {
      std::printf("FAIL: bin %d is %d, not %d\n", i, bins[i], expected[i]);
      return 1;
    }
  if (sum != expected_total || blocks_run != blocks) {
    std::printf("FAIL: total %llu, not %llu; %d blocks, not %d\n", sum, expected_total, blocks_run,
                blocks);
    return 1;
  }
  std::printf("PASS %d values, %d blocks (%d fit on each of %d SMs)\n", n, blocks, resident, sms);
  CHECK(cudaFree(values));
  CHECK(cudaFree(bins));
  return 0;
}

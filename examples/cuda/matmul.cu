// C = A x B in tiles of shared memory. Arguments: rows (default 128).
#include <cmath>
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

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < n; at += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + at + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 128;
  if (n <= 0 || n % kTile != 0) {
    std::fprintf(stderr, "rows must be a multiple of %d\n", kTile);
    return 2;
  }
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("%s: %d SMs, compute capability %d.%d\n", device.name, device.multiProcessorCount,
              device.major, device.minor);

  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = float(i % 13) - 6, b[i] = float(i % 7) - 3;
  float *da, *db, *dc;
  const std::size_t bytes = n * n * sizeof(float);
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  matmul<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));

  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(a[row * n + k]) * b[k * n + column];
      if (std::fabs(sum - c[row * n + column]) > 1e-3) {
        std::printf("FAIL at (%d, %d): %f, not %f\n", row, column, c[row * n + column], sum);
        return 1;
      }
    }
  std::printf("PASS %d x %d in %.3f ms\n", n, n, milliseconds);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return 0;
}

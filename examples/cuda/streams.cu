// Chunks of work in streams of their own, each copied in, computed and copied out. Arguments:
// streams (default 4).
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

__global__ void collatz(const unsigned* in, unsigned* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned count = 0;
  for (unsigned long long v = in[i]; v != 1; ++count) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
  steps[i] = count;
}

static unsigned reference(unsigned start) {
  unsigned count = 0;
  for (unsigned long long v = start; v != 1; ++count) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
  return count;
}

int main(int argc, char** argv) {
  const int streams = argc > 1 ? std::atoi(argv[1]) : 4, n = 2048;
  if (streams < 1 || streams > 64) return 2;
  const std::size_t bytes = n * sizeof(unsigned);
  unsigned *in, *out;
  CHECK(cudaMallocHost(&in, streams * bytes));
  CHECK(cudaHostAlloc(&out, streams * bytes, cudaHostAllocDefault));
  for (int i = 0; i < streams * n; ++i) in[i] = unsigned(i) + 1;

  std::vector<cudaStream_t> stream(streams);
  std::vector<unsigned*> from(streams), to(streams);
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&from[s], bytes));
    CHECK(cudaMalloc(&to[s], bytes));
  }
  CHECK(cudaEventRecord(start, stream[0]));
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaMemcpyAsync(from[s], in + s * n, bytes, cudaMemcpyHostToDevice, stream[s]));
    collatz<<<n / 128, 128, 0, stream[s]>>>(from[s], to[s], n);
    CHECK(cudaMemcpyAsync(out + s * n, to[s], bytes, cudaMemcpyDeviceToHost, stream[s]));
  }
  for (int s = 1; s < streams; ++s) {  // the first stream ends after all others
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, stream[s]));
    CHECK(cudaStreamWaitEvent(stream[0], done, 0));
    CHECK(cudaEventDestroy(done));
  }
  CHECK(cudaEventRecord(stop, stream[0]));
  CHECK(cudaDeviceSynchronize());
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  for (int i = 0; i < streams * n; ++i)
    if (out[i] != reference(in[i])) {
      std::printf("FAIL at %d: %u steps, not %u\n", i, out[i], reference(in[i]));
      return 1;
    }
  std::printf("PASS %d streams in %.3f ms\n", streams, milliseconds);
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamDestroy(stream[s]));
    CHECK(cudaFree(from[s]));
    CHECK(cudaFree(to[s]));
  }
  CHECK(cudaFreeHost(in));
  CHECK(cudaFreeHost(out));
  return 0;
}

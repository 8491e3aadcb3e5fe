// Histogram of bytes in 64 parts, with counters of a byte for each thread. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kBins = 64, kThreads = 64, kBanks = 16;

static __device__ __forceinline__ void count_word(unsigned char* mine, unsigned word) {
  ++mine[(word >> 2 & 63) * kThreads];
  ++mine[(word >> 10 & 63) * kThreads];
  ++mine[(word >> 18 & 63) * kThreads];
  ++mine[(word >> 26 & 63) * kThreads];
}

// A row of the table is a part, its bytes are the threads' counters, placed so that the 16 threads
// whose numbers differ in the low bits count in different words.
extern "C" __global__ void byte_histogram(const uint4* data, unsigned n, unsigned* partial) {
  __shared__ unsigned words[kBins * kThreads / 4];
  const unsigned thread = threadIdx.x;
  for (unsigned i = thread; i < kBins * kThreads / 4; i += kThreads) words[i] = 0;
  __syncthreads();

  auto* table = reinterpret_cast<unsigned char*>(words);
  unsigned char* mine = table + ((thread & (kBanks - 1)) << 2 | thread / kBanks);
  for (unsigned at = blockIdx.x * kThreads + thread; at < n; at += gridDim.x * kThreads) {
    const uint4 four = data[at];
    count_word(mine, four.x);
    count_word(mine, four.y);
    count_word(mine, four.z);
    count_word(mine, four.w);
  }
  __syncthreads();

  const unsigned char* row = table + thread * kThreads;
  unsigned sum = 0, at = 4 * (thread & (kBanks - 1));
#pragma unroll
  for (unsigned i = 0; i < kThreads / 4; ++i) {
    sum += row[at] + row[at + 1] + row[at + 2] + row[at + 3];
    at = (at + 4) & (kThreads - 1);
  }
  partial[blockIdx.x * kBins + thread] = sum;
}

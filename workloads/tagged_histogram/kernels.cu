// Counts per bin without shared-memory atomics: who wins a bin is seen by a tag. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kBins = 1024;
constexpr unsigned kWarp = 32, kWarps = 3, kThreads = kWarps * kWarp;
constexpr unsigned kCountBits = 27;  // of a word, below the lane that wrote it last
constexpr unsigned kCountMask = (1u << kCountBits) - 1;

// Lanes of a warp step together: of those with the same bin one word stays, whose lane reads its
// own tag. The others try again with what it wrote.
static __device__ __forceinline__ void count(volatile unsigned* bin, unsigned tag) {
  unsigned word;
  do {
    word = tag | ((*bin & kCountMask) + 1);
    *bin = word;
  } while (*bin != word);
}

// Adds the numbers of each of kBins equal parts of [least, most) to counts; those equal to `most`
// count as the least. Each warp has its own copy of the bins.
extern "C" __global__ void __launch_bounds__(kThreads)
    tagged_histogram(const float* __restrict__ values, unsigned* counts, float least, float most,
                     unsigned n) {
  __shared__ unsigned copies[kWarps * kBins];
  const unsigned t = threadIdx.x;
#pragma unroll 1
  for (unsigned i = t; i < kWarps * kBins; i += kThreads) copies[i] = 0;
  __syncthreads();
  unsigned* mine = copies + t / kWarp * kBins;
  const unsigned tag = t << kCountBits, stride = gridDim.x * kThreads;
#pragma unroll 1
  for (unsigned i = blockIdx.x * kThreads + t; i < n; i += stride) {
    const float place = (values[i] - least) / (most - least) * static_cast<float>(kBins);
    count(mine + (static_cast<unsigned>(place) & (kBins - 1)), tag);
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned b = t; b < kBins; b += kThreads) {
    unsigned sum = 0;
#pragma unroll
    for (unsigned copy = 0; copy < kWarps; ++copy) sum += copies[copy * kBins + b] & kCountMask;
    atomicAdd(counts + b, sum);
  }
}

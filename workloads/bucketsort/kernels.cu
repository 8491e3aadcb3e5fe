// Elements go to their buckets. See README.md.
#include "common/cuda_lite.h"

constexpr int kBuckets = 1024, kBucketBits = 10;

// indices[i]: the element's bucket, and above it its number among those of its bucket and its
// block. starts: of the buckets. before: of each block, how many elements of a bucket are in blocks
// before it.
extern "C" __global__ void __launch_bounds__(32)
    bucketsort(const float* elements, const int* indices, float* sorted, int count,
               const unsigned* before, const unsigned* starts) {
  __shared__ volatile unsigned offsets[kBuckets];
  const unsigned* own = before + blockIdx.x * kBuckets;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < kBuckets; i += blockDim.x) offsets[i] = starts[i] + own[i];
  __syncthreads();
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
#pragma unroll 1
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += threads) {
    const float element = elements[i];
    const int index = indices[i];
    const int bucket = index & (kBuckets - 1);
    sorted[offsets[bucket] + static_cast<unsigned>(index >> kBucketBits)] = element;
    // Read once more for nothing, as in the public program, whose array is volatile.
    static_cast<void>(offsets[bucket]);
  }
}

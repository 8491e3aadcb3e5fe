// Counts per bin: a private copy per block in shared memory, merged with atomics. See README.md.
#include "common/cuda_lite.h"

// Bin of a 32-bit word: its place when the range is cut into `bins` equal parts.
// Dynamic shared memory: bins words.
extern "C" __global__ void histogram(const unsigned* __restrict__ values, unsigned* counts,
                                     unsigned n, unsigned bins) {
  extern __shared__ unsigned private_counts[];
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) private_counts[b] = 0;
  __syncthreads();
  unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&private_counts[__umulhi(values[i], bins)], 1u);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins; b += blockDim.x)
    if (private_counts[b] != 0) atomicAdd(&counts[b], private_counts[b]);
}

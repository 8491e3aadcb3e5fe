// Two phases that want different numbers of warps: rows that fill the cache, and chains of long
// operations without data. See README.md.
#include "common/cuda_lite.h"

// One thread sums one row of `width` words, again and again: each lane walks lines of its own.
extern "C" __global__ void phases_rows(const unsigned* rows, unsigned* sums, unsigned width,
                                       unsigned passes, unsigned n) {
  unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned pass = 0; pass < passes; ++pass)
#pragma unroll 1
    for (unsigned w = 0; w < width; ++w) sum = 31 * sum + rows[r * width + w];
  sums[r] = sum;
}

// x to the power 2^steps modulo `modulus` (at most 2^16): each step waits for the one before.
extern "C" __global__ void phases_powers(unsigned* values, unsigned modulus, unsigned steps,
                                         unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = values[i] % modulus;
#pragma unroll 1
  for (unsigned s = 0; s < steps; ++s) x = x * x % modulus;
  values[i] = x;
}

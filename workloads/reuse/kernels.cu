// Adds to an array again and again: what one launch writes the next one reads. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kThreads = 64;  // of a block
constexpr unsigned kRound = 8;     // words of a thread that are kThreads apart, updated in turn

// Unrolled, with constant offsets: a load, an addition and a store each.
static __device__ __forceinline__ void update(unsigned* words) {
#pragma unroll
  for (unsigned j = 0; j < kRound; ++j) words[j * kThreads] += 1;
}

// A block owns `rounds` times 512 words.
static __device__ __forceinline__ unsigned* own_words(unsigned* a, unsigned rounds) {
  return a + blockIdx.x * rounds * kRound * kThreads + threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(kThreads) reuse_even(unsigned* a, unsigned rounds) {
  unsigned* own = own_words(a, rounds);
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) update(own + i * kRound * kThreads);
}

// updates[block] of them instead, round and round.
extern "C" __global__ void __launch_bounds__(kThreads)
    reuse_skewed(unsigned* a, const unsigned* updates, unsigned rounds) {
  unsigned* first = own_words(a, rounds);
  unsigned* own = first;
  unsigned count = updates[blockIdx.x];
#pragma unroll 1
  for (unsigned i = 0; count >= kRound; count -= kRound) {
    update(own);
    i = i + 1 == rounds ? 0 : i + 1;
    own = first + i * kRound * kThreads;
  }
#pragma unroll 1
  for (; count > 0; --count, own += kThreads) *own += 1;
}

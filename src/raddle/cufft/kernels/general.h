// Powers of two that `direct.h` does not do, by way of shared memory: short ones, real numbers, and
// Bluestein's algorithm, where it fits into a block as two transforms with a product between them.
#pragma once
#include "raddle/cufft/kernels/elements.h"

namespace raddle::cufft {

template <class T, int kTile>
static __device__ __forceinline__ void general(const Pass& p) {
  using C = Complex<T>;
  constexpr int kThreads = kTile / kEach;
  __shared__ C memory[shared_elements<T>(kTile)];
  __shared__ Line lines[kMaxBlockLines];
  find_lines<kThreads>(p, lines);
  const Tile<T> tile{memory, p.pitch};
  const Ends<T> ends{p, lines, tile};
  ends.template fill<kThreads>();
  __syncthreads();
  // The second of the two is an inverse one.
#pragma unroll 1
  for (bool last = p.spectrum == nullptr;; last = true) {
    do_stages<kThreads>(p, tile);
    if (last) break;
    for (int number = static_cast<int>(threadIdx.x); number < p.block_lines * p.n;
         number += kThreads) {
      const int line = divided(number, p.by_n), k = number - line * p.n;
      tile(line, k) = swapped(times(tile(line, k), static_cast<const C*>(p.spectrum)[k]));
    }
    __syncthreads();
  }
  ends.template empty<kThreads>();
}

}  // namespace raddle::cufft

// Bounds say how many blocks an SM is to hold: as many as the registers allow that ptxas gives
// them.
#define GENERAL(name, T, tile, blocks)                                              \
  extern "C" __global__ void __launch_bounds__(tile / raddle::cufft::kEach, blocks) \
      name(const raddle::cufft::Pass p) {                                           \
    raddle::cufft::general<T, tile>(p);                                             \
  }

// Lengths of factors 2 to 13. Stages go from one half of shared memory to the other: a thread has
// one butterfly at a time, as one of 13 needs all its registers.
#pragma once
#include "raddle/cufft/kernels/elements.h"

namespace raddle::cufft {

template <class T, int kTile, int kThreads>
static __device__ __forceinline__ void any(const Pass& p) {
  constexpr int kElements = shared_elements<T>(kTile);
  __shared__ Complex<T> memory[2 * kElements];
  __shared__ Line lines[kMaxBlockLines];
  find_lines<kThreads>(p, lines);
  Tile<T> tile{memory, p.pitch};
  Ends<T>{p, lines, tile}.template fill<kThreads>();
  __syncthreads();
  do_all_stages<kThreads>(p, tile, Tile<T>{memory + kElements, p.pitch});
  Ends<T>{p, lines, tile}.template empty<kThreads>();
}

}  // namespace raddle::cufft

// Bounds say how many blocks an SM is to hold: as many as the registers allow that ptxas gives
// them.
#define ANY(name, T, tile, threads, blocks)                     \
  extern "C" __global__ void __launch_bounds__(threads, blocks) \
      name(const raddle::cufft::Pass p) {                       \
    raddle::cufft::any<T, tile, threads>(p);                    \
  }

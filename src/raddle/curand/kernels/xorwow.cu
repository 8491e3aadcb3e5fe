// XORWOW: starting states and numbers.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/seeds.h"
#include "raddle/curand/kernels/sequences.h"

using namespace raddle::curand;

/// Threads of a warp share a jump, so that they read the same words of it.
extern "C" __global__ void __launch_bounds__(kThreads) curand_xorwow_seed(const SequenceSeed d) {
  const unsigned rows = d.count / d.columns;
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned s = number % rows * d.columns + number / rows;
  if (number >= d.count || s < d.from || s >= d.to) return;
  jumped_xorwow(d, s);
}

extern "C" __global__ void __launch_bounds__(kThreads) curand_xorwow_seeded(const SeededDraw d) {
  const unsigned s = d.from + blockIdx.x * blockDim.x + threadIdx.x;
  if (s < d.to) seeded_xorwow(d, s);
}

#define KERNEL(name, which)                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                \
      curand_xorwow_##name(const SequenceDraw d) {                      \
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;           \
    if (k < d.count && k < d.units) draw_sequence<Xorwow, which>(d, k); \
  }
RADDLE_CURAND_DISTRIBUTIONS(KERNEL)

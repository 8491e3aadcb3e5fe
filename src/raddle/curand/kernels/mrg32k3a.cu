// MRG32k3a: starting states and numbers.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/seeds.h"
#include "raddle/curand/kernels/sequences.h"

using namespace raddle::curand;

extern "C" __global__ void __launch_bounds__(kThreads) curand_mrg32k3a_seed(const SequenceSeed d) {
  const unsigned s = d.from + blockIdx.x * blockDim.x + threadIdx.x;
  if (s < d.to) jumped_mrg(d, s);
}

#define KERNEL(name, which)                                               \
  extern "C" __global__ void __launch_bounds__(kThreads)                  \
      curand_mrg32k3a_##name(const SequenceDraw d) {                      \
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;             \
    if (k < d.count && k < d.units) draw_sequence<Mrg32k3a, which>(d, k); \
  }
RADDLE_CURAND_DISTRIBUTIONS(KERNEL)

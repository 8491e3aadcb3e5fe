// Philox4x32-10: a thread makes whole groups of four.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/sequences.h"

using namespace raddle::curand;

#define KERNEL(name, which)                                                     \
  extern "C" __global__ void __launch_bounds__(kThreads)                        \
      curand_philox_##name(const PhiloxDraw d) {                                \
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;                   \
    if (k < d.count && 4LL * k < d.skipped + d.units) draw_philox<which>(d, k); \
  }
RADDLE_CURAND_DISTRIBUTIONS(KERNEL)

// target: sm_90a
// C = A * B', half precision, sums and results in single precision. See README.md.
#include "gemm_wgmma/tile.h"

// Grid: tiles of rows x tiles of columns, so that blocks of a cluster are neighbours along rows.
#define GEMM(kind, name, m_, n_, groups)                                                           \
  extern "C" __global__ void __launch_bounds__(128 * kind<m_, n_, groups>::kWarpgroups)            \
      gemm_wgmma_##name##m_##x##n_(                                                                \
          const TensorMap* __restrict__ a, const TensorMap* __restrict__ b, float* __restrict__ c, \
          unsigned m, unsigned n, unsigned k, unsigned stages, unsigned shares) {                  \
    kind<m_, n_, groups>({a, b, c, m, n, k, stages, shares}).run();                                \
  }
GEMM(Specialised, , 128, 128, 2)
GEMM(Specialised, , 128, 256, 2)
GEMM(Specialised, , 256, 128, 2)
GEMM(Alone, alone_, 128, 128, 1)

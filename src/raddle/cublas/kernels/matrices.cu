// Sums of matrices, either of which may be transposed; so are transposes and copies.
#include "raddle/cublas/kernels/numbers.h"

namespace raddle::cublas {

/// Adds scale * op(A); a tile that is transposed goes through shared memory, so that neighbours
/// read what lies side by side.
template <class T>
static __device__ __forceinline__ void add(T (&sum)[4], T (*tile)[kGeamTile + 1], T scale,
                                           const T* from, long long ld, bool transposed, int m,
                                           int n, int row0, int column0) {
  if (scale == 0) return;  // then there may be no matrix
  const int x = static_cast<int>(threadIdx.x) % kGeamTile;
  const int y = static_cast<int>(threadIdx.x) / kGeamTile;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int line = y + step * 8;
    const int row = row0 + (transposed ? line : x), column = column0 + (transposed ? x : line);
    const bool inside = row < m && column < n;
    const T value = inside ? from[transposed ? column + row * ld : row + column * ld] : T(0);
    if (transposed) tile[line][x] = value;
    else sum[step] += scale * value;
  }
  if (!transposed) return;
  __syncthreads();
#pragma unroll
  for (int step = 0; step < 4; ++step) sum[step] += scale * tile[x][y + step * 8];
  __syncthreads();
}

template <class T>
static __device__ __forceinline__ void geam(const Geam& g) {
  __shared__ T tile[kGeamTile][kGeamTile + 1];
  const int tiles = (g.m - 1) / kGeamTile + 1;
  const int row0 = static_cast<int>(blockIdx.x) % tiles * kGeamTile;
  const int column0 = static_cast<int>(blockIdx.x) / tiles * kGeamTile;
  T sum[4] = {};
  add(sum, tile, value_of<T>(g.alpha), static_cast<const T*>(g.a), g.ld_a, g.transposed_a != 0, g.m,
      g.n, row0, column0);
  add(sum, tile, value_of<T>(g.beta), static_cast<const T*>(g.b), g.ld_b, g.transposed_b != 0, g.m,
      g.n, row0, column0);
  const int row = row0 + static_cast<int>(threadIdx.x) % kGeamTile;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int column = column0 + static_cast<int>(threadIdx.x) / kGeamTile + step * 8;
    if (row < g.m && column < g.n) static_cast<T*>(g.c)[row + column * g.ld_c] = sum[step];
  }
}

}  // namespace raddle::cublas

using namespace raddle::cublas;

extern "C" __global__ void __launch_bounds__(kGeamThreads) blas_sgeam(const Geam g) {
  geam<float>(g);
}
extern "C" __global__ void __launch_bounds__(kGeamThreads) blas_dgeam(const Geam g) {
  geam<double>(g);
}

// target: sm_80
// C = A * B', half precision, sums and results in single precision. See README.md.
#include "gemm_mma/tile.h"

namespace gemm_of {

template <class Of>
static __device__ __forceinline__ void product(const half_bits* a, const half_bits* b, float* c,
                                               unsigned m, unsigned n, unsigned k,
                                               unsigned stages) {
  using Left = DenseCopies<Of::kM, Of::kThreads>;
  using Right = DenseCopies<Of::kN, Of::kThreads>;
  extern __shared__ __align__(128) unsigned char panels[];
  const unsigned row0 = blockIdx.y * Of::kM, column0 = blockIdx.x * Of::kN;
  const SharedAddress shared = shared_address(panels);
  const Left left(a, m, k, row0, shared);
  const Right right(b, n, k, column0, shared + Of::kM * kRowBytes);
  WarpTile<Of> tile(shared);
  auto store = [&](unsigned row, unsigned column, float first, float second) {
    float2 two = {first, second};
    *reinterpret_cast<float2*>(c + static_cast<unsigned long long>(row0 + row) * n + column0 +
                               column) = two;
  };
  if (row0 + Of::kM <= m && column0 + Of::kN <= n && k % kDepth == 0) {
    Product<Of, true, Left, Right>(left, right, k, stages).run(tile);
    return tile.store(store);
  }
  Product<Of, false, Left, Right>(left, right, k, stages).run(tile);
  tile.store([&](unsigned row, unsigned column, float first, float second) {
    if (row0 + row < m && column0 + column < n) store(row, column, first, second);
  });
}

}  // namespace gemm_of

// Grid: tiles of columns x tiles of rows.
#define GEMM(m_, n_, warps_m, warps_n)                                                         \
  extern "C" __global__ void __launch_bounds__(32 * warps_m * warps_n) gemm_mma_##m_##x##n_(   \
      const half_bits* __restrict__ a, const half_bits* __restrict__ b, float* __restrict__ c, \
      unsigned m, unsigned n, unsigned k, unsigned stages) {                                   \
    gemm_of::product<gemm_of::Shape<m_, n_, warps_m, warps_n>>(a, b, c, m, n, k, stages);      \
  }
GEMM(64, 64, 2, 2)
GEMM(128, 64, 2, 2)
GEMM(128, 128, 2, 2)
GEMM(256, 128, 4, 2)

// Half precision, summed in single precision: all machines with matrix instructions (7.0).
#include "raddle/cublas/kernels/tensor.h"

namespace raddle::cublas {

struct HalfKind {
  using Element = unsigned short;
  using Sum = float;
  using FragmentA = int[8];
  using FragmentB = int[8];
  static constexpr int kStep = 16;

  static __device__ __forceinline__ uint4 prepared(uint4 chunk) { return chunk; }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_a(FragmentA& to, const Element* from, int stride) {
    __hmma_m16n16k16_ld_a(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_b(FragmentB& to, const Element* from, int stride) {
    __hmma_m16n16k16_ld_b(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransA, bool kTransB>
  static __device__ __forceinline__ void multiply(Sum (&sum)[8], const FragmentA& a,
                                                  const FragmentB& b) {
    __hmma_m16n16k16_mma_f32f32(sum, a, b, sum, (kTransA ? 0 : 2) + (kTransB ? 0 : 1), 0);
  }
  static __device__ __forceinline__ void store(Sum* to, const Sum (&sum)[8], int stride) {
    __hmma_m16n16k16_st_c_f32(to, sum, stride, 1);
  }
};

}  // namespace raddle::cublas

TENSOR_GEMMS(blas_hgemm_tensor, 128, raddle::cublas::HalfKind, raddle::cublas::FloatFinish)
TENSOR_GEMMS(blas_hgemm_tensor, 64, raddle::cublas::HalfKind, raddle::cublas::FloatFinish)

// Integers of 8 bits, summed in 32.
// target: sm_75
#include "raddle/cublas/kernels/tensor.h"

namespace raddle::cublas {

struct ByteKind {
  using Element = unsigned char;  // its bits
  using Sum = int;
  using FragmentA = int[2];
  using FragmentB = int[2];
  static constexpr int kStep = 16;

  static __device__ __forceinline__ uint4 prepared(uint4 chunk) { return chunk; }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_a(FragmentA& to, const Element* from, int stride) {
    __imma_m16n16k16_ld_a_s8(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_b(FragmentB& to, const Element* from, int stride) {
    __imma_m16n16k16_ld_b_s8(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransA, bool kTransB>
  static __device__ __forceinline__ void multiply(Sum (&sum)[8], const FragmentA& a,
                                                  const FragmentB& b) {
    __imma_m16n16k16_mma_s8(sum, a, b, sum, (kTransA ? 0 : 2) + (kTransB ? 0 : 1), 0);
  }
  static __device__ __forceinline__ void store(Sum* to, const Sum (&sum)[8], int stride) {
    __imma_m16n16k16_st_c_i32(to, sum, stride, 1);
  }
};

}  // namespace raddle::cublas

TENSOR_GEMMS(blas_igemm_tensor, 64, raddle::cublas::ByteKind, raddle::cublas::PlainFinish<int>)
TENSOR_GEMMS(blas_igemm_tensor_float, 64, raddle::cublas::ByteKind, raddle::cublas::FloatFinish)

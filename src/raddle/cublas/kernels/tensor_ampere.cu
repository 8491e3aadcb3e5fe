// bfloat16 and TF32, summed in single precision.
// target: sm_80
#include "raddle/cublas/kernels/tensor.h"

namespace raddle::cublas {

struct BfloatKind {
  using Element = unsigned short;
  using Sum = float;
  using FragmentA = int[4];
  using FragmentB = int[4];
  static constexpr int kStep = 16;

  static __device__ __forceinline__ uint4 prepared(uint4 chunk) { return chunk; }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_a(FragmentA& to, const Element* from, int stride) {
    __mma_bf16_m16n16k16_ld_a(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_b(FragmentB& to, const Element* from, int stride) {
    __mma_bf16_m16n16k16_ld_b(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransA, bool kTransB>
  static __device__ __forceinline__ void multiply(Sum (&sum)[8], const FragmentA& a,
                                                  const FragmentB& b) {
    __mma_bf16_m16n16k16_mma_f32(sum, a, b, sum, (kTransA ? 0 : 2) + (kTransB ? 0 : 1), 0);
  }
  static __device__ __forceinline__ void store(Sum* to, const Sum (&sum)[8], int stride) {
    __hmma_m16n16k16_st_c_f32(to, sum, stride, 1);
  }
};

struct Tf32Kind {
  using Element = unsigned;
  using Sum = float;
  using FragmentA = int[4];
  using FragmentB = int[4];
  static constexpr int kStep = 8;

  static __device__ __forceinline__ uint4 prepared(uint4 chunk) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      chunk[i] = static_cast<unsigned>(__nvvm_f2tf32_rna(__uint_as_float(chunk[i])));
    return chunk;
  }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_a(FragmentA& to, const Element* from, int stride) {
    __mma_tf32_m16n16k8_ld_a(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransposed>
  static __device__ __forceinline__ void load_b(FragmentB& to, const Element* from, int stride) {
    __mma_tf32_m16n16k8_ld_b(to, reinterpret_cast<const int*>(from), stride, kTransposed ? 0 : 1);
  }
  template <bool kTransA, bool kTransB>
  static __device__ __forceinline__ void multiply(Sum (&sum)[8], const FragmentA& a,
                                                  const FragmentB& b) {
    __mma_tf32_m16n16k8_mma_f32(sum, a, b, sum, (kTransA ? 0 : 2) + (kTransB ? 0 : 1), 0);
  }
  static __device__ __forceinline__ void store(Sum* to, const Sum (&sum)[8], int stride) {
    __mma_m16n16k8_st_c_f32(to, sum, stride, 1);
  }
};

}  // namespace raddle::cublas

TENSOR_GEMMS(blas_bgemm_tensor, 128, raddle::cublas::BfloatKind, raddle::cublas::FloatFinish)
TENSOR_GEMMS(blas_bgemm_tensor, 64, raddle::cublas::BfloatKind, raddle::cublas::FloatFinish)
TENSOR_GEMMS(blas_sgemm_tensor, 128, raddle::cublas::Tf32Kind, raddle::cublas::FloatFinish)
TENSOR_GEMMS(blas_sgemm_tensor, 64, raddle::cublas::Tf32Kind, raddle::cublas::FloatFinish)

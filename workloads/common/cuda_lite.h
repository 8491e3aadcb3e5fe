// The part of CUDA C++ that our kernels use, for clang without a CUDA toolkit (-nocudainc
// -nocudalib). Same names and meanings as in the CUDA C++ Programming Guide, so that nvcc, which
// brings its own, compiles the same kernels: under nvcc this header defines nothing.
// Leaves out libdevice: sqrtf, sqrt, fabsf, fminf and fmaf map to instructions, rsqrtf and
// __fdividef to approximate ones; there is no expf or logf but the approximate __expf and __logf.
#pragma once
#ifndef __NVCC__

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

// threadIdx.x and kin: reading the member reads the special register.
#define CUDA_LITE_REGISTER(type, name, ptx)               \
  struct type {                                           \
    static __device__ __forceinline__ unsigned read_x() { \
      return __nvvm_read_ptx_sreg_##ptx##_x();            \
    }                                                     \
    static __device__ __forceinline__ unsigned read_y() { \
      return __nvvm_read_ptx_sreg_##ptx##_y();            \
    }                                                     \
    static __device__ __forceinline__ unsigned read_z() { \
      return __nvvm_read_ptx_sreg_##ptx##_z();            \
    }                                                     \
    __declspec(property(get = read_x)) unsigned x;        \
    __declspec(property(get = read_y)) unsigned y;        \
    __declspec(property(get = read_z)) unsigned z;        \
  };                                                      \
  extern const __device__ __attribute__((weak)) type name;
CUDA_LITE_REGISTER(CudaLiteThreadIdx, threadIdx, tid)
CUDA_LITE_REGISTER(CudaLiteBlockIdx, blockIdx, ctaid)
CUDA_LITE_REGISTER(CudaLiteBlockDim, blockDim, ntid)
CUDA_LITE_REGISTER(CudaLiteGridDim, gridDim, nctaid)
#undef CUDA_LITE_REGISTER

// Vectors rather than structs: one vector access each.
using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using uint4 = unsigned __attribute__((ext_vector_type(4)));

static __device__ __forceinline__ unsigned __shfl_down_sync(unsigned mask, unsigned value,
                                                            unsigned delta) {
  return static_cast<unsigned>(
      __nvvm_shfl_sync_down_i32(mask, static_cast<int>(value), static_cast<int>(delta), 31));
}
static __device__ __forceinline__ float __shfl_down_sync(unsigned mask, float value,
                                                         unsigned delta) {
  return __nvvm_shfl_sync_down_f32(mask, value, static_cast<int>(delta), 31);
}
static __device__ __forceinline__ unsigned __shfl_up_sync(unsigned mask, unsigned value,
                                                          unsigned delta) {
  return static_cast<unsigned>(
      __nvvm_shfl_sync_up_i32(mask, static_cast<int>(value), static_cast<int>(delta), 0));
}

static __device__ __forceinline__ unsigned atomicAdd(unsigned* at, unsigned value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ float atomicAdd(float* at, float value) {
  return __nvvm_atom_add_gen_f(at, value);
}
static __device__ __forceinline__ unsigned atomicMin(unsigned* at, unsigned value) {
  return __atomic_fetch_min(at, value, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ unsigned atomicMax(unsigned* at, unsigned value) {
  return __atomic_fetch_max(at, value, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ unsigned atomicOr(unsigned* at, unsigned value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
static __device__ __forceinline__ unsigned atomicCAS(unsigned* at, unsigned expected,
                                                     unsigned value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

static __device__ __forceinline__ float __uint_as_float(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}
static __device__ __forceinline__ unsigned __float_as_uint(float value) {
  return __builtin_bit_cast(unsigned, value);
}
static __device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return __nvvm_mulhi_ui(a, b);
}
static __device__ __forceinline__ float sqrtf(float x) { return __builtin_sqrtf(x); }
static __device__ __forceinline__ float fabsf(float x) { return __builtin_fabsf(x); }
static __device__ __forceinline__ float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
static __device__ __forceinline__ float __fdividef(float a, float b) {
  return __nvvm_div_approx_f(a, b);
}
static __device__ __forceinline__ float __saturatef(float x) { return __nvvm_saturate_f(x); }
static __device__ __forceinline__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static __device__ __forceinline__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
static __device__ __forceinline__ float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
// Never part of a fused multiply-add, so that a host can repeat it bit for bit.
static __device__ __forceinline__ float __fmul_rn(float a, float b) {
  return __nvvm_mul_rn_f(a, b);
}
static __device__ __forceinline__ float __fadd_rn(float a, float b) {
  return __nvvm_add_rn_f(a, b);
}
static __device__ __forceinline__ double __dmul_rn(double a, double b) {
  return __nvvm_mul_rn_d(a, b);
}
static __device__ __forceinline__ double __dadd_rn(double a, double b) {
  return __nvvm_add_rn_d(a, b);
}
static __device__ __forceinline__ double sqrt(double x) { return __builtin_sqrt(x); }
static __device__ __forceinline__ float __expf(float x) {
  return __nvvm_ex2_approx_f(x * 1.4426950408889634f);
}
static __device__ __forceinline__ float __logf(float x) {
  return __nvvm_lg2_approx_f(x) * 0.6931471805599453f;
}
#endif

// What was read before is read again, as where a compiler must assume that two arrays overlap.
static __device__ __forceinline__ void read_again() { __asm__ volatile("" : : : "memory"); }
// A number that the compiler does not know.
static __device__ __forceinline__ int unknown(int number) {
  __asm__ volatile("" : "+r"(number));
  return number;
}
static __device__ __forceinline__ float unknown_float(float number) {
  __asm__ volatile("" : "+f"(number));
  return number;
}
// Keeps a load where it stands: it is not made one with that of another branch.
static __device__ __forceinline__ float apart(float value) {
  __asm__ volatile("" : "+f"(value));
  return value;
}

#ifndef __NVCC__
static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }

#endif

// Numbers in device memory, as kernels compute with them.
#pragma once
#include "common/cuda_lite.h"
#include "raddle/cublas/kernels/arguments.h"

namespace raddle::cublas {

struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

static __device__ __forceinline__ float to_float(Half h) {
  return static_cast<float>(__builtin_bit_cast(_Float16, h.bits));
}
static __device__ __forceinline__ float to_float(Bfloat b) {
  return __uint_as_float(static_cast<unsigned>(b.bits) << 16);
}
static __device__ __forceinline__ Half to_half(float f) {
  return {__builtin_bit_cast(unsigned short, static_cast<_Float16>(f))};
}
/// To the nearest, ties to even; a NaN stays one.
static __device__ __forceinline__ Bfloat to_bfloat(float f) {
  const unsigned bits = __float_as_uint(f);
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return {static_cast<unsigned short>(f == f ? rounded : 0x7fffu)};
}

template <class Acc, class In>
static __device__ __forceinline__ Acc widened(In in) {
  if constexpr (__is_same(In, Half) || __is_same(In, Bfloat)) return to_float(in);
  else return static_cast<Acc>(in);
}

template <class T>
static __device__ __forceinline__ T at(const void* base, long long index) {
  return static_cast<const T*>(base)[index];
}

template <class T>
static __device__ __forceinline__ T value_of(const Scale& scale) {
  if (scale.at == nullptr) return static_cast<T>(scale.value);
  switch (scale.type) {
    case kF64:
      return static_cast<T>(at<double>(scale.at, 0));
    case kS32:
      return static_cast<T>(at<int>(scale.at, 0));
    case kF16:
      return static_cast<T>(to_float(at<Half>(scale.at, 0)));
    default:
      return static_cast<T>(at<float>(scale.at, 0));
  }
}

/// The number's matrix of a batch.
template <class T>
static __device__ __forceinline__ T* matrix(const Operand& operand, int number) {
  if (operand.is_array != 0)
    return static_cast<T*>(static_cast<void* const*>(const_cast<void*>(operand.base))[number]);
  return static_cast<T*>(const_cast<void*>(operand.base)) + operand.stride * number;
}

/// The same where the type is known when it runs.
static __device__ __forceinline__ int bytes_of(DataType type) {
  return type == kF64 ? 8 : type == kF16 || type == kBF16 ? 2 : type == kS8 ? 1 : 4;
}
static __device__ __forceinline__ char* matrix_of(const Operand& operand, DataType type,
                                                  int number) {
  if (operand.is_array != 0) return matrix<char>(operand, number);
  return static_cast<char*>(const_cast<void*>(operand.base)) +
         operand.stride * number * bytes_of(type);
}

static __device__ __forceinline__ float float_at(const void* base, long long index, DataType type) {
  if (type == kF16) return to_float(at<Half>(base, index));
  if (type == kBF16) return to_float(at<Bfloat>(base, index));
  return at<float>(base, index);
}
static __device__ __forceinline__ void put_float(void* base, long long index, DataType type,
                                                 float value) {
  if (type == kF16) static_cast<Half*>(base)[index] = to_half(value);
  else if (type == kBF16) static_cast<Bfloat*>(base)[index] = to_bfloat(value);
  else static_cast<float*>(base)[index] = value;
}

static __device__ __forceinline__ float activated(float x, Activation activation) {
  if (activation == kRelu) return fmaxf(x, 0.0f);
  if (activation == kGelu) {
    // By tanh, tanh(u) = 1 - 2 / (1 + e^2u).
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    return x * (1.0f - 1.0f / (1.0f + __expf(2.0f * u)));
  }
  return x;
}

}  // namespace raddle::cublas

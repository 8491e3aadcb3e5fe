// Numbers and indices in device memory, as kernels compute with them, and what warps do together.
#pragma once
#include "common/cuda_lite.h"
#include "raddle/cusparse/kernels/arguments.h"

namespace raddle::cusparse {

struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

/// As cuComplex and cuDoubleComplex lie in memory.
template <class R>
struct __align__(2 * sizeof(R)) Complex {
  R re, im;
};
using ComplexFloat = Complex<float>;
using ComplexDouble = Complex<double>;

#define DEVICE static __device__ __forceinline__

template <class R>
DEVICE Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
DEVICE Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
DEVICE Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// Scaled by the larger part, so that no square overflows (Smith, Algorithm 116, 1962).
template <class R>
DEVICE Complex<R> operator/(Complex<R> a, Complex<R> b) {
  const R x = b.re < 0 ? -b.re : b.re, y = b.im < 0 ? -b.im : b.im;
  if (x >= y) {
    const R ratio = b.im / b.re, below = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below};
  }
  const R ratio = b.re / b.im, below = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below};
}
template <class R>
DEVICE Complex<R>& operator+=(Complex<R>& a, Complex<R> b) {
  a = a + b;
  return a;
}

template <class T>
inline constexpr bool kIsComplex = false;
template <class R>
inline constexpr bool kIsComplex<Complex<R>> = true;

template <class T>
DEVICE bool is_zero(T x) {
  if constexpr (kIsComplex<T>) return x.re == 0 && x.im == 0;
  else return x == 0;
}
template <class T>
DEVICE T conjugated(T x, bool really) {
  if constexpr (kIsComplex<T>) {
    if (really) x.im = -x.im;
  }
  return x;
}
template <class T>
DEVICE T one() {
  if constexpr (kIsComplex<T>) return {1, 0};
  else return 1;
}

template <class T>
DEVICE double real_of(T x) {
  if constexpr (kIsComplex<T>) return x.re;
  else return x;
}
template <class T>
DEVICE double imaginary_of(T x) {
  if constexpr (kIsComplex<T>) return x.im;
  else return 0;
}
template <class T>
DEVICE T number(double real, double imaginary) {
  if constexpr (kIsComplex<T>) {
    return {static_cast<decltype(T::re)>(real), static_cast<decltype(T::re)>(imaginary)};
  } else {
    return static_cast<T>(real);
  }
}

/// What memory holds, in the type that is computed with.
template <class Acc, class In>
DEVICE Acc widened(In in) {
  if constexpr (__is_same(In, Half)) return static_cast<Acc>(__builtin_bit_cast(_Float16, in.bits));
  else if constexpr (__is_same(In, Bfloat)) return __uint_as_float(unsigned(in.bits) << 16);
  else return in;
}
/// To the nearest, ties to even; a NaN stays one.
template <class Out, class Acc>
DEVICE Out narrowed(Acc x) {
  if constexpr (__is_same(Out, Half)) {
    return {__builtin_bit_cast(unsigned short, static_cast<_Float16>(x))};
  } else if constexpr (__is_same(Out, Bfloat)) {
    const unsigned bits = __float_as_uint(x);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return {static_cast<unsigned short>(x == x ? rounded : 0x7fffu)};
  } else {
    return x;
  }
}

template <class T>
DEVICE T value_of(const Scale& scale) {
  if (scale.at != nullptr) return *static_cast<const T*>(scale.at);
  return number<T>(scale.real, scale.imaginary);
}

template <class T>
DEVICE const T& at(const void* base, long long i) {
  return static_cast<const T*>(base)[i];
}
template <class T>
DEVICE T& at(void* base, long long i) {
  return static_cast<T*>(base)[i];
}
DEVICE long long index_at(const Indices& array, long long i) {
  return array.wide != 0 ? at<long long>(array.at, i) : at<int>(array.at, i);
}
DEVICE void put_index(const Indices& array, long long i, long long value) {
  void* const to = const_cast<void*>(array.at);
  if (array.wide != 0) at<long long>(to, i) = value;
  else at<int>(to, i) = static_cast<int>(value);
}
/// Where line i of a compressed matrix starts.
DEVICE long long start_of(const Sparse& a, long long line) {
  return index_at(a.offsets, line) - a.base;
}
/// Element (i, j).
template <class T>
DEVICE T& element(const Dense& m, long long i, long long j) {
  return at<T>(m.at, i * m.row_step + j * m.column_step);
}

DEVICE long long thread_number() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
DEVICE long long thread_count() { return static_cast<long long>(gridDim.x) * blockDim.x; }
/// A grid's threads in groups of `lanes`, each for a line.
DEVICE long long group_number(int lanes) { return thread_number() / lanes; }
DEVICE int lane_number() { return static_cast<int>(threadIdx.x) % 32; }

inline constexpr unsigned kAllLanes = 0xffffffffu;
DEVICE void warp_barrier() { __nvvm_bar_warp_sync(kAllLanes); }
DEVICE unsigned ballot(bool condition) { return __nvvm_vote_ballot_sync(kAllLanes, condition); }
DEVICE int ones(unsigned bits) { return __builtin_popcount(bits); }
DEVICE unsigned lower_lanes() { return (1u << lane_number()) - 1; }

DEVICE int from_lane_below(int x, int by) {
  return __nvvm_shfl_sync_down_i32(kAllLanes, x, by, 31);
}
DEVICE int from_lane_above(int x, int by) { return __nvvm_shfl_sync_up_i32(kAllLanes, x, by, 0); }
/// The value that the lane `by` further on has.
template <class T>
DEVICE T shuffle_down(T x, int by) {
  if constexpr (kIsComplex<T>) {
    return {shuffle_down(x.re, by), shuffle_down(x.im, by)};
  } else if constexpr (sizeof(T) == 8) {
    const auto bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned low = from_lane_below(static_cast<int>(bits), by);
    const unsigned high = from_lane_below(static_cast<int>(bits >> 32), by);
    return __builtin_bit_cast(T, static_cast<unsigned long long>(high) << 32 | low);
  } else {
    return __builtin_bit_cast(T, from_lane_below(__builtin_bit_cast(int, x), by));
  }
}
/// The value that the lane `by` before has; the first lanes keep theirs.
template <class T>
DEVICE T shuffle_up(T x, int by) {
  if constexpr (kIsComplex<T>) {
    return {shuffle_up(x.re, by), shuffle_up(x.im, by)};
  } else if constexpr (sizeof(T) == 8) {
    const auto bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned low = from_lane_above(static_cast<int>(bits), by);
    const unsigned high = from_lane_above(static_cast<int>(bits >> 32), by);
    return __builtin_bit_cast(T, static_cast<unsigned long long>(high) << 32 | low);
  } else {
    return __builtin_bit_cast(T, from_lane_above(__builtin_bit_cast(int, x), by));
  }
}
/// The sum of `lanes` neighbours, in the first of them. Every lane of the warp calls.
template <class T>
DEVICE T sum_of_lanes(T x, int lanes) {
#pragma unroll
  for (int by = lanes / 2; by > 0; by /= 2) x += shuffle_down(x, by);
  return x;
}

DEVICE void atomic_add(float* to, float x) { __nvvm_atom_add_gen_f(to, x); }
DEVICE void atomic_add(double* to, double x) { __nvvm_atom_add_gen_d(to, x); }
template <class R>
DEVICE void atomic_add(Complex<R>* to, Complex<R> x) {
  atomic_add(&to->re, x.re);
  atomic_add(&to->im, x.im);
}
DEVICE int atomic_add(int* to, int x) { return __atomic_fetch_add(to, x, __ATOMIC_RELAXED); }
DEVICE unsigned long long atomic_add(unsigned long long* to, unsigned long long x) {
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
DEVICE int atomic_swap_if(int* at, int expected, int value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

/// y or, where it would be multiplied by 0, nothing: what y holds then may be no number.
template <class T, class Out>
DEVICE T scaled(T beta, const Out& y) {
  return is_zero(beta) ? T{} : beta * widened<T>(y);
}

}  // namespace raddle::cusparse

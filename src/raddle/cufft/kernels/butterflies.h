// Complex numbers, and transforms of 2 to 13 of them in registers.
#pragma once
#include "common/cuda_lite.h"
#include "raddle/cufft/kernels/arguments.h"

namespace raddle::cufft {

template <class T>
struct ComplexOf {
  using Type = T __attribute__((ext_vector_type(2)));
};
template <class T>
using Complex = typename ComplexOf<T>::Type;

template <class C>
static __device__ __forceinline__ C times(C a, C b) {
  return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <class C>
static __device__ __forceinline__ C conjugate(C a) {
  return C{a.x, -a.y};
}
template <class C>
static __device__ __forceinline__ C swapped(C a) {
  return C{a.y, a.x};
}
/// -i a
template <class C>
static __device__ __forceinline__ C turned(C a) {
  return C{a.y, -a.x};
}

template <class C>
static __device__ __forceinline__ void butterfly2(C& a, C& b) {
  const C sum = a + b;
  b = a - b;
  a = sum;
}

/// Results are in order, as everywhere here.
template <class C>
static __device__ __forceinline__ void butterfly4(C& a, C& b, C& c, C& d) {
  butterfly2(a, c);
  butterfly2(b, d);
  d = turned(d);
  butterfly2(a, b);
  butterfly2(c, d);
  const C second = c;
  c = b;
  b = second;
}

template <class C>
static __device__ __forceinline__ void butterfly8(C (&v)[8]) {
  using T = decltype(v[0].x + 0);
  constexpr T kRoot = static_cast<T>(0.70710678118654752440);
#pragma unroll
  for (int i = 0; i < 4; ++i) butterfly2(v[i], v[i + 4]);
  v[5] = C{v[5].x + v[5].y, v[5].y - v[5].x} * kRoot;
  v[6] = turned(v[6]);
  v[7] = C{v[7].y - v[7].x, -v[7].x - v[7].y} * kRoot;
  butterfly4(v[0], v[1], v[2], v[3]);
  butterfly4(v[4], v[5], v[6], v[7]);
  const C even[4] = {v[0], v[1], v[2], v[3]}, odd[4] = {v[4], v[5], v[6], v[7]};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = even[i];
    v[2 * i + 1] = odd[i];
  }
}

/// cos and sin of 2 pi j / kPrime, j from 1 to (kPrime - 1) / 2.
template <int kPrime>
struct Angles;
template <>
struct Angles<3> {
  static constexpr double kCos[] = {-0.5};
  static constexpr double kSin[] = {0.86602540378443864676};
};
template <>
struct Angles<5> {
  static constexpr double kCos[] = {0.30901699437494742410, -0.80901699437494742410};
  static constexpr double kSin[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Angles<7> {
  static constexpr double kCos[] = {0.62348980185873353053, -0.22252093395631440429,
                                    -0.90096886790241912624};
  static constexpr double kSin[] = {0.78183148246802980871, 0.97492791218182360702,
                                    0.43388373911755812048};
};
template <>
struct Angles<11> {
  static constexpr double kCos[] = {0.84125353283118116886, 0.41541501300188642553,
                                    -0.14231483827328514044, -0.65486073394528506406,
                                    -0.95949297361449738989};
  static constexpr double kSin[] = {0.54064081745559758211, 0.90963199535451837141,
                                    0.98982144188093273238, 0.75574957435425828377,
                                    0.28173255684142969771};
};
template <>
struct Angles<13> {
  static constexpr double kCos[] = {0.88545602565320989590,  0.56806474673115580251,
                                    0.12053668025532305335,  -0.35460488704253562597,
                                    -0.74851074817110109863, -0.97094181742605202716};
  static constexpr double kSin[] = {0.46472317204376854566, 0.82298386589365639458,
                                    0.99270887409805399280, 0.93501624268541482344,
                                    0.66312265824079520238, 0.23931566428755776715};
};

/// Elements j and kPrime - j together: their sum goes with cosines, their difference with sines.
template <int kPrime, class C>
static __device__ __forceinline__ void butterfly_prime(C (&v)[kPrime]) {
  using T = decltype(v[0].x + 0);
  constexpr int kHalf = (kPrime - 1) / 2;
  C sum[kHalf], difference[kHalf];
  const C first = v[0];
#pragma unroll
  for (int j = 0; j < kHalf; ++j) {
    sum[j] = v[j + 1] + v[kPrime - 1 - j];
    difference[j] = v[j + 1] - v[kPrime - 1 - j];
    v[0] += sum[j];
  }
#pragma unroll
  for (int k = 1; k <= kHalf; ++k) {
    C even = first, odd = C{0, 0};
#pragma unroll
    for (int j = 1; j <= kHalf; ++j) {
      const int turn = j * k % kPrime;
      const bool mirrored = turn > kHalf;
      const int at = (mirrored ? kPrime - turn : turn) - 1;
      const T cosine = static_cast<T>(Angles<kPrime>::kCos[at]);
      const T sine =
          static_cast<T>(mirrored ? -Angles<kPrime>::kSin[at] : Angles<kPrime>::kSin[at]);
      even += sum[j - 1] * cosine;
      odd += difference[j - 1] * sine;
    }
    v[k] = even + turned(odd);
    v[kPrime - k] = even - turned(odd);
  }
}

template <int kRadix, class C>
static __device__ __forceinline__ void butterfly(C (&v)[kRadix]) {
  if constexpr (kRadix == 2) butterfly2(v[0], v[1]);
  else if constexpr (kRadix == 4) butterfly4(v[0], v[1], v[2], v[3]);
  else if constexpr (kRadix == 8) butterfly8(v);
  else butterfly_prime<kRadix>(v);
}

/// Multiplies element i with w^i. Those of i = 1, 2, 4 and 8 are in the table, `apart` from each
/// other; the others are products of them, so their error stays small.
template <int kRadix, class C>
static __device__ __forceinline__ void twiddle(C (&v)[kRadix], const C* table, int apart) {
  C power[kRadix];
#pragma unroll
  for (int i = 1; i < kRadix; ++i) {
    const int high = i >= 8 ? 8 : i >= 4 ? 4 : i >= 2 ? 2 : 1;
    const int log = i >= 8 ? 3 : i >= 4 ? 2 : i >= 2 ? 1 : 0;
    power[i] = i == high ? table[log * apart] : times(power[high], power[i - high]);
    v[i] = times(v[i], power[i]);
  }
}

template <class C>
static __device__ __forceinline__ C root_of(const Roots& roots, unsigned exponent) {
  const C coarse = static_cast<const C*>(roots.coarse)[exponent >> roots.bits];
  const C fine = static_cast<const C*>(roots.fine)[exponent & ((1u << roots.bits) - 1)];
  return times(coarse, fine);
}

/// Elements k and h - k of the spectrum of h pairs become those of their 2 h real numbers.
template <class C>
static __device__ __forceinline__ void split_pair(const Roots& roots, int k, C& low, C& high) {
  using T = decltype(low.x + 0);
  const C root = root_of<C>(roots, static_cast<unsigned>(k));
  const C even = (low + conjugate(high)) * T(0.5);
  const C odd = turned(times(root, (low - conjugate(high)) * T(0.5)));
  low = even + odd;
  high = conjugate(even - odd);
}

/// The way back, of twice the size. The imaginary parts of elements 0 and h do not count.
template <class C>
static __device__ __forceinline__ void join_pair(const Roots& roots, int k, C& low, C& high) {
  const C root = conjugate(root_of<C>(roots, static_cast<unsigned>(k)));
  if (k == 0) low.y = high.y = 0;
  const C even = low + conjugate(high);
  const C odd = turned(times(root, low - conjugate(high)));
  low = even - odd;
  high = conjugate(even + odd);
}

}  // namespace raddle::cufft

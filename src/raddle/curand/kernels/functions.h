// Elementary functions, the same on both sides: there is no mathematical library for kernels.
// Errors: 2 units in the last place, of quantiles 5.
#pragma once
#include "raddle/curand/kernels/shared.h"

namespace raddle::curand {

RADDLE_SHARED float float_of_bits(unsigned bits) { return __builtin_bit_cast(float, bits); }
RADDLE_SHARED unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
RADDLE_SHARED double double_of_bits(unsigned long long bits) {
  return __builtin_bit_cast(double, bits);
}
RADDLE_SHARED unsigned long long bits_of(double x) {
  return __builtin_bit_cast(unsigned long long, x);
}
RADDLE_SHARED float root(float x) { return __builtin_sqrtf(x); }
RADDLE_SHARED double root(double x) { return __builtin_sqrt(x); }

/// sum of coefficients[i] x^i.
template <class T, int kCount>
RADDLE_SHARED T polynomial(const T (&coefficients)[kCount], T x) {
  T sum = coefficients[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

/// Natural logarithm of a normal number: of the exponent, and 2 atanh((m - 1) / (m + 1)) of m
/// between sqrt(1/2) and sqrt(2).
RADDLE_SHARED float natural_log(float x) {
  constexpr unsigned kRootOfHalf = 0x3f3504f3u;
  const unsigned shifted = bits_of(x) - kRootOfHalf;
  const int exponent = static_cast<int>(shifted) >> 23;
  const float m = float_of_bits((shifted & 0x7fffffu) + kRootOfHalf);
  const float s = (m - 1.0f) / (m + 1.0f), square = s * s;
  const float series[] = {2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9};
  const float e = static_cast<float>(exponent);
  // ln 2 in two parts, the first with zeros at its end: its product with e is exact.
  return e * 0.693145751953125f +
         (2.0f * s + (s * square * polynomial(series, square) + e * 1.428606765330187e-06f));
}
RADDLE_SHARED double natural_log(double x) {
  constexpr unsigned long long kRootOfHalf = 0x3fe6a09e667f3bcdULL;
  const unsigned long long shifted = bits_of(x) - kRootOfHalf;
  const int exponent = static_cast<int>(static_cast<long long>(shifted) >> 52);
  const double m = double_of_bits((shifted & 0xfffffffffffffULL) + kRootOfHalf);
  const double s = (m - 1.0) / (m + 1.0), square = s * s;
  const double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                           2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double e = exponent;
  return e * 0.693147180369123816490 +
         (2.0 * s + (s * square * polynomial(series, square) + e * 1.90821492927058770002e-10));
}

/// 2^k, halves of it where one factor would not be a normal number.
RADDLE_SHARED float scaled(float x, int k) {
  const int half = k / 2, rest = k - half;
  return x * float_of_bits(static_cast<unsigned>(half + 127) << 23) *
         float_of_bits(static_cast<unsigned>(rest + 127) << 23);
}
RADDLE_SHARED double scaled(double x, int k) {
  const int half = k / 2, rest = k - half;
  return x * double_of_bits(static_cast<unsigned long long>(half + 1023) << 52) *
         double_of_bits(static_cast<unsigned long long>(rest + 1023) << 52);
}

/// e^x: of the nearest multiple of ln 2, and of what is left by its series.
RADDLE_SHARED float exponential(float x) {
  if (x != x) return x;
  if (x > 89.0f) return __builtin_inff();
  if (x < -104.0f) return 0.0f;
  const float turns = x * 1.44269504f;
  const int k = static_cast<int>(turns + (turns < 0 ? -0.5f : 0.5f));
  const float n = static_cast<float>(k);
  const float r = (x - n * 0.693145751953125f) - n * 1.428606765330187e-06f;
  const float series[] = {1.0f, 1.0f, 1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720};
  return scaled(polynomial(series, r), k);
}
RADDLE_SHARED double exponential(double x) {
  if (x != x) return x;
  if (x > 710.0) return __builtin_inf();
  if (x < -746.0) return 0.0;
  const double turns = x * 1.4426950408889634;
  const int k = static_cast<int>(turns + (turns < 0 ? -0.5 : 0.5));
  const double n = k;
  const double r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
  const double series[] = {1.0,
                           1.0,
                           1.0 / 2,
                           1.0 / 6,
                           1.0 / 24,
                           1.0 / 120,
                           1.0 / 720,
                           1.0 / 5040,
                           1.0 / 40320,
                           1.0 / 362880,
                           1.0 / 3628800,
                           1.0 / 39916800,
                           1.0 / 479001600,
                           1.0 / 6227020800};
  return scaled(polynomial(series, r), k);
}

template <class T>
struct Circle {
  T sine, cosine;
};

template <class T>
RADDLE_SHARED Circle<T> turned(T sine, T cosine, int quarters) {
  const bool swapped = (quarters & 1) != 0;
  const T s = swapped ? cosine : sine, c = swapped ? sine : cosine;
  return {(quarters & 2) != 0 ? -s : s, ((quarters + 1) & 2) != 0 ? -c : c};
}

/// Sine and cosine of x, 0 to 2 pi.
RADDLE_SHARED Circle<float> circle(float x) {
  const int quarters = static_cast<int>(x * 0.636619772f + 0.5f);
  const float n = static_cast<float>(quarters);
  // pi / 2 in three parts, of which the first two have zeros at their end.
  const float r = ((x - n * 1.5703125f) - n * 4.8351287841796875e-4f) - n * 3.1385570764541626e-7f;
  const float square = r * r;
  const float sines[] = {-1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880};
  const float cosines[] = {-1.0f / 2, 1.0f / 24, -1.0f / 720, 1.0f / 40320};
  return turned(r + r * square * polynomial(sines, square),
                1.0f + square * polynomial(cosines, square), quarters);
}
/// Of pi x, x from 0 to 2.
RADDLE_SHARED Circle<double> circle_of_pi(double x) {
  const int quarters = static_cast<int>(2.0 * x + 0.5);
  const double r = (x - 0.5 * quarters) * 3.14159265358979323846;
  const double square = r * r;
  const double sines[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  const double cosines[] = {
      -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
      -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  return turned(r + r * square * polynomial(sines, square),
                1.0 + square * polynomial(cosines, square), quarters);
}

/// Inverse of the normal distribution's integral at 1 - p, p up to 1/2 (Wichura, Algorithm AS 241:
/// the percentage points of the normal distribution, 1988; PPND7 and PPND16).
RADDLE_SHARED float upper_quantile(float p) {
  const float q = 0.5f - p;
  if (q <= 0.425f) {
    const float over[] = {3.3871327179f, 50.434271938f, 159.29113202f, 59.109374720f};
    const float under[] = {1.0f, 17.895169469f, 78.757757664f, 67.187563600f};
    const float r = 0.180625f - q * q;
    return q * polynomial(over, r) / polynomial(under, r);
  }
  const float r = root(-natural_log(p));
  if (r <= 5.0f) {
    const float over[] = {1.4234372777f, 2.7568153900f, 1.3067284816f, 0.17023821103f};
    const float under[] = {1.0f, 0.73700164250f, 0.12021132975f};
    return polynomial(over, r - 1.6f) / polynomial(under, r - 1.6f);
  }
  const float over[] = {6.6579051150f, 3.0812263860f, 0.42868294337f, 0.017337203997f};
  const float under[] = {1.0f, 0.24197894225f, 0.012258202635f};
  return polynomial(over, r - 5.0f) / polynomial(under, r - 5.0f);
}
RADDLE_SHARED double central_quantile(double q) {
  const double over[] = {3.387132872796366608,  133.14166789178437745, 1971.5909503065514427,
                         13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                         33430.575583588128105, 2509.0809287301226727};
  const double under[] = {1.0,
                          42.313330701600911252,
                          687.1870074920579083,
                          5394.1960214247511077,
                          21213.794301586595867,
                          39307.89580009271061,
                          28729.085735721942674,
                          5226.495278852854561};
  const double r = 0.180625 - q * q;
  return q * polynomial(over, r) / polynomial(under, r);
}
/// Of r = sqrt(-ln p).
RADDLE_SHARED double near_quantile(double r) {
  const double over[] = {1.42343711074968357734,  4.6303378461565452959,   5.7694972214606914055,
                         3.64784832476320460504,  1.27045825245236838258,  .24178072517745061177,
                         .0227238449892691845833, 7.7454501427834140764e-4};
  const double under[] = {1.0,
                          2.05319162663775882187,
                          1.6763848301838038494,
                          .68976733498510000455,
                          .14810397642748007459,
                          .0151986665636164571966,
                          5.475938084995344946e-4,
                          1.05075007164441684324e-9};
  return polynomial(over, r - 1.6) / polynomial(under, r - 1.6);
}
RADDLE_SHARED double far_quantile(double r) {
  const double over[] = {6.6579046435011037772,     5.4637849111641143699,
                         1.7848265399172913358,     .29656057182850489123,
                         .026532189526576123093,    .0012426609473880784386,
                         2.71155556874348757815e-5, 2.01033439929228813265e-7};
  const double under[] = {1.0,
                          .59983220655588793769,
                          .13692988092273580531,
                          .0148753612908506148525,
                          7.868691311456132591e-4,
                          1.8463183175100546818e-5,
                          1.4215117583164458887e-7,
                          2.04426310338993978564e-15};
  return polynomial(over, r - 5.0) / polynomial(under, r - 5.0);
}
RADDLE_SHARED double upper_quantile(double p) {
  const double q = 0.5 - p;
  if (q <= 0.425) return central_quantile(q);
  const double r = root(-natural_log(p));
  return r <= 5.0 ? near_quantile(r) : far_quantile(r);
}

}  // namespace raddle::curand

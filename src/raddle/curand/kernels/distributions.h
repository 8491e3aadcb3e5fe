// What becomes of a generator's words.
#pragma once
#include "raddle/curand/kernels/arguments.h"
#include "raddle/curand/kernels/functions.h"

namespace raddle::curand {

inline constexpr float kWordScale = 0x1p-32f;

/// Between 0 and 1: the middle of the word's interval.
RADDLE_SHARED float unit_float(unsigned x) {
  return static_cast<float>(x) * kWordScale + kWordScale / 2;
}
RADDLE_SHARED double unit_double(unsigned x) { return x * 0x1p-32 + 0x1p-33; }
/// Of 53 bits.
RADDLE_SHARED double unit_double(unsigned x, unsigned y) {
  const unsigned long long bits = x ^ static_cast<unsigned long long>(y) << 21;
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

/// Of a word, by the inverse of the normal distribution's integral.
RADDLE_SHARED float normal_of(unsigned x) {
  const bool upper = x >= 0x80000000u;
  const float size = upper_quantile(unit_float(upper ? ~x : x));
  return upper ? size : -size;
}
RADDLE_SHARED double normal_of_unit(double u) {
  return u > 0.5 ? upper_quantile(1.0 - u) : -upper_quantile(u);
}

/// Box and Muller, A note on the generation of random normal deviates, 1958. `angle` is uniform to
/// 2 pi; of the double one, a multiple of pi.
template <class T>
struct Pair {
  T first, second;
};
RADDLE_SHARED Pair<float> normal_pair(float u, float angle) {
  const float radius = root(-2.0f * natural_log(u));
  const Circle<float> at = circle(angle);
  return {at.sine * radius, at.cosine * radius};
}
RADDLE_SHARED Pair<double> normal_pair(double u, double angle) {
  const double radius = root(-2.0 * natural_log(u));
  const Circle<double> at = circle_of_pi(angle);
  return {at.sine * radius, at.cosine * radius};
}
RADDLE_SHARED Pair<float> normal_pair(unsigned x, unsigned y) {
  constexpr float kTurn = kWordScale * 6.2831855f;
  return normal_pair(unit_float(x), static_cast<float>(y) * kTurn + kTurn / 2);
}

RADDLE_SHARED float moved(float normal, const Shape& shape) {
  return static_cast<float>(shape.mean) + static_cast<float>(shape.deviation) * normal;
}
RADDLE_SHARED double moved(double normal, const Shape& shape) {
  return shape.mean + shape.deviation * normal;
}
template <Distribution kWhich, class T>
RADDLE_SHARED T finished(T normal, const Shape& shape) {
  const T x = moved(normal, shape);
  if constexpr (kWhich == kLogNormal || kWhich == kLogNormalDouble) return exponential(x);
  else return x;
}

RADDLE_SHARED unsigned rounded_poisson(double normal, const Shape& shape) {
  const double x = shape.mean + shape.deviation * normal + 0.5;
  return x > 0 ? static_cast<unsigned>(x) : 0u;
}
RADDLE_SHARED unsigned alias_poisson(double u, const Shape& shape) {
  const unsigned column = static_cast<unsigned>(u * shape.length);
  const unsigned j = column < shape.length ? column : shape.length - 1;
  return shape.shift + (u < shape.value[j] ? j : shape.other[j]);
}
/// The smallest number of which at most as many come with a probability of u.
RADDLE_SHARED unsigned inverse_poisson(double u, const Shape& shape) {
  unsigned below = 0, above = shape.length - 1;
  while (below < above) {
    const unsigned middle = (below + above) / 2;
    if (shape.value[middle] < u) below = middle + 1;
    else above = middle;
  }
  return shape.shift + below;
}

template <Distribution kWhich>
struct Number {
  using Type = unsigned;
};
template <>
struct Number<kUniform> {
  using Type = float;
};
template <>
struct Number<kNormal> {
  using Type = float;
};
template <>
struct Number<kLogNormal> {
  using Type = float;
};
template <>
struct Number<kUniformDouble> {
  using Type = double;
};
template <>
struct Number<kNormalDouble> {
  using Type = double;
};
template <>
struct Number<kLogNormalDouble> {
  using Type = double;
};

/// How a generator that makes one number of each word widens it.
struct MtgpWord {
  using Word = unsigned;
  static RADDLE_MEMBER float narrow(unsigned x) { return unit_float(x); }
  static RADDLE_MEMBER double wide(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
  static RADDLE_MEMBER double middle(unsigned x) { return unit_double(x); }
  static RADDLE_MEMBER float normal(unsigned x) { return normal_of(x); }
  /// cuRAND widens a narrow one, but not under the exponential.
  template <Distribution kWhich>
  static RADDLE_MEMBER double wide_normal(unsigned x) {
    return kWhich == kNormalDouble ? normal_of(x) : normal_of_unit(unit_double(x));
  }
  static RADDLE_MEMBER float poisson_normal(unsigned x) { return normal(x); }
};
struct TwisterWord {
  using Word = unsigned;
  static RADDLE_MEMBER float narrow(unsigned x) { return static_cast<float>(unit_double(x)); }
  static RADDLE_MEMBER double wide(unsigned x) { return unit_double(x); }
  static RADDLE_MEMBER double middle(unsigned x) { return unit_double(x); }
  static RADDLE_MEMBER float normal(unsigned x) { return normal_of(x); }
  template <Distribution>
  static RADDLE_MEMBER double wide_normal(unsigned x) {
    return normal_of_unit(unit_double(x));
  }
  static RADDLE_MEMBER float poisson_normal(unsigned x) { return normal(x); }
};
struct Sobol32Word {
  using Word = unsigned;
  static RADDLE_MEMBER float narrow(unsigned x) { return unit_float(x); }
  static RADDLE_MEMBER double wide(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
  static RADDLE_MEMBER double middle(unsigned x) { return unit_double(x); }
  static RADDLE_MEMBER float normal(unsigned x) { return normal_of(x); }
  template <Distribution>
  static RADDLE_MEMBER double wide_normal(unsigned x) {
    return normal_of_unit(unit_double(x));
  }
  static RADDLE_MEMBER float poisson_normal(unsigned x) { return normal(x); }
};
struct Sobol64Word {
  using Word = unsigned long long;
  static RADDLE_MEMBER unsigned high(unsigned long long x) {
    return static_cast<unsigned>(x >> 32);
  }
  static RADDLE_MEMBER float narrow(unsigned long long x) { return unit_float(high(x)); }
  static RADDLE_MEMBER double wide(unsigned long long x) {
    return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54;
  }
  static RADDLE_MEMBER double middle(unsigned long long x) { return wide(x); }
  static RADDLE_MEMBER float normal(unsigned long long x) { return normal_of(high(x)); }
  template <Distribution>
  static RADDLE_MEMBER double wide_normal(unsigned long long x) {
    return normal_of_unit(wide(x));
  }
  static RADDLE_MEMBER double poisson_normal(unsigned long long x) {
    return normal_of_unit(wide(x));
  }
};

template <class Source, Distribution kWhich>
RADDLE_SHARED auto number_of(typename Source::Word x, const Shape& shape) {
  if constexpr (kWhich == kBits) return x;
  else if constexpr (kWhich == kUniform) return Source::narrow(x);
  else if constexpr (kWhich == kUniformDouble) return Source::wide(x);
  else if constexpr (kWhich == kNormal || kWhich == kLogNormal)
    return finished<kWhich>(Source::normal(x), shape);
  else if constexpr (kWhich == kNormalDouble || kWhich == kLogNormalDouble)
    return finished<kWhich>(Source::template wide_normal<kWhich>(x), shape);
  else if constexpr (kWhich == kPoisson) return alias_poisson(Source::middle(x), shape);
  else if constexpr (kWhich == kPoissonNormal)
    return rounded_poisson(Source::poisson_normal(x), shape);
  else return inverse_poisson(Source::middle(x), shape);
}

}  // namespace raddle::curand

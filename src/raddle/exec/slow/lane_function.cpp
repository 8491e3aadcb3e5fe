// Conversions to and from tf32 and the 8-bit reals (PTX ISA 9.0, 9.7.9.21).
#include "raddle/exec/slow/lane_function.h"

#include <algorithm>
#include <bit>
#include <cmath>

#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

/// e4m3 has 3 bits of mantissa, bias 7 and ends at 448; e5m2 2, 15 and 57344.
u32 f8_from(double value, u32 mode) {
  const bool wide = (mode & kE5M2) != 0;
  const int mantissa = wide ? 2 : 3, minimum = wide ? -14 : -6;
  const double maximum = wide ? 57344.0 : 448.0;
  if (std::isnan(value)) return 0x7f;
  const u32 sign = std::signbit(value) ? 0x80u : 0u;
  if (sign != 0 && (mode & kRelu) != 0) return 0;
  const double magnitude = std::fabs(value);
  const int exponent = magnitude == 0 ? minimum : std::max(std::ilogb(magnitude), minimum);
  const double step = std::ldexp(1.0, exponent - mantissa);
  const double rounded = std::fmin(std::nearbyint(magnitude / step) * step, maximum);
  if (std::isinf(magnitude)) return sign | (wide ? 0x7bu : 0x7eu);
  // The bits count the representable values from zero.
  const int binade = rounded == 0 ? minimum : std::max(std::ilogb(rounded), minimum);
  const double within = rounded / std::ldexp(1.0, binade - mantissa);
  const int base = (binade - minimum) << mantissa;
  return sign | static_cast<u32>(base + static_cast<int>(within));
}

}  // namespace

u64 tf32_from_f32(u64 a, u64, u64, u32 mode) {
  const u32 x = static_cast<u32>(a), magnitude = x & 0x7fffffff, sign = x & 0x80000000;
  if (magnitude > 0x7f800000) return 0x7fffffff;
  if (sign != 0 && (mode & kRelu) != 0) return 0;
  const u32 up = (mode & kTowardsZero) != 0 ? 0
                 : (mode & kTiesAway) != 0  ? 0x1000
                                            : 0xfff + (magnitude >> 13 & 1);
  u32 r = (magnitude + up) & 0xffffe000;
  if (magnitude == 0x7f800000) r = magnitude;
  if (r >= 0x7f800000 && (mode & kFinite) != 0) r = 0x7f7fe000;
  return sign | r;
}

u64 f8_pair_from_f32(u64 a, u64 b, u64, u32 mode) {
  const auto one = [&](u64 x) {
    return f8_from(double{std::bit_cast<float>(static_cast<u32>(x))}, mode);
  };
  return one(a) << 8 | one(b);
}
u64 f8_pair_from_f16(u64 a, u64, u64, u32 mode) {
  const auto one = [&](u64 x) {
    return f8_from(double{scalar::from_f16(static_cast<u32>(x & 0xffff))}, mode);
  };
  return one(a >> 16) << 8 | one(a);
}
u64 f16_pair_from_f8(u64 a, u64, u64, u32 mode) {
  const auto one = [&](u32 b) -> u64 {
    const float x = (mode & kE5M2) != 0 ? scalar::from_e5m2(b) : scalar::from_e4m3(b);
    const u32 half = scalar::to_f16(double{x});
    return half != 0x7fff && (half & 0x8000) != 0 && (mode & kRelu) != 0 ? 0 : half;
  };
  return one(static_cast<u32>(a >> 8 & 255)) << 16 | one(static_cast<u32>(a & 255));
}

u64 pack_integers(u64 a, u64 b, u64 c, u32 mode) {
  const unsigned bits = (mode & kBytes) != 0 ? 8 : 16;
  const bool to_signed = (mode & kToSigned) != 0;
  const s64 maximum = (s64{1} << (bits - (to_signed ? 1 : 0))) - 1,
            minimum = to_signed ? -maximum - 1 : 0;
  const auto cut = [&](u64 x) {
    const u32 low = static_cast<u32>(x);
    const s64 v = (mode & kFromSigned) != 0 ? s64{static_cast<std::int32_t>(low)} : s64{low};
    return static_cast<u64>(std::clamp(v, minimum, maximum)) & ((u64{1} << bits) - 1);
  };
  const u64 pair = cut(a) << bits | cut(b);
  return bits == 8 ? pair | (c & 0xffff) << 16 : pair;
}

}  // namespace raddle::exec

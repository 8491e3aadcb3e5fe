// Conversions to and from tf32 and numbers of 8, 6 and 4 bits (PTX ISA 9.0, 9.7.9.21).
#include "raddle/exec/slow/lane_function.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "raddle/base/error.h"

#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

/// A format of 8 bits or fewer, which has no infinity (e5m2's is never made: all saturates).
struct Narrow {
  u32 bits;
  int mantissa, minimum;  ///< exponent of the smallest normal number
  u32 greatest, nan;      ///< codes; nan is the greatest where the format has none
};
constexpr Narrow kNarrow[] = {{8, 3, -6, 0x7e, 0x7f},
                              {8, 2, -14, 0x7b, 0x7f},
                              {4, 1, 0, 0x7, 0x7},
                              {6, 3, 0, 0x1f, 0x1f},
                              {6, 2, -2, 0x1f, 0x1f}};
const Narrow& narrow_of(u32 mode) {
  const u32 format = (mode & kNarrowFormat) >> 8;
  RADDLE_ASSERT(format < std::size(kNarrow));
  return kNarrow[format];
}

u32 narrow_from(double value, u32 mode) {
  const Narrow& to = narrow_of(mode);
  if (std::isnan(value)) return to.nan;
  const u32 sign = std::signbit(value) ? 1u << (to.bits - 1) : 0u;
  if (sign != 0 && (mode & kRelu) != 0) return 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | to.greatest;
  const int exponent = magnitude == 0 ? to.minimum : std::max(std::ilogb(magnitude), to.minimum);
  // The codes count the representable values from zero, a binade of them 2^mantissa.
  const double within = std::nearbyint(std::ldexp(magnitude, to.mantissa - exponent));
  const double code = std::ldexp(exponent - to.minimum, to.mantissa) + within;
  return sign | static_cast<u32>(std::fmin(code, to.greatest));
}
double narrow_value(u32 code, const Narrow& from) {
  const u32 magnitude = code & ((1u << (from.bits - 1)) - 1);
  const int field = static_cast<int>(magnitude >> from.mantissa);
  const u32 one = 1u << from.mantissa, fraction = magnitude & (one - 1);
  const double value = std::ldexp(field == 0 ? fraction : fraction + one,
                                  std::max(field, 1) - 1 + from.minimum - from.mantissa);
  return (code >> (from.bits - 1) & 1) != 0 ? -value : value;
}
/// Four bits lie in one byte with their neighbour, six in a byte each.
u32 pair_shift(u32 mode) { return narrow_of(mode).bits == 4 ? 4 : 8; }
u64 pair_of(u32 upper, u32 lower, u32 mode) { return u64{upper} << pair_shift(mode) | lower; }

double single_of(u64 bits) { return double{std::bit_cast<float>(static_cast<u32>(bits))}; }
double half_of(u64 bits) { return double{scalar::from_f16(static_cast<u32>(bits & 0xffff))}; }

/// ue8m0 of a single's magnitude: its exponent, one more where anything is to round up.
u32 scale_from(u32 bits, u32 mode) {
  const u32 magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0xff;
  const bool up = (mode & kUpwards) != 0 && (magnitude & 0x7fffff) != 0 && magnitude > 0x00400000;
  const u32 scale = (magnitude >> 23) + (up ? 1 : 0);
  return (mode & kFinite) != 0 ? std::min(scale, 0xfeu) : scale;
}
u32 bf16_of_scale(u32 scale) {
  return scale == 0xff ? 0x7fff : scale == 0 ? 0x0040 : scale << 7;  // 2^-127 is subnormal
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

u64 narrow_pair_from_f32(u64 a, u64 b, u64, u32 mode) {
  return pair_of(narrow_from(single_of(a), mode), narrow_from(single_of(b), mode), mode);
}
u64 narrow_pair_from_f16(u64 a, u64, u64, u32 mode) {
  return pair_of(narrow_from(half_of(a >> 16), mode), narrow_from(half_of(a), mode), mode);
}
u64 f16_pair_from_narrow(u64 a, u64, u64, u32 mode) {
  const auto one = [&](u32 code) -> u64 {
    const u32 format = mode & kNarrowFormat;
    const double x = format == kE4M3   ? double{scalar::from_e4m3(code)}
                     : format == kE5M2 ? double{scalar::from_e5m2(code)}
                                       : narrow_value(code, narrow_of(mode));
    const u32 half = scalar::to_f16(x);
    return half != 0x7fff && (half & 0x8000) != 0 && (mode & kRelu) != 0 ? 0 : half;
  };
  const u32 codes = static_cast<u32>(a);
  return one(codes >> pair_shift(mode) & 255) << 16 | one(codes & 255);
}

u64 scale_pair_from_f32(u64 a, u64 b, u64, u32 mode) {
  return scale_from(static_cast<u32>(a), mode) << 8 | scale_from(static_cast<u32>(b), mode);
}
u64 scale_pair_from_bf16(u64 a, u64, u64, u32 mode) {
  const u32 pair = static_cast<u32>(a);
  return scale_from(pair & 0xffff0000, mode) << 8 | scale_from(pair << 16, mode);
}
u64 bf16_pair_from_scale(u64 a, u64, u64, u32) {
  const u32 pair = static_cast<u32>(a);
  return bf16_of_scale(pair >> 8 & 255) << 16 | bf16_of_scale(pair & 255);
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

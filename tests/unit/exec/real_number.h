// Numbers of any format as sign, whole magnitude and power of two: what conversions and roundings
// give, computed in integers alone and so apart from the processor's floating point that the engine
// uses.
#pragma once
#include <cstdint>

namespace raddle::exec::test {

using Magnitude = unsigned __int128;

/// magnitude x 2^exponent, or none.
struct Real {
  enum class Kind : std::uint8_t { Finite, Infinite, NotANumber } kind = Kind::Finite;
  bool negative = false;
  Magnitude magnitude = 0;
  int exponent = 0;
};
enum class Rounding : std::uint8_t { NearestEven, Zero, Down, Up };

/// A binary format: sign, exponent of what is left, mantissa.
struct Format {
  unsigned bits, mantissa;
  int bias;
  std::uint64_t exponent_ones() const { return (std::uint64_t{1} << (bits - 1 - mantissa)) - 1; }
  std::uint64_t infinity() const { return exponent_ones() << mantissa; }
  std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
  /// The NaN that arithmetic gives.
  std::uint64_t nan() const {
    return bits == 64 ? 0xfff8000000000000 : (std::uint64_t{1} << (bits - 1)) - 1;
  }
};
inline constexpr Format kF16{16, 10, 15}, kBF16{16, 7, 127}, kF32{32, 23, 127}, kF64{64, 52, 1023};

inline Real real_of(std::uint64_t value, const Format& format) {
  const std::uint64_t fraction = value & ((std::uint64_t{1} << format.mantissa) - 1);
  const std::uint64_t exponent = value >> format.mantissa & format.exponent_ones();
  Real real{.negative = (value & format.sign()) != 0};
  if (exponent == format.exponent_ones()) {
    real.kind = fraction != 0 ? Real::Kind::NotANumber : Real::Kind::Infinite;
    return real;
  }
  real.magnitude = exponent == 0 ? fraction : fraction | std::uint64_t{1} << format.mantissa;
  real.exponent = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias -
                  static_cast<int>(format.mantissa);
  return real;
}
inline Real real_of_integer(__int128 value) {
  return {.negative = value < 0, .magnitude = static_cast<Magnitude>(value < 0 ? -value : value)};
}

/// log2 of a magnitude that is not zero, rounded down.
inline int leading(Magnitude magnitude) {
  int at = -1;
  for (; magnitude != 0; magnitude >>= 1) ++at;
  return at;
}
/// The magnitude in units of 2^unit. Precondition: less than 2^126 of them.
inline Magnitude in_units(const Real& real, int unit, Rounding rounding) {
  const int shift = unit - real.exponent;
  if (real.magnitude == 0) return 0;
  if (shift <= 0) return real.magnitude << -shift;
  const Magnitude kept = shift > 126 ? 0 : real.magnitude >> shift;
  const Magnitude rest = shift > 126 ? real.magnitude : real.magnitude - (kept << shift);
  if (rest == 0) return kept;
  const Magnitude half = shift > 126 ? ~Magnitude{0} : Magnitude{1} << (shift - 1);
  const bool up = rounding == Rounding::NearestEven
                      ? rest > half || (rest == half && (kept & 1) != 0)
                  : rounding == Rounding::Down ? real.negative
                  : rounding == Rounding::Up   ? !real.negative
                                               : false;
  return kept + (up ? 1 : 0);
}
inline Real integral(const Real& real, Rounding rounding) {
  if (real.kind != Real::Kind::Finite || real.exponent >= 0) return real;
  return {.negative = real.negative, .magnitude = in_units(real, 0, rounding)};
}

inline std::uint64_t encoded(const Real& real, const Format& format, Rounding rounding) {
  if (real.kind == Real::Kind::NotANumber) return format.nan();
  const std::uint64_t sign = real.negative ? format.sign() : 0;
  if (real.kind == Real::Kind::Infinite) return sign | format.infinity();
  if (real.magnitude == 0) return sign;
  const int mantissa = static_cast<int>(format.mantissa), smallest = 1 - format.bias - mantissa;
  int unit = leading(real.magnitude) + real.exponent - mantissa;
  if (unit < smallest) unit = smallest;
  // Counted from zero, the values of a format follow one another as its bits do.
  const Magnitude digits = in_units(real, unit, rounding);
  const std::uint64_t base = static_cast<std::uint64_t>(unit - smallest) << format.mantissa;
  if (unit - smallest >= static_cast<int>(format.exponent_ones()) ||
      base + static_cast<std::uint64_t>(digits) >= format.infinity()) {
    const bool inward = rounding == Rounding::Zero ||
                        (rounding == Rounding::Down && !real.negative) ||
                        (rounding == Rounding::Up && real.negative);
    return sign | (inward ? format.infinity() - 1 : format.infinity());
  }
  return sign | (base + static_cast<std::uint64_t>(digits));
}

}  // namespace raddle::exec::test

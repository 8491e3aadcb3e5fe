#include "raddle/ptx/half.h"

#include <cmath>

namespace raddle::ptx {

std::uint16_t half_bits(double value) {
  if (std::isnan(value)) return 0x7fff;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);                      // magnitude < 2^exponent
  if (exponent < -13 || magnitude == 0) exponent = -13;  // of 0 it says 0
  // In units of the last place, nearbyint rounds ties to even; a carry runs into the exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, 11 - exponent));
  const unsigned bits = static_cast<unsigned>(units) + (static_cast<unsigned>(exponent + 13) << 10);
  return static_cast<std::uint16_t>(sign | bits);
}

}  // namespace raddle::ptx

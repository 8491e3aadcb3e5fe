#include "common/half.h"

#include <algorithm>
#include <array>
#include <bit>

#include "raddle/base/rng.h"

namespace raddle::workloads {

Half to_half(double value) {
  constexpr double kTooLarge = 65520;  // and above: to infinity
  constexpr int kLowestExponent = -14;
  if (std::isnan(value)) return 0x7fff;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (size >= kTooLarge) return static_cast<Half>(sign | 0x7c00);
  const int exponent = std::max(std::ilogb(size), kLowestExponent);
  // In units of the last bit; nearbyint rounds ties to even, a carry runs into the exponent.
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<Half>(sign |
                           (units + (static_cast<unsigned>(exponent - kLowestExponent) << 10)));
}

float to_float(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

std::vector<float> to_floats(const std::vector<Half>& halves) {
  std::vector<float> floats(halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) floats[i] = to_float(halves[i]);
  return floats;
}

std::vector<Half> random_halves(std::uint64_t seed, std::string_view path, std::size_t count,
                                double limit) {
  constexpr std::uint32_t kValues = 4096, kBits = 12, kOfWord = 5;
  std::array<Half, kValues> table;
  for (std::uint32_t i = 0; i < kValues; ++i) table[i] = to_half(limit * (i * 2.0 / kValues - 1));
  Rng rng(seed, path);
  std::vector<Half> halves(count);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kOfWord == 0) word = rng.next();
    halves[i] = table[word % kValues];
    word >>= kBits;
  }
  return halves;
}

}  // namespace raddle::workloads

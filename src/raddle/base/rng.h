// Seeded random numbers. Each user makes its own generator from (run seed, its own path), so that
// adding one never changes the numbers another one sees.
#pragma once
#include <cstdint>
#include <string_view>

namespace raddle {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one 64-bit word of state, passes BigCrush.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  Rng(std::uint64_t seed, std::string_view path) : state_(seed) {
    for (char c : path) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
    next();
  }
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ull;
    std::uint64_t z = (state_ ^ state_ >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  /// Uniform in [0, n). Precondition: n > 0. Bias is below 2^-32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((next() >> 32) * n >> 32);
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace raddle

// Division by a number that is known at construction: a multiplication instead.
//
// With M = floor((2^64 - 1) / d), floor((n + 1) M / 2^64) is floor(n / d) as long as
// (n + 1) d < 2^64: (n + 1) M / 2^64 falls short of (n + 1) / d by less than 1 / d, so it is just
// below the quotient of n + 1 where that is whole, and not yet below the quotient of n elsewhere.
// (Robison, "N-bit unsigned division via N-bit multiply-add", ARITH 2005.)
#pragma once
#include <cstdint>

#include "raddle/base/error.h"

namespace raddle {

/// Of 32-bit numbers by one of 32 bits.
class Divisor {
 public:
  explicit Divisor(std::uint32_t d) : d_(d), magic_(d == 0 ? 0 : ~std::uint64_t{0} / d) {
    RADDLE_ASSERT(d != 0);
  }
  std::uint32_t value() const { return d_; }
  std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>(
        static_cast<unsigned __int128>(magic_) * (std::uint64_t{n} + 1) >> 64);
  }

 private:
  std::uint32_t d_;
  std::uint64_t magic_;
};

/// Of 64-bit numbers by one of 32 bits; from 2^64 / d on, where the multiplication is not exact, it
/// divides.
class LongDivisor {
 public:
  explicit LongDivisor(std::uint32_t d) : d_(d), magic_(d == 0 ? 0 : ~std::uint64_t{0} / d) {
    RADDLE_ASSERT(d != 0);
  }
  std::uint64_t quotient(std::uint64_t n) const {
    if (n >= magic_) [[unlikely]]
      return n / d_;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(magic_) * (n + 1) >> 64);
  }

 private:
  std::uint64_t d_, magic_;
};

}  // namespace raddle

#include "raddle/base/divisor.h"

#include <gtest/gtest.h>

#include "raddle/base/rng.h"

namespace raddle::test::divisor_test {
namespace {

constexpr std::uint32_t kDivisors[] = {
    1,           2,          3,   5,     7,     12,    24,       80,
    425,         566,        641, 65535, 65536, 65537, 1u << 31, (1u << 31) + 1,
    4294967294u, 4294967295u};

TEST(Divisor, IsExact) {
  Rng rng(1);
  for (std::uint32_t d : kDivisors) {
    auto check = [&](std::uint32_t n) {
      EXPECT_EQ(Divisor(d).quotient(n), n / d) << n << " / " << d;
    };
    for (std::uint32_t n : {0u, 1u, d - 1, d, d + 1, 1000003u, 1u << 31, ~0u - 1, ~0u}) check(n);
    for (int i = 0; i < 1000; ++i) {
      const auto n = static_cast<std::uint32_t>(rng.next());
      check(n);
      check(n / d * d);
      check(n / d * d - 1);
    }
  }
}

TEST(Divisor, OfLongNumbersIsExact) {
  Rng rng(2);
  for (std::uint32_t d : kDivisors) {
    auto check = [&](std::uint64_t n) {
      EXPECT_EQ(LongDivisor(d).quotient(n), n / d) << n << " / " << d;
    };
    const std::uint64_t maximum = ~std::uint64_t{0},
                        limit = maximum / d;  // from the limit on it divides
    for (std::uint64_t n :
         {std::uint64_t{0}, limit - 2, limit - 1, limit, limit + 1, maximum - 1, maximum})
      check(n);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t n = rng.next() >> (i % 64);
      check(n);
      check(n / d * d);
      check(n / d * d - 1);
    }
  }
}

}  // namespace
}  // namespace raddle::test::divisor_test

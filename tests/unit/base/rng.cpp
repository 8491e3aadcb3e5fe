#include "raddle/base/rng.h"

#include <gtest/gtest.h>

#include <array>

namespace raddle::rng_test {
namespace {

TEST(Rng, IsSplitMix64) {
  // First outputs for seed 1234567, as published with the reference implementation
  // (prng.di.unimi.it/splitmix64.c).
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317ull);
  EXPECT_EQ(rng.next(), 3203168211198807973ull);
  EXPECT_EQ(rng.next(), 9817491932198370423ull);
}

TEST(Rng, SameSeedAndPathGiveTheSameNumbers) {
  Rng a(5, "sm[3].policy"), b(5, "sm[3].policy");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Rng, AnotherPathOrSeedGivesOtherNumbers) {
  EXPECT_NE(Rng(5, "sm[3]").next(), Rng(5, "sm[4]").next());
  EXPECT_NE(Rng(5, "sm[3]").next(), Rng(6, "sm[3]").next());
  EXPECT_NE(Rng(5, "ab").next(), Rng(5, "ba").next());
}

TEST(Rng, BelowIsUniformAndInBounds) {
  Rng rng(99);
  std::array<unsigned, 10> seen{};
  constexpr unsigned kDraws = 100'000;
  for (unsigned i = 0; i < kDraws; ++i) ++seen.at(rng.below(10));
  for (unsigned n : seen) EXPECT_NEAR(n, kDraws / 10, 500) << "about five standard deviations";
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, UnitLiesInItsHalfOpenInterval) {
  Rng rng(1);
  double sum = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    const double u = rng.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);
}

}  // namespace
}  // namespace raddle::rng_test

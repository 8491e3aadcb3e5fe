// What tensor instructions compute with, in every build of the lane engine.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "raddle/exec/run/runner.h"
#include "raddle/exec/slow/matrix.h"
#include "rig.h"

namespace raddle::exec::test::products_test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

/// f(engine) for each build that this processor can run.
template <class F>
void in_every_build(F f) {
  for (const std::string& name : lane_builds()) {
    SCOPED_TRACE(name);
    use_lanes(name);
    f(lane_engine());
  }
  unsetenv("RADDLE_LANES");
}

/// Bits; NaNs are equal.
std::uint64_t bits_of_value(double value) {
  return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
}

TEST(Products, AreSummedInOrderOfDepthFromWhatWasThere) {
  constexpr u32 kDepth = 9, kPitch = 48;
  for (const u32 rows : {8u, 16u, 32u})
    for (const u32 columns : {8u, 16u, 40u}) {
      std::vector<double> left(rows * kDepth), right(kDepth * kPitch), before(rows * kPitch);
      double next = 0.1;
      for (auto* numbers : {&left, &right, &before})
        for (double& x : *numbers) x = next = std::fmod(next * 1103515.245 + 12345, 7) - 3.5;
      left[kDepth + 2] = std::numeric_limits<double>::infinity();
      right[3] = std::numeric_limits<double>::quiet_NaN();
      std::vector<double> expected = before;
      for (u32 i = 0; i < rows; ++i)
        for (u32 j = 0; j < columns; ++j)
          for (u32 k = 0; k < kDepth; ++k) {
            const double product = left[i * kDepth + k] * right[k * kPitch + j];
            expected[i * kPitch + j] += product;
          }
      in_every_build([&](const LaneEngine& engine) {
        std::vector<double> sums = before;
        engine.add_products({.left = left.data(),
                             .right = right.data(),
                             .sums = sums.data(),
                             .rows = rows,
                             .depth = kDepth,
                             .columns = columns,
                             .pitch = kPitch});
        for (std::size_t i = 0; i < sums.size(); ++i)
          ASSERT_EQ(bits_of_value(sums[i]), bits_of_value(expected[i]))
              << rows << " x " << columns << ", " << i;
      });
    }
}

TEST(Products, EveryHalfHasItsValue) {
  constexpr u32 kHalves = 65536;
  std::vector<u16> halves(kHalves);
  std::iota(halves.begin(), halves.end(), u16{0});
  const std::vector<u32> bits(halves.begin(), halves.end());
  std::vector<double> expected(halves.size()), values(halves.size());
  element_values(Element::F16, bits.data(), kHalves, expected.data());
  in_every_build([&](const LaneEngine& engine) {
    engine.widen_halves(halves.data(), kHalves, values.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(bits_of_value(values[i]), bits_of_value(expected[i])) << i;
  });
}

TEST(Products, SumsLieInRegistersAsPtxHasThem) {
  constexpr u32 kPitch = 11;
  std::array<float, 32> even, odd, even_back, odd_back;
  for (u32 lane = 0; lane < 32; ++lane) {
    even[lane] = static_cast<float>(lane) + 0.25f;
    odd[lane] = -static_cast<float>(lane);
  }
  in_every_build([&](const LaneEngine& engine) {
    std::vector<double> sums(8 * kPitch, -1e9);
    engine.take_sums(even.data(), odd.data(), sums.data(), kPitch);
    for (u32 row = 0; row < 8; ++row)
      for (u32 column = 0; column < kPitch; ++column) {
        const u32 lane = 4 * row + column / 2;
        const double expected = column >= 8 ? -1e9 : column % 2 == 0 ? even[lane] : odd[lane];
        ASSERT_EQ(sums[row * kPitch + column], expected) << row << ", " << column;
      }
    sums[1] = std::numeric_limits<double>::quiet_NaN();
    sums[kPitch] = 1 + 0x1p-24;  // halfway: to the even one
    engine.give_sums(sums.data(), kPitch, even_back.data(), odd_back.data());
    EXPECT_EQ(std::bit_cast<u32>(odd_back[0]), 0x7fff'ffffu) << "PTX's NaN";
    EXPECT_EQ(even_back[4], 1.0f);
    EXPECT_EQ(even_back[31], even[31]);
    EXPECT_EQ(odd_back[31], odd[31]);
  });
}

}  // namespace
}  // namespace raddle::exec::test::products_test

// The air of wsm5 and its reference, where the answer is known: water is neither made nor lost, and
// what falls, freezes and rains does so where it should.
#include <gtest/gtest.h>

#include <algorithm>

#include "functional/launch_profile.h"
#include "wsm5/physics.h"
#include "wsm5/reference.h"

namespace raddle::workloads::wsm5_reference_test {

namespace {

constexpr AtmosphereShape kShape = {71, 58, 27, 25};

AirColumn column_at(const Atmosphere& air, std::uint32_t i, std::uint32_t j) {
  AirColumn out;
  for (std::size_t f = 0; f < kAirFields; ++f)
    for (std::uint32_t k = 0; k < kShape.levels; ++k)
      out.fields[f].push_back(air[f][(j * kShape.levels + k) * kShape.width + i]);
  return out;
}

// kg/m^2, contents below zero taken as none.
double water(const AirColumn& c) {
  double sum = c.ground[kRainAll];
  for (std::size_t k = 0; k < c.fields[kTheta].size(); ++k)
    for (AirField f : {kVapour, kCloud, kIce, kRain, kSnow})
      sum += std::max(c.fields[f][k], 0.0) * c.fields[kDensity][k] * c.fields[kThickness][k];
  return sum;
}

bool in_storm(std::uint32_t i, std::uint32_t j) {
  const auto [columns, rows] = kShape.storm_extent();
  return i < columns && j < rows;
}

TEST(Wsm5Atmosphere, HasAStormInOneQuarter) {
  const Atmosphere air = make_atmosphere(1, kShape);
  std::size_t wet = 0;
  for (std::uint32_t j = 0; j < kShape.depth; ++j)
    for (std::uint32_t i = 0; i < kShape.width; ++i) {
      const AirColumn c = column_at(air, i, j);
      const bool falls = *std::ranges::max_element(c.fields[kRain]) > 0 ||
                         *std::ranges::max_element(c.fields[kSnow]) > 0;
      EXPECT_EQ(falls, in_storm(i, j)) << i << ", " << j;
      wet += falls;
      EXPECT_TRUE(std::ranges::is_sorted(c.fields[kThickness]));
      EXPECT_TRUE(std::ranges::is_sorted(c.fields[kPressure], std::greater()));
    }
  EXPECT_NEAR(static_cast<double>(wet) / static_cast<double>(kShape.columns()), 0.25, 0.01);
}

TEST(Wsm5Reference, MakesAndLosesNoWater) {
  const Atmosphere air = make_atmosphere(2, kShape);
  double rained = 0;
  for (std::uint32_t j = 0; j < kShape.depth; j += 3)
    for (std::uint32_t i = 0; i < kShape.width; i += 5) {
      AirColumn c = column_at(air, i, j);
      const double before = water(c);
      c.step(180, {});
      EXPECT_NEAR(water(c), before, 1e-9 * before) << i << ", " << j;
      EXPECT_TRUE(in_storm(i, j) || c.ground[kRainAll] < 1e-6) << i << ", " << j;
      rained = std::max(rained, c.ground[kRainAll]);
    }
  EXPECT_GT(rained, 0.5);  // mm in three minutes
}

TEST(Wsm5Reference, SnowThatReachesTheGroundIsFrozenRain) {
  AirColumn c = column_at(make_atmosphere(1, kShape), 17, 14);
  for (double& theta : c.fields[kTheta]) theta -= 30;
  for (std::size_t k = 0; k < 27; ++k) {
    c.fields[kSnow][k] = 1e-3;
    c.fields[kRain][k] = 0;
  }
  c.step(120, {});
  EXPECT_GT(c.ground[kSnowAll], 0.01);
  EXPECT_NEAR(c.ground[kFrozenShare], 1, 1e-6);
}

TEST(Wsm5Reference, AboveFreezingIceMeltsAndFarBelowItCloudFreezes) {
  AirColumn c = column_at(make_atmosphere(1, kShape), 60, 50);
  for (std::size_t k : {0u, 26u}) c.fields[kCloud][k] = c.fields[kIce][k] = 1e-5;
  c.fields[kTheta][0] = 290 / c.fields[kExner][0];
  c.step(1, {});
  EXPECT_EQ(c.fields[kIce][0], 0);
  EXPECT_EQ(c.fields[kCloud][26], 0);
}

// Columns in which rain falls through several levels in a minor step run more trips.
TEST(Wsm5, CostsMoreWhereItRains) {
  auto instructions = [](const char* storm) {
    return runtime::profile("wsm5",
                            {{"storm", storm}, {"width", "16"}, {"depth", "16"}, {"levels", "27"}})
        .at(0)
        .warp_instructions;
  };
  EXPECT_GT(instructions("100"), 2 * instructions("0"));
}

}  // namespace

}  // namespace raddle::workloads::wsm5_reference_test

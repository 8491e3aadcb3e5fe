// Errors and correlation against numbers worked out by hand; files of measurements.
#include "raddle/sim/validate/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/errors.h"
#include "support/process.h"

namespace raddle::sim::measurement_test {
namespace {

TEST(Agreement, IsWhatItsNameSays) {
  const std::vector<Pair> pairs = {{"a", 100, 110}, {"b", 200, 160}, {"c", 400, 400}};
  const Agreement a = agreement(pairs);
  EXPECT_EQ(a.pairs, 3u);
  EXPECT_NEAR(a.mape, (0.1 + 0.2 + 0) / 3, 1e-12);
  EXPECT_NEAR(a.mean_absolute_error, 50.0 / 3, 1e-12);
  EXPECT_NEAR(a.ratio, std::cbrt(1.1 * 0.8 * 1.0), 1e-12);
  // Means 700/3 and 670/3; sums of products of the deviations: 140000/3, 144200/3, 140000/3.
  EXPECT_NEAR(a.pearson, std::sqrt(140000.0 / 144200.0), 1e-12);
}

TEST(Agreement, NrmseIsRelativeToTheMeanMeasured) {
  const Agreement a = agreement(std::vector<Pair>{{"a", 10, 13}, {"b", 30, 26}});
  EXPECT_NEAR(a.nrmse, std::sqrt((9.0 + 16.0) / 2) / 20, 1e-12);
}

TEST(Agreement, PerfectAndReversed) {
  EXPECT_NEAR(agreement(std::vector<Pair>{{"a", 1, 2}, {"b", 2, 4}, {"c", 3, 6}}).pearson, 1,
              1e-12);
  EXPECT_NEAR(agreement(std::vector<Pair>{{"a", 1, 6}, {"b", 2, 4}, {"c", 3, 2}}).pearson, -1,
              1e-12);
}

TEST(Agreement, ZerosAndTooFewAreNotHidden) {
  const Agreement zero = agreement(std::vector<Pair>{{"a", 0, 5}, {"b", 10, 20}});
  EXPECT_EQ(zero.zeros, 1u);
  EXPECT_NEAR(zero.mape, 1, 1e-12);
  EXPECT_NEAR(zero.ratio, 2, 1e-12);
  EXPECT_NEAR(zero.mean_absolute_error, 7.5, 1e-12);
  const Agreement one = agreement(std::vector<Pair>{{"a", 3, 4}});
  EXPECT_TRUE(std::isnan(one.pearson));
  EXPECT_TRUE(std::isnan(agreement({}).mape));
  EXPECT_TRUE(std::isnan(agreement(std::vector<Pair>{{"a", 3, 4}, {"b", 3, 5}}).pearson));
}

TEST(Measurements, ComeBackFromTheirFile) {
  const test::Folder folder;
  const std::string path = (folder.path() / "m.csv").string();
  MeasurementFile file;
  file.conventions = {{"device", "H200"}, {"cache", "none: \"as is\", cold"}};
  const double unknown = std::nan("");
  file.rows.push_back(
      {"bfs", "size=tiny n=64", 0, "k<int, float>", 1.5, {1234, 0.5, unknown, 64, unknown}});
  file.rows.push_back(
      {"bfs", "size=tiny n=64", 1, "say \"k\"", 0.125, {7, unknown, 0.25, 0, unknown}});
  std::ofstream(path) << to_csv(file);
  const MeasurementFile back = read_measurements(path);
  EXPECT_EQ(back.conventions, file.conventions);
  ASSERT_EQ(back.rows.size(), 2u);
  EXPECT_EQ(back.rows[0].kernel, "k<int, float>");
  EXPECT_EQ(back.rows[1].kernel, "say \"k\"");
  EXPECT_EQ(back.rows[0].value[0], 1234);
  EXPECT_TRUE(std::isnan(back.rows[0].value[2]));
  EXPECT_EQ(to_csv(back), to_csv(file));
}

TEST(Measurements, ARowMayTellAWholeRun) {
  std::istringstream text(
      "workload,parameters,launch,kernel,microseconds,cycles,l1_hit_rate,l2_hit_rate,dram_bytes\n"
      "w,p,all,,,100,,,\n");
  const MeasurementFile file = read_measurements(text, "x.csv");
  ASSERT_EQ(file.rows.size(), 1u);
  EXPECT_EQ(file.rows[0].launch, kWholeRun);
  EXPECT_NE(to_csv(file).find("\nw,p,all,,,100,,,\n"), std::string::npos);
  const std::vector<Measurement> launches = {{"w", "p", 0, "k", 1, {40, 0.5, 0.5, 8, 100}},
                                             {"w", "p", 1, "l", 2, {50, 0.5, 0.5, 16, 200}}};
  std::vector<Measurement> simulated = {whole_run(launches)};
  EXPECT_EQ(simulated[0].microseconds, 3);
  EXPECT_EQ(simulated[0].value[static_cast<std::size_t>(Metric::DramBytes)], 24);
  const auto cycles = pairs(file.rows, simulated, Metric::Cycles);
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles[0].simulated, 90);
  EXPECT_TRUE(pairs(file.rows, simulated, Metric::L1HitRate).empty());
  EXPECT_TRUE(std::isnan(simulated[0].value[static_cast<std::size_t>(Metric::Watts)]));
}

const std::string names =
    "workload,parameters,launch,kernel,microseconds,cycles,l1_hit_rate,l2_hit_rate,dram_bytes";
MeasurementFile read(const std::string& text) {
  std::istringstream in(text);
  return read_measurements(in, "x.csv");
}

TEST(Measurements, ExecutedInstructionsAreAColumnByThemselvesOrBehindThePower) {
  const auto value = [](const MeasurementFile& file, Metric metric) {
    return file.rows.at(0).value[static_cast<std::size_t>(metric)];
  };
  const std::string alone = names + ",warp_instructions\nw,p,0,k,,100,,,,2048\n",
                    both = names + ",watts,warp_instructions\nw,p,0,k,,100,,,,152.5,2048\n";
  EXPECT_EQ(value(read(alone), Metric::WarpInstructions), 2048);
  EXPECT_TRUE(std::isnan(value(read(alone), Metric::Watts)));
  EXPECT_EQ(value(read(both), Metric::WarpInstructions), 2048);
  EXPECT_EQ(value(read(both), Metric::Watts), 152.5);
  EXPECT_EQ(to_csv(read(alone)), alone);
  EXPECT_EQ(to_csv(read(both)), both);
  for (const char* wrong : {",warp_instructions,watts", ",warp_instructionss", ",wattswatts"})
    EXPECT_THAT(test::input_error_of([&] { read(names + wrong + "\n"); }),
                testing::HasSubstr("[,watts][,warp_instructions]"));
}

TEST(Measurements, WattsAreAColumnWhereTheyAreKnown) {
  const std::string text = names + ",watts\nw,p,0,k,,100,,,,152.5\nw,p,1,k,,100,,,,\n";
  const MeasurementFile file = read(text);
  EXPECT_EQ(file.rows[0].value[static_cast<std::size_t>(Metric::Watts)], 152.5);
  EXPECT_TRUE(std::isnan(file.rows[1].value[static_cast<std::size_t>(Metric::Watts)]));
  EXPECT_EQ(to_csv(file), text);
  const std::string without = names + "\nw,p,0,k,,100,,,\n";
  EXPECT_EQ(to_csv(read(without)), without);
  EXPECT_THAT(test::input_error_of([&] { read(names + ",watts\nw,p,0,k,,100,,,\n"); }),
              testing::HasSubstr("expected 10 columns, found 9"));
  EXPECT_THAT(test::input_error_of([&] { read(names + ",volts\n"); }),
              testing::HasSubstr("[,watts]"));
}

TEST(Measurements, PairsAreThoseOfBothSides) {
  const double unknown = std::nan("");
  const std::vector<Measurement> measured = {{"w", "p", 0, "k", 1, {10, 0.5, unknown, 1, unknown}},
                                             {"w", "p", 1, "k", 1, {20, unknown, 0.5, 1, 90}}};
  const std::vector<Measurement> simulated = {{"w", "p", 1, "k", 1, {22, 0.5, 0.5, 1, 99}},
                                              {"w", "p", 0, "k", 1, {11, 0.4, 0.5, 1, 55}}};
  const auto cycles = pairs(measured, simulated, Metric::Cycles);
  ASSERT_EQ(cycles.size(), 2u);
  EXPECT_EQ(cycles[1].simulated, 22);
  EXPECT_EQ(cycles[1].label, "w #1 k");
  EXPECT_EQ(pairs(measured, simulated, Metric::L1HitRate).size(), 1u);
}

}  // namespace
}  // namespace raddle::sim::measurement_test

// IKRA's regular iterative programs as its table 3 has them: threads per block, blocks and
// kilobytes of every launch, counted from the op streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "functional/launch_profile.h"

namespace raddle::runtime::ikra_table3_regular_test {

struct Table3Row {
  std::string ikra, workload;
  Parameters parameters;
  std::string kernel;
  std::size_t launches;
  Dim3 block;
  std::uint64_t blocks;
  double kib;           ///< as the paper has it
  std::uint64_t words;  ///< exactly
};

void PrintTo(const Table3Row& row, std::ostream* out) { *out << row.ikra; }

namespace {

using ::testing::Each;
using ::testing::ElementsAre;

/// Those of one kernel, in order.
std::vector<LaunchProfile> of_kernel(const std::vector<LaunchProfile>& launches,
                                     std::string_view name) {
  std::vector<LaunchProfile> all;
  for (const LaunchProfile& launch : launches)
    if (launch.name == name) all.push_back(launch);
  return all;
}

std::vector<double> kib_of(const std::vector<LaunchProfile>& launches) {
  std::vector<double> all;
  for (const LaunchProfile& launch : launches) all.push_back(launch.kib());
  return all;
}

// Programs whose launches are all alike.
class IkraTable3 : public ::testing::TestWithParam<Table3Row> {};

INSTANTIATE_TEST_SUITE_P(
    Regular, IkraTable3,
    ::testing::Values(
        Table3Row{"HS",
                  "hotspot",
                  {{"rows", "256"}, {"columns", "256"}, {"steps", "20"}},
                  "hotspot",
                  20,
                  {16, 16},
                  361,
                  768,
                  3 * 256 * 256},
        // Features and membership; the centroids are in constant memory.
        Table3Row{"KM",
                  "kmeans",
                  {{"points", "25000"},
                   {"features", "35"},
                   {"block", "64"},
                   {"rounds", "2"},
                   {"unified", "true"},
                   {"invert", "false"},
                   {"constant", "true"}},
                  "kmeans_nearest",
                  2,
                  {64},
                  391,
                  3516,
                  25'000 * 36},
        Table3Row{"PF",
                  "pathfinder",
                  {{"columns", "100000"}, {"rows", "11"}, {"height", "1"}},
                  "pathfinder",
                  10,
                  {256},
                  394,
                  1172,
                  3 * 100'000},
        Table3Row{"SD2_gradient",
                  "srad",
                  {{"rows", "512"}, {"columns", "512"}, {"iterations", "2"}, {"unified", "true"}},
                  "srad2_gradient",
                  2,
                  {16, 16},
                  1024,
                  6144,
                  6 * 512 * 512},
        Table3Row{"SD2_update",
                  "srad",
                  {{"rows", "512"}, {"columns", "512"}, {"iterations", "2"}, {"unified", "true"}},
                  "srad2_update",
                  2,
                  {16, 16},
                  1024,
                  6144,
                  6 * 512 * 512}),
    [](const auto& info) { return info.param.ikra; });

TEST_P(IkraTable3, HasItsBlocksAndKilobytes) {
  const Table3Row& row = GetParam();
  auto launches = of_kernel(profile(row.workload, row.parameters), row.kernel);
  EXPECT_EQ(launches.size(), row.launches);
  for (const LaunchProfile& launch : launches) {
    EXPECT_EQ(launch.block, row.block);
    EXPECT_EQ(launch.blocks, row.blocks);
    EXPECT_EQ(launch.words, row.words);
    EXPECT_NEAR(launch.kib(), row.kib, 0.001 * row.kib);
  }
}

// The table's 1,024 KB are the two arrays. A launch reads one and writes the inside of the other.
TEST(IkraTable3St, Has64BlocksAndTwoArraysOf512Kilobytes) {
  const Parameters parameters = {
      {"columns", "128"}, {"rows", "128"}, {"planes", "8"}, {"steps", "10"}, {"padding", "80"}};
  const auto launches = profile("stencil", parameters);
  ASSERT_EQ(launches.size(), 10u);
  for (const LaunchProfile& launch : launches) {
    EXPECT_EQ(launch.block, (Dim3{32, 4}));
    EXPECT_EQ(launch.blocks, 64u);
    EXPECT_EQ(launch.words, 128u * 128 * 8 + 126 * 126 * 6);
  }
}

TEST(IkraTable3Km, TheDeviceSeesNothingButTheRounds) {
  auto launches = profile("kmeans", {{"points", "500"},
                                     {"rounds", "3"},
                                     {"unified", "true"},
                                     {"invert", "false"},
                                     {"constant", "true"}});
  ASSERT_FALSE(launches.empty());
  for (const LaunchProfile& launch : launches) EXPECT_EQ(launch.name, "kmeans_nearest");
}

// Blocks of 16 x 16 words: r to the right of the diagonal one and r below it are left, from 47
// to 1.
TEST(IkraTable3Lud, Has1To2209BlocksAnd1To2303Kilobytes) {
  auto launches = profile("lud", {{"n", "768"}});
  ASSERT_EQ(launches.size(), 48u + 47 + 47);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::uint64_t rest = 47 - i / 3;
    const struct {
      std::string_view name;
      Dim3 block;
      std::uint64_t blocks, tiles;  // tiles: of 256 words
    } kernels[] = {{"lud_diagonal", {16}, 1, 1},
                   {"lud_perimeter", {32}, rest, 1 + 2 * rest},
                   {"lud_internal", {16, 16}, rest * rest, rest * rest + 2 * rest}};
    const auto& expected = kernels[i % 3];
    EXPECT_EQ(launches[i].name, expected.name) << i;
    EXPECT_EQ(launches[i].block, expected.block) << i;
    EXPECT_EQ(launches[i].blocks, expected.blocks) << i;
    EXPECT_EQ(launches[i].words, 256 * expected.tiles) << i;
  }
  EXPECT_DOUBLE_EQ(launches[0].kib(), 1);
  EXPECT_EQ(launches[2].blocks, 2209u);
  EXPECT_DOUBLE_EQ(launches[2].kib(), 2303);
}

// The paper counts the two 8 x 8 blocks, half a kilobyte; the borders are 17 words more.
TEST(IkraTable3Nw, Has1To63BlocksThere62Back) {
  auto launches = profile("nw", {{"rows", "504"}, {"columns", "504"}, {"block", "8"}});
  ASSERT_EQ(launches.size(), 63u + 62);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    std::uint64_t blocks = i < 63 ? i + 1 : 125 - i;
    EXPECT_EQ(launches[i].block, Dim3{8}) << i;
    EXPECT_EQ(launches[i].blocks, blocks) << i;
    // Blocks beside each other on a diagonal share the cell between their borders.
    EXPECT_EQ(launches[i].words, blocks * (2 * 64 + 17) - (blocks - 1)) << i;
  }
}

// Per access, as IKRA counts, the two large kernels read or write ten and eight images of 256 KB;
// each word once they are six images, and the neighbours' numbers.
TEST(IkraTable3Sd1, Has128BlocksAndTheKilobytesOfSixKernels) {
  auto launches = profile(
      "srad", {{"version", "1"}, {"rows", "256"}, {"columns", "256"}, {"iterations", "10"}});
  ASSERT_EQ(launches.size(), 2u + 10 * 5);
  EXPECT_THAT(kib_of(of_kernel(launches, "srad1_extract")), ElementsAre(256));
  EXPECT_THAT(kib_of(of_kernel(launches, "srad1_compress")), ElementsAre(256));
  EXPECT_THAT(kib_of(of_kernel(launches, "srad1_prepare")), Each(768.0));
  EXPECT_THAT(kib_of(of_kernel(launches, "srad1_gradient")), Each(6 * 256.0 + 4));
  EXPECT_THAT(kib_of(of_kernel(launches, "srad1_update")), Each(6 * 256.0 + 2));
  for (const LaunchProfile& launch : launches) {
    EXPECT_EQ(launch.block, Dim3{512}) << launch.name;
    if (launch.name != "srad1_reduce") {
      EXPECT_EQ(launch.blocks, 128u) << launch.name;
    }
  }
  auto reductions = of_kernel(launches, "srad1_reduce");
  ASSERT_EQ(reductions.size(), 20u);
  for (std::size_t i = 0; i < reductions.size(); i += 2) {
    EXPECT_EQ(reductions[i].blocks, 128u);
    EXPECT_EQ(reductions[i + 1].blocks, 1u);
    EXPECT_DOUBLE_EQ(reductions[i].kib(), 512);
  }
  const LaunchProfile& gradient = launches[4];
  ASSERT_EQ(gradient.name, "srad1_gradient");
  constexpr std::uint64_t kWarps = 128 * 16;
  EXPECT_EQ(gradient.of("ld.global.f32").count, 5 * kWarps);
  EXPECT_EQ(gradient.of("st.global.f32").count, 5 * kWarps);
  EXPECT_EQ(launches[5].of("ld.global.f32").count, 8 * kWarps);
}

}  // namespace

}  // namespace raddle::runtime::ikra_table3_regular_test

// What the workloads of CCWS touch and how: the access pattern that gives each its class there. And
// BP's row of IKRA's table 3; those of its iterative programs are in ikra_table3.cpp.
#include <gtest/gtest.h>

#include "functional/launch_profile.h"

namespace raddle::runtime::access_patterns_test {

namespace {

// 4,676 KB in the paper; the arrays (weights, their last changes, input, partial sums) come to
// 4,608 KB, of which a kernel leaves out the bias's column and what only the other one uses. The
// 68 between are the bytes of the errors, 17 words.
TEST(IkraTable3, BackpropHas2048BlocksAndArraysOf4608Kilobytes) {
  WatchedDevice device;
  auto workload = make_workload("backprop", {{"inputs", "32768"}});
  workload->run(device, 1);
  EXPECT_EQ(device.allocated_bytes / 1024, 4608u);
  auto launches = profile("backprop", {{"inputs", "32768"}});
  ASSERT_EQ(launches.size(), 2u);
  for (const LaunchProfile& launch : launches) EXPECT_EQ(launch.blocks, 2048u);
  constexpr double kWeights = 2048, kInput = 128;
  EXPECT_DOUBLE_EQ(launches[0].kib(), kWeights + 2 * kInput);
  EXPECT_NEAR(launches[1].kib(), 2 * kWeights + kInput, 0.25);  // a row of biases and the errors
}

Accesses sum(const std::vector<LaunchProfile>& launches, std::string_view prefix) {
  Accesses all;
  for (const LaunchProfile& launch : launches) {
    all.count += launch.of(prefix).count;
    all.transactions += launch.of(prefix).transactions;
  }
  return all;
}

class Scratchpad : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(CacheInsensitive, Scratchpad, ::testing::Values("nw", "srad", "lud"),
                         [](const auto& info) { return info.param; });

TEST_P(Scratchpad, IsUsedMoreThanGlobalMemoryAndBetweenBarriers) {
  auto launches = profile(GetParam(), {});
  std::uint64_t shared = sum(launches, "ld.shared").count + sum(launches, "st.shared").count;
  std::uint64_t global = sum(launches, "ld.global").count + sum(launches, "st.global").count;
  EXPECT_GT(shared, global);
  for (const LaunchProfile& launch : launches) EXPECT_GT(launch.barriers, 0u) << launch.name;
}

// Aligned rows of lanes, one line each, and no word of the 21 fields and two sums on the ground
// untouched.
TEST(AccessPattern, WpIsCoalescedWithoutSharedMemory) {
  auto launches = profile("wp", {{"columns", "640"}, {"levels", "5"}});
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_DOUBLE_EQ(launches[0].of("ld.global").transactions_each(), 1);
  EXPECT_DOUBLE_EQ(launches[0].of("st.global").transactions_each(), 1);
  EXPECT_EQ(launches[0].words, 640u * (21 * 5 + 2));
  EXPECT_EQ(launches[0].of("ld.shared").count + launches[0].of("st.shared").count, 0u);
  EXPECT_EQ(launches[0].barriers, 0u);
}

// A line of coordinates and the candidate's word per dimension; points lie 16 bytes apart: four
// lines per field.
TEST(AccessPattern, StmclStreamsBroadcastsAndStrides) {
  auto launches = profile("stmcl", {{"points", "3072"}, {"dimensions", "8"}, {"candidates", "1"}});
  ASSERT_EQ(launches.size(), 1u);
  constexpr std::uint64_t kWarps = 3072 / 32;
  Accesses floats = launches[0].of("ld.global.f32");
  EXPECT_GE(floats.count, kWarps * (2 * 8 + 2 + 1));  // dimensions; weight and cost; the row
  EXPECT_LE(floats.count, kWarps * (2 * 8 + 2 + 3));  // lanes of both kinds; the cost once more
  // A point has 32 bytes, a row 8: two rows share a lane's line with 14 more.
  EXPECT_GE(floats.transactions, kWarps * (2 * 8 + 2 * 8 + 2));
  EXPECT_LE(floats.transactions, kWarps * (2 * 8 + 3 * 8 + 2 * 2));
}

TEST(AccessPattern, CfdGathersFromFurtherAwayTheMoreItsElementsAreShuffled) {
  auto lines = [](const char* shuffle) {
    auto launches = profile("cfd", {{"width", "8"}, {"shuffle", shuffle}});
    const LaunchProfile& flux = launches[1];
    EXPECT_EQ(flux.name, "cfd_flux");
    return flux.of("ld.global.f32").transactions_each();
  };
  double as_made = lines("1"), near = lines("128"), far = lines("1000000");
  EXPECT_GT(as_made, 1.2);  // a warp's neighbours are in several cubes
  EXPECT_GT(near, as_made);
  EXPECT_GT(far, near);
}

}  // namespace

}  // namespace raddle::runtime::access_patterns_test

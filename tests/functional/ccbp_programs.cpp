// CCBP's programs: blocks and threads, and how many lines their kernels touch, as in the public
// programs (the workloads' READMEs say which).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/launch_profile.h"

namespace raddle::runtime::ccbp_programs_test {

namespace {

LaunchProfile only_launch(std::string_view name, const Parameters& parameters) {
  std::vector<LaunchProfile> launches = profile(name, parameters);
  EXPECT_EQ(launches.size(), 1u);
  return launches.at(0);
}

TEST(CcbpPrograms, FdtdReadsThreeLinesOfAWarpAndWritesOne) {
  const LaunchProfile launch =
      only_launch("fdtd", {{"rows", "16"}, {"columns", "64"}, {"steps", "1"}, {"kernels", "ey"}});
  EXPECT_EQ(launch.block, (Dim3{32, 8}));
  EXPECT_EQ(launch.blocks, 4u);
  // The two warps of row 0 read the source's word only.
  EXPECT_EQ(launch.of("ld.global").count, 30u * 3 + 2);
  EXPECT_EQ(launch.of("ld.global").transactions, 30u * 3 + 2);
  EXPECT_EQ(launch.of("st.global").count, 32u);
  EXPECT_EQ(launch.of("st.global").transactions, 32u);
}

TEST(CcbpPrograms, FdtdRunsThreeKernelsAStep) {
  std::vector<std::string> names;
  for (const LaunchProfile& launch : profile("fdtd", {{"kernels", "all"}, {"steps", "1"}}))
    names.push_back(launch.name);
  EXPECT_THAT(names, ::testing::ElementsAre("fdtd_ey", "fdtd_ex", "fdtd_hz"));
}

// Of eight rows, 16 bytes further each, one is aligned; the eighteenth access of a row is a word.
TEST(CcbpPrograms, SadReadsFourRowsOfTwoLinesAndWritesFive) {
  const LaunchProfile launch = only_launch("sad", {{"width", "8"}, {"height", "1"}});
  EXPECT_EQ(launch.block, (Dim3{32, 4}));
  EXPECT_EQ(launch.blocks, 8u);
  const std::uint64_t warps = 32;
  EXPECT_EQ(launch.of("ld.global").count, warps * 4 * 18);
  EXPECT_EQ(launch.of("st.global").count, warps * 5 * 18);
  EXPECT_NEAR(launch.of("ld.global").transactions_each(), (17 * 1.875 + 1) / 18, 0.001);
  EXPECT_NEAR(launch.of("st.global").transactions_each(), (17 * 1.875 + 1) / 18, 0.001);
  // The rows of four shapes; the last half word is padding.
  EXPECT_EQ(launch.words, 8u * 36 * 545);
}

// A level above the leaves, in nodes of 32 keys: only a block's first warp has keys that are not
// greater than the query.
TEST(CcbpPrograms, BtreeKeepsItsPlaceInGlobalMemory) {
  const std::uint64_t queries = 40, warps = 8;
  const LaunchProfile launch =
      only_launch("btree", {{"keys", "1024"}, {"fill", "32"}, {"queries", "40"}, {"present", "1"}});
  EXPECT_EQ(launch.block, (Dim3{256}));
  EXPECT_EQ(launch.blocks, queries);
  EXPECT_EQ(launch.barriers, queries * warps * 2);
  // The place, a key, the query of each warp; the next key, the place found, the child twice, the
  // place found again; then in the leaf the three of each warp, the child and the record.
  EXPECT_EQ(launch.of("ld.global").count, queries * (3 * warps + 5 + 3 * warps + 2));
  EXPECT_EQ(launch.of("st.global").count, queries * 3);
  EXPECT_EQ(launch.of("st.global.u64").count, queries * 2);
}

TEST(CcbpPrograms, BucketsortScattersWhatItReadsInOrder) {
  const LaunchProfile launch = only_launch("bucketsort", {{"n", "65536"}});
  EXPECT_EQ(launch.block, (Dim3{32}));
  EXPECT_EQ(launch.blocks, 16u);
  EXPECT_EQ(launch.of("ld.global").count, 16u * (2 * 32 + 2 * 128));
  EXPECT_EQ(launch.of("ld.global").transactions_each(), 1);
  EXPECT_EQ(launch.of("st.global").count, 16u * 128);
  // 32 lanes, 1024 buckets of two lines.
  EXPECT_GT(launch.of("st.global").transactions_each(), 31);
  EXPECT_EQ(launch.of("ld.volatile.shared").count, 16u * 2 * 128);
  EXPECT_EQ(launch.of("st.volatile.shared").count, 16u * 32);
}

// Warps 0 to 2 have 32 particles, warp 3 has four; eight boxes that are all neighbours.
TEST(CcbpPrograms, LavamdReadsAndWritesItsFourSumsForEachPair) {
  const LaunchProfile launch =
      only_launch("lavamd", {{"boxes", "2"}, {"particles", "100"}, {"sums", "memory"}});
  EXPECT_EQ(launch.block, (Dim3{128}));
  const std::uint64_t rounds = 8 * 8 * 100, whole = 3 * 8, last = 1;  // lines of a sum
  EXPECT_EQ(launch.of("st.global.f64").count, rounds * 4 * 4);
  EXPECT_EQ(launch.of("st.global.f64").transactions, rounds * 4 * (whole + last));
}

TEST(CcbpPrograms, BfsScansForAFrontierOfOneVertex) {
  const LaunchProfile launch = only_launch("bfs", {{"launches", "1"},
                                                   {"vertices", "4096"},
                                                   {"edges", "4096"},
                                                   {"edge_words", "1"},
                                                   {"targets", "true"},
                                                   {"block", "512"}});
  EXPECT_EQ(launch.blocks, 8u);
  // Each warp reads a byte of its vertices; one of them writes its own, and reads and writes a byte
  // for each neighbour.
  EXPECT_EQ(launch.of("ld.global.u8").count - launch.of("st.global.u8").count, 128u - 1);
}

TEST(CcbpPrograms, PathfinderReadsThreeWordsOfARowAndPutsTwoBack) {
  const LaunchProfile launch = only_launch(
      "pathfinder", {{"columns", "216"}, {"rows", "21"}, {"height", "20"}, {"arrays", "2"}});
  EXPECT_EQ(launch.blocks, 1u);
  EXPECT_EQ(launch.barriers, 8u * (1 + 19 * 2 + 1));
  EXPECT_EQ(launch.of("ld.shared").count, 8u * (20 * 3 + 19 + 1));
  EXPECT_EQ(launch.of("st.shared").count, 8u * (1 + 20 + 19));
}

}  // namespace

}  // namespace raddle::runtime::ccbp_programs_test

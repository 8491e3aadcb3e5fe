// LATOA's programs without irregular data against the public ones that they stand for, at sizes
// small enough for a test: launches, geometry, warp instructions, lines of 128 bytes, accesses of
// shared memory. The public programs' numbers are of runs under raddle exec, compiled by nvcc 13;
// docs/reproductions/programs.md says from where and what was changed.
#include <gtest/gtest.h>

#include <ostream>

#include "functional/launch_profile.h"

namespace raddle::runtime::latoa_dense_test {

/// All launches of a kernel together.
struct DenseKernel {
  std::string latoa, workload;
  Parameters parameters;
  std::string kernel;
  std::size_t launches;
  std::uint64_t blocks, threads;  ///< of each launch
  std::uint64_t warp_instructions;
  std::uint64_t line_loads, line_stores, shared;  ///< exactly
};

void PrintTo(const DenseKernel& k, std::ostream* out) { *out << k.latoa << ' ' << k.kernel; }

namespace {

const Parameters kScan = {{"algorithm", "naive"}, {"n", "524288"}};
const Parameters kWalsh = {{"order", "17"}, {"block_order", "11"}, {"blocks", "128"}};
const Parameters kWalshEven = {{"order", "18"}, {"block_order", "11"}, {"blocks", "128"}};
const Parameters kReduction = {{"operation", "pairs"}, {"n", "1048576"}, {"blocks", "64"}};
const Parameters kSha1 = {{"windows", "49152"}};

const Parameters kKmeans = {{"points", "20000"},
                            {"features", "34"},
                            {"constant", "true"},
                            {"square", "true"},
                            {"rounds", "2"}};
const Parameters kHotspot = {{"rows", "512"}, {"columns", "512"}, {"steps", "2"}, {"height", "2"}};

class LatoaDense : public ::testing::TestWithParam<DenseKernel> {};

INSTANTIATE_TEST_SUITE_P(All, LatoaDense,
                         ::testing::Values(DenseKernel{"SCN", "scan", kScan, "scan_naive", 1, 512,
                                                       256, 565'248, 16'384, 16'384, 110'592},
                                           DenseKernel{"SCN", "scan", kScan, "scan_tops", 1, 2, 256,
                                                       2'256, 1'024, 16, 432},
                                           DenseKernel{"SCN", "scan", kScan, "scan_offset", 1, 512,
                                                       256, 84'480, 16'896, 16'384, 4'608},
                                           DenseKernel{"FWT", "walsh", kWalsh, "walsh_pass", 9, 128,
                                                       256, 451'584, 36'864, 36'864, 0},
                                           DenseKernel{"FWT", "walsh", kWalsh, "walsh_block", 3, 64,
                                                       512, 952'320, 12'288, 12'288, 159'744},
                                           DenseKernel{"FWT", "walsh", kWalshEven, "walsh_modulate",
                                                       1, 128, 256, 100'352, 16'384, 8'192, 0},
                                           DenseKernel{"STO", "sha1", kSha1, "sha1_windows", 1, 384,
                                                       128, 2'612'736, 38'400, 6'144, 672'768}),
                         [](const auto& info) {
                           return info.param.latoa + "_" + info.param.kernel;
                         });

std::uint64_t shared_accesses(const LaunchProfile& launch) {
  std::uint64_t sum = 0;
  for (const char* prefix : {"ld.shared", "st.shared", "ld.volatile.shared", "st.volatile.shared"})
    sum += launch.of(prefix).count;
  return sum;
}

TEST_P(LatoaDense, IsThePublicKernelWithinFivePercentOfItsInstructions) {
  const DenseKernel& theirs = GetParam();
  std::size_t launches = 0;
  std::uint64_t warp_instructions = 0, loads = 0, stores = 0, shared = 0;
  for (const LaunchProfile& launch : profile(theirs.workload, theirs.parameters)) {
    if (launch.name != theirs.kernel) continue;
    ++launches;
    warp_instructions += launch.warp_instructions;
    loads += launch.of("ld.global").transactions;
    stores += launch.of("st.global").transactions;
    shared += shared_accesses(launch);
    EXPECT_EQ(launch.blocks, theirs.blocks);
    EXPECT_EQ(launch.block.count(), theirs.threads);
  }
  EXPECT_EQ(launches, theirs.launches);
  EXPECT_NEAR(
      static_cast<double>(warp_instructions) / static_cast<double>(theirs.warp_instructions), 1,
      0.05)
      << warp_instructions << ", the public kernel " << theirs.warp_instructions;
  EXPECT_EQ(loads, theirs.line_loads);
  EXPECT_EQ(stores, theirs.line_stores);
  EXPECT_EQ(shared, theirs.shared);
}

std::uint64_t barriers_of_a_warp(const std::vector<LaunchProfile>& launches,
                                 std::string_view kernel) {
  for (const LaunchProfile& launch : launches)
    if (launch.name == kernel) return launch.barriers / (launch.blocks * launch.block.count() / 32);
  return 0;
}

TEST(LatoaDense, ScanHasTwoBarriersForEachOfEightSteps) {
  auto launches = profile("scan", kScan);
  EXPECT_EQ(barriers_of_a_warp(launches, "scan_naive"), 16u);
  EXPECT_EQ(barriers_of_a_warp(launches, "scan_tops"), 16u);
  EXPECT_EQ(barriers_of_a_warp(launches, "scan_offset"), 1u);
}

// Every line of scan_tops is one lane's: 26 blocks that ask for 512 lines each are the case that
// LATOA is made for.
TEST(LatoaDense, TheTopScanTouchesALinePerLane) {
  for (const LaunchProfile& launch : profile("scan", kScan))
    if (launch.name == "scan_tops") {
      EXPECT_DOUBLE_EQ(launch.of("ld.global").transactions_each(), 32);
      EXPECT_EQ(launch.of("ld.global").transactions, launch.blocks * 512);
    }
}

TEST(LatoaDense, ScanOfLatoaHas26BlocksInTheMiddle) {
  auto launches = profile("scan", {{"algorithm", "naive"}, {"n", "6815744"}});
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[0].blocks, 6656u);
  EXPECT_EQ(launches[1].blocks, 26u);
  EXPECT_EQ(launches[2].blocks, 6656u);
}

// Six radix-4 passes and a block of 2^11 at 2^23, five at 2^21, both with a stage of radix 2; at
// 2^22 six and a block of 2^10 without.
TEST(LatoaDense, WalshHasSevenBarriersInABlockOfAnOddOrderAndSixInAnEvenOne) {
  auto launches = profile("walsh", kWalsh);
  EXPECT_EQ(launches.size(), 3u * (3 + 1) + 1);
  EXPECT_EQ(barriers_of_a_warp(launches, "walsh_block"), 7u);
  launches = profile("walsh", kWalshEven);
  EXPECT_EQ(launches.size(), 3u * (4 + 1) + 1);
  EXPECT_EQ(launches[4].block.count(), 256u);
  EXPECT_EQ(barriers_of_a_warp(launches, "walsh_block"), 6u);
}

// 43 x 43 blocks; 5.1 % fewer instructions than Rodinia's, whose loop computes a few terms anew.
TEST(LatoaDense, HotspotIsOneLaunchOfTwoSteps) {
  auto launches = profile("hotspot", kHotspot);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].blocks, 43u * 43);
  EXPECT_NEAR(static_cast<double>(launches[0].warp_instructions) / 3'027'028, 1, 0.052);
  EXPECT_EQ(launches[0].of("ld.global").transactions, 85'680u);
  EXPECT_EQ(launches[0].of("st.global").transactions, 27'136u);
  EXPECT_EQ(shared_accesses(launches[0]), 248'884u);
  EXPECT_EQ(barriers_of_a_warp(launches, "hotspot"), 4u);
}

// The public update has a fifth barrier, between its two tiles of coefficients.
TEST(LatoaDense, SradHasFourBarriersAndTheFiveAndEightLoadsOfThePublicProgram) {
  auto launches = profile("srad", {{"rows", "64"}, {"columns", "64"}, {"iterations", "1"}});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(barriers_of_a_warp(launches, "srad2_gradient"), 4u);
  EXPECT_EQ(barriers_of_a_warp(launches, "srad2_update"), 4u);
  const std::uint64_t warps = launches[0].blocks * 8;
  EXPECT_EQ(launches[0].of("st.global").count, 5 * warps);
  EXPECT_EQ(launches[1].of("st.global").count, warps);
  EXPECT_GE(launches[0].of("ld.global").count, 5 * warps);
  EXPECT_GE(launches[1].of("ld.global").count, 8 * warps);
}

// 8 cores have two of the 64 blocks and 48 one; a thread loads 512 times two words.
TEST(LatoaDense, ReductionOfLatoaHas64Blocks) {
  Parameters parameters = kReduction;
  parameters["n"] = "16777216";
  auto launches = profile("reduction", parameters);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].blocks, 64u);
  EXPECT_EQ(launches[0].of("ld.global").count, 64u * 8 * 512 * 2);
  EXPECT_EQ(launches[1].blocks, 1u);
  EXPECT_EQ(launches[1].block.count(), 32u);
  EXPECT_EQ(launches[1].of("ld.global").count, 2u);
}

// 79 blocks would do; two of the square end at once.
TEST(LatoaDense, KmeansHasASquareOfBlocks) {
  for (const LaunchProfile& launch : profile("kmeans", kKmeans)) EXPECT_EQ(launch.blocks, 9u * 9);
}

// The first word of a digest that another implementation (Python's hashlib) gave for the same 52
// bytes: the reference in sha1.cpp and the kernel cannot both be wrong in one way.
TEST(LatoaDense, Sha1IsSha1) {
  auto workload = make_workload("sha1", {});
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(device.last_download[0], 0x28da3443u);
}

}  // namespace

}  // namespace raddle::runtime::latoa_dense_test

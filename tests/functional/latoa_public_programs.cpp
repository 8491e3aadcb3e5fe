// Our programs of LATOA against the public ones that they stand for: geometry, warp instructions
// and line accesses (128 bytes, global and local memory). The public programs' numbers are of runs
// of ispass2009-benchmarks (1716296) under raddle exec, compiled by nvcc 13;
// docs/reproductions/programs.md says how.
#include <gtest/gtest.h>

#include <ostream>

#include "functional/launch_profile.h"

namespace raddle::runtime::latoa_public_programs_test {

/// One launch.
struct LatoaKernel {
  std::string workload, kernel;
  Parameters parameters;
  std::uint64_t blocks, threads;  ///< threads: of a block
  std::uint64_t warp_instructions, line_loads, line_stores;
};

void PrintTo(const LatoaKernel& k, std::ostream* out) { *out << k.kernel; }

namespace {

constexpr double kMaxOff = 0.05;

// Less than the paper's sizes, so that a test takes seconds; the public runs had the same.
const Parameters kMum = {{"bases", "100000"}, {"queries", "5000"}};
const Parameters kRay = {{"width", "256"}, {"height", "256"}};
// All blocks are equal: a sixteenth of the public run's counts, whose stores were counted of both
// kernels together. The first kernel's are 2621 of a warp.
const Parameters kLibor = {{"rates", "80"}, {"steps", "40"}, {"paths", "256"}};
// The paper's size. The public program, with single precision throughout, on our air.
const Parameters kWsm5 = {{"width", "71"}, {"depth", "58"}, {"levels", "27"}};
const Parameters kDigits = {{"images", "2"}, {"maps", "50"}, {"hidden", "100"}};

class LatoaPrograms : public ::testing::TestWithParam<LatoaKernel> {};

INSTANTIATE_TEST_SUITE_P(
    Latoa, LatoaPrograms,
    ::testing::Values(LatoaKernel{"mum", "mum_match", kMum, 20, 256, 768'201, 275'231, 15'208},
                      LatoaKernel{"wsm5", "wsm5", kWsm5, 72, 64, 6'388'225, 1'638'653, 691'987}),
    [](const auto& info) { return info.param.kernel; });

void expect_near(const char* what, std::uint64_t ours, std::uint64_t theirs) {
  EXPECT_NEAR(static_cast<double>(ours) / static_cast<double>(theirs), 1, kMaxOff)
      << what << ": " << ours << ", the public program " << theirs;
}

TEST_P(LatoaPrograms, AreRunByOursWithinFivePercent) {
  const LatoaKernel& theirs = GetParam();
  std::size_t found = 0;
  for (const LaunchProfile& ours : profile(theirs.workload, theirs.parameters)) {
    if (ours.name != theirs.kernel) continue;
    ++found;
    EXPECT_EQ(ours.blocks, theirs.blocks);
    EXPECT_EQ(ours.block.count(), theirs.threads);
    expect_near("warp instructions", ours.warp_instructions, theirs.warp_instructions);
    expect_near("line loads", ours.of("ld.global").transactions + ours.of("ld.local").transactions,
                theirs.line_loads);
    expect_near("line stores", ours.of("st.global").transactions + ours.of("st.local").transactions,
                theirs.line_stores);
  }
  EXPECT_EQ(found, 1u);
}

/// A launch at the paper's size.
struct LatoaGrid {
  std::string kernel;
  Dim3 grid, block;
};

// The imbalance over LATOA's 56 cores comes from these numbers.
void expect_grids(std::string_view workload, const std::vector<LatoaGrid>& grids) {
  auto made = make_workload(workload, {}, Size::Paper);
  SimulatedDevice device{SimulatedDeviceOptions{}};
  made->run(device, 1);
  EXPECT_EQ(made->check(), "");
  ASSERT_EQ(device.launches().size(), grids.size());
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const LaunchRecord& launch = device.launches()[i];
    EXPECT_EQ(launch.name, grids[i].kernel);
    EXPECT_EQ(launch.grid, grids[i].grid) << launch.name;
    EXPECT_EQ(launch.block, grids[i].block) << launch.name;
  }
}

TEST(LatoaGrids, AreThePublicOnes) {
  expect_grids("mum", {{"mum_match", {196}, {256}}});
  expect_grids("raytrace", {{"raytrace", {16, 32}, {16, 8}}});
  expect_grids("libor", {{"libor_values", {64}, {64}}, {"libor_sensitivities", {64}, {64}}});
  expect_grids("digits", {{"digits_first", {6, 28}, {13, 13}},
                          {"digits_second", {50, 28}, {5, 5}},
                          {"digits_third", {100, 28}, {1}},
                          {"digits_fourth", {10, 28}, {1}}});
  expect_grids("wsm5", {{"wsm5", {9, 8}, {8, 8}}});
}

}  // namespace

}  // namespace raddle::runtime::latoa_public_programs_test

// Our programs of IKRA against the public ones that they stand for: launches, geometry, warp
// instructions and line accesses (64 bytes). The public programs' numbers are of runs of Rodinia
// (yuhc/gpu-rodinia 9c10d3e) and Parboil (accel-sim/gpu-app-collection 52c11fb) under raddle exec,
// compiled by nvcc 13; docs/reproductions/programs.md says how.
#include <gtest/gtest.h>

#include <ostream>

#include "functional/launch_profile.h"

namespace raddle::runtime::public_programs_test {

/// All launches of a kernel together, or of a program where `kernel` is empty.
struct PublicKernel {
  std::string ikra, workload;
  Parameters parameters;
  std::string kernel;
  std::size_t launches;
  std::uint64_t blocks, threads;  ///< of each launch; 0: differs
  std::uint64_t warp_instructions, line_loads, line_stores;
};

void PrintTo(const PublicKernel& k, std::ostream* out) { *out << k.ikra << ' ' << k.kernel; }

namespace {

constexpr double kMaxOff = 0.05;

const Parameters kHotspot = {{"rows", "256"}, {"columns", "256"}, {"steps", "20"}};
const Parameters kStencil = {
    {"columns", "128"}, {"rows", "128"}, {"planes", "8"}, {"steps", "10"}, {"padding", "80"}};
const Parameters kBackprop = {{"inputs", "32768"}};
const Parameters kKmeans = {{"points", "25000"}, {"features", "35"},  {"block", "64"},
                            {"rounds", "1"},     {"unified", "true"}, {"constant", "true"}};
const Parameters kSrad1 = {
    {"version", "1"}, {"rows", "256"}, {"columns", "256"}, {"iterations", "10"}};
const Parameters kSrad2 = {
    {"rows", "512"}, {"columns", "512"}, {"iterations", "1"}, {"unified", "true"}};

class PublicPrograms : public ::testing::TestWithParam<PublicKernel> {};

INSTANTIATE_TEST_SUITE_P(
    Ikra, PublicPrograms,
    ::testing::Values(
        PublicKernel{"HS", "hotspot", kHotspot, "", 20, 361, 256, 9'281'120, 420'480, 163'840},
        PublicKernel{"KM", "kmeans", kKmeans, "kmeans_layout", 1, 391, 64, 157'964, 875'000,
                     67'982},
        PublicKernel{"KM", "kmeans", kKmeans, "kmeans_nearest", 1, 391, 64, 1'031'458, 339'910,
                     1'563},
        PublicKernel{"SD1", "srad", kSrad1, "", 52, 0, 512, 7'183'124, 945'152, 338'452},
        PublicKernel{"SD1", "srad", kSrad1, "srad1_prepare", 10, 128, 512, 491'520, 81'920, 81'920},
        PublicKernel{"SD1", "srad", kSrad1, "srad1_reduce", 20, 0, 512, 2'599'700, 84'480, 2'580},
        PublicKernel{"SD1", "srad", kSrad1, "srad1_gradient", 10, 128, 512, 2'396'160, 363'520,
                     204'800},
        PublicKernel{"SD1", "srad", kSrad1, "srad1_update", 10, 128, 512, 1'515'520, 407'040,
                     40'960},
        PublicKernel{"SD2", "srad", kSrad2, "", 2, 1024, 256, 2'440'978, 190'720, 98'304},
        PublicKernel{"ST", "stencil", kStencil, "", 10, 64, 128, 1'575'960, 126'800, 60'480},
        PublicKernel{"BP", "backprop", kBackprop, "backprop_forward", 1, 2048, 256, 1'556'480,
                     67'584, 65'536},
        PublicKernel{"BP", "backprop", kBackprop, "backprop_adjust", 1, 2048, 256, 933'911, 249'866,
                     98'308}),
    [](const auto& info) {
      return info.param.ikra + (info.param.kernel.empty() ? "" : "_") + info.param.kernel;
    });

void expect_near(const char* what, std::uint64_t ours, std::uint64_t theirs) {
  EXPECT_NEAR(static_cast<double>(ours) / static_cast<double>(theirs), 1, kMaxOff)
      << what << ": " << ours << ", the public program " << theirs;
}

TEST_P(PublicPrograms, AreRunByOursWithinFivePercent) {
  const PublicKernel& theirs = GetParam();
  std::size_t launches = 0;
  std::uint64_t warp_instructions = 0, loads = 0, stores = 0;
  for (const LaunchProfile& launch : profile(theirs.workload, theirs.parameters)) {
    if (!theirs.kernel.empty() && launch.name != theirs.kernel) continue;
    ++launches;
    warp_instructions += launch.warp_instructions;
    loads += launch.of("ld.global").halves;
    stores += launch.of("st.global").halves;
    EXPECT_EQ(launch.block.count(), theirs.threads);
    if (theirs.blocks != 0) {
      EXPECT_EQ(launch.blocks, theirs.blocks);
    }
  }
  EXPECT_EQ(launches, theirs.launches);
  expect_near("warp instructions", warp_instructions, theirs.warp_instructions);
  expect_near("line loads", loads, theirs.line_loads);
  expect_near("line stores", stores, theirs.line_stores);
}

}  // namespace

}  // namespace raddle::runtime::public_programs_test

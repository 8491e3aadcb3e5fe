// Lanes of one warp that wait for one another, and kernels that do not end, by what nvcc makes of
// tests/cuda/programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/built.h"
#include "cuda/exec.h"

namespace raddle::test::waiting_lanes_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const std::vector<Words> kModes = {{"--functional"}, {}, {"--live"}};

Words with(Words options, const Words& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

struct Idiom {
  const char* name;
  std::vector<Words> shapes;  ///< blocks, threads
};
class Idioms : public testing::TestWithParam<Idiom> {};

TEST_P(Idioms, ComeToTheirEnd) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "lanes", "-lineinfo");
  for (const Words& mode : kModes)
    for (const Words& shape : GetParam().shapes) {
      const Outcome o =
          exec(with({"--gpu", "v100", "--quiet"}, mode), with({program, GetParam().name}, shape));
      EXPECT_EQ(o.status, 0) << o.out << o.err;
      EXPECT_THAT(o.out, HasSubstr("no error")) << (mode.empty() ? "timed" : mode[0]);
    }
}

TEST_P(Idioms, ComeToTheirEndWhenBuiltForDebugging) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "lanes", "-G");
  const Outcome o = exec({"--gpu", "v100", "--quiet", "--functional"},
                         with({program, GetParam().name}, GetParam().shapes.back()));
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

INSTANTIATE_TEST_SUITE_P(
    All, Idioms,
    testing::Values(Idiom{"spin", {{"1", "2"}, {"1", "32"}, {"2", "64"}, {"5", "64"}}},
                    Idiom{"backoff", {{"1", "32"}, {"3", "64"}}},
                    Idiom{"nested", {{"1", "32"}, {"2", "64"}}},
                    Idiom{"pairs", {{"1", "32"}, {"2", "64"}}},
                    Idiom{"token", {{"1", "32"}, {"1", "64"}}},
                    Idiom{"list", {{"1", "32"}, {"2", "64"}}}, Idiom{"tries", {{"1", "4"}}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(WaitingLanes, OfOlderMachinesAreToldWithTheirLine) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "lanes", "-lineinfo");
  for (const Words& mode : kModes)
    for (const char* blocks : {"1", "2"}) {
      const Outcome o =
          exec(with({"--gpu", "v100", "--set", "device.compute_capability=61", "--quiet"}, mode),
               {program, "spin", blocks, "64"});
      EXPECT_NE(o.status, 0);
      EXPECT_THAT(o.err, HasSubstr("kernel spin: lanes of one warp wait for one another"));
      EXPECT_THAT(o.err, HasSubstr("lanes.cu:"));
    }
}

class Endless : public testing::TestWithParam<const char*> {};

TEST_P(Endless, IsToldWhereNothingChangesAnyMore) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "endless", "-lineinfo");
  for (const Words& mode : kModes) {
    const Outcome o = exec(with({"--gpu", "v100", "--quiet"}, mode), {program, GetParam()});
    EXPECT_EQ(o.status, 1) << o.err;
    EXPECT_THAT(o.err, HasSubstr("does not end"));
    EXPECT_THAT(o.err, HasSubstr("endless.cu:"));
  }
}
INSTANTIATE_TEST_SUITE_P(All, Endless, testing::Values("same", "warps"),
                         [](const auto& info) { return std::string(info.param); });

TEST(EndlessKernels, EndByMaxCyclesInEachMode) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "endless", "-lineinfo");
  for (const Words& mode : kModes) {
    const Outcome o = exec(with({"--gpu", "v100", "--quiet", "--max-cycles", "20000"}, mode),
                           {program, "changing"});
    EXPECT_EQ(o.status, 1) << o.err;
    EXPECT_THAT(o.err, AnyOf(HasSubstr("--max-cycles"), HasSubstr("20000 cycles allowed")));
  }
}

TEST(EndlessKernels, EndByASignalWithALineThatTellsHowFarTheyAre) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "endless", "-lineinfo");
  for (const Words& mode : kModes) {
    const Words words = with({"--foreground", "--preserve-status", "-s", "TERM", "4",
                              RADDLE_PROGRAM, "exec", "--gpu", "v100", "--quiet"},
                             with(mode, {"--", program, "changing"}));
    const Outcome o = run_process("/usr/bin/timeout", words);
    EXPECT_EQ(o.status, 128 + SIGTERM) << o.err;
    EXPECT_THAT(o.err, HasSubstr("signal 15 while kernel changing: block "));
    EXPECT_THAT(o.err, HasSubstr(" of 80, "));
    EXPECT_THAT(o.err, HasSubstr("endless.cu:"));
  }
}

}  // namespace
}  // namespace raddle::test::waiting_lanes_test

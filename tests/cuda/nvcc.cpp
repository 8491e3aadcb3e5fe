// What nvcc makes: the programs of examples/cuda, unmodified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/exec.h"
#include "raddle_paths.h"
#include "support/nvcc.h"

namespace raddle::test::nvcc_test {
namespace {

using testing::HasSubstr;

/// Builds an example with these options; returns the program's path.
std::string build(const Folder& folder, const std::string& name, const std::string& options) {
  const std::string program = folder / name;
  const std::string command = nvcc() + " " + options + " -o " + program +
                              " " RADDLE_SOURCE_DIR "/examples/cuda/" + name + ".cu >" +
                              (folder / "log") + " 2>&1";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(command + ": " + read_file(folder / "log"));
  return program;
}

constexpr const char* kShared = "-cudart shared";

class Example : public testing::TestWithParam<const char*> {};

TEST_P(Example, PassesFunctionalAndTimedOnBothMachines) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build(folder, GetParam(), kShared);
  for (const std::string gpu : {"v100", "h200"}) {
    const Outcome functional = exec({"--functional", "--quiet", "--gpu", gpu}, {program});
    EXPECT_EQ(functional.status, 0) << functional.err << functional.out;
    EXPECT_THAT(functional.out, HasSubstr("PASS"));
    const Outcome timed = exec({"--quiet", "--gpu", gpu}, {program});
    EXPECT_EQ(timed.status, 0) << timed.err << timed.out;
    EXPECT_THAT(timed.out, HasSubstr("PASS"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::Values("matmul", "streams", "histogram"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Nvcc, EveryWayToPackThePtxRuns) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  for (const std::string options :
       {"-no-compress", "-compress-mode=speed", "-compress-mode=size", "-G -lineinfo",
        "-gencode arch=compute_90,code=compute_90", "-default-stream per-thread"}) {
    const std::string program = build(folder, "histogram", kShared + (" " + options));
    const Outcome o = exec({"--functional", "--quiet"}, {program, "1000"});
    EXPECT_EQ(o.status, 0) << options << ": " << o.err << o.out;
  }
}

TEST(Nvcc, StreamsOverlapInTheTimeline) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build(folder, "streams", kShared);
  const Outcome o = exec({"--quiet", "--json", folder / "r.json", "--timeline", folder / "t.json"},
                         {program, "4"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto kernels = json_of(folder / "r.json")["kernels"];
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_LT(kernels[1]["begin_cycle"], kernels[0]["end_cycle"]);
  EXPECT_THAT(read_file(folder / "t.json"), HasSubstr("collatz"));
}

TEST(Nvcc, StaticRuntimeAndMissingPtxAreRefusedWithTheWayOut) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string with_static = build(folder, "matmul", "");
  const Outcome refused = exec({}, {with_static});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("rebuild it with nvcc -cudart shared"));
  const std::string sass =
      build(folder, "matmul", "-cudart shared -gencode arch=compute_80,code=sm_80");
  const Outcome no_ptx = exec({}, {sass});
  EXPECT_EQ(no_ptx.status, 2);
  EXPECT_THAT(no_ptx.err, HasSubstr("holds no PTX"));
  EXPECT_THAT(no_ptx.err, HasSubstr("-gencode arch=compute_"));
}

}  // namespace
}  // namespace raddle::test::nvcc_test

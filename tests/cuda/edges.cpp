// What CUDA refuses, orders and forgets, with what nvcc makes of tests/cuda/programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/built.h"
#include "cuda/exec.h"

namespace raddle::test::edges_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string built(const Folder& folder, const std::string& name) {
  return build_program(folder, name, "-std=c++17 -lcuda");
}

TEST(Edges, SizesAttributesPoolsAndEdgesOfGraphs) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--functional", "--quiet"}, {built(folder, "edges")});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

TEST(Edges, OfGraphsAreAskedForAndTakenAway) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = build_program(folder, "graph_edges");
  expect_pass(program, "v100");
}

TEST(Edges, ArgumentsThatCudaRefuses) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--functional", "--quiet"}, {built(folder, "refused")});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

// Without --live the counts are right whatever the order; the time is not.
TEST(Edges, LaunchesOfOneGraphAndEventsOfLaunchesAreInOrder) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "orders");
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--quiet"}, {"--quiet", "--live"}}) {
    const Outcome o = exec(how, {program});
    EXPECT_EQ(o.status, 0) << how.back() << o.out << o.err;
  }
}

TEST(Edges, SeveralHostThreadsThatLaunchAreTold) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "threads"), line = "several host threads launch";
  const Outcome both = exec({"--quiet"}, {program});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr(line));
  for (const Outcome& quiet :
       {exec({"--quiet", "--functional"}, {program}), exec({"--quiet"}, {program, "other"})}) {
    EXPECT_EQ(quiet.status, 0) << quiet.err;
    EXPECT_THAT(quiet.err, Not(HasSubstr(line)));
  }
}

TEST(Edges, AResetLeavesNothing) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "reset");
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--quiet", "--gpu", "v100"},
                                              {"--quiet", "--gpu", "v100", "--functional"}}) {
    const Outcome o = exec(how, {program});
    EXPECT_EQ(o.status, 0) << how.back() << o.out << o.err;
  }
  const Outcome beside = exec({"--functional", "--quiet"}, {program, "context"});
  EXPECT_EQ(beside.status, 1) << beside.out;
  EXPECT_THAT(beside.err, HasSubstr("a reset of the device beside contexts of cuCtxCreate"));
}

TEST(Edges, AProgramThatEndsWhileItUsesTheDeviceIsToldSo) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "left_running");
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--quiet"}, {"--quiet", "--functional"}, {"--quiet", "--live"}}) {
    const Outcome o = exec(how, {program});
    EXPECT_EQ(o.status, 1) << how.back() << o.err;
    EXPECT_THAT(o.err, AllOf(HasSubstr("while one of its threads was still using the GPU"),
                             Not(HasSubstr("failed before")), Not(HasSubstr("no kernel was"))));
  }
}

}  // namespace
}  // namespace raddle::test::edges_test

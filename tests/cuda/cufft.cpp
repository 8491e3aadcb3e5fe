// cuFFT for unmodified programs: those of tests/cuda/programs check themselves against the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda/library_test.h"

namespace raddle::test::cufft_test {
namespace {

using testing::HasSubstr;

class Cufft : public LibraryTest {
 protected:
  Cufft() : LibraryTest("-O2 -lcufft") {}  // the host's transforms take their time
};

TEST_F(Cufft, LinesOnMachinesOfAllGenerations) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cufft_lines");
  for (const std::string gpu : {"gtx480", "v100", "h100"})
    passes({"--gpu", gpu, "--functional", "--quiet"}, {program, "short"});
  passes({"--gpu", "gtx480", "--functional", "--quiet"}, {program, "block", "s"});
  passes({"--gpu", "v100", "--functional", "--quiet"}, {program, "block", "d"});
}

TEST_F(Cufft, LongLinesInSeveralPasses) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cufft_lines"), json = folder_ / "r.json";
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program, "passes"});
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program, "real"});
  // 2^22 points are three passes of coalesced accesses.
  passes({"--gpu", "a100", "--functional", "--quiet", "--json", json},
         {program, "large", "4194304"});
  EXPECT_EQ(kernels_in(json), (std::set<std::string>{"fft_s_direct_256x8", "fft_s_direct_128x8"}));
}

TEST_F(Cufft, DimensionsAndLayouts) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cufft_dimensions");
  for (const std::string gpu : {"gtx480", "v100", "h100"})
    for (const std::string what : {"sizes", "columns", "layouts"})
      passes({"--gpu", gpu, "--functional", "--quiet"}, {program, what});
}

TEST_F(Cufft, InTime) {
  RADDLE_NEED_NVCC();
  const std::string lines = build("cufft_lines"), dimensions = build("cufft_dimensions");
  passes({"--gpu", "a100", "--quiet"}, {lines, "few"});
  passes({"--gpu", "v100", "--quiet"}, {dimensions, "few"});
  passes({"--gpu", "gtx480", "--quiet"}, {dimensions, "layouts", "s"});
}

TEST_F(Cufft, HandlesArgumentsStreamsAndGraphs) {
  RADDLE_NEED_NVCC();
  const std::string program = build("cufft_api");
  passes({"--gpu", "a100", "--functional", "--quiet"}, {program});
  passes({"--gpu", "a100", "--live", "--quiet"}, {program});
  passes({"--gpu", "a100", "--quiet"}, {program});
}

TEST_F(Cufft, WhatIsNotThereFailsTheRunByName) {
  RADDLE_NEED_NVCC();
  const Outcome o = exec({"--functional", "--quiet"}, {build("cufft_api"), "more"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(o.err, HasSubstr("cufftXtSetGPUs is not supported (CUFFT_NOT_SUPPORTED)"));
  EXPECT_THAT(o.err, HasSubstr("cufftXtMakePlanMany of half precision is not supported"));
}

}  // namespace
}  // namespace raddle::test::cufft_test

// Block dispatch of an H100 against measurement (latency table of docs/machines.md: an empty kernel
// takes about 4,000 cycles and 1.04-1.10 for each block; MGPUSim H100 subset (docs/machines.md):
// 5,040 with 1024 blocks).
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::dispatch_test {
namespace {

Cycle empty_kernel(const char* gpu, std::uint32_t blocks, std::vector<std::string> set = {}) {
  // Without the load of the parameter, which would miss in a cold constant cache.
  test::PtxWorkload work(
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 buffer) { ret; "
      "}",
      "k", {blocks}, {32}, 1);
  return test::run_on(work, "empty", {gpu, std::move(set), {}, {}}).cycles;
}

TEST(Dispatch, AnEmptyKernelOnAnH100) {
  const auto one = static_cast<double>(empty_kernel("h100", 1)),
             many = static_cast<double>(empty_kernel("h100", 1024)),
             more = static_cast<double>(empty_kernel("h100", 11024));
  EXPECT_NEAR(one, 4000, 0.05 * 4000);
  EXPECT_NEAR((more - many) / 10000, 1.19, 0.01) << "data/silicon/h100/micro.csv";
  EXPECT_NEAR(many, 5040, 0.05 * 5040);
}

TEST(Dispatch, OneBlockACycleWhereNothingElseIsSaid) {
  const Cycle many = empty_kernel("gtx480", 1000), more = empty_kernel("gtx480", 1900);
  EXPECT_GE(more - many, 900u);
}

}  // namespace
}  // namespace raddle::dispatch_test

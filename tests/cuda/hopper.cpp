// Programs for Hopper: tensor copies, barrier objects, products of warpgroups, clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/built.h"
#include "cuda/exec.h"
#include "support/nvcc.h"

namespace raddle::test::hopper_test {
namespace {

using testing::HasSubstr;

std::string hopper_gemm(const Folder& folder) {
  return build_program(folder, "hopper_gemm", "", "-gencode arch=compute_90a,code=compute_90a");
}

TEST(Hopper, AProductByWarpgroupsIsRightInEveryMode) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = hopper_gemm(folder);
  for (const char* gpu : {"h100", "h200"})
    for (const char* how : {"--functional", "--quiet"}) {
      const Outcome o = exec({"--gpu", gpu, "--quiet", how}, {program});
      EXPECT_EQ(o.status, 0) << o.out << o.err;
      EXPECT_THAT(o.out, HasSubstr("PASS"));
    }
}

/// Warps wait in time for what they are told at barrier objects: four times the depth takes longer
/// by what the tensor unit needs for it at least.
TEST(Hopper, TimeGrowsWithTheWork) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = hopper_gemm(folder);
  const auto cycles = [&](const char* depth) {
    const Outcome o = exec({"--gpu", "h100", "--quiet", "--json", folder / "r.json"},
                           {program, "256", "128", depth});
    EXPECT_EQ(o.status, 0) << o.out << o.err;
    const auto kernel = json_of(folder / "r.json")["kernels"][0];
    return kernel["end_cycle"].get<double>() - kernel["begin_cycle"].get<double>();
  };
  // Of a warp: 16 x 128 multiply-adds for each of 1536 more along K, 13 cycles for 4096 of them.
  EXPECT_GT(cycles("2048"), cycles("512") + 16 * 128 * 1536 / 4096 * 13);
}

/// Two blocks that share tiles of B load less and wait for each other: about as long in time, and
/// as many instructions, as blocks alone.
TEST(Hopper, ClustersTakeAboutAsLongAsBlocksAlone) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--gpu", "h100", "--quiet", "--json", folder / "r.json"},
                         {hopper_gemm(folder), "256", "256", "2048"});
  ASSERT_EQ(o.status, 0) << o.out << o.err;
  const auto kernels = json_of(folder / "r.json")["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  for (const char* what : {"execution_cycles", "warp_instructions"}) {
    const double alone = kernels[0][what], together = kernels[1][what];
    EXPECT_LT(together, 1.5 * alone) << what;
    EXPECT_GT(together, alone / 1.5) << what;
  }
}

TEST(Hopper, TensorMapsNeedHopper) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--gpu", "a100", "--functional", "--quiet"}, {hopper_gemm(folder)});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("tensor maps need compute capability 9.0"));
}

}  // namespace
}  // namespace raddle::test::hopper_test

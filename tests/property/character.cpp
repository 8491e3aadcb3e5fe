// What CCWS says of its moderately sensitive and its insensitive programs must hold of ours on its
// machine (workloads/README.md has the figures): schedulers and caches change little, misses are
// few.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::character_test {
namespace {

struct Measured {
  double ipc, mpki;
};

Measured measure(const std::string& workload, const std::string& scheduler,
                 const std::string& l1_kib = "32") {
  const sim::Result result = test::run(
      workload,
      {"ccws", {"sm.l1d.size_kib=" + l1_kib, "l2.sector_bytes=32"}, {"warp=" + scheduler}},
      runtime::Size::Small);
  EXPECT_EQ(result.verdict, sim::Result::Verdict::Correct) << result.difference;
  const auto totals = sim::to_json(result)["totals"];
  return {totals["ipc"], totals["l1d_mpki"]};
}

class Moderate : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ccws, Moderate, testing::Values("wp", "stmcl", "cfd"),
                         [](const auto& info) { return info.param; });

// kmeans, highly sensitive, has 25 (LRR) and 12 (GTO) misses per thousand instructions, and LRR a
// third of GTO's IPC.
TEST_P(Moderate, MissesLittleUnderAnyScheduler) {
  const Measured lrr = measure(GetParam(), "lrr"), gto = measure(GetParam(), "gto");
  for (const Measured& one : {lrr, gto}) {
    EXPECT_GT(one.mpki, 2);
    EXPECT_LT(one.mpki, 6);
  }
  EXPECT_NEAR(lrr.ipc / gto.ipc, 1, 0.05);
}

// STMCL, of whose 16 warps the lines fit as they do in the public program, gains nothing.
TEST(Ccws, ModerateOnesGainSomethingFromALargeCache) {
  for (const char* workload : {"wp", "cfd", "stmcl"}) {
    const double gain = measure(workload, "lrr", "1024").ipc / measure(workload, "lrr").ipc;
    EXPECT_GT(gain, workload == std::string("stmcl") ? 0.95 : 1.05) << workload;
    EXPECT_LT(gain, 1.5) << workload;
  }
}

class Insensitive : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ccws, Insensitive, testing::Values("nw", "backprop", "srad", "lud"),
                         [](const auto& info) { return info.param; });

TEST_P(Insensitive, NeitherCacheNorSchedulerMattersMuch) {
  const Measured lrr = measure(GetParam(), "lrr"), gto = measure(GetParam(), "gto");
  EXPECT_NEAR(lrr.ipc / gto.ipc, 1, 0.1);
  for (const char* kib : {"8", "1024"})
    EXPECT_NEAR(measure(GetParam(), "lrr", kib).ipc / lrr.ipc, 1, 0.1) << kib << " KiB";
}

}  // namespace
}  // namespace raddle::character_test

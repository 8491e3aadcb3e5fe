// What CCWS says of its highly sensitive programs, and of SSSP, must hold of ours on its machine
// (workloads/README.md has the figures): many misses, which a cache large enough takes away, and
// a scheduler that takes turns loses most of the reuse.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::highly_sensitive_test {
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

class HighlySensitive : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ccws, HighlySensitive, testing::Values("bfs", "memc", "kmn", "gc"),
                         [](const auto& info) { return info.param; });

TEST_P(HighlySensitive, MissesOftenUnderLrrLessUnderGtoAndSeldomInALargeCache) {
  const Measured lrr = measure(GetParam(), "lrr"), gto = measure(GetParam(), "gto"),
                 large = measure(GetParam(), "lrr", "1024");
  EXPECT_GT(lrr.mpki, 15);
  EXPECT_LT(gto.mpki, 0.8 * lrr.mpki);
  EXPECT_LT(large.mpki, 0.4 * lrr.mpki);
  EXPECT_GT(gto.ipc, 1.2 * lrr.ipc);
  EXPECT_GT(large.ipc, 1.8 * lrr.ipc);
}

// "no performance gain at 32k": its lines fit, so that a larger cache gives nothing, a smaller one
// takes much.
TEST(Ccws, SsspFitsInto32KibAndNotInto8) {
  const Measured at32 = measure("sssp", "gto"), at128 = measure("sssp", "gto", "128"),
                 at8 = measure("sssp", "gto", "8");
  EXPECT_LT(at32.mpki, 6);
  EXPECT_NEAR(at128.ipc / at32.ipc, 1, 0.05);
  EXPECT_LT(at8.ipc, 0.85 * at32.ipc);
  EXPECT_GT(at8.mpki, 2 * at32.mpki);
}

}  // namespace
}  // namespace raddle::highly_sensitive_test

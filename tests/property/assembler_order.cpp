// Whole runs with blocks in an assembler's order: the same work, whatever the order, and the same
// run however it is simulated.
#include <gtest/gtest.h>

#include "functional/workload_support.h"
#include "support/whole.h"

namespace raddle::assembler_order_test {
namespace {

test::RunSpec machine(const std::string& order) {
  return {"v100", {"isa.lowering=machine", "isa.order=" + order}, {}, {}};
}
std::string hash_of(const std::string& workload, const test::RunSpec& spec) {
  return sim::to_json(test::run(workload, spec)).at("state_hash").get<std::string>();
}

struct Case {
  const char *workload, *order;
};
class AssemblerOrder : public testing::TestWithParam<Case> {};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* order : {"assembler", "list_scheduled"})
    for (const char* workload : {"sgemm", "hotspot", "bfs", "spmv", "backprop", "scan", "kmeans",
                                 "memc", "nw", "walsh", "polybench"})
      all.push_back({workload, order});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, AssemblerOrder, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.workload) + "_" + info.param.order;
});

// Which lines are touched does not depend on the order, nor does how often barriers are met; only
// joined loads of shared memory are fewer, and what is predicated is issued though no lane does
// anything, at the edges of tiles.
TEST_P(AssemblerOrder, DoesTheSameWork) {
  const auto& [workload, order] = GetParam();
  const stats::GpuCounters written = test::run(workload, machine("as_written")).totals,
                           ordered = test::run(workload, machine(order)).totals;
  EXPECT_EQ(ordered.sm.l1d_accesses, written.sm.l1d_accesses);
  EXPECT_EQ(ordered.sm.l1d_stores, written.sm.l1d_stores);
  EXPECT_EQ(ordered.sm.atomics, written.sm.atomics);
  EXPECT_EQ(ordered.sm.blocks, written.sm.blocks);
  EXPECT_LE(ordered.sm.shared_accesses, written.sm.shared_accesses);
  const std::uint64_t joined = written.sm.shared_accesses - ordered.sm.shared_accesses;
  EXPECT_GE(ordered.sm.issued + joined + written.sm.issued / 20, written.sm.issued)
      << "other rules find a little more or less in another order";
  EXPECT_LE(ordered.sm.issued, written.sm.issued + written.sm.issued / 4);
}

TEST_P(AssemblerOrder, IsTheSameRunOnTwoThreadsAndWithoutSkipping) {
  const auto& [workload, order] = GetParam();
  test::RunSpec spec = machine(order);
  const std::string hash = hash_of(workload, spec);
  spec.options.threads = 2;
  EXPECT_EQ(hash_of(workload, spec), hash);
  spec.options.threads = 1;
  spec.options.skip = false;
  EXPECT_EQ(hash_of(workload, spec), hash);
}

TEST(AssemblerOrderOf, NeedsMachineCode) {
  for (const std::string order : {"assembler", "list_scheduled"})
    EXPECT_THROW(test::run("vecadd", {"gtx480", {"isa.order=" + order}, {}, {}}), InputError);
}

// The loop of the published kernel is one block: its loads of A go ahead together, and 128 loads of
// a word of B become 32 of four.
TEST(AssemblerOrderOf, SgemmNeedsHalfTheTime) {
  const auto run = [](const std::string& order) {
    const auto workload = runtime::make_workload(
        "sgemm", {{"variant", "whole"}, {"m", "128"}, {"n", "32"}, {"k", "24"}});
    return test::run_on(*workload, "sgemm", machine(order));
  };
  const sim::Result written = run("as_written"), ordered = run("assembler");
  EXPECT_LT(static_cast<double>(ordered.cycles), 0.65 * static_cast<double>(written.cycles));
  EXPECT_LT(ordered.totals.sm.shared_accesses, written.totals.sm.shared_accesses / 3);
}

// A chain of comparisons, powers and sums of each thread, with few warps to hide it: latencies are
// hidden by what the thread has besides.
TEST(ListScheduledOf, AttentionOfFewWarpsTakesLessTime) {
  const auto cycles = [](const std::string& order) {
    const test::RunSpec spec{"h100", {"isa.order=" + order}, {}, {}};
    return static_cast<double>(test::run("flash_wgmma", spec).cycles);
  };
  EXPECT_LT(cycles("list_scheduled"), 0.97 * cycles("assembler"));
}

}  // namespace
}  // namespace raddle::assembler_order_test

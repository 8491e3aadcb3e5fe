// The same run must give the same result however the host chooses to compute it, and every count
// must balance.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::sameness_test {
namespace {

using test::RunSpec;

const std::vector<std::string>& workloads() {
  static const std::vector<std::string> names = test::workloads_of_all_machines();
  return names;
}

class EveryWorkload : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, EveryWorkload, testing::ValuesIn(workloads()),
                         [](const auto& i) { return i.param; });

TEST_P(EveryWorkload, IsCorrectAndTheSameTwiceAndUnderEveryHostChoice) {
  for (const char* gpu : {"gtx480", "v100"}) {
    RunSpec spec{gpu};
    const sim::Result first = test::run(GetParam(), spec);
    EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
    const std::string hash = test::state_hash(first);
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << gpu << ": twice";
    spec.options.audit = true;
    test::run(GetParam(), spec);  // throws when a count does not add up
    spec.options.audit = false;
    spec.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << gpu << ": no skip";
    spec.options.skip = true;
    spec.options.shuffle = true;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec)))
        << gpu << ": shuffled components";
    spec.options.shuffle = false;
    spec.options.sample_interval = 100;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << gpu << ": sampled";
  }
}

TEST_P(EveryWorkload, IsTheSameOverMeshesAndClocksOfNetworks) {
  for (const char* gpu : {"ikra", "latoa", "ccws", "ccbp"}) {
    // Its blocks need more registers than an SM of that machine has.
    if (std::string(GetParam()) == "sgemm" && gpu == std::string("ccws")) continue;
    RunSpec spec{gpu};
    const std::string hash = test::state_hash(test::run(GetParam(), spec));
    spec.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << gpu << ": no skip";
    spec.options.skip = true;
    spec.options.shuffle = true;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec)))
        << gpu << ": shuffled components";
  }
}

TEST_P(EveryWorkload, IsTheSameForAnyNumberOfThreads) {
  RunSpec spec{"gtx480"};
  const std::string hash = test::state_hash(test::run(GetParam(), spec));
  for (unsigned threads : {2u, 3u}) {
    spec.options.threads = threads;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << threads;
  }
}

TEST_P(EveryWorkload, EverySchedulerCycleIsAccountedFor) {
  for (const char* gpu : {"gtx480", "v100", "h200", "ikra", "laperm"}) {
    const sim::Result r = test::run(GetParam(), {gpu});
    std::uint64_t sum = r.totals.sm.issued;
    for (std::uint64_t stall : r.totals.scheduler.stall) sum += stall;
    EXPECT_EQ(sum, r.cycles * r.schedulers) << gpu;
  }
}

TEST_P(EveryWorkload, CountsBalanceAcrossTheMachine) {
  const sim::Result r = test::run(GetParam(), {"gtx480"});
  const auto& t = r.totals;
  EXPECT_EQ(t.sm.l1d_accesses, t.sm.l1d_hits + t.sm.l1d_pending_hits + t.sm.l1d_misses);
  EXPECT_EQ(t.l2.reads + t.l2.writes + t.l2.atomics, t.l2.hits + t.l2.pending_hits + t.l2.misses);
  EXPECT_EQ(t.request.packets, t.l2.reads + t.l2.writes + t.l2.atomics)
      << "every request reaches a slice";
  EXPECT_LE(t.reply.packets, t.request.packets);
  std::uint64_t issued = 0, blocks = 0, spans = r.blocks.size();
  for (const sim::KernelResult& k : r.kernels) {
    issued += k.warp_instructions;
    blocks += k.grid.count();
  }
  EXPECT_EQ(issued, t.sm.issued);
  EXPECT_EQ(blocks, t.sm.blocks);
  EXPECT_EQ(blocks, spans);
}

TEST_P(EveryWorkload, TimingIssuesWhatTheFunctionalRunExecuted) {
  RunSpec functional{"gtx480"};
  functional.options.functional = true;
  const sim::Result f = test::run(GetParam(), functional), t = test::run(GetParam(), {"gtx480"});
  EXPECT_EQ(f.totals.sm.issued, t.totals.sm.issued);
  EXPECT_EQ(f.totals.sm.thread_instructions, t.totals.sm.thread_instructions);
}

TEST_P(EveryWorkload, LiveExecutionIsCorrectToo) {
  RunSpec spec{"gtx480", {"run.live=true"}};
  if (runtime::embedded_ptx(GetParam()).find("cudaLaunchDeviceV2") != std::string_view::npos) {
    EXPECT_THROW(test::run(GetParam(), spec), RunError);  // of kernels that launch kernels
    return;
  }
  const sim::Result first = test::run(GetParam(), spec);
  EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
  spec.options.skip = false;
  EXPECT_EQ(test::state_hash(first), test::state_hash(test::run(GetParam(), spec))) << "no skip";
}

TEST(Sameness, AResolvedConfigurationGivesTheSameRun) {
  RunSpec spec{
      "v100", {"sm.l1d.size_kib=16", "run.seed=7"}, {"warp=two_level:group_size=4", "block=chunk"}};
  const sim::Result first = test::run("bfs", spec);
  config::Tree tree = config::Tree::from_json(sim::to_json(first).dump(), "result.json");
  std::vector<sim::Setup> setups;
  setups.push_back(sim::read_setup(tree, policy::all_policies()));
  auto workload = runtime::all_workloads().make("bfs");
  workload->set_size(runtime::Size::Tiny);
  const sim::Result second = std::move(sim::simulate(*workload, {"bfs", {}}, setups, {}).front());
  EXPECT_EQ(test::state_hash(first), test::state_hash(second));
}

TEST(Sameness, SeveralPoliciesAtOnceGiveWhatEachGivesAlone) {
  std::vector<sim::Setup> setups;
  for (const char* warp : {"warp=lrr", "warp=gto", "warp=two_level"})
    setups.push_back(test::make_setup({"gtx480", {}, {warp}}));
  auto workload = runtime::all_workloads().make("spmv");
  workload->set_size(runtime::Size::Tiny);
  const auto together = sim::simulate(*workload, {"spmv", {}}, setups, {});
  ASSERT_EQ(together.size(), 3u);
  EXPECT_EQ(test::state_hash(together[0]),
            test::state_hash(test::run("spmv", {"gtx480", {}, {"warp=lrr"}})));
  EXPECT_EQ(test::state_hash(together[2]),
            test::state_hash(test::run("spmv", {"gtx480", {}, {"warp=two_level"}})));
}

TEST(Sameness, AnotherSeedGivesAnotherInput) {
  const sim::Result a = test::run("bfs", {"gtx480"}),
                    b = test::run("bfs", {"gtx480", {"run.seed=2"}});
  EXPECT_NE(a.input_hash, b.input_hash);
  EXPECT_EQ(b.verdict, sim::Result::Verdict::Correct);
}

}  // namespace
}  // namespace raddle::sameness_test

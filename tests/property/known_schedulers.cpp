// Policies that see their SM (policy/sm_view.h) and those of the L2, in whole runs: the same result
// under every host choice, every cycle accounted for, and that they do what they are for.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::known_schedulers_test {
namespace {

using test::RunSpec;

const std::vector<std::string> kPolicies = {
    "warp=cawa",     "warp=mascar:free_mshrs=24", "throttle=dyncta:period=256",
    "block=bcs",     "l2_replacement=srrip",      "bypass=tokens:tokens=4",
    "bypass=stalled"};

class KnownSchedulers : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, KnownSchedulers,
                         testing::Values("bfs", "kmeans", "reduction", "spmv", "hotspot"),
                         [](const auto& i) { return i.param; });

TEST_P(KnownSchedulers, RunsAreTheSameUnderEveryHostChoice) {
  for (const char* gpu : {"gtx480", "v100"})
    for (const std::string& policy : kPolicies) {
      RunSpec spec{gpu, {}, {policy}};
      spec.options.audit = true;
      const sim::Result first = test::run(GetParam(), spec);
      EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
      const std::string hash = test::state_hash(first), of = gpu + (" " + policy);
      spec.options.skip = false;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": no skip";
      spec.options.skip = true;
      spec.options.shuffle = true;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": shuffled";
      spec.options.shuffle = false;
      spec.options.threads = 2;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": two threads";
    }
}

TEST_P(KnownSchedulers, EverySchedulerCycleIsAccountedFor) {
  for (const std::string& policy : kPolicies) {
    const sim::Result r = test::run(GetParam(), {"gtx480", {}, {policy}});
    std::uint64_t sum = r.totals.sm.issued;
    for (std::uint64_t stall : r.totals.scheduler.stall) sum += stall;
    EXPECT_EQ(sum, r.cycles * r.schedulers) << policy;
  }
}

TEST_P(KnownSchedulers, TogetherTheyAreTheSameToo) {
  RunSpec spec{
      "gtx480", {}, {"warp=mascar:free_mshrs=24", "throttle=dyncta:period=100", "block=bcs"}};
  const std::string hash = test::state_hash(test::run(GetParam(), spec));
  spec.options.skip = false;
  EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec)));
}

/// Without what names the policy.
struct Outcome {
  explicit Outcome(const sim::Result& r) : hash(r.component_hash), cycles(r.cycles) {}
  std::uint64_t hash;
  Cycle cycles;
  bool operator==(const Outcome&) const = default;
};

TEST_P(KnownSchedulers, MascarIsGtoWhereNothingSaturates) {
  const std::vector<std::string> wide = {"sm.l1d.mshr_entries=512", "sm.l1d.miss_queue=256"};
  EXPECT_EQ(Outcome(test::run(GetParam(), {"gtx480", wide, {"warp=mascar:free_mshrs=0"}})),
            Outcome(test::run(GetParam(), {"gtx480", wide})));
}

TEST_P(KnownSchedulers, BcsWithNeitherPartIsRoundRobin) {
  const RunSpec neither{"gtx480", {}, {"block=bcs:pairs=false,lazy=false"}};
  EXPECT_EQ(Outcome(test::run(GetParam(), neither)),
            Outcome(test::run(GetParam(), {"gtx480", {}, {"block=rr:reset=true"}})));
}

std::uint64_t statistic(const std::string& workload, const std::string& policy, const char* level,
                        const char* name) {
  const sim::Result r = test::run(workload, {"gtx480", {}, {policy}});
  return r.policies[level]["statistics"][name];
}

TEST(KnownSchedulersDo, WhatTheyAreFor) {
  EXPECT_GT(statistic("bfs", "warp=cawa", "warp", "overtook"), 0u);
  EXPECT_GT(statistic("spmv", "warp=mascar:free_mshrs=24", "warp", "declined"), 0u);
  EXPECT_GT(statistic("spmv", "throttle=dyncta:period=256", "throttle", "periods"), 0u);
  EXPECT_GT(statistic("hotspot", "block=bcs", "block", "pairs"), 0u);
  EXPECT_GT(statistic("spmv", "block=bcs", "block", "measured"), 0u);
}

}  // namespace
}  // namespace raddle::known_schedulers_test

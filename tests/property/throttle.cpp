// Throttles in whole runs: the same result under every host choice, counts that balance, and what
// they must come to at the ends of their parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/whole.h"

namespace raddle::throttle_test {
namespace {

using test::RunSpec;

const std::vector<std::string> kThrottles = {"throttle=swl:limit=3", "throttle=ccws:k=32",
                                             "throttle=ccws:k=64,eval_period=5,totals=kernel"};

class Throttled : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, Throttled, testing::Values("bfs", "kmeans", "reduction", "spmv"),
                         [](const auto& i) { return i.param; });

TEST_P(Throttled, RunsAreTheSameUnderEveryHostChoice) {
  for (const char* gpu : {"ccws", "v100"})
    for (const std::string& throttle : kThrottles) {
      RunSpec spec{gpu, {"sm.l1d.size_kib=4"}, {throttle}};
      if (gpu == std::string("v100")) spec.set.emplace_back("sm.l1d.ways=4");
      spec.options.audit = true;
      const sim::Result first = test::run(GetParam(), spec);
      EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
      const std::string hash = test::state_hash(first), of = gpu + (" " + throttle);
      spec.options.skip = false;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": no skip";
      spec.options.skip = true;
      spec.options.shuffle = true;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": shuffled";
      spec.options.shuffle = false;
      spec.options.sample_interval = 100;
      EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << of << ": sampled";
    }
}

TEST_P(Throttled, ThreadsChangeNothing) {
  RunSpec spec{"ccws", {"sm.l1d.size_kib=4"}, {"throttle=ccws:k=32"}};
  const std::string hash = test::state_hash(test::run(GetParam(), spec));
  for (unsigned threads : {2u, 3u}) {
    spec.options.threads = threads;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << threads;
  }
}

TEST_P(Throttled, EverySchedulerCycleIsAccountedFor) {
  for (const std::string& throttle : kThrottles) {
    const sim::Result r = test::run(GetParam(), {"v100", {}, {throttle}});
    std::uint64_t sum = r.totals.sm.issued;
    for (std::uint64_t stall : r.totals.scheduler.stall) sum += stall;
    EXPECT_EQ(sum, r.cycles * r.schedulers) << throttle;
    EXPECT_LE(r.totals.scheduler.throttled_warp_cycles, r.totals.scheduler.warp_cycles);
  }
}

TEST_P(Throttled, SamplesOfWarpsAddUp) {
  RunSpec spec{"ccws", {"sm.l1d.size_kib=4"}, {"throttle=swl:limit=2"}};
  spec.options.sample_interval = 64;
  const sim::Result r = test::run(GetParam(), spec);
  std::uint64_t warps = 0, throttled = 0;
  for (const timing::Sample& s : r.samples) {
    warps += s.warp_cycles;
    throttled += s.throttled_warp_cycles;
  }
  EXPECT_EQ(warps, r.totals.scheduler.warp_cycles);
  EXPECT_EQ(throttled, r.totals.scheduler.throttled_warp_cycles);
  timing::SmCounts::Sm sum;
  for (const timing::SmCounts::Sm& sm : r.sms_over_time.back().sms) {
    sum.thread_instructions += sm.thread_instructions;
    sum.l1d_accesses += sm.l1d_accesses;
    sum.l1d_hits += sm.l1d_hits;
    sum.warp_cycles += sm.warp_cycles;
    sum.throttled_warp_cycles += sm.throttled_warp_cycles;
  }
  EXPECT_EQ(sum.thread_instructions, r.totals.sm.thread_instructions);
  EXPECT_EQ(sum.l1d_accesses, r.totals.sm.l1d_accesses);
  EXPECT_EQ(sum.l1d_hits, r.totals.sm.l1d_hits);
  EXPECT_EQ(sum.warp_cycles, warps);
  EXPECT_EQ(sum.throttled_warp_cycles, throttled);
  EXPECT_EQ(r.sms_over_time.back().at, r.cycles);
  EXPECT_TRUE(std::ranges::is_sorted(r.sms_over_time, std::less(), &timing::SmCounts::at));
  EXPECT_GT(throttled, 0u);
}

/// Without what names the policy.
struct Outcome {
  explicit Outcome(const sim::Result& r) : hash(r.component_hash), cycles(r.cycles) {}
  std::uint64_t hash;
  Cycle cycles;
  bool operator==(const Outcome&) const = default;
};

TEST_P(Throttled, ALimitOfAllWarpsIsNoLimit) {
  EXPECT_EQ(Outcome(test::run(GetParam(), {"ccws", {}, {"throttle=swl:limit=32"}})),
            Outcome(test::run(GetParam(), {"ccws"})));
}

TEST_P(Throttled, CcwsIsGtoWhereNothingIsLost) {
  // A cache that holds everything: no line is ever pushed out.
  const std::vector<std::string> large = {"sm.l1d.size_kib=16384", "sm.l1d.ways=256"};
  EXPECT_EQ(Outcome(test::run(GetParam(), {"ccws", large, {"throttle=ccws:k=1024"}})),
            Outcome(test::run(GetParam(), {"ccws", large})));
}

TEST_P(Throttled, ComposesWithEveryWarpPolicy) {
  for (const std::string& warp : policy::all_policies().warp.names())
    for (const std::string& throttle : kThrottles) {
      RunSpec spec{"gtx480", {}, {"warp=" + warp, throttle}};
      const sim::Result r = test::run(GetParam(), spec);
      EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct) << warp << " " << throttle;
      EXPECT_EQ(r.policies["warp"]["name"], warp);
      EXPECT_EQ(r.policies["warp"]["statistics"]["picks"], r.totals.sm.issued)
          << warp << " " << throttle << ": asked for each issue and not when all are held back";
    }
}

}  // namespace
}  // namespace raddle::throttle_test

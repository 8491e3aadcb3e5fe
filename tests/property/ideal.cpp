// Parts without limits: what each does, that nothing else changes, and that no policy is faster
// than the machine that has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/whole.h"

namespace raddle::ideal_test {
namespace {

using test::RunSpec;

constexpr const char* kParts[] = {"l1d", "mshr", "noc", "l2", "dram"};

RunSpec with(const std::string& gpu, const std::vector<std::string>& parts) {
  RunSpec spec{gpu};
  for (const std::string& part : parts) spec.set.push_back("ideal." + part + "=true");
  return spec;
}

TEST(Ideal, AnL1dHitsWhateverMayUseIt) {
  const sim::Result r = test::run("spmv", with("v100", {"l1d"}));
  EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct);
  EXPECT_GT(r.totals.sm.l1d_accesses, 0u);
  EXPECT_EQ(r.totals.sm.l1d_hits, r.totals.sm.l1d_accesses);
  EXPECT_EQ(r.totals.sm.l1d_misses + r.totals.sm.l1d_pending_hits, 0u);
  EXPECT_EQ(r.totals.l2.reads, 0u);
}

TEST(Ideal, AnL2LeavesDramAlone) {
  const sim::Result base = test::run("spmv", with("v100", {})),
                    r = test::run("spmv", with("v100", {"l2"}));
  EXPECT_GT(base.totals.dram.reads, 0u);
  EXPECT_EQ(r.totals.dram.reads + r.totals.dram.writes, 0u);
  EXPECT_EQ(r.totals.l2.hits, r.totals.l2.reads + r.totals.l2.writes + r.totals.l2.atomics);
  EXPECT_EQ(r.totals.l2.misses, 0u);
}

TEST(Ideal, MshrsNeverRefuse) {
  RunSpec few = with("gtx480", {});
  few.set = {"sm.l1d.mshr_entries=2", "sm.l1d.mshr_merges=1", "sm.l1d.miss_queue=1"};
  const auto refused = [](const sim::Result& r) {
    const auto& by = r.totals.sm.l1d_refused;
    return by[static_cast<unsigned>(stats::Refusal::Mshr)] +
           by[static_cast<unsigned>(stats::Refusal::Merge)];
  };
  const sim::Result base = test::run("spmv", few);
  EXPECT_GT(refused(base), 0u);
  few.set.push_back("ideal.mshr=true");
  const sim::Result r = test::run("spmv", few);
  EXPECT_EQ(refused(r), 0u);
  EXPECT_LT(r.cycles, base.cycles);
}

TEST(Ideal, DramAnswersInTheNextCycle) {
  RunSpec chase = with("v100", {});
  const sim::Result base = test::run("micro_memory", chase);
  chase.set = {"ideal.dram=true"};
  const sim::Result r = test::run("micro_memory", chase);
  EXPECT_LT(r.cycles, base.cycles);
  EXPECT_EQ(r.totals.dram.reads, base.totals.dram.reads);  // the same requests
  EXPECT_EQ(r.totals.dram.queue_cycles, 0u);
  EXPECT_EQ(r.totals.dram.activates, 0u);
}

TEST(Ideal, NothingThatExecutesChanges) {
  for (const char* gpu : {"v100", "latoa", "gtx480"}) {
    const sim::Result base = test::run("bfs", with(gpu, {}));
    for (const char* part : kParts) {
      const sim::Result r = test::run("bfs", with(gpu, {part}));
      EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct) << gpu << part;
      EXPECT_EQ(r.totals.sm.issued, base.totals.sm.issued) << gpu << part;
      EXPECT_EQ(r.totals.sm.thread_instructions, base.totals.sm.thread_instructions);
    }
  }
}

class IdealMachine : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(On, IdealMachine,
                         testing::Values("gtx480", "v100", "latoa", "ccws", "h200"));

TEST_P(IdealMachine, IsOneHoweverItIsSimulated) {
  for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
           {"l1d"}, {"mshr"}, {"noc"}, {"l2"}, {"dram"}, {"l1d", "mshr", "noc", "l2", "dram"}}) {
    RunSpec spec = with(GetParam(), parts);
    const std::string hash = test::state_hash(test::run("histogram", spec));
    spec.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run("histogram", spec))) << parts.front();
    spec.options.skip = true;
    spec.options.threads = 3;
    EXPECT_EQ(hash, test::state_hash(test::run("histogram", spec))) << parts.front();
  }
}

// Not a law: a machine that is better in one place may meet another order of events elsewhere.
// Three per cent is what that does here at most.
TEST_P(IdealMachine, IsNoSlowerThanTheRealOneUnderAnyPolicy) {
  for (const char* workload : {"spmv", "bfs", "kmeans"}) {
    std::uint64_t best = ~0ull;
    for (const char* policy : {"lrr", "gto", "two_level"}) {
      RunSpec spec = with(GetParam(), {});
      spec.policy = {std::string("warp=") + policy};
      best = std::min(best, test::run(workload, spec).cycles);
    }
    for (const char* part : kParts) {
      std::uint64_t bound = ~0ull;
      for (const char* policy : {"lrr", "gto", "two_level"}) {
        RunSpec spec = with(GetParam(), {part});
        spec.policy = {std::string("warp=") + policy};
        bound = std::min(bound, test::run(workload, spec).cycles);
      }
      EXPECT_LE(bound, best + 3 * best / 100) << workload << " " << part;
    }
  }
}

TEST(Ideal, KernelsMayLaunchKernels) {
  for (const char* part : kParts)
    for (const char* workload : {"nested_bfs", "regx"})
      EXPECT_EQ(test::run(workload, with("v100", {part})).verdict, sim::Result::Verdict::Correct)
          << workload << " " << part;
}

TEST(Ideal, WhatDoesNotFitTogetherIsRefused) {
  EXPECT_THAT(test::input_error_of([] {
                RunSpec spec = with("v100", {"l1d"});
                spec.set.push_back("sm.l1d.size_kib=0");
                spec.set.push_back("sm.l1d.unified_kib=0");
                test::make_setup(spec);
              }),
              testing::HasSubstr("ideal.l1d needs an L1D"));
  EXPECT_THAT(test::input_error_of([] {
                RunSpec spec = with("ikra", {"l2"});
                spec.policy = {"coherence=denovo"};
                test::make_setup(spec);
              }),
              testing::HasSubstr("know no caches that own lines"));
}

}  // namespace
}  // namespace raddle::ideal_test

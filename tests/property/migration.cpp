// Every workload with warps that move at random, every few hundred cycles: nothing is lost, nothing
// is done twice, and what the host does changes nothing.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle {
namespace {

using test::RunSpec;

class MovingWarps : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, MovingWarps, testing::ValuesIn(runtime::all_workloads().names()),
                         [](const auto& i) { return i.param; });

RunSpec moving(const std::string& policy) {
  RunSpec spec{"latoa"};
  spec.policy = {"migrate=" + policy};
  spec.options.audit = true;
  return spec;
}

TEST_P(MovingWarps, DoWhatTheyDoAtHome) {
  const sim::Result home = test::run(GetParam(), {"latoa"});
  const sim::Result away = test::run(GetParam(), moving("random:interval=100"));
  EXPECT_EQ(away.verdict, sim::Result::Verdict::Correct) << away.difference;
  EXPECT_EQ(away.totals.sm.issued, home.totals.sm.issued);
  EXPECT_EQ(away.totals.sm.thread_instructions, home.totals.sm.thread_instructions);
  EXPECT_EQ(away.totals.sm.loads, home.totals.sm.loads);
  EXPECT_EQ(away.totals.sm.atomics, home.totals.sm.atomics);
  EXPECT_EQ(away.totals.sm.l1d_stores, home.totals.sm.l1d_stores);
  EXPECT_EQ(away.totals.sm.shared_accesses, home.totals.sm.shared_accesses);
  EXPECT_EQ(away.totals.sm.blocks, home.totals.sm.blocks);
}

TEST_P(MovingWarps, AreTheSameWhateverTheHostDoes) {
  for (const char* policy : {"random:interval=100", "latoa:converged=false"}) {
    RunSpec spec = moving(policy);
    const std::string hash = test::state_hash(test::run(GetParam(), spec));
    spec.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << policy << ": no skip";
    spec.options.skip = true, spec.options.shuffle = true;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << policy << ": shuffled";
    spec.options.shuffle = false, spec.options.threads = 2;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << policy << ": threads";
  }
}

}  // namespace
}  // namespace raddle

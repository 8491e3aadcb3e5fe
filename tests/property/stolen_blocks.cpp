// What a run says of each block, that it was stolen, against what the policy has counted.
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/sim/run/named_workload.h"
#include "support/whole.h"

namespace raddle::stolen_blocks_test {
namespace {

sim::Result skewed(const std::string& block_policy) {
  config::Tree tree;
  for (const char* text : {"blocks=96", "launches=3", "work=skewed"}) tree.set_option(text, text);
  const auto named = sim::make_workload(runtime::all_workloads(), "reuse", tree);
  test::RunSpec spec{"ikra_micro"};
  spec.policy = {block_policy};
  return test::run_on(*named.workload, "reuse", spec);
}

std::int64_t stolen(const sim::Result& r) {
  return std::ranges::count_if(r.blocks, [](const timing::BlockSpan& b) { return b.stolen; });
}

TEST(StolenBlocks, AreThoseThatThePolicyCounts) {
  for (const char* policy : {"block=steal", "block=steal:steal_cycles=50"}) {
    const sim::Result r = skewed(policy);
    EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct) << r.difference;
    EXPECT_EQ(stolen(r), r.policies["block"]["statistics"]["steals"].get<std::int64_t>()) << policy;
    EXPECT_GT(stolen(r), 0) << policy;
  }
}

TEST(StolenBlocks, AreNoneWhereNobodySteals) {
  for (const char* policy : {"block=rr", "block=chunk", "block=flip"})
    EXPECT_EQ(stolen(skewed(policy)), 0) << policy;
}

}  // namespace
}  // namespace raddle::stolen_blocks_test

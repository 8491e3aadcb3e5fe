// What changes of a machine bring, of made-up cycles.
#include "raddle/report/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace raddle::report::what_if_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class Runs {
 public:
  void add(const std::string& policy, const std::string& what_if, Cycle cycles,
           std::uint64_t seed = 1, Stream stream = Stream::Same) {
    sim::Result& result = results_.emplace_back();
    result.workload = "w";
    result.config = {{"l2", {{"size_kib", what_if.empty() ? 96 : 192}}}, {"run", {{"seed", seed}}}};
    result.cycles = cycles;
    result.core_clock_mhz = 1000;
    result.schedulers = 1;
    result.totals.sm.issued = stream == Stream::Anew ? 150 : 100;
    rows.push_back({policy + what_if, policy, &result, what_if, stream});
  }
  std::vector<Row> rows;

 private:
  std::deque<sim::Result> results_;
};

TEST(WhatIf, EachPolicyIsComparedWithItself) {
  Runs runs;
  runs.add("lrr", "", 200);
  runs.add("lrr", "l2=x2", 100);
  runs.add("gto", "", 150);
  runs.add("gto", "l2=x2", 120);
  const std::vector<WhatIf> all = what_ifs(runs.rows);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].policies.size(), 2u);
  EXPECT_DOUBLE_EQ(all[0].policies[0].speedup.mean, 2);
  EXPECT_DOUBLE_EQ(all[0].policies[1].speedup.mean, 1.25);
  EXPECT_FALSE(all[0].policies[0].speedup.interval);
  EXPECT_EQ(all[0].changes["l2.size_kib"]["from"], 96);
  EXPECT_EQ(all[0].changes["l2.size_kib"]["to"], 192);
  EXPECT_EQ(all[0].changes.size(), 1u);
}

TEST(WhatIf, PoliciesThatChangePlacesAreNamed) {
  Runs runs;
  for (const auto& [policy, as_it_is, changed] :
       {std::tuple{"lrr", 200u, 100u}, {"gto", 150u, 120u}, {"two", 100u, 90u}}) {
    runs.add(policy, "", as_it_is);
    runs.add(policy, "l2=x2", changed);
  }
  const WhatIf one = what_ifs(runs.rows).front();
  EXPECT_THAT(order_as_it_is(runs.rows), ElementsAre("two", "gto", "lrr"));
  EXPECT_THAT(one.order, ElementsAre("two", "lrr", "gto"));
  EXPECT_THAT(one.turned, ElementsAre(Pair("gto", "lrr")));
  EXPECT_THAT(what_if_table(runs.rows),
              AllOf(HasSubstr("order changes: lrr before gto"), HasSubstr("l2.size_kib 96 to 192"),
                    HasSubstr("2.000")));
  EXPECT_EQ(what_if_json(runs.rows)[0]["turned"][0][1], "lrr");
}

/// Of equals none was before the other.
TEST(WhatIf, EqualPoliciesHaveNoOrderToChange) {
  Runs runs;
  for (const char* policy : {"lrr", "gto"}) {
    runs.add(policy, "", 200);
    runs.add(policy, "l2=x2", policy[0] == 'l' ? 100 : 90);
  }
  EXPECT_THAT(what_ifs(runs.rows).front().turned, IsEmpty());
}

TEST(WhatIf, OverSeedsIsTheMeanWithinSeeds) {
  Runs runs;
  for (const auto& [seed, as_it_is, changed] :
       {std::tuple{1u, 400u, 200u}, {2u, 800u, 200u}, {3u, 800u, 100u}}) {
    runs.add("lrr", "", as_it_is, seed);
    runs.add("lrr", "l2=x2", changed, seed);
  }
  const Spread of = what_ifs(runs.rows).front().policies.front().speedup;
  EXPECT_DOUBLE_EQ(of.mean, 4);
  EXPECT_EQ(of.min, 2);
  ASSERT_TRUE(of.interval);
  EXPECT_LT(of.interval->low, 2);
  // Changed machines are no policies of the comparison over seeds.
  EXPECT_EQ(over_seeds(runs.rows).size(), 1u);
}

TEST(WhatIf, OtherInstructionsAreSaid) {
  Runs runs;
  runs.add("lrr", "", 200);
  runs.add("lrr", "l2=x2", 100, 1, Stream::Anew);
  EXPECT_THAT(what_if_table(runs.rows),
              HasSubstr("l2=x2: executed anew, as the program can see the change; it does 1.500 "
                        "times the instructions"));
  runs.rows.back().stream = Stream::Recorded;
  EXPECT_THAT(what_if_table(runs.rows), HasSubstr("instructions are the recording's"));
}

TEST(WhatIf, WithoutChangesThereIsNothing) {
  Runs runs;
  runs.add("lrr", "", 200);
  EXPECT_EQ(what_if_table(runs.rows), "");
  EXPECT_TRUE(what_if_json(runs.rows).empty());
}

}  // namespace
}  // namespace raddle::report::what_if_test

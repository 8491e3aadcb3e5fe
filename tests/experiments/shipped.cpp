// Every file of experiments/: it is read, its settings, metrics and expressions are checked and its
// simulations planned, at both scales, without running any. And papers have the rows they promise.
#include <gmock/gmock.h>

#include "raddle/cli/shared/lab_options.h"
#include "raddle/lab/file/library.h"
#include "raddle/lab/plan/plan.h"
#include "raddle_paths.h"

namespace raddle::lab::shipped_test {
namespace {

std::string folder() { return std::string(RADDLE_SOURCE_DIR) + "/experiments"; }

struct Named {
  std::string paper;
  Scale scale;
};
void PrintTo(const Named& named, std::ostream* out) {
  *out << named.paper << (named.scale == Scale::Quick ? "_quick" : "_full");
}

std::vector<Named> all_papers() {
  std::vector<Named> out;
  for (const std::string& paper : Library(folder()).papers())
    for (const Scale scale : {Scale::Quick, Scale::Full}) out.push_back({paper, scale});
  return out;
}

class Shipped : public testing::TestWithParam<Named> {};
INSTANTIATE_TEST_SUITE_P(Papers, Shipped, testing::ValuesIn(all_papers()),
                         testing::PrintToStringParamName());

TEST_P(Shipped, IsReadAndPlanned) {
  const Paper paper = Library(folder()).paper(GetParam().paper, GetParam().scale);
  const std::vector<const Experiment*> all = select(paper, "");
  EXPECT_EQ(all.size(), paper.experiments.size());
  const Plan plan = make_plan(all, cli::catalogue());
  EXPECT_FALSE(plan.runs.empty());
  for (const PlannedExperiment& planned : plan.experiments)
    EXPECT_FALSE(planned.experiment->claim.empty() || planned.experiment->source.empty())
        << planned.experiment->full_id() << ": what the paper says and where belongs beside it";
}

std::vector<std::string> ids(const Paper& paper) {
  std::vector<std::string> out;
  for (const Experiment& e : paper.experiments) out.push_back(e.full_id());
  return out;
}

// Every row of the paper that experiments/ccws reproduces, and four of ours.
TEST(Ccws, HasARowForEachTarget) {
  EXPECT_THAT(
      ids(Library("").paper("ccws", Scale::Quick)),
      testing::ElementsAre(
          "ccws.fig1", "ccws.fig2", "ccws.fig3", "ccws.fig4", "ccws.fig5", "ccws.fig6", "ccws.ex1",
          "ccws.fig7", "ccws.fig8", "ccws.fig9", "ccws.fig10", "ccws.fig11", "ccws.fig12",
          "ccws.tab3", "ccws.fig13", "ccws.fig14", "ccws.fig15", "ccws.fig16", "ccws.n.mcsK",
          "ccws.fig17", "ccws.fig18", "ccws.n.2lvl-lrr", "ccws.n.fgsweep", "ccws.n.greedy",
          "ccws.n.vta2x", "ccws.n.misses", "ccws.n.sagcs", "ccws.n.area", "ccws.n.phases",
          "ccws.n.totals", "ccws.n.readings", "ccws.n.lsu-queue", "ccws.n.sensitivity"));
}

// At some 3 seconds of a core each, half an hour on two cores.
TEST(Ccws, QuickStaysQuick) {
  const Paper paper = Library("").paper("ccws", Scale::Quick);
  EXPECT_LE(make_plan(select(paper, ""), cli::catalogue()).runs.size(), 1000u);
}

}  // namespace
}  // namespace raddle::lab::shipped_test

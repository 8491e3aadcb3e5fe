// Cells that a condition of their [[runs]] leaves out, and searches that go past them: every mix of
// thread blocks that fits an SM, and no other.
#include <fmt/format.h>

#include "raddle/lab/run/stages.h"
#include "raddle/lab/verdict/document.h"
#include "unit/lab/hands.h"

namespace raddle::lab::test::left_out_test {
namespace {

std::string swept(const std::string& where, const std::string& more = "") {
  return kHead + R"toml(chosen_group = "chosen(best, group)"
[[runs]]
workloads = ["pair"]
variants = ["lrr"]
[[runs]]
workloads = ["pair"]
variants = ["swept"]
axes = ["group"]
where = ")toml" +
         where + "\"\n" + more + kShape;
}

struct Sweep {
  Folder folder;
  ResultsFolder results{folder.path()};
  Paper paper;
  RunnerOptions options = {false, {}, std::uint64_t{1} << 30, "quick", {}, {}};
  Hands hands;

  explicit Sweep(const std::string& text) : paper(read(text)), hands(results.work()) {
    make_folder(results.work());
    make_folder(results.recordings());
  }
  SweepResult run() {
    Store store(results.database().string());
    return run_stages({&paper.experiments[0]}, catalogue(), store, hands, results, options);
  }
  Json row(const SweepResult& swept) const {
    return document(paper, swept.plan, swept.summary.states, {})["experiments"][0];
  }
};

std::vector<std::string> labels(const Plan& plan) {
  std::vector<std::string> out;
  for (const PlannedRun& run : plan.runs) out.push_back(run.label);
  return out;
}

TEST(LeftOut, WhereNothingHasToRunFirstThePlanHasWhatIsLeft) {
  const Experiment e = experiment(swept("group <= 4 or group == 16"));
  const Plan plan = make_plan({&e}, catalogue());
  EXPECT_EQ(plan.runs.size(), 2u + 2 * 3);
  EXPECT_THAT(labels(plan), Not(testing::Contains("fig1 red swept group=8")));
  EXPECT_EQ(plan.waiting(), 0u);
  EXPECT_EQ(plan.experiments[0].left_out.size(), 2u);
}

TEST(LeftOut, WhatTheConditionNeedsRunsFirst) {
  // Of red two points, of vecadd all: by what each has executed.
  Sweep sweep(
      swept("group <= 4 or totals.warp_instructions[lrr] > "
            "totals.warp_instructions[red, lrr]"));
  const Plan first = make_plan({&sweep.paper.experiments[0]}, catalogue());
  EXPECT_EQ(first.runs.size(), 2u + 2 * 2) << "the first half decides for two points";
  EXPECT_EQ(first.waiting(), 4u);
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 0u);
  const double vecadd = swept.summary.states[0].metrics.at("totals.warp_instructions"),
               red = swept.summary.states[1].metrics.at("totals.warp_instructions");
  EXPECT_EQ(swept.plan.runs.size(), 2u + 2 * 2 + (vecadd > red ? 2 : 0));
  const Json row = sweep.row(swept);
  EXPECT_EQ(row["runs"]["total"], swept.plan.runs.size()) << "what is left out is not missing";
  EXPECT_EQ(row["status"], "pass");
  sweep.hands.order.clear();
  sweep.run();
  EXPECT_TRUE(sweep.hands.order.empty()) << "a second sweep has nothing to do";
}

TEST(LeftOut, ASelectionGoesPastIt) {
  const auto best_group = [](const std::string& where) {
    const Experiment e = experiment(swept(where));
    const Grid grid(e);
    struct Source final : MetricSource {
      explicit Source(const Grid& g) : grid(g) {}
      const Grid& grid;
      std::set<std::size_t> out;
      Number metric(std::size_t cell, const std::string&) const override {
        return 10 - grid.cells()[cell].points.at(0);  // the first point is the best
      }
      bool left_out(std::size_t cell) const override { return out.contains(cell); }
    } source(grid);
    Evaluator evaluator(e, grid, source);
    for (std::size_t cell = 0; cell < grid.cells().size(); ++cell)
      for (const Formula* condition : grid.cells()[cell].where) {
        const Cell& at = grid.cells()[cell];
        const Coordinates there{static_cast<int>(at.workload), kUnset, at.points};
        if (evaluator.holds(*condition, there) == Verdict::Fail) source.out.insert(cell);
      }
    Coordinates where_red = grid.unset();
    where_red.workload = static_cast<int>(*e.find("red", NameKind::Workload));
    const std::size_t chosen = *e.find("chosen_group", NameKind::Measure);
    return evaluator.number(e.measures[chosen].value, where_red);
  };
  EXPECT_EQ(best_group("group > 0"), 2);
  EXPECT_EQ(best_group("group > 2"), 4);
  EXPECT_EQ(best_group("group > 16"), std::nullopt);
}

TEST(LeftOut, ACellThatAnotherBlockAsksForIsNot) {
  const Experiment e = experiment(swept("group <= 4", R"([[runs]]
workloads = ["red"]
variants = ["swept"]
axes = ["group"]
)"));
  EXPECT_EQ(make_plan({&e}, catalogue()).runs.size(), 2u + 2 + 4);
  const Experiment either = experiment(swept("group <= 4", R"([[runs]]
workloads = ["red"]
variants = ["swept"]
axes = ["group"]
where = "group >= 16"
)"));
  EXPECT_EQ(make_plan({&either}, catalogue()).runs.size(), 2u + 2 + 3);
}

// --- every mix that fits ------------------------------------------------------------------------

const std::string kMixes = kHead +
                           R"toml(first = "c1 * tenants.1.block.threads[member1, lrr]"
threads = "first + c2 * tenants.1.block.threads[member2, lrr]"
[corun]
horizon = 20000
alone = "tenants.1.ipc[lrr]"
[axes.c1]
path = "policy.scheme.blocks_0"
values = [1, 3, 5]
[axes.c2]
path = "policy.scheme.blocks_1"
values = [1, 3, 5]
[variants.mix]
policies = ["warp=lrr", "scheme=static"]
[variants.oracle]
best_of = "mix"
over = ["c1", "c2"]
maximise = "corun.weighted_speedup"
[variants.worst]
best_of = "mix"
over = ["c1", "c2"]
minimise = "corun.weighted_speedup"
[[runs]]
workloads = ["pair"]
variants = ["lrr"]
[[runs]]
workloads = ["together"]
variants = ["mix"]
axes = ["c1", "c2"]
where = "threads <= config.sm.threads[member1, lrr]"
[[shapes]]
check = "corun.weighted_speedup[together, oracle] >= corun.weighted_speedup[together, worst]"
[[shapes]]
check = "chosen(oracle, c1)[together] + chosen(oracle, c2)[together] <= 6"
[[shapes]]
check = "corun.weighted_speedup[together, mix, c1=5, c2=5] > 0"
)toml";

TEST(LeftOut, EveryMixOfBlocksThatFitsIsRunAndTheBestIsChosen) {
  Sweep sweep(kMixes);
  const Plan first = make_plan({&sweep.paper.experiments[0]}, catalogue());
  EXPECT_EQ(first.runs.size(), 2u) << "the two alone";
  EXPECT_EQ(first.waiting(), 9u);
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 0u);
  EXPECT_EQ(swept.plan.experiments[0].left_out.size(), 3u) << "3+5, 5+3 and 5+5";
  EXPECT_EQ(std::ranges::count(sweep.hands.order, "cell vecadd + reduction"), 6);
  const auto& alone = swept.summary.states[0].metrics;
  EXPECT_EQ(alone.at("tenants.1.block.threads"), 256);
  EXPECT_EQ(alone.at("tenants.1.block.warps"), 8);
  EXPECT_GT(alone.at("tenants.1.block.registers"), 0);
  EXPECT_EQ(alone.at("config.sm.threads"), 1536);
  double best = 0;
  for (std::size_t run = 2; run < swept.plan.runs.size(); ++run)
    best = std::max(best, swept.summary.states[run].metrics.at("corun.weighted_speedup"));
  const Json row = sweep.row(swept);
  EXPECT_EQ(row["shapes"][0]["verdict"], "pass") << row["shapes"].dump();
  EXPECT_THAT(row["shapes"][0]["detail"].dump(), HasSubstr(fmt::format("{:.4g}", best)));
  EXPECT_EQ(row["shapes"][1]["verdict"], "pass") << row["shapes"].dump();
  EXPECT_EQ(row["shapes"][2]["verdict"], "not_run") << "it does not fit";
}

TEST(LeftOut, WhileItIsNotKnownWhatFitsNothingIsTheBest) {
  Sweep sweep(kMixes);
  sweep.hands.instead = [](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "cell" || cell.spec.programs.size() != 1) return false;
    ended.status = 9;
    return true;
  };
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 9u);
  const Json row = sweep.row(swept);
  EXPECT_EQ(row["shapes"][0]["verdict"], "not_run");
  EXPECT_EQ(row["status"], "incomplete");
}

TEST(LeftOut, WhereNothingFitsThereIsNoBest) {
  std::string text = kMixes;
  const std::string where = "threads <= config.sm.threads[member1, lrr]";
  text.replace(text.find(where), where.size(), "threads < 0");
  Sweep sweep(text);
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.runs.size(), 2u);
  EXPECT_EQ(swept.plan.waiting(), 0u);
  const Json row = sweep.row(swept);
  EXPECT_EQ(row["shapes"][0]["verdict"], "not_run");
  EXPECT_EQ(row["shapes"][1]["verdict"], "not_run");
}

TEST(LeftOut, MistakesInTheConditionAreTold) {
  const auto refused = [](const std::string& where) {
    return input_error_of([&] {
      const Experiment e = experiment(swept(where));
      make_plan({&e}, catalogue());
    });
  };
  EXPECT_THAT(refused("group"), AllOf(HasSubstr("runs[1].where"), HasSubstr("condition")));
  EXPECT_THAT(refused("gruop < 4"), AllOf(HasSubstr("runs[1].where"), HasSubstr("'group'")));
  EXPECT_THAT(refused("totals.ipc > 1"), HasSubstr("no variant is given"));
  EXPECT_THAT(refused("l1 < 64"), HasSubstr("no point is given of axis 'l1'"));
  EXPECT_THAT(refused("ipc[swept] > 1"), HasSubstr("circle"));
}

}  // namespace
}  // namespace raddle::lab::test::left_out_test

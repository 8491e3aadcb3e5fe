// Co-runs and derived values: cells that need what other cells give.
#include "raddle/lab/run/stages.h"
#include "raddle/lab/verdict/document.h"

#include <fmt/format.h>

#include "raddle/lab/file/placeholders.h"
#include "raddle/lab/plan/derived.h"
#include "unit/lab/hands.h"

namespace raddle::lab::test::stages_test {
namespace {

/// Two programs that share the GPU, against each alone; and a variant whose group is the best
/// found.
const std::string kCorun = kHead + R"toml([corun]
quick = { horizon = 20000, warmup = 2000 }
full = { horizon = 90000 }
alone = "tenants.1.ipc[lrr]"
[derived]
best_group = "chosen(best, group)"
curve = { value = "ipc[swept]", over = "group" }
[derived.few_points]
value = "ipc[swept]"
over = "group"
where = "group < 16"
join = "/"
keyed = true
[variants.tuned]
policies = ["warp=two_level:group_size={best_group}"]
[[runs]]
workloads = ["together"]
variants = ["gto"]
[[runs]]
workloads = ["pair"]
variants = ["lrr", "tuned"]
[[runs]]
workloads = ["pair"]
variants = ["swept"]
axes = ["group"]
[[shapes]]
check = "corun.weighted_speedup[together, gto] > 0"
[[shapes]]
check = "for all pair: ipc[tuned] == ipc[best]"
)toml";

struct Sweep {
  Folder folder;
  ResultsFolder results{folder.path()};
  Paper paper;
  RunnerOptions options = {false, {}, std::uint64_t{1} << 30, "quick", {}, {}};
  Hands hands;

  explicit Sweep(const std::string& text = kCorun) : paper(read(text)), hands(results.work()) {
    make_folder(results.work());
    make_folder(results.recordings());
  }
  std::vector<const Experiment*> experiments() const { return {&paper.experiments[0]}; }
  SweepResult run() {
    Store store(results.database().string());
    return run_stages(experiments(), catalogue(), store, hands, results, options);
  }
  Plan plan() {
    Store store(results.database().string());
    return make_plan(experiments(), catalogue(), store);
  }
};

std::size_t run_of(const Plan& plan, const std::string& label) {
  const auto at = std::ranges::find(plan.runs, label, &PlannedRun::label);
  EXPECT_NE(at, plan.runs.end()) << label;
  return static_cast<std::size_t>(at - plan.runs.begin());
}

Json row_of(const Sweep& sweep, const SweepResult& swept) {
  return document(sweep.paper, swept.plan, swept.summary.states, {})["experiments"][0];
}

TEST(Derived, NamesInBracesAreFoundAndReplaced) {
  EXPECT_EQ(placeholders("swl:limit={best},k={k_2}"), (std::vector<std::string>{"best", "k_2"}));
  EXPECT_TRUE(placeholders("warp=gto").empty());
  const DerivedText text = [](const std::string& name) { return name == "n" ? "4" : "1+2"; };
  EXPECT_EQ(filled("a{n}b{c}", text), "a4b1+2");
  EXPECT_EQ(filled(Setting{"p", "{n}", {}}, text).value, Json(4));
  EXPECT_EQ(filled(Setting{"p", "{c}", {}}, text).value, Json("1+2"));
  EXPECT_EQ(filled(Setting{"p", "x{n}", {}}, text).value, Json("x4"));
  EXPECT_EQ(filled(Setting{"p", "{n}{n}", {}}, text).value, Json("44"));
  EXPECT_EQ(filled(Setting{"p", true, {}}, text).value, Json(true));
}

TEST(Derived, NumbersAreWrittenAsTheyAre) {
  EXPECT_EQ(written(4), "4");
  EXPECT_EQ(written(0.3125), "0.3125");
  EXPECT_EQ(written(1.0 / 3), "0.3333333333333333");
}

TEST(Derived, AListHasAValueForEachPoint) {
  const Experiment e = experiment(kCorun);
  const Grid grid(e);
  TableSource source(e, grid);
  Evaluator evaluator(e, grid, source);
  const Derived& curve = e.derived[*e.find("curve", NameKind::Derived)];
  Coordinates where = grid.unset();
  where.workload = static_cast<int>(*e.find("red", NameKind::Workload));
  for (const int group : {2, 4, 8})
    source.table[fmt::format("red/swept/group={}", group)]["totals.ipc"] = group / 4.0;
  EXPECT_EQ(derived_text(e, curve, evaluator, where), std::nullopt) << "one is missing";
  source.table["red/swept/group=16"]["totals.ipc"] = 3;
  EXPECT_EQ(derived_text(e, curve, evaluator, where), "0.5+1+2+3");
}

TEST(Derived, AListMayNameItsPointsAndLeaveSomeOut) {
  const Experiment e = experiment(kCorun);
  const Grid grid(e);
  TableSource source(e, grid);
  Evaluator evaluator(e, grid, source);
  Coordinates where = grid.unset();
  where.workload = static_cast<int>(*e.find("red", NameKind::Workload));
  for (const int group : {2, 4, 8})
    source.table[fmt::format("red/swept/group={}", group)]["totals.ipc"] = group / 4.0;
  const Derived& some = e.derived[*e.find("few_points", NameKind::Derived)];
  EXPECT_EQ(derived_text(e, some, evaluator, where), "2:0.5/4:1/8:2") << "16 is not asked for";
}

TEST(Stages, CellsWaitForWhatTheyNeed) {
  Sweep sweep;
  const Plan plan = make_plan(sweep.experiments(), catalogue());
  EXPECT_EQ(plan.waiting(), 3u) << "the co-run and two tuned runs";
  EXPECT_EQ(plan.runs.size(), 2u + 2 * 4);
  EXPECT_EQ(plan.experiments[0].unplanned[0].label, "fig1 together gto");
  EXPECT_EQ(plan.experiments[0].runs[0], kNoRun);
}

TEST(Stages, WhatOthersNeedRunsFirst) {
  Sweep sweep;
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 0u);
  EXPECT_EQ(swept.summary.failed, 0u);
  EXPECT_EQ(swept.summary.missing, 0u);
  EXPECT_EQ(swept.summary.found, 0u) << "runs of an earlier stage were made, not found";
  EXPECT_EQ(swept.summary.recordings, 2u) << "a co-run replays those of its members";
  EXPECT_EQ(std::ranges::count(sweep.hands.order, "cell vecadd + reduction"), 1);
  EXPECT_EQ(sweep.hands.order.back(), "cell vecadd + reduction");
  const Json row = row_of(sweep, swept);
  EXPECT_EQ(row["shapes"][0]["verdict"], "pass") << row["shapes"].dump();
  EXPECT_EQ(row["shapes"][1]["verdict"], "pass") << row["shapes"].dump();
  EXPECT_EQ(row["runs"]["done"], row["runs"]["total"]);
}

TEST(Stages, DerivedValuesAreThoseOfTheRuns) {
  Sweep sweep;
  const SweepResult swept = sweep.run();
  const PlannedRun& corun = swept.plan.runs[run_of(swept.plan, "fig1 together gto")];
  ASSERT_TRUE(corun.spec.corun);
  EXPECT_EQ(corun.spec.corun->horizon, 20000u);
  EXPECT_EQ(corun.spec.corun->warmup, 2000u);
  EXPECT_FALSE(corun.spec.corun->alone) << "nothing is run alone a second time";
  ASSERT_EQ(corun.spec.corun->ipc_alone.size(), 2u);
  for (const auto& [tenant, name] : {std::pair(0u, "vecadd"), {1u, "red"}}) {
    const std::size_t alone = run_of(swept.plan, fmt::format("fig1 {} lrr", name));
    EXPECT_EQ(corun.spec.corun->ipc_alone[tenant],
              swept.summary.states[alone].metrics.at("tenants.1.ipc"));
  }
}

TEST(Stages, ARunThatADerivedValueRepeatsIsNotRunAgain) {
  Sweep sweep;
  const SweepResult swept = sweep.run();
  const std::vector<std::size_t>& runs = swept.plan.experiments[0].runs;
  const Grid& grid = swept.plan.experiments[0].grid;
  for (std::size_t cell = 0; cell < runs.size(); ++cell) {
    if (grid.cells()[cell].variant != *sweep.paper.experiments[0].find("tuned", NameKind::Variant))
      continue;
    EXPECT_LT(runs[cell], 10u) << "the swept run of the same group";
  }
  EXPECT_EQ(swept.plan.runs.size(), 2u + 2 * 4 + 1);
}

TEST(Stages, GoOnWhereTheyWere) {
  Sweep sweep;
  sweep.run();
  Sweep& again = sweep;
  again.hands.order.clear();
  const SweepResult swept = again.run();
  EXPECT_TRUE(again.hands.order.empty());
  EXPECT_EQ(swept.summary.found, 11u);
  EXPECT_EQ(again.plan().waiting(), 0u) << "one plan is enough when everything is known";
}

TEST(Stages, AnInterruptedSweepLeavesNothingBehindThatIsWrong) {
  Sweep sweep;
  std::size_t asked = 0;
  sweep.options.stop = [&] { return ++asked > 6; };
  const SweepResult cut = sweep.run();
  EXPECT_TRUE(cut.summary.interrupted);
  EXPECT_EQ(std::ranges::count(sweep.hands.order, "cell vecadd + reduction"), 0);
  sweep.options.stop = {};
  const std::size_t before = sweep.hands.order.size();
  const SweepResult rest = sweep.run();
  EXPECT_EQ(rest.summary.missing, 0u);
  EXPECT_EQ(rest.summary.failed, 0u);
  Sweep whole;
  whole.run();
  EXPECT_EQ(sweep.hands.order.size(), whole.hands.order.size()) << before << " before";
}

TEST(Stages, WhatCannotBeComputedIsNotRun) {
  Sweep sweep;
  sweep.hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    if (cell.kind != "cell" || cell.spec.programs.front().workload != "reduction") return false;
    ended.status = 9;
    return true;
  };
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 2u) << "the co-run, and red's tuned run";
  EXPECT_FALSE(swept.summary.interrupted);
  const Json row = row_of(sweep, swept);
  EXPECT_EQ(row["status"], "incomplete");
  EXPECT_EQ(row["shapes"][0]["verdict"], "not_run");
  EXPECT_THAT(row["runs"]["failures"].dump(),
              HasSubstr(R"("fig1 together gto","error":"what it needs of other runs could not)"));
}

TEST(Stages, AValueThatMakesNoRunIsAFaultOfItsCell) {
  std::string text = kCorun;
  text.replace(text.find("chosen(best, group)"), 19, "-totals.cycles[lrr]");
  text.replace(text.find("best_group = \"-totals.cycles[lrr]\""), 34,
               "best_group = { value = \"-totals.cycles[lrr]\", example = 4 }");
  Sweep sweep(text);
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 0u);
  const Json row = row_of(sweep, swept);
  EXPECT_EQ(row["runs"]["failed"], 2);
  EXPECT_THAT(row["runs"]["failures"].dump(),
              AllOf(HasSubstr("fig1 red tuned"), HasSubstr("group_size")));
}

TEST(Stages, ExamplesStandInForTheCheck) {
  std::string text = kCorun;
  text.replace(text.find("chosen(best, group)"), 19, "totals.ipc[lrr] - 1");
  EXPECT_THAT(input_error_of([&] {
                const Paper paper = read(text);
                make_plan({&paper.experiments[0]}, catalogue());
              }),
              AllOf(HasSubstr("group_size"), HasSubstr("with derived values of metrics")));
}

TEST(Stages, ACircleIsAMistakeOfTheFile) {
  std::string text = kCorun;
  text.replace(text.find("chosen(best, group)"), 19, "totals.ipc[tuned]");
  EXPECT_THAT(input_error_of([&] {
                const Paper paper = read(text);
                make_plan({&paper.experiments[0]}, catalogue());
              }),
              AllOf(HasSubstr("derived.best_group"), HasSubstr("goes round in a circle"),
                    HasSubstr("tuned")));
}

TEST(Stages, ChainsOfDerivedValuesAreCarriedOut) {
  std::string text = kCorun;
  text.replace(text.find("[derived.few_points]"), 0,
               "next = \"min(16, 2 * floor(1 + totals.ipc[tuned] / 1000000))\"\n");
  text.replace(text.find("[variants.tuned]"), 0,
               "[variants.chained]\npolicies = [\"warp=two_level:group_size={next}\"]\n");
  text.replace(text.find("\"lrr\", \"tuned\""), 14, "\"lrr\", \"tuned\", \"chained\"");
  Sweep sweep(text);
  const SweepResult swept = sweep.run();
  EXPECT_EQ(swept.plan.waiting(), 0u);
  EXPECT_EQ(swept.summary.missing, 0u);
}

TEST(Stages, FullHasItsOwnHorizon) {
  const Experiment e = experiment(kCorun, Scale::Full);
  EXPECT_EQ(e.corun->horizon, 90000u);
  EXPECT_EQ(e.corun->warmup, 0u);
}

/// The variant of the co-run has a window of its own.
std::string with_window(const std::string& window) {
  std::string text = kCorun;
  const std::string gto = "title = \"GTO\"\npolicies = [\"warp=gto\"]\n";
  const std::size_t at = text.find(gto);
  EXPECT_NE(at, std::string::npos);
  return text.insert(at + gto.size(), "set = " + window + "\n");
}

TEST(Corun, AVariantMayHaveAWindowOfItsOwn) {
  Sweep sweep(
      with_window(R"({ "corun.horizon" = 30000, "corun.warmup" = 4000, "corun.sample" = 500 })"));
  const SweepResult swept = sweep.run();
  const CellSpec& spec = swept.plan.runs[run_of(swept.plan, "fig1 together gto")].spec;
  EXPECT_EQ(spec.corun->horizon, 30000u);
  EXPECT_EQ(spec.corun->warmup, 4000u);
  EXPECT_EQ(spec.corun->sample, 500u);
  for (const Setting& s : spec.set) EXPECT_FALSE(s.path.starts_with("corun.")) << s.path;
  const CellSpec& alone = swept.plan.runs[run_of(swept.plan, "fig1 vecadd lrr")].spec;
  EXPECT_EQ(alone.corun->horizon, 20000u);
  EXPECT_EQ(alone.corun->sample, 0u);
}

TEST(Corun, AWindowMustMakeSense) {
  // The co-run is planned when its runs alone are known.
  const auto refused = [](const std::string& window) {
    return input_error_of([&] { Sweep(with_window(window)).run(); });
  };
  EXPECT_THAT(refused(R"({ "corun.horizon" = 2000 })"),
              HasSubstr("expected fewer cycles than the horizon of 2000, found 2000"));
  EXPECT_THAT(refused(R"({ "corun.horizon" = -1 })"), HasSubstr("corun"));
  EXPECT_THAT(refused(R"({ "corun.horizn" = 100000 })"), HasSubstr("corun"));
}

TEST(Scales, GroupsAndConstantsMayDiffer) {
  const std::string more = R"toml([constants]
pace = { quick = 0.25, full = 1 }
[groups.of_scale]
quick = ["red"]
full = ["vecadd", "red"]
)toml";
  const Experiment quick = experiment(kCorun + more), full = experiment(kCorun + more, Scale::Full);
  EXPECT_EQ(quick.constants.back(), 0.25);
  EXPECT_EQ(full.constants.back(), 1);
  EXPECT_EQ(quick.workloads_of("of_scale").size(), 1u);
  EXPECT_EQ(full.workloads_of("of_scale").size(), 2u);
}

TEST(Corun, MembersNeedAHorizon) {
  const std::string text = kHead + kRuns + kShape;
  EXPECT_THAT(
      input_error_of(
          [&] { read(text + "[[runs]]\nworkloads = ['together']\nvariants = ['gto']\n"); }),
      HasSubstr("'together' has members, which share the GPU up to a horizon: expected [corun]"));
}

TEST(Corun, AMemberMaySetNothingOfTheMachineThatOthersShare) {
  std::string text = kCorun;
  const std::string red = "workload = \"reduction\"\n";
  text.insert(text.find(red) + red.size(), "set = { 'sm.blocks' = 4 }\n");
  EXPECT_THAT(input_error_of([&] { read(text); }),
              HasSubstr("workloads: 'red' sets the machine for its program, and in 'together' "
                        "others share that machine"));
}

TEST(Corun, NothingIsAnalysed) {
  const std::string text = kCorun +
                           "[analyses.locality]\n[[runs]]\nworkloads = ['pair']\n"
                           "variants = ['gto']\nanalyses = ['locality']\n";
  EXPECT_THAT(input_error_of([&] { read(text); }),
              HasSubstr("analyses: expected none with [corun]"));
}

TEST(Corun, ParametersOfSeveralProgramsAreNotSwept) {
  const std::string text = kCorun +
                           "[axes.n]\npath = 'workload.n'\nvalues = [64, 128]\n[[runs]]\n"
                           "workloads = ['together']\nvariants = ['gto']\naxes = ['n']\n";
  EXPECT_THAT(input_error_of([&] { read(text); }),
              HasSubstr("'n' sweeps a parameter of the workload, and 'together' has several"));
}

TEST(Corun, ReplayOfRecordingsIsTheRunBitForBit) {
  Sweep sweep;
  const SweepResult swept = sweep.run();
  const std::size_t r = run_of(swept.plan, "fig1 together gto");
  const Json direct = run_cell({"cell", swept.plan.runs[r].spec}, catalogue());
  Store store(sweep.results.database().string());
  const Json replayed = store.result(store.find(swept.plan.runs[r])->id);
  EXPECT_EQ(replayed["state_hash"], direct["state_hash"]);
  EXPECT_EQ(replayed["tenants"].size(), 2u);
  EXPECT_EQ(configuration_of(direct, swept.plan.runs[r].spec, catalogue()),
            swept.plan.runs[r].spec.configuration);
}

TEST(Corun, ConfigurationHoldsHorizonAndIpcAlone) {
  Sweep sweep;
  const SweepResult swept = sweep.run();
  const CellSpec spec = swept.plan.runs[run_of(swept.plan, "fig1 together gto")].spec;
  auto other = [&](auto change) {
    CellSpec changed = spec;
    change(*changed.corun);
    return resolve(changed, catalogue()).configuration;
  };
  EXPECT_EQ(other([](sim::CorunOptions&) {}), spec.configuration);
  EXPECT_NE(other([](sim::CorunOptions& c) { c.horizon += 1; }), spec.configuration);
  EXPECT_NE(other([](sim::CorunOptions& c) { c.warmup += 1; }), spec.configuration);
  EXPECT_NE(other([](sim::CorunOptions& c) { c.sample = 400; }), spec.configuration);
  EXPECT_NE(other([](sim::CorunOptions& c) { c.ipc_alone[0] *= 2; }), spec.configuration);
  EXPECT_THAT(input_error_of([&] { other([](sim::CorunOptions& c) { c.ipc_alone.pop_back(); }); }),
              HasSubstr("expected an IPC alone of each, found 1"));
  const Json round = to_json(read_cell(to_json(spec, "cell"), "s.json").spec, "cell");
  EXPECT_EQ(round, to_json(spec, "cell"));
}

}  // namespace
}  // namespace raddle::lab::test::stages_test

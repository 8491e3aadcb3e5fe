// Verdicts and the reproduction document.
#include "raddle/lab/verdict/document.h"

#include "raddle/lab/evaluate/evaluation.h"
#include "raddle/lab/evaluate/layout.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::document_test {
namespace {

/// Evaluates a file on made-up metrics.
struct Bench {
  explicit Bench(const std::string& text) : e(experiment(text)), planned{&e, Grid(e), {}, {}, {}} {
    planned.runs.resize(planned.grid.cells().size());
    for (std::size_t i = 0; i < planned.runs.size(); ++i) planned.runs[i] = i;
  }
  Json run() {
    return evaluate(e, planned.grid, source, [&](const Place& place, const std::string& message) {
      mistakes.push_back(Diagnostic{place, message}.text());
    });
  }
  Experiment e;
  PlannedExperiment planned;
  TableSource source{e, planned.grid};
  std::vector<std::string> mistakes;
};

const std::string kFigures = R"([[figures]]
title = "Bars"
type = "bars"
x = ["pair"]
means = ["hmean", { name = "all three", mean = "amean", over = "three" }]
series = ["gto", { name = "half", value = "ipc[lrr] / 2" }]
value = "ipc"
y = { label = "IPC", unit = "1/cycle" }
[[figures]]
title = "Lines"
type = "lines"
x = "group"
x_label = "warps"
series = ["pair"]
value = "ipc[swept]"
[[figures]]
title = "Stack"
type = "stacked"
x = ["vecadd"]
series = ["lrr", "gto"]
pieces = [{ name = "a", value = "ipc" }, { name = "b", value = "ipc + 1" }]
)";

std::string figures_file() {
  std::string head = kHead;
  head.replace(head.find("pair = "), 7, "three = [\"vecadd\", \"red\", \"both\"]\npair = ");
  return head + kRuns + kShape + kFigures;
}

void fill(Bench& bench) {
  double value = 1;
  for (const char* cell :
       {"vecadd/lrr", "vecadd/gto", "red/lrr", "red/gto", "both/lrr", "both/gto"})
    bench.source.table[cell]["totals.ipc"] = value++;
  for (const char* cell : {"vecadd", "red"})
    for (const int group : {2, 4, 8, 16})
      bench.source
          .table[std::string(cell) + "/swept/group=" + std::to_string(group)]["totals.ipc"] = group;
}

TEST(Document, Bars) {
  Bench bench(figures_file());
  fill(bench);
  const Json figure = bench.run()["figures"][0];
  EXPECT_EQ(figure["type"], "bars");
  EXPECT_EQ(figure["x"]["scale"], "category");
  EXPECT_EQ(figure["x"]["values"], (Json{"vecadd", "red", "HMEAN", "all three"}));
  EXPECT_EQ(figure["y"]["unit"], "1/cycle");
  EXPECT_EQ(figure["series"][0]["name"], "GTO");
  EXPECT_EQ(figure["series"][0]["values"][1], 4);
  EXPECT_DOUBLE_EQ(figure["series"][0]["values"][2].get<double>(), 2 / (1 / 2.0 + 1 / 4.0));
  EXPECT_EQ(figure["series"][0]["values"][3], 4) << "2, 4 and 6";
  EXPECT_EQ(figure["series"][1]["name"], "half");
  EXPECT_EQ(figure["series"][1]["values"][0], 0.5);
  EXPECT_TRUE(bench.mistakes.empty()) << bench.mistakes[0];
}

TEST(Document, AnAxisIsNamedWithItsUnit) {
  std::string file = figures_file();
  const std::string label = "x_label = \"warps\"\n", axis = "[axes.group]\n";
  file.erase(file.find(label), label.size());
  Bench plain(file);
  fill(plain);
  const std::string title = plain.run()["figures"][1]["x"]["label"];
  file.insert(file.find(axis) + axis.size(), "unit = \"warps\"\n");
  Bench bench(file);
  fill(bench);
  EXPECT_EQ(bench.run()["figures"][1]["x"]["label"], title + " (warps)");
}

TEST(Document, LinesOverAnAxis) {
  Bench bench(figures_file());
  fill(bench);
  const Json figure = bench.run()["figures"][1];
  EXPECT_EQ(figure["x"]["label"], "warps");
  EXPECT_EQ(figure["x"]["scale"], "linear");
  EXPECT_EQ(figure["x"]["values"].dump(), "[2.0,4.0,8.0,16.0]");
  ASSERT_EQ(figure["series"].size(), 2u) << "a line for each workload of the group";
  EXPECT_EQ(figure["series"][1]["name"], "red");
  EXPECT_EQ(figure["series"][1]["values"].dump(), "[2.0,4.0,8.0,16.0]");
}

TEST(Document, OnlyLinesTakeTheScaleOfAnAxis) {
  for (const char* scale : {"", "scale = \"linear\"\n", "scale = \"log\"\n"})
    for (const char* type : {"bars", "table", "stacked"}) {
      std::string file = kWhole + "[[figures]]\ntitle = \"F\"\nx = \"group\"\ntype = \"" + type +
                         "\"\nseries = [\"pair\"]\n";
      const std::string value = "\"ipc[swept]\"", axis = "[axes.group]\n";
      file += type == std::string("stacked")
                  ? "pieces = [{ name = \"a\", value = " + value + " }]\n"
                  : "value = " + value + "\n";
      file.insert(file.find(axis) + axis.size(), scale);
      Bench bench(file);
      fill(bench);
      const Json all = bench.run();
      const Json& x = all["figures"][0]["x"];
      EXPECT_EQ(x["scale"], "category") << type << " " << scale;
      EXPECT_EQ(x["values"], (Json{"2", "4", "8", "16"})) << type << " " << scale;
      EXPECT_TRUE(bench.mistakes.empty()) << bench.mistakes[0];
    }
}

const std::string kTornado =
    kWhole +
    "[axes.lines]\ntitle = 'Line'\nunit = 'B'\npath = 'sm.l1d.line_bytes'\nvalues = [64, "
    "128]\n[[runs]]\nworkloads = ['vecadd']\nvariants = ['lrr']\naxes = ['l1']\n"
    "[[runs]]\nworkloads = ['vecadd']\nvariants = ['lrr']\naxes = ['lines']\n"
    "[[figures]]\ntitle = 'What it depends on'\ntype = 'tornado'\nx = ['lines', 'l1']\n"
    "value = '2 * ipc[vecadd, lrr]'\ny = { label = 'IPC' }\n";

TEST(Document, ATornadoHasTheWidestBarFirst) {
  Bench bench(kTornado);
  bench.source.table["vecadd/lrr"]["totals.ipc"] = 4;
  for (const auto& [cell, ipc] :
       {std::pair("l1=16", 7.0), {"l1=64", 3.0}, {"lines=64", 3.5}, {"lines=128", 4.0}})
    bench.source.table[std::string("vecadd/lrr/") + cell]["totals.ipc"] = ipc;
  const Json figure = bench.run()["figures"][0];
  EXPECT_TRUE(bench.mistakes.empty()) << bench.mistakes[0];
  EXPECT_EQ(figure["type"], "tornado");
  EXPECT_EQ(figure["x"]["values"], (Json{"l1", "Line (B)"}));
  ASSERT_EQ(figure["series"].size(), 3u);
  EXPECT_EQ(figure["series"][0]["values"], (Json{6.0, 7.0}));
  EXPECT_EQ(figure["series"][0]["at"], (Json{"64", "64"}));
  EXPECT_EQ(figure["series"][1]["values"], (Json{8.0, 8.0}));
  EXPECT_EQ(figure["series"][2]["values"], (Json{14.0, 8.0}));
  EXPECT_EQ(figure["series"][2]["at"], (Json{"16", "128"}));
}

TEST(Document, ATornadoLeavesOutPointsThatAreMissing) {
  Bench bench(kTornado);
  bench.source.table["vecadd/lrr"]["totals.ipc"] = 4;
  bench.source.table["vecadd/lrr/lines=64"]["totals.ipc"] = 5;
  const Json figure = bench.run()["figures"][0];
  EXPECT_EQ(figure["x"]["values"], (Json{"Line (B)", "l1"}));
  EXPECT_EQ(figure["series"][2]["values"], (Json{10.0, nullptr}));
  EXPECT_EQ(figure["series"][2]["at"], (Json{"64", ""}));
}

TEST(Document, AnAxisThatMovesNothingInATornadoIsAMistake) {
  std::string text = kTornado;
  text.replace(text.find("2 * ipc[vecadd, lrr]"), 20, "2 * ipc[vecadd, gto]");
  Bench bench(text);
  bench.run();
  ASSERT_FALSE(bench.mistakes.empty());
  EXPECT_THAT(bench.mistakes[0], HasSubstr("goes through 'lines', on which nothing in it depends"));
}

TEST(Document, StacksAreGroupedByBar) {
  Bench bench(figures_file());
  fill(bench);
  const Json figure = bench.run()["figures"][2];
  ASSERT_EQ(figure["series"].size(), 4u);
  EXPECT_EQ(figure["series"][0]["name"], "a");
  EXPECT_EQ(figure["series"][0]["stack"], "lrr");
  EXPECT_EQ(figure["series"][3]["name"], "b");
  EXPECT_EQ(figure["series"][3]["stack"], "GTO");
  EXPECT_EQ(figure["series"][3]["values"][0], 3);
}

TEST(Document, MissingRunsLeaveHoles) {
  Bench bench(figures_file());
  fill(bench);
  bench.source.table.erase("red/gto");
  const Json values = bench.run()["figures"][0]["series"][0]["values"];
  EXPECT_EQ(values[0], 2);
  EXPECT_TRUE(values[1].is_null());
  EXPECT_TRUE(values[2].is_null()) << "a mean of fewer would be another number";
}

TEST(Document, PapersNumberStandsBesideOurs) {
  Bench bench(figures_file() +
              "[[stated]]\nwhat = 'w'\nvalue = 'ipc[vecadd, gto]'\npaper = 3\n"
              "mark = { series = 'gto', x = 'hmean' }\n");
  fill(bench);
  const Json out = bench.run();
  EXPECT_EQ(out["figures"][0]["series"][0]["stated"].dump(), "[null,null,3.0,null]");
  EXPECT_FALSE(out["figures"][0]["series"][1].contains("stated"));
  EXPECT_EQ(out["stated"][0]["ours"], 2);
  EXPECT_EQ(out["stated"][0]["bounds"].dump(), "[2.0,4.2]");
  EXPECT_EQ(out["stated"][0]["within"], true);
}

/// 1.6 times a slow-down to 0.36 would be -0.024 times as fast.
TEST(Document, NoBandHoldsASpeedUpBelowZero) {
  Bench bench(figures_file() +
              "[[stated]]\nwhat = 'w'\nvalue = 'ipc[vecadd, gto]'\npaper = 0.36\n");
  fill(bench);
  const Json bounds = bench.run()["stated"][0]["bounds"];
  EXPECT_EQ(bounds[0], 0.0);
  EXPECT_NEAR(bounds[1].get<double>(), 0.68, 1e-9);
}

TEST(Document, CountersOfPoliciesThatHaveThem) {
  std::string text = kHead + "special = \"policies.x\"\n" + kRuns + kShape +
                     "[counters]\ncolumns = ['ipc', 'speedup']\nworkloads = ['pair']\nvariants = "
                     "['gto', 'best']\n";
  Bench bench(text);
  fill(bench);
  const Json counters = bench.run()["counters"];
  EXPECT_EQ(counters["columns"].dump(), R"x(["workload","variant","ipc","Speed-up (x)"])x");
  EXPECT_EQ(counters["rows"][0].dump(), R"(["vecadd","GTO",2.0,2.0])");
  EXPECT_EQ(counters["rows"][3].dump(), R"(["red","best",16.0,5.333333333333333])");
}

struct StatusCase {
  const char* name;
  std::string rows;
  std::string status;
};
void PrintTo(const StatusCase& of, std::ostream* out) { *out << of.name; }
class Status : public testing::TestWithParam<StatusCase> {};
TEST_P(Status, OfARow) {
  Bench bench(GetParam().rows.starts_with("tested_by") ? GetParam().rows + kHead + kRuns
                                                       : kHead + kRuns + GetParam().rows);
  fill(bench);
  bench.source.table.erase("both/gto");
  EXPECT_EQ(bench.run()["status"], GetParam().status);
}
std::string stated(const std::string& value, const std::string& bounds) {
  return "[[stated]]\nwhat = 'w'\npaper = 2\nvalue = '" + value + "'\nbounds = " + bounds + "\n";
}
std::string shape(const std::string& check) { return "[[shapes]]\ncheck = '" + check + "'\n"; }
INSTANTIATE_TEST_SUITE_P(
    All, Status,
    testing::Values(StatusCase{"Pass", shape("1 < 2") + stated("2", "[1, 3]"), "pass"},
                    StatusCase{"Shape", shape("1 < 2") + shape("2 < 1"), "fail"},
                    StatusCase{"Number", shape("1 < 2") + stated("4", "[1, 3]"), "fail"},
                    StatusCase{"NotRun", shape("1 < 2") + shape("ipc[both, gto] > 0"),
                               "incomplete"},
                    StatusCase{"NumberNotRun", stated("ipc[both, gto]", "[0, 9]"), "incomplete"},
                    StatusCase{"FailWins", shape("2 < 1") + shape("ipc[both, gto] > 0"), "fail"},
                    StatusCase{"Elsewhere", "tested_by = ['a.cpp: A.B']\n", "tested_elsewhere"}),
    [](const auto& info) { return info.param.name; });

Json row_with_tests(const std::string& rows, const TestOutcomes& outcomes) {
  const Paper paper = read("tested_by = ['a.cpp: A.B', 'a.cpp: A.C']\n" + kHead + rows);
  const Plan plan = make_plan({&paper.experiments[0]}, catalogue());
  const DocumentHead head{"raddle reproduce box", "", Scale::Quick, nullptr, outcomes};
  return document(paper, plan, std::vector<RunState>(plan.runs.size()), head)["experiments"][0];
}

TEST(Document, TestsThatARowNamesJudgeIt) {
  using enum TestOutcome;
  const TestOutcomes passed = {{"a.cpp: A.B", Passed}, {"a.cpp: A.C", Passed}};
  const TestOutcomes failed = {{"a.cpp: A.B", Passed}, {"a.cpp: A.C", Failed}};
  const TestOutcomes half = {{"a.cpp: A.B", Passed}, {"a.cpp: A.C", NotBuilt}};
  EXPECT_EQ(row_with_tests("", passed)["status"], "pass");
  EXPECT_EQ(row_with_tests("", failed)["status"], "fail");
  EXPECT_EQ(row_with_tests("", half)["status"], "tested_elsewhere");
  EXPECT_EQ(row_with_tests("", {})["status"], "tested_elsewhere");
  EXPECT_FALSE(row_with_tests("", {}).contains("tests"));
  EXPECT_EQ(row_with_tests("", half)["tests"],
            Json::parse(R"({"a.cpp: A.B": "passed", "a.cpp: A.C": "not_built"})"));
  EXPECT_EQ(row_with_tests(shape("1 < 2"), failed)["status"], "fail");
  EXPECT_EQ(row_with_tests(shape("1 < 2"), half)["status"], "pass");
  EXPECT_EQ(row_with_tests(shape("2 < 1"), passed)["status"], "fail");
}

TEST(Document, ExactNumbersRoundAsPrinted) {
  auto within = [](const std::string& value, const std::string& paper, int digits) {
    Bench bench(kHead + "[[stated]]\nwhat = 'w'\nvalue = '" + value + "'\npaper = " + paper +
                "\nreading = 'exact'\ndigits = " + std::to_string(digits) + "\n");
    return bench.run()["stated"][0]["within"].get<bool>();
  };
  EXPECT_TRUE(within("512 * 40", "20480", 0));
  EXPECT_FALSE(within("512 * 41", "20480", 0));
  EXPECT_TRUE(within("100 * 0.78 / 470", "0.17", 2));
  EXPECT_FALSE(within("100 * 0.78 / 470", "0.16", 2));
  EXPECT_TRUE(within("0.1 + 0.2", "0.3", 12));
}

TEST(Document, WholeOfAPaper) {
  const Paper paper = read(kWhole);
  const Plan plan = make_plan({&paper.experiments[0]}, catalogue());
  std::vector<RunState> states(plan.runs.size());
  for (RunState& state : states) state = {RunState::Kind::Done, "", 0.5, {{"totals.ipc", 1.0}}};
  states[3] = {RunState::Kind::Failed, "crashed: signal 11", 0.25, {}};
  states[5] = {};
  DocumentHead head{"raddle reproduce box", "2024-01-01T00:00:00Z", Scale::Full, nullptr};
  const Json out = document(paper, plan, states, head);
  EXPECT_EQ(out["schema"], 1);
  EXPECT_EQ(out["kind"], "reproduction");
  EXPECT_EQ(out["scale"], "full");
  EXPECT_EQ(out["paper"]["id"], "box");
  const Json& e = out["experiments"][0];
  EXPECT_EQ(e["id"], "box.fig1");
  EXPECT_EQ(e["runs"]["total"], 14);
  EXPECT_EQ(e["runs"]["done"], 12);
  EXPECT_EQ(e["runs"]["failed"], 1);
  EXPECT_EQ(e["runs"]["failures"][0]["cell"], "fig1 red gto");
  EXPECT_EQ(e["runs"]["failures"][0]["error"], "crashed: signal 11");
  EXPECT_DOUBLE_EQ(e["wall_seconds"].get<double>(), 12 * 0.5 + 0.25);
  for (const char* key : {"title", "kind", "priority", "claim", "status", "figures", "shapes",
                          "stated", "explanation", "settings"})
    EXPECT_TRUE(e.contains(key)) << key;
  EXPECT_EQ(e["status"], "incomplete") << "its statement holds, but runs failed";
  EXPECT_FALSE(all_pass(out));
}

// --- bounds -------------------------------------------------------------------------------------

/// One stated ratio of 1.5 whose bound is the IPC of `red`, and a shape whose bound is that it is
/// below 1.2.
const std::string kBounded = kHead + kRuns + R"([[stated]]
what = "gain"
value = "ipc[vecadd, gto]"
paper = 1.5
bound = { value = "ipc[red, gto]", is = "at_most", text = "no limit", assumes = "nothing" }
[[shapes]]
check = "ipc[vecadd, gto] >= 1.3"
bound = { check = "ipc[red, gto] < 1.2", text = "no limit" }
)";

Json bounded(double ours, double bound, std::string file = kBounded) {
  Bench bench(file);
  fill(bench);
  bench.source.table["vecadd/gto"]["totals.ipc"] = ours;
  bench.source.table["red/gto"]["totals.ipc"] = bound;
  Json out = bench.run();
  EXPECT_TRUE(bench.mistakes.empty()) << bench.mistakes[0];
  return out;
}

TEST(Bounds, RefuteWhatLiesBeyondThem) {
  const Json out = bounded(1.0, 1.1);
  EXPECT_EQ(out["stated"][0]["refuted"], true);
  EXPECT_EQ(out["stated"][0]["bound"]["value"], 1.1);
  EXPECT_EQ(out["stated"][0]["bound"]["is"], "at_most");
  EXPECT_EQ(out["stated"][0]["bound"]["assumes"], "nothing");
  EXPECT_EQ(out["shapes"][0]["verdict"], "refuted");
  EXPECT_EQ(out["shapes"][0]["bound"]["verdict"], "pass");
  EXPECT_EQ(out["status"], "refuted");
}

TEST(Bounds, RefuteNothingThatTheyLeaveRoomFor) {
  const Json out = bounded(1.0, 1.5);
  EXPECT_EQ(out["stated"][0]["refuted"], false);
  EXPECT_EQ(out["shapes"][0]["verdict"], "fail");
  EXPECT_EQ(out["shapes"][0]["bound"]["verdict"], "fail");
  EXPECT_EQ(out["status"], "fail");
}

TEST(Bounds, ThatARunExceedsAreNone) {
  const Json out = bounded(1.15, 1.1);
  EXPECT_EQ(out["stated"][0]["bound"]["exceeded"], true);
  EXPECT_EQ(out["stated"][0]["refuted"], false);
  EXPECT_EQ(out["status"], "fail");
}

TEST(Bounds, DoNotMatterWhereThePaperHolds) {
  const Json out = bounded(1.5, 1.6);
  EXPECT_EQ(out["stated"][0]["within"], true);
  EXPECT_EQ(out["stated"][0]["refuted"], false);
  EXPECT_EQ(out["shapes"][0]["verdict"], "pass");
  EXPECT_EQ(out["status"], "pass");
}

TEST(Bounds, FromBelow) {
  std::string file = kBounded;
  file.replace(file.find("at_most"), 7, "at_least");
  EXPECT_EQ(bounded(2.6, 2.0, file)["stated"][0]["refuted"], true);
  EXPECT_EQ(bounded(2.6, 1.4, file)["stated"][0]["refuted"], false);
}

TEST(Bounds, OfRunsThatAreMissingRefuteNothing) {
  Bench bench(kBounded);
  bench.source.table["vecadd/gto"]["totals.ipc"] = 1;
  const Json out = bench.run();
  EXPECT_EQ(out["stated"][0]["refuted"], false);
  EXPECT_TRUE(out["stated"][0]["bound"]["value"].is_null());
  EXPECT_EQ(out["shapes"][0]["verdict"], "fail");
}

}  // namespace
}  // namespace raddle::lab::test::document_test

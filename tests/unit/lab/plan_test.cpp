// Plans: which simulations experiments need, and everything that is found wrong before they run.
#include "raddle/lab/plan/plan.h"

#include "raddle/lab/plan/program.h"
#include "raddle_paths.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::plan_test {
namespace {

Plan plan_of(const Paper& paper) {
  std::vector<const Experiment*> all;
  for (const Experiment& e : paper.experiments) all.push_back(&e);
  return make_plan(all, catalogue());
}

std::string refusal(const std::string& text) {
  return input_error_of([&] {
    const Paper paper = read(text);
    plan_of(paper);
  });
}

const std::string kSecond = "id = 'fig2'\n" + kHead.substr(kHead.find("title"));
const std::string kLocality = "[analyses.locality]\n";

TEST(Plan, CellsBecomeRuns) {
  const Paper paper = read(kWhole);
  const Plan plan = plan_of(paper);
  ASSERT_EQ(plan.experiments.size(), 1u);
  EXPECT_EQ(plan.experiments[0].runs.size(), 3u * 2 + 2 * 4);
  EXPECT_EQ(plan.runs.size(), 14u);
  EXPECT_EQ(plan.runs[0].label, "fig1 vecadd lrr");
  EXPECT_EQ(plan.runs[6].label, "fig1 vecadd swept group=2");
  EXPECT_EQ(plan.runs[0].gpu, "gtx480");
  EXPECT_EQ(plan.runs[0].parameters["size"], "tiny");
  EXPECT_EQ(plan.runs[0].timeout_seconds, 3600);
  EXPECT_EQ(point_json(paper.experiments[0], plan.experiments[0].grid.cells()[6]).dump(),
            R"({"group":2.0})");
}

TEST(Plan, IsTheSameEachTime) {
  const Paper one = read(kWhole), two = read(kWhole);
  const Plan a = plan_of(one), b = plan_of(two);
  ASSERT_EQ(a.runs.size(), b.runs.size());
  for (std::size_t r = 0; r < a.runs.size(); ++r) {
    EXPECT_EQ(a.runs[r].key, b.runs[r].key);
    EXPECT_EQ(a.runs[r].recordings, b.runs[r].recordings);
    EXPECT_EQ(to_json(a.runs[r].spec, "cell"), to_json(b.runs[r].spec, "cell"));
  }
}

TEST(Plan, SameSimulationRunsOnceWhateverItIsCalled) {
  const std::string other_names =
      "id = 'fig2'\ntitle = 't'\nkind = 'cost'\ngpu = 'gtx480'\nset = { 'sm.count' = 2 }\n"
      "[workloads.v]\nworkload = 'vecadd'\nquick = { size = 'tiny' }\n"
      "[variants.greedy]\npolicies = ['warp=gto']\n[variants.explicit]\nset = { "
      "'policy.warp.name' = 'lrr', 'sm.count' = 2 }\n"
      "[[runs]]\nworkloads = ['v']\nvariants = ['greedy', 'explicit']\n" +
      kShape;
  const Paper paper =
      read_paper(std::nullopt, {{"x.toml", kWhole}, {"y.toml", other_names}}, "box", Scale::Quick);
  const Plan plan = plan_of(paper);
  EXPECT_EQ(plan.runs.size(), 14u);
  EXPECT_EQ(plan.experiments[1].runs[0], plan.experiments[0].runs[1]) << "vecadd under gto";
  EXPECT_EQ(plan.experiments[1].runs[1], plan.experiments[0].runs[0]) << "vecadd under lrr";
}

TEST(Plan, RecordingsAreSharedByPoliciesAndCaches) {
  const Paper paper = read(kWhole);
  const Plan plan = plan_of(paper);
  std::map<std::string, std::set<std::string>> recordings;
  for (const PlannedRun& run : plan.runs) recordings[run.workload].insert(run.recordings.at(0));
  EXPECT_EQ(recordings.size(), 3u);
  for (const auto& [workload, of] : recordings) EXPECT_EQ(of.size(), 1u) << workload;
}

TEST(Plan, RecordingDependsOnWhatTheProgramSees) {
  auto recording = [](const std::string& from, const std::string& to) {
    std::string text = kWhole;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    const Paper paper = read(text);
    const std::vector<std::string> all = plan_of(paper).runs[0].recordings;
    return all.empty() ? "" : all.at(0);
  };
  const std::string base = recording("", "");
  EXPECT_EQ(recording("[\"warp=lrr\"]", "[\"warp=lrr\", \"block=chunk\"]"), base);
  EXPECT_EQ(recording("{ \"sm.count\" = 2 }", "{ \"sm.count\" = 2, \"sm.l1d.ways\" = 2 }"), base);
  EXPECT_NE(recording("\"sm.count\" = 2", "\"sm.count\" = 3"), base);
  EXPECT_NE(recording("kind =", "seed = 2\nkind ="), base);
  EXPECT_NE(recording("quick = { size = \"tiny\" }", "quick = { size = \"tiny\", n = 77 }"), base);
  EXPECT_EQ(recording("{ \"sm.count\" = 2 }", "{ \"run.live\" = true }"), "") << "made as it runs";
}

TEST(Plan, WhatLooksAtTheExecutionReplaysNoRecording) {
  const std::string asking =
      "[[runs]]\nworkloads = ['pair']\nvariants = ['lrr']\nanalyses = ['x']\n";
  for (const auto& [analysis, replays] : {std::pair("locality", true), {"dependencies", false}}) {
    const Paper paper =
        read(kHead + "[analyses.x]\nanalysis = '" + analysis + "'\n" + asking + kShape);
    EXPECT_EQ(!plan_of(paper).runs[0].recordings.empty(), replays) << analysis;
  }
}

TEST(Plan, KeyIsConfigurationAnalysesAndProgram) {
  EXPECT_NE(run_key("a", {}, "p"), run_key("b", {}, "p"));
  EXPECT_NE(run_key("a", {}, "p"), run_key("a", {}, "q"));
  EXPECT_NE(run_key("a", {}, "p"), run_key("a", {{"x", {"x=locality", {}}}}, "p"));
  EXPECT_EQ(run_key("a", {{"x", {"x=locality", {}}}}, "p"),
            run_key("a", {{"x", {"x=locality", {"f", 1, 2}}}}, "p"));
  EXPECT_THAT(program_name(), testing::MatchesRegex("[0-9.]+[+][0-9a-f]{16}"));
}

TEST(Plan, SettingsOfAWorkloadWinOverTheExperimentsAndLoseToTheVariants) {
  const std::string text =
      "id = 'a'\ntitle = 't'\nkind = 'cost'\ngpu = 'gtx480'\n"
      "set = { 'sm.count' = 2, 'sm.blocks' = 7, 'sm.l1d.ways' = 2 }\n"
      "[workloads.few]\nworkload = 'vecadd'\nquick = { size = 'tiny' }\n"
      "set = { 'sm.blocks' = 4, 'sm.l1d.ways' = 4 }\n"
      "[workloads.many]\nworkload = 'vecadd'\nquick = { size = 'tiny' }\n"
      "[variants.v]\nset = { 'sm.l1d.ways' = 8 }\n"
      "[[runs]]\nworkloads = ['few', 'many']\nvariants = ['v']\n" +
      kShape;
  const Paper paper = read(text);
  const Plan plan = plan_of(paper);
  const auto sm = [&](std::size_t run) {
    return resolve(plan.runs[run].spec, catalogue()).setup.machine.sm;
  };
  EXPECT_EQ(sm(0).blocks, 4u);
  EXPECT_EQ(sm(0).l1d.ways, 8u);
  EXPECT_EQ(sm(0).count, 2u);
  EXPECT_EQ(sm(1).blocks, 7u) << "the other workload's";
}

TEST(Plan, SettingsOfAxisWinOverVariantOverExperiment) {
  const std::string text =
      "id = 'a'\ntitle = 't'\nkind = 'cost'\ngpu = 'gtx480'\n"
      "set = { 'sm.count' = 2, 'sm.l1d.size_kib' = 16, 'sm.l1d.ways' = 2 }\n"
      "[workloads.vecadd]\nquick = { size = 'tiny', n = 100 }\n"
      "[variants.v]\npolicies = ['warp=two_level:group_size=4']\nset = { 'sm.l1d.size_kib' = 32, "
      "'sm.l1d.ways' = 4 }\n"
      "[axes.ways]\npath = 'sm.l1d.ways'\nvalues = [8]\n"
      "[axes.group]\npath = 'policy.warp.group_size'\nvalues = [16]\n"
      "[axes.n]\npath = 'workload.n'\nvalues = [200]\n[axes.seed]\npath = 'run.seed'\nvalues = "
      "[5]\n"
      "[[runs]]\nworkloads = ['vecadd']\nvariants = ['v']\naxes = ['ways', 'group', 'n', "
      "'seed']\n" +
      kShape;
  const Paper paper = read(text);
  const Plan plan = plan_of(paper);
  const ResolvedCell cell = resolve(plan.runs[0].spec, catalogue());
  EXPECT_EQ(cell.setup.machine.sm.count, 2u);
  EXPECT_EQ(cell.setup.machine.sm.l1d.size_kib, 32u);
  EXPECT_EQ(cell.setup.machine.sm.l1d.ways, 8u);
  EXPECT_EQ(cell.setup.run.seed, 5u);
  EXPECT_EQ(plan.runs[0].spec.seed, 5u);
  EXPECT_EQ(cell.programs.at(0).info.parameters["n"], 200);
  Json config = plan.runs[0].spec.configuration.empty()
                    ? Json()
                    : resolve(plan.runs[0].spec, catalogue()).setup.config();
  EXPECT_EQ(config["policy"]["warp"]["group_size"], 16);
}

TEST(Plan, SpecReadsBackAsTheSameRun) {
  const Paper paper = read(kWhole);
  for (const PlannedRun& run : plan_of(paper).runs) {
    const CellFile back = read_cell(Json::parse(to_json(run.spec, "cell").dump()), "spec");
    EXPECT_EQ(back.kind, "cell");
    EXPECT_EQ(to_json(back.spec, "cell"), to_json(run.spec, "cell"));
    EXPECT_EQ(resolve(back.spec, catalogue()).configuration, run.spec.configuration);
  }
}

TEST(Plan, MachineFileStandsBesideTheExperiment) {
  const Folder folder;
  folder.write("my.toml",
               raddle::test::read_file(std::string(RADDLE_SOURCE_DIR) + "/gpus/gtx480.toml"));
  PlacedText gpu{"my.toml", {folder / "x.toml", 3, 1}};
  EXPECT_EQ(found_gpu(gpu).text, folder / "my.toml");
  EXPECT_EQ(found_gpu({"gtx480", {folder / "x.toml"}}).text, "gtx480");
}

// --- what is refused before anything runs ---

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Refused, WhatDoesNotExist) {
  EXPECT_THAT(refusal(changed("\"gtx480\"", "\"gtx481\"")),
              AllOf(HasSubstr("x.toml:4"), HasSubstr("'gtx481'"), HasSubstr("v100")));
  EXPECT_THAT(refusal(changed("\"reduction\"", "\"reductoin\"")),
              AllOf(HasSubstr("x.toml:"), HasSubstr("'reductoin'"), HasSubstr("reduction")));
  EXPECT_THAT(refusal(changed("warp=lrr", "warp=llr")),
              AllOf(HasSubstr("x.toml:19"), HasSubstr("'llr'"), HasSubstr("lrr")));
  EXPECT_THAT(refusal(changed("warp=lrr", "wrap=lrr")), HasSubstr("policy.wrap"));
  EXPECT_THAT(refusal(changed("warp=lrr", "llr")), HasSubstr("'llr'"));
  EXPECT_THAT(refusal(changed("warp=two_level", "warp=two_level:siz=3")),
              AllOf(HasSubstr("policy.warp.siz"), HasSubstr("unknown key")));
  EXPECT_THAT(refusal(changed("\"sm.count\" = 2", "\"sm.cont\" = 2")),
              AllOf(HasSubstr("x.toml:5"), HasSubstr("sm.cont: unknown key")));
  EXPECT_THAT(refusal(changed("\"sm.count\" = 2", "\"sm.count\" = 'two'")),
              AllOf(HasSubstr("sm.count"), HasSubstr("found \"two\"")));
  EXPECT_THAT(refusal(changed("\"sm.count\" = 2", "\"sm.count\" = 0")), HasSubstr("sm.count"));
  EXPECT_THAT(refusal(changed("quick = { size = \"tiny\" }", "quick = { size = \"huge\" }")),
              AllOf(HasSubstr("x.toml:7"), HasSubstr("size"), HasSubstr("\"huge\"")));
  EXPECT_THAT(refusal(changed("quick = { size = \"tiny\" }", "quick = { m = 3 }")),
              AllOf(HasSubstr("x.toml:7"), HasSubstr("m: unknown key")));
  EXPECT_THAT(refusal(changed("policy.warp.group_size", "policy.warp.group_siz")),
              AllOf(HasSubstr("x.toml:"), HasSubstr("policy.warp.group_siz: unknown key")));
  EXPECT_THAT(refusal(changed("values = [2, 4, 8, 16]", "values = [2, 0]")),
              AllOf(HasSubstr("group_size"), HasSubstr("found 0")));
}

TEST(Refused, ContradictingSettings) {
  EXPECT_THAT(refusal(changed("\"sm.count\" = 2", "\"sm.l1d.line_bytes\" = 96")), HasSubstr("l1d"));
}

TEST(Refused, WhatIsSaidTwice) {
  const auto file = [](const std::string& machine, const std::string& variant,
                       const std::string& axes) {
    return "id = 'a'\ntitle = 't'\nkind = 'cost'\ngpu = 'gtx480'\n" + machine +
           "[workloads.vecadd]\nquick = { size = 'tiny', n = 100 }\n[variants.v]\n" + variant +
           "[axes.a]\npath = 'sm.l1d.ways'\nvalues = [2, 4]\n" + axes +
           "[[runs]]\nworkloads = ['vecadd']\nvariants = ['v']\naxes = ['a'" +
           (axes.empty() ? "" : ", 'b'") + "]\n" + kShape;
  };
  const std::string plain = "policies = ['gto']\n", twice = "says that already: leave one out";
  const auto axis = [](const std::string& path, const std::string& values) {
    return "[axes.b]\npath = '" + path + "'\nvalues = [" + values + "]\n";
  };
  EXPECT_EQ(refusal(file("", plain, axis("sm.l1d.size_kib", "16, 48"))), "no error");
  EXPECT_THAT(refusal(file("", plain, axis("sm.l1d.ways", "2, 4"))),
              AllOf(HasSubstr("axis a: 'sm.l1d.ways'"), HasSubstr(twice)));
  EXPECT_THAT(refusal(file("", plain, axis("policy.warp.name", "'lrr', 'gto'"))),
              AllOf(HasSubstr("policy 'gto'"), HasSubstr(twice)));
  EXPECT_THAT(refusal(file("", plain + "set = { 'policy.warp.name' = 'lrr' }\n", "")),
              AllOf(HasSubstr("policy 'gto'"), HasSubstr(twice)));
  EXPECT_THAT(refusal(file("seed = 3\nset = { 'run.seed' = 4 }\n", plain, "")),
              HasSubstr("'run.seed' under `set` says that already"));
  EXPECT_THAT(refusal(file("set = { 'sm.count' = 2, sm = { count = 3 } }\n", plain, "")),
              HasSubstr(twice));
  for (const char* value : {"1.5", "-1", "'7'"})
    EXPECT_THAT(refusal(file("", plain, axis("run.seed", value))),
                HasSubstr("run.seed: expected a whole number, found"))
        << value;
}

TEST(Refused, EveryProblemOfEveryFileAtOnce) {
  const std::string message =
      refusal(changed("{ \"sm.count\" = 2 }", "{ \"sm.cont\" = 2, \"sm.wraps\" = 3 }"));
  EXPECT_THAT(message, AllOf(HasSubstr("sm.cont"), HasSubstr("sm.wraps")));
  EXPECT_EQ(raddle::test::line_count(message), 1u) << "two lines, each problem once:\n" << message;
}

TEST(Refused, UnknownMetricNamesTheNearest) {
  EXPECT_THAT(refusal(changed(kShape, "[[shapes]]\ncheck = \"totals.ipcs[vecadd, lrr] > 0\"\n")),
              AllOf(HasSubstr("no metric 'totals.ipcs' in runs of variant 'lrr'"),
                    HasSubstr("did you mean 'totals.ipc'?")));
  EXPECT_THAT(refusal(changed(
                  kShape, "[[shapes]]\ncheck = \"analysis.cache.lru.mpki[vecadd, lrr] > 0\"\n")),
              HasSubstr("[[runs]] must ask for the analysis"));
}

TEST(Refused, StatisticsOfAnotherPolicy) {
  auto shape = [](const std::string& variant) {
    std::string text = changed("\"warp=gto\"", "\"warp=gto\", \"throttle=ccws\"");
    text.replace(text.find(kShape), kShape.size(),
                 "[[shapes]]\ncheck = \"policies.throttle.statistics.vta_hits[vecadd, " + variant +
                     "] >= 0\"\n");
    return refusal(text);
  };
  EXPECT_EQ(shape("gto"), "no error");
  EXPECT_THAT(shape("lrr"), HasSubstr("no metric 'policies.throttle.statistics.vta_hits' in runs "
                                      "of variant 'lrr'"));
}

TEST(Refused, ASchemeThatDecidesLaterThanTheHorizonAndNothingElse) {
  auto refused_with = [](const std::string& horizon) {
    std::string text = kHead + "[corun]\nhorizon = " + horizon +
                       "\n[[runs]]\nworkloads = [\"together\"]\nvariants = [\"gto\"]\n"
                       "[[shapes]]\ncheck = \"tenants.1.ipc[together, gto] > 0\"\n";
    const std::string gto = "\"warp=gto\"";
    text.replace(text.find(gto), gto.size(),
                 "\"warp=gto\", \"scheme=ccbp:scale=1.2,adjust=false\"");
    return refusal(text);
  };
  EXPECT_EQ(refused_with("120000"), "no error") << "later than where names are looked for";
  EXPECT_THAT(refused_with("105000"),
              AllOf(HasSubstr("decides after 108000 cycles or more"), HasSubstr("found 105000"),
                    Not(HasSubstr("there is no metric"))));
}

TEST(Refused, ExpressionsThatMakeNoSenseWhereTheyStand) {
  auto shape = [](const std::string& check) {
    return refusal(changed(kShape, "[[shapes]]\ncheck = \"" + check + "\"\n"));
  };
  EXPECT_EQ(shape("for all pair: best >= 0"), shape("for all pair: best >= 0"));
  EXPECT_THAT(shape("ipc[vecadd] > 0"), AllOf(HasSubstr("x.toml:"), HasSubstr("shapes[0].check"),
                                              HasSubstr("no variant is given")));
  EXPECT_THAT(shape("for all {pair, both}: ipc[best] > 0"),
              HasSubstr("no [[runs]] has workload 'both' under variant 'swept'"));
  EXPECT_THAT(shape("ipc[vecadd, gto, l1=16] > 0"), HasSubstr("[l1=16] has no effect"));
  EXPECT_THAT(shape("ipc[vecadd, swept, group=5] > 0"), HasSubstr("no point 5"));
  EXPECT_THAT(shape("for at least 4 of pair: ipc[lrr] > 0"), HasSubstr("asks for 4 of 2"));
}

TEST(Refused, FiguresNumbersAndCountersAreCheckedToo) {
  EXPECT_THAT(refusal(kWhole + "[[figures]]\ntitle = 'F'\ntype = 'bars'\nx = ['both']\nseries = "
                               "['best']\nvalue = 'ipc'\n"),
              AllOf(HasSubstr("figures[0].value"), HasSubstr("'both' under variant 'swept'")));
  EXPECT_THAT(refusal(kWhole + "[[stated]]\nwhat = 'w'\npaper = 2\nvalue = 'ipc[lrr]'\n"),
              AllOf(HasSubstr("stated[0].value"), HasSubstr("no workload is given")));
  EXPECT_THAT(refusal(kWhole + "[[figures]]\ntitle = 'F'\ntype = 'bars'\nx = ['pair']\nseries = "
                               "['lrr']\nvalue = 'ipc'\n[[stated]]\nwhat = 'w'\npaper = 2\nvalue = "
                               "'2'\nmark = { series = 'gto', x = 'hmean' }\n"),
              AllOf(HasSubstr("no column 'hmean'"), HasSubstr("no series 'gto'")));
  EXPECT_THAT(refusal(kWhole + "[counters]\ncolumns = ['ipc']\nworkloads = ['both']\nvariants = "
                               "['best']\n"),
              HasSubstr("'both' under variant 'swept'"));
}

TEST(Cell, SpecIsReadStrictly) {
  const Paper paper = read(kWhole);
  const Json sound = to_json(plan_of(paper).runs[0].spec, "cell");
  auto refused = [&](const std::string& key, const Json& value) {
    Json spec = sound;
    spec[key] = value;
    return input_error_of([&] { read_cell(spec, "s.json"); });
  };
  EXPECT_EQ(refused("seed", 3), "no error");
  EXPECT_THAT(refused("schema", 1), HasSubstr("s.json: schema: expected 3, found 1"));
  EXPECT_THAT(refused("kind", "job"), HasSubstr("kind: expected \"cell\" or \"recording\""));
  EXPECT_THAT(refused("kind", "recording"),
              HasSubstr("programs: expected one with a recording to make"));
  for (const char* key : {"gpu", "configuration"})
    EXPECT_THAT(refused(key, 3), HasSubstr(std::string(key) + ": expected a text, found 3"));
  for (const char* key : {"seed", "max_cycles"})
    EXPECT_THAT(refused(key, -3), HasSubstr(std::string(key) + ": expected a whole number"));
  for (const char* key : {"set", "analyses"})
    EXPECT_THAT(refused(key, 3), HasSubstr(std::string(key) + ": expected a table"));
  EXPECT_THAT(refused("set", {{"a", {1}}}), HasSubstr("set: expected a table of numbers"));
  EXPECT_THAT(refused("programs", Json::array()), HasSubstr("programs: expected at least one"));
  EXPECT_THAT(refused("programs", Json::array({3})), HasSubstr("programs: expected tables"));
  const Json program = sound["programs"][0];
  auto refused_program = [&](const std::string& key, const Json& value) {
    Json one = program;
    one[key] = value;
    return refused("programs", Json::array({one}));
  };
  for (const char* key : {"workload", "recording"})
    EXPECT_THAT(refused_program(key, 3),
                HasSubstr(std::string(key) + ": expected a text, found 3"));
  EXPECT_THAT(refused_program("parameters", 3), HasSubstr("parameters: expected a table"));
  EXPECT_THAT(refused("programs", Json::array({program, program})),
              HasSubstr("corun: expected the horizon"));
  EXPECT_THAT(refused("corun", 3), HasSubstr("corun: expected a table"));
  EXPECT_THAT(refused("corun", {{"horizon", -1}, {"warmup", 0}, {"ipc_alone", {"x"}}}),
              AllOf(HasSubstr("horizon: expected a whole number"),
                    HasSubstr("ipc_alone: expected numbers")));
  EXPECT_THAT(refused("policies", 3), HasSubstr("policies: expected a list"));
  EXPECT_THAT(refused("policies", {3}), HasSubstr("policies: expected texts, found 3"));
  EXPECT_THAT(refused("analyses", {{"a", 1}}), HasSubstr("analyses: expected texts"));
  EXPECT_THAT(input_error_of([] { read_cell(Json(3), "s.json"); }),
              HasSubstr("expected the description"));
}

TEST(Cell, RunsWhatItSaysOrNothing) {
  const Paper paper = read(kWhole);
  const Plan plan = plan_of(paper);
  CellFile cell{"cell", plan.runs[0].spec};
  const Json result = run_cell(cell, catalogue());
  EXPECT_EQ(result["workload"]["result"], "correct");
  EXPECT_EQ(configuration_of(result, cell.spec, catalogue()), plan.runs[0].spec.configuration);
  CellSpec limited = cell.spec;
  limited.max_cycles = 1;
  EXPECT_NE(configuration_of(result, limited, catalogue()), plan.runs[0].spec.configuration);
  cell.spec.policies = {{"warp=gto", {}}};
  EXPECT_THAT(input_error_of([&] { run_cell(cell, catalogue()); }),
              HasSubstr("must be the same build"));
}

TEST(Cell, ReplayIsTheRunBitForBit) {
  const Folder folder;
  const Paper paper = read(kWhole);
  const Plan plan = plan_of(paper);
  CellFile recording{"recording", plan.runs[1].spec};
  recording.spec.programs.at(0).recording = folder / "a.rdl";
  EXPECT_EQ(run_cell(recording, catalogue())["workload"]["result"], "correct");
  CellFile replay{"cell", recording.spec}, direct{"cell", plan.runs[1].spec};
  EXPECT_EQ(run_cell(replay, catalogue())["state_hash"],
            run_cell(direct, catalogue())["state_hash"]);
}

TEST(Cell, MaxCyclesEndsARunAway) {
  const Paper paper = read(changed("kind =", "max_cycles = 10\nkind ="));
  const Plan plan = plan_of(paper);
  EXPECT_THROW(run_cell({"cell", plan.runs[0].spec}, catalogue()), RunError);
}

}  // namespace
}  // namespace raddle::lab::test::plan_test

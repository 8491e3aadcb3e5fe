// Programs and recordings as workloads, files in which names define, values in one text.
#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/short_form.h"
#include "raddle/lab/file/sweep_text.h"
#include "raddle/lab/plan/external_programs.h"
#include "raddle/lab/run/runner.h"
#include "raddle/lab/store/store.h"
#include "unit/lab/hands.h"

namespace raddle::lab::test::own_work_test {
namespace {

/// Knows programs by name alone: what each "does" is the workload of that name.
class Pretended final : public ExternalPrograms {
 public:
  void identify(ExternalProgram& external) const override {
    if (external.command.empty()) throw InputError({external.file}, "is not there");
    external.name = external.command.front();
    external.identity = "id of " + external.name;
    external.parameters = {{"arguments", external.command.size() - 1}};
  }
  Json record(const ExternalProgram&, sim::Setup&, const sim::Options&,
              const std::string&) const override {
    throw RunError("it crashed");
  }
};

Catalogue with_external() {
  Catalogue out = catalogue();
  out.external = std::make_shared<const Pretended>();
  return out;
}

const std::string kOwn = R"(gpu = "gtx480"
[workloads.mine]
program = ["mine", "5", "5"]
inputs = ["a.txt"]
[variants.lrr]
policies = ["lrr"]
[variants.gto]
policies = ["warp=gto"]
[[runs]]
workloads = ["mine"]
variants = ["lrr", "gto"]
)";

TEST(ExternalProgram, AProgramIsRecordedOnceAndIsWhatItIs) {
  Paper paper = read(kOwn);
  identify(paper, with_external());
  const Plan plan = make_plan({&paper.experiments[0]}, with_external());
  ASSERT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(plan.runs[0].workload, "mine");
  EXPECT_EQ(plan.runs[0].recordings, plan.runs[1].recordings);
  EXPECT_EQ(plan.runs[0].recordings.at(0).size(), 32u);
  EXPECT_EQ(plan.runs[0].spec.programs[0].external->command,
            (std::vector<std::string>{"mine", "5", "5"}));

  Paper other = read(kOwn);
  identify(other, with_external());
  other.experiments[0].workloads[0].external->identity = "another binary";
  EXPECT_NE(make_plan({&other.experiments[0]}, with_external()).runs[0].key, plan.runs[0].key);
}

TEST(ExternalProgram, WhatAProgramSeesOfTheMachineIsRecordedAnew) {
  Paper paper = read(kOwn + "axes = ['l2.size_kib=64,128', 'sm.l1d.size_kib=16,48']\n");
  identify(paper, with_external());
  const Plan plan = make_plan({&paper.experiments[0]}, with_external());
  std::set<std::string> recordings;
  for (const PlannedRun& run : plan.runs) recordings.insert(run.recordings.at(0));
  EXPECT_EQ(plan.runs.size(), 8u);
  EXPECT_EQ(recordings.size(), 2u) << "the L2's size is a device property, the L1's is not";
}

TEST(ExternalProgram, SpecificationsCarryIt) {
  Paper paper = read(kOwn);
  identify(paper, with_external());
  const Plan plan = make_plan({&paper.experiments[0]}, with_external());
  const CellSpec back = read_cell(to_json(plan.runs[0].spec, "cell"), "x").spec;
  EXPECT_EQ(resolve(back, with_external()).configuration, plan.runs[0].spec.configuration);
  EXPECT_EQ(back.programs[0].external->inputs, std::vector<std::string>{"a.txt"});
}

TEST(ExternalProgram, WhatIsMissingIsToldWithItsPlace) {
  Paper paper =
      read("gpu = 'gtx480'\nruns = [{ workloads = ['a.rdl', 'b.g'], variants = ['lrr'] }]");
  const std::string message = input_error_of([&] { identify(paper, with_external()); });
  EXPECT_THAT(message, AllOf(HasSubstr("x.toml:2"), HasSubstr("a.rdl"), HasSubstr("b.g")));
}

TEST(ExternalProgram, AnAnalysisOfTheExecutionNeedsAWorkload) {
  Paper paper = read(kOwn + "analyses = ['dependencies']\n[analyses.dependencies]\n");
  identify(paper, with_external());
  EXPECT_THAT(input_error_of([&] { make_plan({&paper.experiments[0]}, with_external()); }),
              HasSubstr("looks at an execution"));
}

TEST(ExternalProgram, AProgramThatFailsIsAFailureOfItsRuns) {
  const Folder folder;
  Paper paper = read(kOwn);
  const Catalogue all = with_external();
  identify(paper, all);
  const Plan plan = make_plan({&paper.experiments[0]}, all);
  const ResultsFolder results{folder.path()};
  Store store(results.database());
  Hands hands(results.work());
  hands.instead = [&](const CellFile& cell, JobEnd& ended) {
    EXPECT_EQ(cell.kind, "recording");
    try {
      run_cell(cell, all);
    } catch (const std::exception& error) {
      write_whole(result_file(results.work(), ended.name),
                  error_result("error", error.what()).dump());
    }
    return true;
  };
  const RunnerSummary summary = run_plan(plan, all, store, hands, results, {});
  EXPECT_EQ(summary.failed, 2u);
  EXPECT_EQ(summary.states[0].error, "its recording: it crashed");
}

TEST(ExternalProgram, SplitsAsAShellDoes) {
  EXPECT_EQ(split_command("./a  b\t'c d' \"e \\\" f\" g\\ h ''"),
            (std::vector<std::string>{"./a", "b", "c d", "e \" f", "g h", ""}));
  EXPECT_TRUE(split_command("  ").empty());
  EXPECT_THAT(input_error_of([] { split_command("a 'b"); }), HasSubstr("does not end"));
}

// --- another program in a paper's experiment ----------------------------------------------------

TEST(Replaced, TheRowIsOursAndThePapersNumbersAreGone) {
  Paper paper = read(kHead + kRuns + kShape +
                     "[[stated]]\nwhat = 'x'\nvalue = 'ipc[vecadd, gto]'\npaper = 2\n");
  replace_workload(paper, {&paper.experiments[0]}, "vecadd", "mine 5");
  const Experiment& e = paper.experiments[0];
  EXPECT_EQ(e.id, "fig1-with-vecadd");
  EXPECT_EQ(e.kind, kStudy);
  EXPECT_TRUE(e.reported.empty());
  EXPECT_EQ(e.workloads[0].external->command, (std::vector<std::string>{"mine", "5"}));
  EXPECT_TRUE(e.workloads[0].parameters.empty());
  EXPECT_THAT(e.explanation, HasSubstr("`vecadd` is not the paper's"));
  EXPECT_THAT(input_error_of([&] { replace_workload(paper, {&e}, "rad", "x.rdl"); }),
              HasSubstr("did you mean 'red'"));
}

// --- files that stand alone ---------------------------------------------------------------------

TEST(ShortForm, NamesDefineWhatTheySay) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd n=300', 'reduction'], variants = ['gto', "
      "'gto+swl:limit=4'], axes = ['l2.size_kib=64,128'] }]");
  EXPECT_EQ(e.id, "x");
  EXPECT_EQ(e.kind, kStudy);
  EXPECT_EQ(e.workloads[0].name, "vecadd");
  EXPECT_EQ(e.workloads[0].parameters.back().value, 300);
  EXPECT_EQ(e.workloads[1].parameters.front().value, "small");
  EXPECT_EQ(e.variants[1].name, "gto_swl_limit_4");
  EXPECT_EQ(e.variants[1].policies[1].text, "swl:limit=4");
  EXPECT_EQ(e.axes[0].points[1].set[0].path, "l2.size_kib");
  EXPECT_EQ(e.figures.size(), 2u);
  EXPECT_EQ(make_plan({&e}, catalogue()).runs.size(), 8u);
}

TEST(ShortForm, SeveralAxesHaveAFigureAtEachPointOfTheOthers) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr', 'gto'], axes = "
      "['sm.l1d.size_kib=16,32', 'sm.count=4,8', 'l2.write_policy=write_back,write_through'] }]");
  ASSERT_EQ(e.figures.size(), 8u);
  std::set<std::string> titles;
  for (const Figure& figure : e.figures) titles.insert(figure.title);
  EXPECT_TRUE(titles.contains("IPC, sm.count = 8, l2.write_policy = write_through"));
  EXPECT_TRUE(titles.contains(
      "Speed-up over lrr at sm.l1d.size_kib = 16, sm.count = 4, l2.write_policy = write_back"));
}

std::vector<std::string> titles_of(const Experiment& e) {
  std::vector<std::string> out;
  for (const Figure& figure : e.figures) out.push_back(figure.title);
  return out;
}

TEST(ShortForm, ASpeedUpIsOneOfTime) {
  const Experiment e =
      experiment("gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr', 'gto'] }]");
  ASSERT_FALSE(e.figures.empty());
  EXPECT_EQ(e.figures.front().title, "Speed-up over lrr");
  EXPECT_THAT(e.figures.front().value->text,
              testing::HasSubstr("config.core_clock_mhz / config.core_clock_mhz[lrr]"));
}

/// A variant that sets a seed has another input.
TEST(ShortForm, NothingIsComparedAcrossSeedsOfVariants) {
  const std::string variants =
      "gpu = 'gtx480'\n[variants.a]\nset = { 'run.seed' = 1 }\n[variants.b]\nset = { 'run.seed' = "
      "2 }\n[[runs]]\nworkloads = ['vecadd']\nvariants = ['a', 'b']\n";
  EXPECT_THAT(titles_of(experiment(variants)), testing::ElementsAre("IPC"));
  EXPECT_THAT(titles_of(experiment(variants + "axes = ['sm.count=4,8']\n")),
              testing::ElementsAre("IPC"));
}

TEST(ShortForm, FactorsAndWordsAlongAnAxisHaveASpeedUp) {
  const auto along = [](const std::string& axis) {
    return titles_of(
        experiment("gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr', 'gto'], "
                   "axes = ['" +
                   axis + "'] }]"));
  };
  EXPECT_THAT(along("l2.size_kib=x0.5,x1"),
              testing::ElementsAre("Speed-up over lrr at l2.size_kib = x0.5", "IPC"));
  EXPECT_THAT(along("run.cold_l2=false,true"),
              testing::ElementsAre("Speed-up over lrr at run.cold_l2 = false", "IPC"));
}

/// Points are doubles: two that are the same one would be one run.
TEST(ShortForm, SeedsAreNoLargerThanADoubleTellsApart) {
  const auto of_seeds = [] {
    experiment(
        "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr'], axes = "
        "['run.seed=9007199254740992,9007199254740993'] }]");
  };
  EXPECT_THAT(test::input_error_of(of_seeds),
              HasSubstr("run.seed: expected at most 9007199254740992 along an axis, found "
                        "9007199254740993"));
}

/// Other parameters are other work.
TEST(ShortForm, NothingIsComparedAcrossParametersOfWork) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr', 'gto'], axes = "
      "['workload.n=1000,4000'] }]");
  EXPECT_THAT(titles_of(e),
              testing::ElementsAre("Speed-up over lrr of the same workload.n", "IPC"));
}

TEST(ShortForm, WhatIsSaidLaterTakesThePlaceOfAFactor) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nset = { 'l2.size_kib' = 'x8', 'sm.count' = 'x2' }\n"
      "runs = [{ workloads = ['vecadd'], variants = ['lrr'], axes = ['l2.size_kib=x0.5,x2'] }]");
  const Plan plan = make_plan({&e}, catalogue());
  ASSERT_EQ(plan.runs.size(), 2u);
  std::set<std::string> sizes;
  for (const PlannedRun& run : plan.runs)
    for (const Setting& s : run.spec.set) sizes.insert(s.path + "=" + s.value.get<std::string>());
  EXPECT_EQ(sizes, (std::set<std::string>{"l2.size_kib=x0.5", "l2.size_kib=x2", "sm.count=x2"}));
}

/// Another seed is another input.
TEST(ShortForm, SeedsAreComparedWithinThemselves) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd', 'reduction'], variants = ['lrr', 'gto'], "
      "axes = ['run.seed=1..4'] }]");
  EXPECT_THAT(titles_of(e),
              testing::ElementsAre(
                  "Cycles, mean of 4 seeds",
                  "Speed-up over lrr of the same seed, geometric mean of 4 seeds",
                  "Speed-up over lrr of the same seed, low end of the 95 % interval (Student's t) "
                  "of 4 seeds",
                  "Speed-up over lrr of the same seed, high end of the 95 % interval (Student's t) "
                  "of 4 seeds",
                  "Speed-up over lrr of the same seed, standard deviation of 4 seeds",
                  "Speed-up over lrr of the same seed, minimum of 4 seeds",
                  "Speed-up over lrr of the same seed, maximum of 4 seeds",
                  "Speed-up over lrr of the same seed, geometric mean", "IPC, geometric mean"));
}

TEST(ShortForm, AnAxisOfTextsThatNoExpressionCanNameHasNoFigures) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['vecadd'], variants = ['lrr'], axes = "
      "['sm.count=4,8', \"workload.text=it's,b\"] }]");
  EXPECT_TRUE(e.figures.empty());
}

TEST(ShortForm, WhatAFileDefinesIsNotGuessed) {
  EXPECT_THAT(input_error_of([] {
                read(
                    "gpu = 'gtx480'\n[workloads.vecadd]\n[[runs]]\nworkloads = ['vecad']\n"
                    "variants = ['lrr']\n");
              }),
              HasSubstr("did you mean 'vecadd'"));
}

TEST(ShortForm, NamesThatAreTakenGetANumber) {
  const Experiment e = experiment(
      "gpu = 'gtx480'\nruns = [{ workloads = ['a/x.rdl', 'b/x.rdl', 'min'], variants = ['lrr'] }]");
  EXPECT_EQ(e.workloads[0].name, "x");
  EXPECT_EQ(e.workloads[1].name, "x_2");
  EXPECT_EQ(e.workloads[2].name, "min_2") << "min is a function";
}

TEST(ShortForm, FoldersAndFilesGiveIds) {
  EXPECT_EQ(id_from("my experiments"), "my_experiments");
  EXPECT_EQ(id_from("..."), "sweep");
  EXPECT_EQ(id_from("a.b-c_d"), "a.b-c_d");
}

TEST(SweepText, ValuesRangesAndSteps) {
  EXPECT_EQ(read_sweep("a.b=1..3,8,x", "here").values,
            (std::vector<std::string>{"1", "2", "3", "8", "x"}));
  EXPECT_EQ(read_sweep("a=-2..4:3", "here").values, (std::vector<std::string>{"-2", "1", "4"}));
  for (const char* bad : {"a=", "a=3..1", "a=1..2:0", "a=1..2:x", "=1", "a", "a=1,1", "a=0..256"})
    EXPECT_THAT(input_error_of([&] { read_sweep(bad, "here"); }), HasSubstr("here")) << bad;
}

}  // namespace
}  // namespace raddle::lab::test::own_work_test

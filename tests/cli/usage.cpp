// What the program says of itself: help, version, lists; and what it says to words it does not
// know.
#include "cli/raddle.h"
#include "raddle/base/files.h"
#include "raddle_paths.h"

namespace raddle::test::usage_test {
namespace {

TEST(Usage, HelpNamesEveryCommand) {
  const Outcome help = raddle("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"list", "run", "compare", "record", "replay", "ptx", "analyze",
                              "explain", "query", "report", "sweep", "reproduce"})
    EXPECT_THAT(help.out, HasSubstr(command));
  EXPECT_THAT(help.out, HasSubstr("Exit status"));
  EXPECT_EQ(help.err, "");
}

TEST(Usage, EveryCommandExplainsItself) {
  for (const std::string command : {"list", "run", "compare", "record", "replay", "ptx", "analyze",
                                    "explain", "query", "report", "sweep", "reproduce"}) {
    const Outcome help = raddle(command + " --help");
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_GT(line_count(help.out), 5u) << command;
    EXPECT_EQ(help.err, "") << command;
  }
}

TEST(Usage, ThePageOfCommandsNamesThemAll) {
  const std::string page = read_file(RADDLE_SOURCE_DIR "/docs/cli.md");
  for (const auto& command : nlohmann::json::parse(raddle("help --json").out)) {
    std::string words = command["name"];
    if (words.empty()) continue;  // the program
    words = words.substr(words.rfind(' ') + 1);
    EXPECT_THAT(page, AnyOf(HasSubstr("`" + words + "`"), HasSubstr("`" + words + " "))) << words;
  }
}

TEST(Usage, HelpIsACommandToo) {
  EXPECT_EQ(raddle("help").out, raddle("--help").out);
  EXPECT_EQ(raddle("help run").out, raddle("run --help").out);
}

TEST(Usage, RunAndCompareShareTheOptionsOfTheContract) {
  for (const std::string command : {"run", "compare"}) {
    const std::string help = raddle(command + " --help").out;
    for (const char* option :
         {"--gpu", "--set", "--policy", "--json", "--report", "--timeline", "--max-cycles",
          "--max-stream", "--threads", "--seed", "--no-skip", "--cold-l2", "--quiet"})
      EXPECT_THAT(help, HasSubstr(option)) << command;
  }
}

TEST(Usage, WhatACommandAlwaysRefusesIsNotListed) {
  for (const char* option : {"--functional", "--live"}) {
    EXPECT_THAT(raddle("run --help").out, HasSubstr(option));
    for (const std::string words : {"compare vecadd --policies lrr,gto", "replay a.rdl"}) {
      const std::string command = words.substr(0, words.find(' '));
      EXPECT_THAT(raddle(command + " --help").out, Not(HasSubstr(option))) << command;
      expect_refused(raddle(words, {option}), {command + " times", option, "are for run"});
    }
  }
  EXPECT_THAT(raddle("replay a.rdl --liv").err, Not(HasSubstr("did you mean '--live'")));
}

TEST(Usage, OptionsStandUnderHeadings) {
  for (const std::string command : {"run", "compare", "exec", "replay"})
    EXPECT_THAT(raddle(command + " --help").out,
                AllOf(HasSubstr("\nMachine:\n"), HasSubstr("\nHow it is run:\n"),
                      HasSubstr("\nLimits:\n"), HasSubstr("\nOutput:\n")))
        << command;
  EXPECT_THAT(raddle("run --help").out, HasSubstr("\nCo-runs:\n"));
  EXPECT_THAT(raddle("sweep --help").out, HasSubstr("\nWhere runs go:\n"));
}

TEST(Usage, VersionIsPrinted) {
  const Outcome version = raddle("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("raddle [0-9]+\\.[0-9]+\\.[0-9]+\\+[0-9a-f]{16}\n"
                                                 "(commit [0-9a-f]{12,40}(\\+changes)?\n)?"
                                                 "compiler (gcc|clang) [^\n]*\n"
                                                 "plug-in interface [0-9a-f]{16}\n"));
}

TEST(Usage, ResultsTellTheVersionThatIsPrinted) {
  const Outcome version = raddle("--version");
  const Outcome run = raddle("run vecadd size=tiny --functional --json -");
  const auto notified = nlohmann::json::parse(run.out)["raddle_version"].get<std::string>();
  EXPECT_THAT(version.out, testing::StartsWith("raddle " + notified + "\n"));
}

TEST(Usage, LaunchesAreToldOneByOneOrSummedByKernel) {
  const std::string words = "run kmeans size=tiny --gpu gtx480 --json - --quiet";
  const auto single = nlohmann::json::parse(raddle(words).out);
  const auto summed = nlohmann::json::parse(raddle(words + " --launches 1").out);
  EXPECT_GT(single["kernels"].size(), 1u);
  EXPECT_TRUE(summed["kernels"].empty());
  EXPECT_FALSE(summed["kernels_by_name"].empty());
  EXPECT_EQ(single["state_hash"], summed["state_hash"]);
  const auto all = nlohmann::json::parse(raddle(words + " --launches all").out);
  EXPECT_EQ(all["kernels"], single["kernels"]);
  for (const char* wrong : {"some", "-1", "1.5", ""})
    expect_refused(raddle("run vecadd", {"--launches", wrong}), {"--launches"});
}

TEST(Usage, WrongWordsAreRefused) {
  expect_refused(raddle(""), {"--help"});
  expect_refused(raddle("dance"), {"dance"});
  expect_refused(raddle("run"), {"run --help"});
  expect_refused(raddle("run vecadd --sett a=1"), {"--sett"});
  expect_refused(raddle("list everything"), {"everything", "gpus", "workloads", "policies"});
  expect_refused(raddle("list"), {"what"});
  expect_refused(raddle("ptx"), {"file"});
  expect_refused(raddle("compare vecadd"), {"--policies"});
}

TEST(Usage, TheMistypedWordIsNamedAndWhatIsNear) {
  expect_refused(raddle("exec --sett a=b -- ./program 64 32"),
                 {"there is no option '--sett'; did you mean '--set'?"});
  expect_refused(raddle("record --sett a=b -o x.rdl -- ./program 64"), {"'--sett'"});
  expect_refused(raddle("exec stray -- ./program"), {"before the program behind --"});
  // Behind -- stands a program, for record as for exec and compare; none is taken for a workload.
  for (const char* command : {"exec", "record -o x.rdl", "compare --policies lrr"})
    expect_refused(raddle(command, {"--", "vecadd"}), {"there is no program vecadd in PATH"});
  // What has its place is not blamed: values, and options of the whole program.
  expect_refused(raddle("sweep a.toml --slurm-options --partition=x stray"), {"stray"});
  expect_refused(raddle("sweep a.toml stray --plugin p.so"), {"stray"});
  expect_refused(raddle("run bsf size=tiny"), {"no workload is called 'bsf'; did you mean 'bfs'?"});
  expect_refused(raddle("run my.rdl"), {"is a recording", "replay"});
  expect_refused(raddle("run ./program"), {"raddle exec"});
  expect_refused(raddle("run vecadd size=tiny --policy gtoo"),
                 {"--policy gtoo", "did you mean 'gto'?"});
  expect_refused(raddle("compare vecadd --policies lrr,gtoo"), {"did you mean 'gto'?"});
}

TEST(Usage, APolicyNeedsNoLevelWhereOneHasItsName) {
  const auto cycles = [](const std::string& policy) {
    return json_of(raddle("run reduction size=tiny --gpu gtx480 --json - --policy " +
                          policy))["policies"]["warp"]["name"];
  };
  EXPECT_EQ(cycles("gto"), "gto");
  EXPECT_EQ(cycles("warp=gto"), "gto");
}

TEST(Usage, PoliciesThatHoldTogetherAreOfDifferentLevels) {
  expect_refused(raddle("compare vecadd --policies lrr+gto"),
                 {"lrr+gto", "expected one policy of a level", "'warp=lrr'", "'warp=gto'"});
  expect_refused(raddle("compare vecadd --policies lrr,gto+swl:limit=2+swl:limit=4"),
                 {"one policy"});
}

TEST(Usage, TablesOfAnExportReplaceNothingElse) {
  const Folder folder;
  const std::string export_to = folder / "out", kept = folder / "kept";
  const std::string file = folder.write("x.toml", R"(gpu = "gtx480"
runs = [{ workloads = ["vecadd size=tiny"], variants = ["lrr"] }]
)");
  const std::string sweep = "sweep --quiet --results " + kept + " " + file;
  std::filesystem::create_directory(export_to);
  expect_refused(raddle(sweep, {"--json", export_to + "/runs.csv", "--export-csv", export_to}),
                 {"--json and --export-csv both write"});
  std::filesystem::rename(file, export_to + "/tidy.csv");
  expect_refused(raddle("sweep --quiet --results " + kept,
                        {export_to + "/tidy.csv", "--export-csv", export_to}),
                 {"--export-csv would write over ", "tidy.csv"});
}

TEST(Usage, AnOutputDoesNotReplaceWhatAShortFormOrAListNames) {
  const Folder folder;
  const std::string ptx = folder.write("w.ptx", "// kept\n");
  const std::string file = folder.write("y.toml", R"(gpu = "gtx480"
runs = [{ workloads = ["w.ptx kernel=k grid=1 block=32 args=buf:1024"], variants = ["lrr"] }]
)");
  expect_refused(raddle("sweep --quiet --results " + (folder / "kept"), {file, "--json", ptx}),
                 {"--json would write over ", "w.ptx"});
  const std::string trace = folder.write("kernel-1.traceg", "kept\n");
  const std::string list = folder.write("kernelslist.g", "kernel-1.traceg\n");
  expect_refused(raddle("replay --quiet " + list + " --json", {trace}),
                 {"--json would write over ", "kernel-1.traceg"});
  const std::string other = folder.write("z.toml", R"(gpu = "gtx480"
runs = [{ workloads = ["kernelslist.g"], variants = ["lrr"] }]
)");
  expect_refused(raddle("sweep --quiet --results " + (folder / "kept"), {other, "--json", trace}),
                 {"--json would write over ", "kernel-1.traceg"});
  // What only lies beside them is nobody's input.
  const std::string beside = folder.write("result.json", "{}\n");
  EXPECT_THAT(raddle("replay --quiet " + list + " --json", {beside}).err,
              testing::Not(HasSubstr("would write over")));
  EXPECT_EQ(read_file(trace), "kept\n");
  EXPECT_EQ(read_file(ptx), "// kept\n");
}

TEST(Usage, AnOutputDoesNotReplaceAnInput) {
  const Folder folder;
  const std::string recording = folder / "a.rdl", gpu = folder / "mine.toml";
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet -o", {recording}).status, 0);
  write_file(gpu, "extends = \"v100\"\nname = \"mine\"\n");
  const std::string before = read_file(recording);
  for (const std::vector<std::string>& outputs : {std::vector<std::string>{"--json", recording},
                                                  {"--json=" + recording},
                                                  {"--report", folder.path().string() + "/./a.rdl"},
                                                  {"--timeline", recording}})
    expect_refused(raddle("replay " + recording, outputs),
                   {"would write over ", "a.rdl, which the command reads"});
  expect_refused(raddle("analyze locality " + recording + " --json", {recording}),
                 {"would write over "});
  expect_refused(raddle("run vecadd size=tiny --gpu " + gpu + " --json", {gpu}),
                 {"--json would write over ", "mine.toml"});
  // What a machine or an experiment names inside is read, too.
  const std::string other = folder / "other.toml";
  write_file(other, "extends = \"mine.toml\"\nname = \"other\"\n");
  expect_refused(raddle("run vecadd size=tiny --gpu " + other + " --json", {gpu}),
                 {"--json would write over ", "mine.toml"});
  EXPECT_EQ(read_file(recording), before);
  // So are the results of before.
  const std::string kept = folder / "kept";
  const std::string compare = "compare vecadd size=tiny --policies lrr,gto --quiet --results";
  ASSERT_EQ(raddle(compare, {kept}).status, 0);
  expect_refused(raddle(compare, {kept, "--json", kept + "/results.sqlite"}),
                 {"--json would write over ", "results.sqlite"});
  expect_refused(raddle(compare, {kept, "--json", kept + "/lock"}), {"would write over ", "lock"});
  EXPECT_EQ(raddle(compare, {kept}).status, 0);
  EXPECT_EQ(raddle("replay --quiet " + recording + " --json", {folder / "new.json"}).status, 0);
  EXPECT_EQ(raddle("replay --quiet " + recording + " --json", {folder / "new.json"}).status, 0)
      << "its own output of before";
}

TEST(Usage, EachOutputHasItsPlace) {
  const Folder folder;
  const std::string file = folder / "y.json";
  expect_refused(raddle("run vecadd size=tiny --json", {file, "--report", file}),
                 {"--json and --report both write "});
  expect_refused(raddle("run vecadd size=tiny --json",
                        {file, "--timeline", folder.path().string() + "/./y.json"}),
                 {"--json and --timeline"});
  // In a folder, a name that is not there yet, spelled in two ways.
  const Outcome twice =
      run_process("/bin/sh", {"-c",
                              "cd \"$0\" && exec \"$1\" run vecadd size=tiny --quiet --json z "
                              "--report ./z",
                              folder.path().string(), RADDLE_PROGRAM});
  expect_refused(twice, {"--json and --report both write "});
  expect_refused(raddle("run vecadd size=tiny --json - --report -"), {"standard output"});
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(raddle("run vecadd size=tiny --quiet --json /dev/null --report /dev/null").status, 0);
}

// The example of --sweep in the help is one that works.
TEST(Usage, TheHelpsExampleOfASweepWorks) {
  const std::string help = raddle("compare --help").out;
  ASSERT_THAT(help, HasSubstr("sm.lsu_queue=4..16:4"));
  const Outcome run =
      raddle("compare --sweep sm.lsu_queue=4..16:4 vecadd size=tiny --gpu gtx480 --set sm.count=2");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("sm.lsu_queue=12"));
}

TEST(List, NamesWhatTheIssueAsksFor) {
  const std::string gpus = raddle("list gpus").out;
  for (const char* name :
       {"gtx480", "v100", "h200", "ccws", "ikra", "ikra_micro", "ccbp", "latoa", "laperm"})
    EXPECT_THAT(gpus, HasSubstr(std::string(name) + " "));
  const std::string workloads = raddle("list workloads").out;
  for (const char* name :
       {"vecadd", "transpose", "sgemm", "reduction", "scan", "histogram", "hotspot", "pathfinder",
        "bfs", "spmv", "kmeans", "nn", "memc", "gc", "sssp"})
    EXPECT_THAT(workloads, HasSubstr(std::string(name) + " "));
  const std::string policies = raddle("list policies").out;
  for (const char* name : {"warp=lrr", "warp=gto", "warp=two_level", "block=rr", "block=chunk",
                           "replacement=ucp", "dram=clams", "dram=fcfs", "dram=frfcfs", "dram=tcm"})
    EXPECT_THAT(policies, HasSubstr(std::string(name) + " "));
  EXPECT_THAT(gpus, HasSubstr("80 SMs, 1132 MHz, L2 64 x 96 KiB; ")) << "of v100";
  EXPECT_THAT(policies, HasSubstr("(BMI) [window]")) << "parameters of warp=bmi";
}

TEST(List, IsOneLineEach) {
  for (const std::string what : {"gpus", "workloads", "policies"}) {
    const Outcome text = raddle("list " + what);
    const Json items = json_of(raddle("list " + what + " --json"));
    ASSERT_TRUE(items.is_array()) << what;
    EXPECT_EQ(line_count(text.out), items.size()) << what;
    for (const Json& item : items) {
      EXPECT_NE(item["name"].get<std::string>(), "");
      EXPECT_NE(item["doc"].get<std::string>(), "") << item["name"];
    }
  }
}

TEST(List, MetricsSayWhatTheyMean) {
  const Json all = json_of(raddle("list metrics --json"));
  std::set<std::string> names;
  for (const Json& metric : all) {
    std::vector<std::string> members;
    for (const auto& [member, value] : metric.items()) members.push_back(member);
    EXPECT_THAT(members,
                testing::UnorderedElementsAre("name", "unit", "meaning", "source", "shown", "ncu"));
    EXPECT_NE(metric["meaning"], "") << metric["name"];
    names.insert(metric["name"]);
  }
  const Json result = json_of(raddle("run vecadd size=tiny --gpu gtx480 --quiet --json -"));
  for (const auto& [name, value] : result["totals"].items())
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(line_count(raddle("list metrics").out), all.size());
}

TEST(List, AMetricIsFoundByItsNameAndAnUnknownOneRefused) {
  const Outcome one = raddle("list metrics l1d_misses");
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.out, HasSubstr("details.l1d_misses"));
  EXPECT_THAT(one.out, HasSubstr("counted as sm.l1d_misses; shown of: run, co-run, launch"));
  EXPECT_THAT(raddle("list metrics warp_instructions").out,
              HasSubstr("Nsight Compute: smsp__inst_executed.sum"));
  EXPECT_EQ(json_of(raddle("list metrics cycles --json")).size(), 1u);
  expect_refused(raddle("list metrics l1d_mises"), {"l1d_mises", "near: l1d_misses"});
  expect_refused(raddle("list workloads v100"), {"v100", "list metrics"});
}

TEST(List, JsonDescribesParameters) {
  for (const Json& workload : json_of(raddle("list workloads --json"))) {
    EXPECT_FALSE(workload["parameters"].empty()) << workload["name"];
    for (const Json& parameter : workload["parameters"]) EXPECT_TRUE(parameter.contains("doc"));
  }
}

TEST(List, ExperimentsAreNamedWithWhatTheyShow) {
  const Json all = json_of(raddle("list experiments --json"));
  std::set<std::string> names;
  for (const Json& experiment : all) {
    EXPECT_TRUE(names.insert(experiment["name"]).second) << experiment["name"];
    EXPECT_FALSE(experiment["doc"].get<std::string>().empty()) << experiment["name"];
  }
  EXPECT_TRUE(names.contains("ccws.fig7"));
  EXPECT_THAT(raddle("list experiments").out, HasSubstr("ccws.fig7"));
}

}  // namespace
}  // namespace raddle::test::usage_test

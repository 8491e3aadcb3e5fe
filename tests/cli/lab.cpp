// raddle sweep and raddle reproduce: tiny experiments through the built program.
#include <set>

#include "cli/lab_site.h"

namespace raddle::test::lab_test {
namespace {

TEST(Sweep, RunsAFileAndShowsWhatCameOut) {
  const Site site;
  const Outcome run = site.sweep();
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* word : {"small.one", "pass", "2/2", "IPC", "HMEAN", "GTO"})
    EXPECT_THAT(run.out, HasSubstr(word));
  EXPECT_THAT(run.err, HasSubstr("[6/6]")) << "a line for each run, as this is no terminal";
  EXPECT_THAT(site.content(),
              testing::UnorderedElementsAre("lock", "recordings", "results.sqlite", "work"));
  EXPECT_EQ(site.run_count(), 6);
}

TEST(Sweep, StartedAgainRunsNothing) {
  const Site site;
  ASSERT_EQ(site.sweep().status, 0);
  const Outcome again = site.sweep();
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, testing::MatchesRegex("all 6 runs were in .* already\n"));
  EXPECT_THAT(again.out, HasSubstr("pass"));
}

TEST(Sweep, AStatementThatFailsIsAFailure) {
  const Folder folder;
  const auto status = [&](const std::string& kind, const std::string& check) {
    const std::string file = folder.write(
        "s.toml", "gpu = 'gtx480'\n" + kind +
                      "[variants.lrr]\npolicies = ['lrr']\n[[runs]]\nworkloads = "
                      "['vecadd size=tiny']\nvariants = ['lrr']\n[[shapes]]\ncheck = \"" +
                      check + "\"\n");
    return raddle("sweep", {file, "--results", folder / "r", "--quiet"}).status;
  };
  const std::string claims = "kind = 'performance'\n";
  EXPECT_EQ(status(claims, "totals.ipc[vecadd, lrr] > 0"), 0);
  EXPECT_EQ(status(claims, "totals.ipc[vecadd, lrr] < 0"), 1);
  EXPECT_EQ(status("", "totals.ipc[vecadd, lrr] < 0"), 0) << "a study claims nothing";
}

TEST(Sweep, DocumentIsTheContract) {
  const Site site;
  const Outcome run = site.sweep({"--json", "-", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["kind"], "reproduction");
  EXPECT_EQ(document["scale"], "quick");
  EXPECT_EQ(document["paper"]["id"], "small");
  EXPECT_EQ(document["machine"]["name"], "gtx480");
  EXPECT_EQ(document["machine"]["config"]["sm"]["count"], 2);
  EXPECT_THAT(document["command"].get<std::string>(), HasSubstr("sweep"));
  const Json& e = document["experiments"][0];
  EXPECT_EQ(e["id"], "small.one");
  EXPECT_EQ(e["status"], "pass");
  EXPECT_EQ(e["runs"]["done"], 6);
  EXPECT_EQ(e["figures"][0]["series"][0]["values"].size(), 3u);
  EXPECT_GT(e["wall_seconds"], 0);
}

TEST(Sweep, ScaleChoosesInputs) {
  const Site site;
  const Outcome run = site.sweep({"--scale", "full", "--json", "-", "--quiet"});
  EXPECT_EQ(run.status, 0) << run.err;
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["scale"], "full");
  EXPECT_EQ(document["experiments"][0]["runs"]["total"], 10) << "an axis of three points";
  EXPECT_EQ(site.sweep().status, 0);
  EXPECT_EQ(site.run_count(), 10) << "those of quick are among them";
}

TEST(Sweep, NumberOfJobsChangesNothing) {
  auto figures = [](const std::string& jobs) {
    const Site site;
    const Outcome run = site.sweep({"--jobs", jobs, "--json", "-", "--quiet"});
    return Json::parse(run.out)["experiments"][0]["figures"].dump();
  };
  EXPECT_EQ(figures("1"), figures("3"));
}

TEST(Sweep, NumbersAreThoseOfRaddleRun) {
  const Site site;
  const Json document = Json::parse(site.sweep({"--json", "-", "--quiet"}).out);
  const Json run = json_of(raddle(
      "run vecadd size=tiny --gpu gtx480 --set sm.count=2 --policy warp=gto --quiet --json -"));
  EXPECT_EQ(document["experiments"][0]["figures"][0]["series"][1]["values"][0],
            run["totals"]["ipc"]);
}

TEST(Sweep, ExportsTablesAsCsv) {
  const Site site;
  EXPECT_EQ(site.sweep({"--export-csv", site.folder / "csv", "--quiet"}).status, 0);
  const std::string tidy = read_file(site.folder / "csv/tidy.csv");
  EXPECT_THAT(tidy, testing::StartsWith("experiment,scale,workload,variant,point,metric,value\n"));
  EXPECT_THAT(tidy, HasSubstr("small.one,quick,vecadd,gto,{},totals.ipc,"));
  EXPECT_THAT(read_file(site.folder / "csv/runs.csv"), HasSubstr("done"));
}

TEST(Sweep, CheckRunsNothing) {
  const Site site;
  const Outcome run = site.sweep({"--check"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("6 runs"));
  for (const char* option : {"--json", "--report", "--export-csv"}) {
    const std::string out = site.folder / "out";
    expect_refused(site.sweep({"--check", option, out}), {option, "--check runs nothing"});
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  EXPECT_FALSE(std::filesystem::exists(site.results()));
}

TEST(Reproduce, SaysWhichRowsHold) {
  const Site site;
  const Outcome run = site.reproduce("small");
  EXPECT_EQ(run.status, 1) << "one row fails";
  for (const char* word : {"small.one", "pass", "small.two", "fail", "gto 1 is not > 2",
                           "paper 3, here 1, allowed 2 to 4.2", "small.three", "tested_elsewhere",
                           "3 rows: 1 fail 1 pass 1 tested_elsewhere"})
    EXPECT_THAT(run.out, HasSubstr(word));
  EXPECT_EQ(site.reproduce("small.one").status, 0);
  EXPECT_EQ(site.reproduce("small.two").status, 1);
  EXPECT_EQ(site.reproduce("small.three").status, 0);
  EXPECT_EQ(site.run_count(), 6) << "two is served by the runs of one";
}

TEST(Reproduce, RunsTheTestsThatRowsName) {
  const Site site;
  const auto row = [&](const std::string& test) {
    site.write("three.toml",
               "id = 'three'\ntitle = 't'\nkind = 'definition'\ntested_by = ['" + test + "']\n");
    return site.reproduce("small.three");
  };
  const Outcome passed = row("tests/cli/lab.cpp: Sweep.CheckRunsNothing");
  EXPECT_EQ(passed.status, 0) << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("1 rows: 1 pass"));
  const Outcome missing = row("tests/cli/lab.cpp: Sweep.NobodyWroteThis");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.out, HasSubstr("1 rows: 1 fail"));
}

TEST(Reproduce, KeepsTheDocumentOfAWholePaper) {
  const Site site;
  site.reproduce("small.one");
  EXPECT_FALSE(std::filesystem::exists(site.results() / "small.quick.json"));
  site.reproduce("small");
  const Json document = Json::parse(read_file(site.results() / "small.quick.json"));
  EXPECT_EQ(document["experiments"].size(), 3u);
  EXPECT_EQ(document["experiments"][0]["id"], "small.one");
}

TEST(Reproduce, TheDemonstrationPasses) {
  const Folder folder;
  const Outcome run = raddle("reproduce demo --quiet --results", {folder / "r"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(List, Experiments) {
  const Outcome run = raddle("list experiments");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("demo.warps"));
  const Json all = json_of(raddle("list experiments --json"));
  EXPECT_TRUE(std::ranges::any_of(all, [](const Json& e) { return e["name"] == "demo.cache"; }));
}

// --- bad input ---

TEST(BadSweep, NothingIsWrittenForAFileThatIsWrong) {
  const Site site;
  site.write("one.toml", "id = 'one'\ntitle = 't'\nkind = 'song'\ncolour = 1\n");
  const Outcome run = site.sweep();
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  for (const char* word : {"one.toml:3", "kind", "\"song\"", "one.toml:4", "colour: unknown key"})
    EXPECT_THAT(run.err, HasSubstr(word));
  EXPECT_FALSE(std::filesystem::exists(site.results()));
}

TEST(BadSweep, UnknownNamesAreRefusedBeforeAnythingRuns) {
  struct Typo {
    std::string from, to, said;
  };
  for (const auto& [from, to, said] : {Typo{"totals.ipc", "totals.ipcs", "totals.ipcs"},
                                       {"warp=gto", "warp=gtoo", "'gtoo'"},
                                       {"gtx480", "gtx481", "gtx481"},
                                       {"sm.count", "sm.cont", "sm.cont"},
                                       {"\"reduction\"", "\"redaction\"", "redaction"}}) {
    const Site site;
    std::string text = read_file(site.paper_file());
    ASSERT_NE(text.find(from), std::string::npos) << from;
    site.write("paper.toml", text.replace(text.find(from), from.size(), to));
    const Outcome run = site.sweep();
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(said)) << to;
    EXPECT_FALSE(std::filesystem::exists(site.results()));
  }
}

TEST(BadSweep, TwoRowsOfOneName) {
  const Site site;
  site.write("again.toml", "id = 'one'\ntitle = 't'\nkind = 'cost'\ntested_by = ['a: b.c']\n");
  const Outcome run = site.reproduce("small");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("\"one\" is already the id of"), HasSubstr("again.toml:1")));
}

TEST(BadSweep, NamesOfPapersAndItems) {
  const Site site;
  expect_refused(site.reproduce("smal"), {"paper 'smal'", "did you mean 'small'?"});
  expect_refused(site.reproduce("small.on"), {"no experiment 'on'", "'one'"});
  expect_refused(raddle("reproduce nobody"), {"paper 'nobody'", "demo"});
  expect_refused(raddle("sweep /proc/nowhere/x.toml"), {"/proc/nowhere/x.toml", "cannot be read"});
}

TEST(BadSweep, Options) {
  const Site site;
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--scale", "huge"},
                                             {"--jobs", "0"},
                                             {"--jobs", "many"},
                                             {"--executor", "cloud"},
                                             {"--timeout", "-1"},
                                             {"--memory", "x"},
                                             {"--worker", "/proc/nowhere"},
                                             {"--recordings-limit", "-3"},
                                             {"--json", "/proc/nowhere/r.json"}}) {
    const Outcome run = site.sweep(words);
    EXPECT_EQ(run.status, 2) << words[0];
    EXPECT_THAT(run.err, HasSubstr(words[0].substr(2) == "json" ? "/proc/nowhere" : words[0]));
    EXPECT_FALSE(std::filesystem::exists(site.results()));
  }
}

TEST(BadSweep, ResultsFolderThatCannotBe) {
  const Site site;
  const std::string file = site.folder.write("file", "x");
  expect_refused(raddle("sweep --results", {file, site.file()}),
                 {file, "cannot be made as a folder"});
  expect_refused(raddle("sweep --results", {file + "/r", site.file()}), {"cannot be made"});
}

TEST(BadSweep, ResultsOfAnotherSchemaVersion) {
  const Site site;
  ASSERT_EQ(site.sweep().status, 0);
  lab::Database(site.database()).run("PRAGMA user_version = 99");
  expect_refused(site.sweep(),
                 {"results.sqlite", "schema version 2, found version 99", "--results"});
}

TEST(BadSweep, ResultsThatAreNoDatabase) {
  const Site site;
  std::filesystem::create_directories(site.results());
  std::ofstream(site.database()) << std::string(10'000, 'x');
  expect_refused(site.sweep(), {"results.sqlite", "no results file of Raddle"});
}

TEST(Cell, IsNotInTheHelpAndReadsStrictly) {
  EXPECT_THAT(raddle("--help").out, AllOf(HasSubstr("sweep"), Not(HasSubstr("cell"))));
  const Folder folder;
  expect_refused(raddle("cell", {folder / "none", "-o", folder / "r"}), {"none", "cannot be read"});
  expect_refused(raddle("cell", {folder.write("s", "{"), "-o", folder / "r"}),
                 {"s:1:2: is not JSON"});
  const Outcome wrong = raddle("cell", {folder.write("s", "{}"), "-o", folder / "r"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("schema: expected 3"));
  EXPECT_EQ(folder.content(), std::vector<std::string>{"s"});
}

}  // namespace
}  // namespace raddle::test::lab_test

// raddle query.
#include <filesystem>
#include <numeric>

#include "cli/raddle.h"

namespace raddle::test::query_test {
namespace {

/// One comparison for all tests.
struct Kept {
  Kept() {
    EXPECT_EQ(raddle("compare bfs size=tiny --gpu gtx480 --set sm.count=2 --policies lrr,gto "
                     "--quiet --json",
                     {file, "--report", folder / "c.html"})
                  .status,
              0);
  }
  Folder folder;
  std::string file = folder / "c.json";
};
const Kept& kept() {
  static const Kept kept;
  return kept;
}

TEST(Query, WithoutAQuestionSaysWhatThereIs) {
  const Outcome text = raddle("query", {kept().file});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("runs (2 rows)\n  run file policies what_if"));
  EXPECT_THAT(text.out, HasSubstr("source_kernels_lines"));
  const Json tables = json_of(raddle("query --json", {kept().file}));
  EXPECT_EQ(tables[0]["table"], "runs");
  EXPECT_EQ(tables[0]["rows"], 2);
  EXPECT_EQ(tables[0]["columns"][0], "run");
}

TEST(Query, AnswersWithTheNumbersOfTheFile) {
  const Json document = Json::parse(read_file(kept().file));
  const Json answer =
      json_of(raddle("query --json", {kept().file, "select policies, cycles, ipc from runs"}));
  ASSERT_EQ(answer.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& totals = document["runs"][i]["result"]["totals"];
    EXPECT_EQ(answer[i], (Json{{"policies", document["runs"][i]["policies"]},
                               {"cycles", totals["cycles"]},
                               {"ipc", totals["ipc"]}}));
  }
  const Json sum =
      json_of(raddle("query --json", {kept().file,
                                      "SELECT sum(scheduler_cycles) AS n FROM kernel_stalls "
                                      "WHERE run = 1 AND reason = 'memory'"}));
  EXPECT_EQ(sum[0]["n"], document["runs"][1]["result"]["stalls"]["memory"]);
}

TEST(Query, AsTableAndAsCsv) {
  const std::string question = "WITH t(a, b) AS (VALUES ('x,y', 10), ('z', 5)) SELECT * FROM t";
  EXPECT_EQ(raddle("query", {kept().file, question}).out, "a     b\nx,y  10\nz     5\n");
  EXPECT_EQ(raddle("query --csv", {kept().file, question}).out, "a,b\n\"x,y\",10\nz,5\n");
}

TEST(Query, ColumnsOfOneNameAreNoObject) {
  const std::string question =
      "SELECT kernels.cycles, runs.cycles FROM kernels JOIN runs USING (run) LIMIT 1";
  EXPECT_EQ(raddle("query --csv", {kept().file, question}).out.substr(0, 14), "cycles,cycles\n");
  expect_refused(raddle("query --json", {kept().file, question}),
                 {"expected columns of different names with --json, found 'cycles' twice"});
}

TEST(Query, SeedsAreWhatTheyAre) {
  const Folder folder;
  const std::string file = folder / "seed.json", seed = "18446744073709551615";
  ASSERT_EQ(raddle("run vecadd size=tiny --gpu gtx480 --functional --quiet --seed " + seed,
                   {"--json", file})
                .status,
            0);
  EXPECT_EQ(raddle("query --csv", {file, "SELECT run_seed FROM config"}).out,
            "run_seed\n" + seed + "\n");
}

TEST(Query, WhatIsWrongIsRefused) {
  expect_refused(raddle("query", {kept().file, "SELECT * FROM stals"}), {"SQL", "stals"});
  expect_refused(raddle("query", {kept().file, "SELECT 1; SELECT 2"}), {"one statement"});
  expect_refused(raddle("query", {kept().file, "SELECT 1", "SELECT 2"}), {"found two"});
  expect_refused(raddle("query", {kept().file, "WITH a AS (SELECT 1) DELETE FROM runs"}),
                 {"expected a SELECT"});
  expect_refused(raddle("query", {"SELECT 1"}), {"expected a file"});
  expect_refused(raddle("query", {kept().folder / "no.json", "SELECT 1"}), {"no.json"});
  expect_refused(raddle("query --csv", {kept().file}), {"--csv", "SELECT"});
  expect_refused(raddle("query --csv --json", {kept().file, "SELECT 1"}), {"found both"});
}

TEST(Query, AFileOfSeveralResultsIsNoMachine) {
  expect_refused(raddle("run vecadd size=tiny --gpu", {kept().file}),
                 {"c.json", "holds several results", "expected one"});
}

}  // namespace
}  // namespace raddle::test::query_test

#include "raddle/report/kept_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace raddle::report::kept_tables_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;

/// Table `name`; its rows as JSON, so that one sees them.
struct Seen {
  std::vector<std::string> columns;
  Json rows = Json::array();
};
Seen table(const std::vector<KeptTable>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &KeptTable::name);
  if (at == all.end()) return {};
  Seen out{at->columns, Json::array()};
  for (const auto& row : at->rows) {
    EXPECT_EQ(row.size(), at->columns.size()) << name;
    out.rows.push_back(row);
  }
  return out;
}

std::vector<KeptTable> of(const Json& result) {
  const std::vector<KeptRun> runs = {{"a.json", "gto", result}};
  return tables_of(runs);
}

TEST(KeptTables, ARunHasItsTotalsByTheirNames) {
  const Seen runs = table(of({{"timed", true},
                              {"workload", {{"name", "bfs"}, {"parameters", {{"size", "tiny"}}}}},
                              {"totals", {{"cycles", 7}, {"ipc", 1.5}}}}),
                          "runs");
  EXPECT_THAT(runs.columns,
              ElementsAre("run", "file", "policies", "what_if", "timed", "workload_name",
                          "workload_parameters_size", "cycles", "ipc"));
  EXPECT_EQ(runs.rows, Json::parse(R"([[0,"a.json","gto","",true,"bfs","tiny",7,1.5]])"));
}

TEST(KeptTables, PathsInsideAnObjectAreColumns) {
  const Seen details =
      table(of({{"details", {{"noc", {{"read", {{"bytes", 4}}}}}, {"a", 1}}}}), "details");
  EXPECT_THAT(details.columns, ElementsAre("run", "noc_read_bytes", "a"));
  EXPECT_EQ(details.rows, Json::parse("[[0,4,1]]"));
}

TEST(KeptTables, AListIsATableAndWhatOnlySomeEntriesHaveIsNullInOthers) {
  const std::vector<KeptTable> all =
      of({{"kernels",
           {{{"name", "a"}, {"grid", {1, 2, 3}}, {"stalls", {{"memory", 5}}}}, {{"name", "b"}}}}});
  const Seen kernels = table(all, "kernels");
  EXPECT_THAT(kernels.columns, ElementsAre("run", "kernels_at", "name", "grid", "stalls_memory"));
  EXPECT_EQ(kernels.rows, Json::parse(R"([[0,0,"a","[1,2,3]",5],[0,1,"b",null,null]])"));
  EXPECT_EQ(table(all, "kernel_stalls").rows, Json::parse(R"([[0,"a","memory",5]])"));
}

TEST(KeptTables, WhatHasNamesOfTheProgramIsAListWithNames) {
  const Seen lines =
      table(of({{"analysis",
                 {{"source", {{"kernels", {{"my_kernel", {{"lines", {{{"line", 3}}}}}}}}}}}}}),
            "source_kernels_lines");
  EXPECT_THAT(lines.columns,
              ElementsAre("run", "source_kernels_name", "source_kernels_lines_at", "line"));
  EXPECT_EQ(lines.rows, Json::parse(R"([[0,"my_kernel",0,3]])"));
}

TEST(KeptTables, NamesThatDifferInCaseAloneAreTwoColumns) {
  const Seen host = table(of({{"host", {{"A", 1}, {"a", 2}}}}), "host");
  EXPECT_THAT(host.columns, ElementsAre("run", "a", "a_2"));
  EXPECT_EQ(host.rows, Json::parse("[[0,1,2]]"));
}

TEST(KeptTables, RunsAreNumberedAndAlike) {
  const Json result = {{"totals", {{"cycles", 1}}}, {"stalls", {{"memory", 2}}}};
  const std::vector<KeptRun> runs = {{"a", "x", result}, {"b", "y", result}};
  EXPECT_EQ(table(tables_of(runs), "stalls").rows, Json::parse("[[0,2],[1,2]]"));
}

}  // namespace
}  // namespace raddle::report::kept_tables_test

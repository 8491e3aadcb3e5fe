#include "raddle/report/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "documents.h"
#include "raddle/base/error.h"

namespace raddle::report::document_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

/// The faults of the small document after `spoil`.
template <typename Spoil>
std::vector<std::string> faults(Spoil spoil) {
  Json json = small_document();
  spoil(json);
  std::vector<std::string> out;
  try {
    read_document(json, "d.json");
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) out.push_back(d.text());
  }
  return out;
}

/// The one fault when `value` stands at `place` (a JSON pointer).
std::string fault(const std::string& place, const Json& value) {
  const auto all = faults([&](Json& json) { json[Json::json_pointer(place)] = value; });
  return all.size() == 1 ? all.front() : std::to_string(all.size()) + " faults";
}

TEST(ReadDocument, GivesWhatFiguresAndIndexNeed) {
  const Document document = read_document(small_document());
  EXPECT_EQ(document.paper, "ccws");
  EXPECT_EQ(document.title, "Cache-Conscious");
  EXPECT_EQ(document.runs, 10u);
  EXPECT_EQ(document.runs_failed, 2u);
  ASSERT_EQ(document.experiments.size(), 2u);
  const Experiment& e = document.experiments[0];
  EXPECT_EQ(e.id, "ccws.fig7");
  EXPECT_EQ(e.status, "fail");
  EXPECT_EQ(e.shapes, 3u);
  EXPECT_EQ(e.shapes_passed, 1u);
  EXPECT_EQ(e.stated, 2u);
  EXPECT_EQ(e.stated_within, 1u);
  ASSERT_EQ(e.figures.size(), 3u);
  EXPECT_EQ(e.figures[1].type, Figure::Type::Lines);
  EXPECT_EQ(e.figures[1].x_scale, Figure::Scale::Log);
  EXPECT_THAT(e.figures[1].x_numbers, ElementsAre(8, 16, 32));
  EXPECT_THAT(e.figures[1].x_names, ElementsAre("8", "16", "32"));
  EXPECT_EQ(e.figures[2].series[2].stack, "CCWS");
  EXPECT_TRUE(document.experiments[1].figures.empty());
}

TEST(ReadDocument, NullIsNoNumberAndStatedMayBeAbsent) {
  const Figure figure = read_document(small_document()).experiments[0].figures[0];
  EXPECT_FALSE(figure.series[0].has_stated());
  EXPECT_TRUE(figure.series[1].has_stated());
  EXPECT_EQ(figure.series[1].values[0], Cell(1.5));
  EXPECT_EQ(figure.series[1].values[1], Cell());
}

TEST(ReadDocument, ValuesThatAreNoNumbersInMemoryAreNotMeasured) {
  Json json = small_document();
  json["experiments"][0]["figures"][0]["series"][0]["values"][0] =
      std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(read_document(json).experiments[0].figures[0].series[0].values[0], Cell());
}

TEST(ReadDocument, WhatMayBeAbsentMayBeNullAndUnknownMembersAreLeftAlone) {
  Json json = small_document();
  json["machine"] = nullptr;
  json["later"] = "yes";
  for (const char* member :
       {"figures", "shapes", "stated", "explanation", "counters", "runs", "wall_seconds", "kind"})
    json["experiments"][0][member] = nullptr;
  EXPECT_TRUE(read_document(json).experiments[0].figures.empty());
}

TEST(ReadDocument, TextsAreCellsOfTablesOnly) {
  Json json = small_document();
  Json& figure = json["experiments"][0]["figures"][0];
  figure["series"][0]["values"][0] = "much";
  EXPECT_THROW(read_document(json), InputError);
  figure["type"] = "table";
  EXPECT_EQ(read_document(json).experiments[0].figures[0].series[0].values[0], Cell("much"));
}

TEST(ReadDocument, ATornadoHasThreeSeriesAndTexts) {
  Json json = small_document();
  Json& figure = json["experiments"][0]["figures"][0];
  figure["type"] = "tornado";
  EXPECT_THROW(read_document(json), InputError) << "two series";
  const Json series = figure["series"];
  figure.erase("series");
  EXPECT_THROW(read_document(json), InputError) << "none";
  figure["series"] = series;
  figure["series"].push_back({{"name", "most"}, {"values", {1, nullptr}}, {"at", {"a", "b"}}});
  const Figure read = read_document(json).experiments[0].figures[0];
  EXPECT_TRUE(read.series[0].at.empty());
  EXPECT_EQ(read.series[2].at[1], "b");
  figure["series"][2]["at"] = {"a"};
  EXPECT_THROW(read_document(json), InputError);
  figure["series"][2]["at"] = {"a", 2};
  EXPECT_THROW(read_document(json), InputError);
}

TEST(ReadDocument, NamesFileAndPlaceWhatWasExpectedAndFound) {
  EXPECT_EQ(fault("/schema", 2), "d.json: schema: expected 1, found 2");
  EXPECT_EQ(fault("/kind", "sweep"), "d.json: kind: expected \"reproduction\", found \"sweep\"");
  EXPECT_EQ(fault("/experiments/0/figures/1/type", "pie"),
            "d.json: experiments[0].figures[1].type: expected bars, lines, stacked, table or "
            "tornado, found \"pie\"");
  EXPECT_EQ(fault("/experiments/1/status", nullptr),
            "d.json: experiments[1].status: expected pass, refuted, fail, incomplete, "
            "tested_elsewhere or "
            "no_verdict, found null");
}

TEST(ReadDocument, EveryMemberIsChecked) {
  const Json object = Json::object();
  const std::vector<std::tuple<std::string, Json, std::string>> wrong = {
      {"/raddle_version", 1, "raddle_version: expected a text"},
      {"/date", nullptr, "date: expected a text"},
      {"/command", object, "command: expected a text"},
      {"/scale", 3, "scale: expected a text"},
      {"/paper", "ccws", "paper: expected an object"},
      {"/paper/id", "../x", "paper.id: expected a name"},
      {"/paper/id", "index", "paper.id: expected another name"},
      {"/paper/title", 1, "paper.title: expected a text"},
      {"/machine", 1, "machine: expected an object"},
      {"/machine/config", 1, "machine.config: expected an object"},
      {"/experiments", object, "experiments: expected an array"},
      {"/experiments/0", 5, "experiments[0]: expected an object"},
      {"/experiments/0/id", "a b", "experiments[0].id: expected a name"},
      {"/experiments/0/id", "", "experiments[0].id: expected a name"},
      {"/experiments/0/id", ".hidden", "experiments[0].id: expected a name"},
      {"/experiments/1/id", "ccws.fig7", "experiments[1].id: expected an id of its own"},
      {"/experiments/0/title", 1, "experiments[0].title: expected a text"},
      {"/experiments/0/claim", nullptr, "experiments[0].claim: expected a text"},
      {"/experiments/0/priority", "high", "experiments[0].priority: expected a number or null"},
      {"/experiments/0/wall_seconds", "1", "wall_seconds: expected a number or null"},
      {"/experiments/0/explanation", 1, "explanation: expected a text"},
      {"/experiments/0/figures/0/title", 1, "figures[0].title: expected a text"},
      {"/experiments/0/figures/0/x", 1, "figures[0].x: expected an object"},
      {"/experiments/0/figures/0/x/scale", "log", "x.scale: expected category (only lines"},
      {"/experiments/0/figures/0/x/values/1", object, "x.values[1]: expected a text or a number"},
      {"/experiments/0/figures/1/x/scale", "cubic", "expected category, linear or log"},
      {"/experiments/0/figures/1/x/values/1", "16", "x.values[1]: expected a number, found"},
      {"/experiments/0/figures/1/x/values/1", 0, "expected a number above 0 on a log scale"},
      {"/experiments/0/figures/0/y/unit", 1, "y.unit: expected a text"},
      {"/experiments/0/figures/0/series/1/name", "GTO", "expected a name of its own"},
      {"/experiments/0/figures/0/series/1/values", {1}, "of 2 cells, one per x, not of 1, found"},
      {"/experiments/0/figures/0/series/1/stated", {1, 2, 3}, "of 2 cells, one per x, not of 3"},
      {"/experiments/0/figures/0/series/1/values/0", "much",
       "values[0]: expected a number or null"},
      {"/experiments/0/shapes/0/verdict", "maybe",
       "verdict: expected pass, refuted, fail or not_run"},
      {"/experiments/0/shapes/0/detail", 1, "detail: expected a text"},
      {"/experiments/0/stated/0/what", nullptr, "what: expected a text"},
      {"/experiments/0/stated/0/paper", "63 %", "paper: expected a number or null"},
      {"/experiments/0/stated/0/bounds", {1}, "bounds: expected [low, high]"},
      {"/experiments/0/stated/0/bounds/0", "a", "bounds: expected [low, high]"},
      {"/experiments/0/stated/0/within", "yes", "within: expected true, false or null"},
      {"/experiments/0/counters/columns", nullptr, "counters.columns: expected an array"},
      {"/experiments/0/counters/columns/0", 1, "counters.columns[0]: expected a text"},
      {"/experiments/0/counters/rows/0", {1}, "counters.rows[0]: expected an array of 2 cells"},
      {"/experiments/0/runs", 7, "runs: expected an object"},
      {"/experiments/0/runs/total", -1, "runs.total: expected a count"},
      {"/experiments/0/runs/done", 1.5, "runs.done: expected a count"},
      {"/experiments/0/runs/failures/0/error", nullptr, "failures[0].error: expected a text"},
      {"/experiments/0/source", 7, "source: expected a text"},
      {"/experiments/0/tested_by", "U-C1", "tested_by: expected an array"},
      {"/experiments/0/tested_by", {1}, "tested_by[0]: expected a text"},
      {"/experiments/0/settings", 1, "settings: expected an object"},
  };
  for (const auto& [place, value, said] : wrong)
    EXPECT_THAT(fault(place, value), HasSubstr(said)) << place << " = " << value.dump();
}

TEST(ReadDocument, AllFaultsAreToldAtOnce) {
  const auto all = faults([](Json& json) {
    json.erase("date");
    json["experiments"][0]["status"] = "good";
    json["experiments"][1].erase("claim");
  });
  EXPECT_EQ(all.size(), 3u);
}

TEST(ReadDocument, WhatIsNoDocumentAtAllIsSaidSo) {
  EXPECT_THROW(read_document(Json::array()), InputError);
  EXPECT_THROW(read_document(Json()), InputError);
  EXPECT_EQ(faults([](Json& json) { json.erase("experiments"); }).size(), 1u);
}

TEST(ReadDocument, LongValuesAreShortenedInMessages) {
  EXPECT_LT(fault("/date", std::vector<int>(1000, 7)).size(), 150u);
}

TEST(ToText, ReadsBackTheSame) {
  EXPECT_EQ(to_text(Cell()), "");
  EXPECT_EQ(to_text(Cell(5.0)), "5");
  EXPECT_EQ(to_text(Cell(0.1)), "0.1");
  EXPECT_EQ(to_text(Cell(1e300)), "1e+300");
  EXPECT_EQ(to_text(Cell("text")), "text");
}

}  // namespace
}  // namespace raddle::report::document_test

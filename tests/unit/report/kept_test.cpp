#include "raddle/report/kept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/report/report.h"
#include "raddle/sim/result/version.h"
#include "samples.h"
#include "support/json_mutator.h"

namespace raddle::report::kept_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json kept(const std::string& policy = "gto", Cycle cycles = 300) {
  sim::Result result = small_result();
  result.policies["warp"]["name"] = policy;
  result.config["core_clock_mhz"] = 1000.0;
  result.config["policy"]["warp"]["name"] = policy;
  result.config["run"]["seed"] = 1;
  result.cycles = cycles;
  return sim::to_json(result);
}

Json compared(std::vector<std::pair<std::string, Json>> runs) {
  Json out = {{"schema", 1}, {"runs", Json::array()}};
  for (auto& [label, result] : runs)
    out["runs"].push_back({{"workload", "bfs"}, {"policies", label}, {"result", result}});
  return out;
}

/// The message of the refusal.
std::string refused(const Json& document) {
  try {
    read_kept(document, "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

std::string sentences(const Json& data) {
  std::string out;
  for (const Json& sentence : data.at("kept")) out += sentence.get<std::string>() + "\n";
  return out;
}

Json page_of(const std::vector<std::pair<std::string, Json>>& files) {
  KeptInput input;
  for (const auto& [file, document] : files)
    for (KeptRun& run : read_kept(document, file).runs) input.runs.push_back(std::move(run));
  return kept_data(std::move(input));
}

TEST(Kept, AResultIsOneRunWithItsPolicies) {
  const std::vector<KeptRun> runs = read_kept(kept(), "a.json").runs;
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].label, "warp=gto");
  EXPECT_EQ(runs[0].file, "a.json");
}

TEST(Kept, AComparisonHasItsLabelsWithoutTheSeedWhereThereAreSeveral) {
  const Json plain = compared({{"lrr", kept("lrr")}, {"gto run.seed=1", kept()}});
  EXPECT_EQ(read_kept(plain, "c.json").runs[1].label, "gto run.seed=1");
  Json seeds = plain;
  seeds["over_seeds"] = Json::array();
  EXPECT_EQ(read_kept(seeds, "c.json").runs[1].label, "gto");
  EXPECT_EQ(read_kept(compared({{"", kept("lrr")}}), "c.json").runs[0].label, "warp=lrr");
}

/// What compare has computed of its runs, and one run on a changed machine.
Json with_tables() {
  Json out = compared({{"lrr", kept("lrr")}, {"gto", kept()}, {"gto", kept()}});
  const Json spread = {{"mean", 1.5}, {"deviation", 0}, {"min", 1},
                       {"max", 2},    {"low", nullptr}, {"high", nullptr}};
  out["runs"][2]["what_if"] = "l2=x2";
  out["over_seeds"] = {{{"workload", "bfs"},
                        {"parameters", nullptr},
                        {"policies", "gto"},
                        {"over", "lrr"},
                        {"seeds", {1, 2}},
                        {"same_input", false},
                        {"cycles", spread},
                        {"speedup", spread},
                        {"verdict", "faster"},
                        {"flips", false}}};
  out["what_if"] = {{{"workload", "bfs"},
                     {"parameters", Json::object()},
                     {"item", "l2=x2"},
                     {"changes", {{"l2.size_kib", {{"from", 1}, {"to", 2}}}}},
                     {"stream", "same"},
                     {"instructions", 1},
                     {"policies", {{{"policies", "gto"}, {"speedup", spread}}}},
                     {"order", {"gto"}},
                     {"order_as_it_is", {"gto"}},
                     {"turned", Json::array()}}};
  return out;
}

TEST(Kept, WhatCompareHasComputedOfItsRunsIsKeptWithThem) {
  const Json document = with_tables();
  const KeptFile file = read_kept(document, "a.json");
  EXPECT_EQ(file.over_seeds, document["over_seeds"]);
  EXPECT_EQ(file.what_if, document["what_if"]);
  ASSERT_EQ(file.runs.size(), 3u);
  EXPECT_EQ(file.runs[1].what_if, "");
  EXPECT_EQ(file.runs[2].what_if, "l2=x2");
}

TEST(Kept, TablesOfAnotherShapeAreRefused) {
  const std::pair<const char*, const char*> faults[] = {
      {"/over_seeds/0/speedup/mean", "over_seeds[0].speedup.mean: expected a number"},
      {"/over_seeds/0/verdict", "over_seeds[0].verdict: expected a text"},
      {"/over_seeds/0/seeds", "over_seeds[0].seeds: expected an array"},
      {"/what_if/0/policies", "what_if[0].policies: expected an array"},
      {"/what_if/0/policies/0/speedup", "what_if[0].policies[0].speedup: expected an object"},
      {"/what_if/0/changes", "what_if[0].changes: expected an object"},
      {"/runs/2/what_if", "runs[2].what_if: expected a text"}};
  for (const auto& [place, message] : faults) {
    Json document = with_tables();
    document[Json::json_pointer(place)] = true;
    EXPECT_THAT(refused(document), HasSubstr(message)) << place;
  }
}

TEST(Kept, ThePageIsThatOfTheReportLessWhatWasNotKept) {
  sim::Result lrr = small_result(), gto = small_result();
  lrr.config["core_clock_mhz"] = gto.config["core_clock_mhz"] = 1000.0;
  gto.cycles = 280;
  const Json drawn = data({"", "", {{"lrr", &lrr}, {"gto", &gto}}});
  const Json again =
      page_of({{"c.json", compared({{"lrr", sim::to_json(lrr)}, {"gto", sim::to_json(gto)}})}});
  ASSERT_EQ(again["runs"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    for (const char* member : {"label", "core_clock_mhz", "result"})
      EXPECT_EQ(again["runs"][i][member], drawn["runs"][i][member]) << member;
  EXPECT_EQ(again["runs"][1]["difference"], drawn["runs"][1]["difference"]);
  EXPECT_EQ(drawn["runs"][1]["difference"]["base"], 0);
  EXPECT_TRUE(again["runs"][0]["blocks"]["start"].empty());
  EXPECT_FALSE(drawn["runs"][0]["blocks"]["start"].empty());
  EXPECT_FALSE(drawn.contains("kept"));
  EXPECT_THAT(sentences(again), HasSubstr("not in c.json, and so not drawn: activity over time, "));
  EXPECT_THAT(sentences(again), HasSubstr("which block ran where and when"));
  EXPECT_THAT(sentences(again), HasSubstr("source lines (kept where --report stands beside"));
}

TEST(Kept, WhatOnlySomeRunsCouldHaveIsNamedOfThoseOnly) {
  Json meshed = kept(), nested = kept(), functional = kept(), shared = kept();
  meshed["config"]["noc"]["topology"] = "mesh";
  nested["kernels"][1]["parent"] = {{"kernel", 0}};
  functional["timed"] = false;
  shared["tenants"] = {{{"name", "x"}}};
  shared["kernels"] = Json::array();
  const auto of = [&](const Json& result) { return sentences(page_of({{"a.json", result}})); };
  EXPECT_THAT(of(kept()), Not(HasSubstr("mesh")));
  EXPECT_THAT(of(meshed), HasSubstr("the map of the mesh"));
  EXPECT_THAT(of(nested), HasSubstr("the tree of launches by kernels"));
  EXPECT_THAT(of(functional), Not(HasSubstr("not drawn")));
  EXPECT_THAT(of(shared), HasSubstr("what tenants used over time"));
  EXPECT_THAT(of(shared), Not(HasSubstr("allocation")));
}

TEST(Kept, FilesOfOtherProgramsAreDrawnAndSaidToBe) {
  Json old = kept();
  EXPECT_THAT(sentences(page_of({{"a.json", old}})), Not(HasSubstr("older program")));
  old["raddle_version"] = "0.1.0+0123";
  EXPECT_THAT(
      sentences(page_of({{"a.json", old}})),
      HasSubstr("a.json: made by an older program (0.1.0+0123); today's is " + sim::version()));
}

TEST(Kept, WhatDiffersBetweenFilesOfOneWorkIsSaid) {
  Json other = kept("lrr");
  other["config"]["name"] = "four_sms";
  const Json page = page_of({{"x/a.json", kept()}, {"x/b.json", other}});
  EXPECT_THAT(sentences(page),
              HasSubstr("b.json, warp=lrr, compared with a.json: another machine, four_sms instead "
                        "of two_sms; other settings, policy.warp.name gto -> lrr, "
                        "name two_sms -> four_sms"));
  EXPECT_EQ(page["runs"][1]["difference"]["base"], 0);
  Json work = kept();
  work["workload"]["name"] = "kmeans";
  const Json apart = page_of({{"a.json", kept()}, {"b.json", work}});
  EXPECT_THAT(sentences(apart), HasSubstr("of different work"));
  EXPECT_FALSE(apart["runs"][1].contains("difference"));
}

TEST(Kept, LabelsOfSeveralFilesAreToldApart) {
  const auto labels = [](const Json& page) {
    std::vector<std::string> out;
    for (const Json& run : page["runs"]) out.push_back(run["label"]);
    return out;
  };
  EXPECT_THAT(labels(page_of({{"x/a.json", kept()}, {"x/b.json", kept("lrr")}})),
              ElementsAre("warp=gto", "warp=lrr"));
  EXPECT_THAT(labels(page_of({{"x/a.json", kept()}, {"x/b.json", kept()}})),
              ElementsAre("warp=gto (a.json)", "warp=gto (b.json)"));
  EXPECT_THAT(labels(page_of({{"x/a.json", kept()}, {"y/a.json", kept()}})),
              ElementsAre("warp=gto (x/a.json)", "warp=gto (y/a.json)"));
}

TEST(Kept, FaultsNameFilePlaceWhatWasExpectedAndFound) {
  const auto with = [](const std::string& place, const Json& value) {
    Json document = kept();
    document[Json::json_pointer(place)] = value;
    return refused(document);
  };
  EXPECT_EQ(with("/totals/cycles", "many"),
            "a.json: totals.cycles: expected a number from 0 to 4.39805e+12, found \"many\"");
  EXPECT_EQ(with("/kernels/1/name", 3), "a.json: kernels[1].name: expected a text, found 3");
  EXPECT_EQ(with("/kernels/0/stalls/lsu", -1),
            "a.json: kernels[0].stalls.lsu: expected a number from 0 to 1.1259e+15, found -1");
  EXPECT_EQ(with("/schedulers", nullptr),
            "a.json: schedulers: expected a number from 0 to 65536, found null");
  EXPECT_EQ(with("/policies", 7), "a.json: policies: expected an object, found 7");
  EXPECT_EQ(with("/schema", 2), "a.json: schema: expected 1, found 2");
  Json within = compared({{"lrr", kept()}});
  within["runs"][0]["result"]["workload"].erase("name");
  EXPECT_EQ(refused(within), "a.json: runs[0].result.workload.name: expected a text, found null");
}

TEST(Kept, WhatOtherCommandsKeepIsRefusedByName) {
  EXPECT_THAT(refused({{"schema", 1}, {"on", "cuda"}}), HasSubstr("times of a GPU"));
  EXPECT_THAT(refused({{"schema", 1}, {"kind", "validation"}}), HasSubstr("validation"));
  EXPECT_THAT(refused({{"schema", 1}}), HasSubstr("neither 'totals' nor 'runs'"));
  EXPECT_THAT(refused(Json::array()), HasSubstr("document: expected an object"));
  EXPECT_FALSE(is_kept_result({{"kind", "reproduction"}}));
  EXPECT_TRUE(is_kept_result(kept()));
}

TEST(Kept, AnySmallChangeIsDrawnOrRefused) {
  Rng rng(3);
  Json with = kept();
  with["analysis"]["source"] = Json::parse(
      R"({"looks":9,"kernels":{"first":{"file":"x.ptx","lines":[{"line":1,"issued":1,
      "thread_instructions":1,"memory_lines":0,"l1d_hits":0,"l1d_pending_hits":0,"l1d_misses":0,
      "awaited":0,"warps":{"memory":3}}]}}})");
  const Json sound = compared({{"lrr", with}, {"gto", with}});
  unsigned refusals = 0, pages = 0;
  for (int round = 0; round < 400; ++round) {
    Json document = sound;
    std::vector<Json*> values;
    test::collect(document, values);
    *values[rng.below(static_cast<std::uint32_t>(values.size()))] = test::odd_value(rng);
    try {
      page_of({{"a.json", document}});
      ++pages;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.json"));
      ++refusals;
    }
  }
  EXPECT_GT(refusals, 50u);
  EXPECT_GT(pages, 50u);
}

}  // namespace
}  // namespace raddle::report::kept_test

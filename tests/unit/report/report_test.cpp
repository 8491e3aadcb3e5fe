#include "raddle/report/report.h"

#include <gtest/gtest.h>

#include "raddle/report/page.h"
#include "raddle/report/reproduction.h"
#include "raddle/sim/result/version.h"
#include "samples.h"

namespace raddle::report::report_test {
namespace {

using Json = nlohmann::ordered_json;

/// What a browser finds in the page's data element: the text up to the first "</script".
std::string data_element(const std::string& page) {
  const std::string open = R"(<script id="raddle-data" type="application/json">)";
  const std::size_t at = page.find(open) + open.size();
  return page.substr(at, page.find("</script", at) - at);
}

Json data_in(const ReportInput& input) { return Json::parse(data_element(html(input))); }

std::uint64_t sum(const Json& numbers) {
  std::uint64_t total = 0;
  for (const Json& n : numbers) total += n.get<std::uint64_t>();
  return total;
}

TEST(Template, HasOnePlaceForTheDataInsideAnElementThatIsNotRun) {
  const std::string page(page_template(Page::index));
  const std::string place = "/*RADDLE_DATA*/";
  const std::size_t at = page.find(place);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(page.find(place, at + 1), std::string::npos);
  EXPECT_EQ(data_element(page), place);
}

TEST(Html, CarriesEveryRunWithItsResult) {
  const sim::Result gto = small_result();
  sim::Result lrr = small_result();
  lrr.cycles = 450;
  const Json data = data_in({"raddle compare bfs", "2024-05-01", {{"lrr", &lrr}, {"gto", &gto}}});
  EXPECT_EQ(data["command"], "raddle compare bfs");
  EXPECT_EQ(data["date"], "2024-05-01");
  ASSERT_EQ(data["runs"].size(), 2u);
  EXPECT_EQ(data["runs"][0]["label"], "lrr");
  EXPECT_EQ(data["runs"][0]["result"]["totals"]["cycles"], 450);
  EXPECT_EQ(data["runs"][1]["result"], sim::to_json(gto));
  EXPECT_EQ(data["runs"][1]["core_clock_mhz"], 1000.0);
}

TEST(Html, OfManyLaunchesHasSumsByKernelAndNoPlaces) {
  const sim::Result result = small_result();
  ReportInput input{"", "", {{"gto", &result}}};
  const Json single = data_in(input)["runs"][0];
  input.single_launches = 0;
  const Json summed = data_in(input)["runs"][0];
  ASSERT_FALSE(single["result"]["kernels"].empty());
  EXPECT_FALSE(single["placement"].empty());
  EXPECT_TRUE(summed["result"]["kernels"].empty());
  EXPECT_FALSE(summed["result"]["kernels_by_name"].empty());
  EXPECT_TRUE(summed["placement"].empty());
  EXPECT_EQ(summed["result"]["state_hash"], single["result"]["state_hash"]);
}

TEST(Html, CarriesTheVersionThatTheProgramPrints) {
  EXPECT_EQ(data_in({})["raddle_version"], sim::version());
  EXPECT_EQ(index_data({})["raddle_version"], sim::version());
}

TEST(Html, LeavesThePageAroundTheDataUntouched) {
  std::string page(page_template(Page::index));
  const std::string place = "/*RADDLE_DATA*/", table = "<!--RADDLE_TABLE-->";
  if (const std::size_t found = page.find(table); found != std::string::npos)
    page.erase(found, table.size());  // nothing is said of no runs
  const std::size_t at = page.find(place);
  const std::string filled = html({});
  EXPECT_EQ(filled.substr(0, at), page.substr(0, at));
  const std::string rest = page.substr(at + place.size());
  EXPECT_EQ(filled.substr(filled.size() - rest.size()), rest);
}

TEST(Html, NoStringCanEndTheScript) {
  sim::Result r = small_result();
  const std::string evil = "</script><script>alert(1)</script><!-- \"\\\n\x01";
  r.kernels[0].name = evil;
  r.config["name"] = evil;
  r.difference = evil;
  const std::string page = html({evil, evil, {{evil, &r}}});
  EXPECT_EQ(page.find("alert(1)</script"), std::string::npos);
  const std::string text = data_element(page);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const Json data = Json::parse(text);
  EXPECT_EQ(data["command"], evil);
  EXPECT_EQ(data["runs"][0]["label"], evil);
  EXPECT_EQ(data["runs"][0]["result"]["kernels"][0]["name"], evil);
}

TEST(Html, ThePlaceholderInsideAStringIsJustText) {
  const sim::Result r = small_result();
  const Json data = data_in({"/*RADDLE_DATA*/", "", {{"/*RADDLE_DATA*/", &r}}});
  EXPECT_EQ(data["runs"][0]["label"], "/*RADDLE_DATA*/");
}

TEST(Html, BytesThatAreNotUtf8AreReplacedNotRefused) {
  const sim::Result r = small_result();
  const Json data = data_in({"caf\xe9", "", {{"gto", &r}}});
  EXPECT_EQ(data["command"], "caf\xef\xbf\xbd");
}

TEST(Html, EqualInputGivesEqualPage) {
  const sim::Result r = small_result();
  EXPECT_EQ(html({"c", "", {{"gto", &r}}}), html({"c", "", {{"gto", &r}}}));
}

TEST(Html, NoRunsAndRunsOfNothingAreStillValid) {
  EXPECT_TRUE(data_in({})["runs"].empty());
  const sim::Result nothing;
  const Json run = data_in({"", "", {{"empty", &nothing}}})["runs"][0];
  EXPECT_EQ(run["blocks"]["total"], 0);
  EXPECT_TRUE(run["blocks"]["start"].empty());
  EXPECT_TRUE(run["samples"]["start"].empty());
}

TEST(Html, BlocksComeAsColumnsOfOneLength) {
  const sim::Result r = small_result();
  const Json blocks = data_in({"", "", {{"gto", &r}}})["runs"][0]["blocks"];
  EXPECT_EQ(blocks["total"], 5);
  EXPECT_EQ(blocks["merged"], 1);
  EXPECT_TRUE(blocks["until"].is_null());
  for (const char* member : {"launch", "sm", "lane", "first", "start", "length"})
    EXPECT_EQ(blocks[member].size(), 5u) << member;
  EXPECT_EQ(blocks["start"], Json({10, 160, 10, 12, 60}));
  EXPECT_EQ(blocks["length"], Json({90, 130, 130, 48, 80}));
  EXPECT_EQ(blocks["lane"], Json({0, 0, 1, 0, 0}));
}

TEST(Html, ManyBlocksAreMergedAndEachIsStillCounted) {
  sim::Result r = small_result();
  r.blocks.clear();
  for (std::uint32_t b = 0; b < 50'000; ++b) {
    const Cycle start = 10 * (b / 4);
    r.blocks.push_back({0, b, b % 4, start, start + 10});
  }
  const Json blocks = data_in({"", "", {{"gto", &r}}})["runs"][0]["blocks"];
  EXPECT_EQ(blocks["total"], 50'000);
  EXPECT_LE(blocks["start"].size(), kMaxBarsOfRun);
  EXPECT_EQ(blocks["merged"], 4);
  EXPECT_EQ(sum(blocks["count"]), 50'000u);
  EXPECT_EQ(sum(blocks["length"]), 500'000u);
}

TEST(Html, ManyRunsShareTheRoomForBlocks) {
  sim::Result r = small_result();
  r.blocks.clear();
  for (std::uint32_t b = 0; b < 9'000; ++b) r.blocks.push_back({0, b, 0, b, b + 1});
  const ReportInput input{"", "", std::vector<report::Run>(40, {"gto", &r})};
  std::size_t bars = 0;
  const Json data = data_in(input);
  for (const Json& run : data["runs"]) bars += run["blocks"]["start"].size();
  EXPECT_LE(bars, kMaxBarsOfPage);
  EXPECT_GT(bars, 0u);
}

TEST(Html, SamplesKnowHowLongTheyAreUpToTheEndOfTheRun) {
  sim::Result r = small_result();
  r.cycles = 230;
  const Json samples = data_in({"", "", {{"gto", &r}}})["runs"][0]["samples"];
  EXPECT_EQ(samples["interval"], 100);
  EXPECT_EQ(samples["length"], Json({100, 100, 30}));
  EXPECT_EQ(samples["thread_instructions"], Json({1000, 1500, 300}));
}

TEST(Html, ManySamplesAreSummedWithoutLoss) {
  sim::Result r = small_result();
  r.samples.clear();
  for (Cycle i = 0; i < 5'000; ++i) r.samples.push_back({i * 10, 1, i, 4, 2, 32});
  r.sample_interval = 10;
  r.cycles = 50'000;
  const Json samples = data_in({"", "", {{"gto", &r}}})["runs"][0]["samples"];
  EXPECT_LE(samples["start"].size(), kMaxSamples);
  EXPECT_EQ(samples["interval"], 90);
  EXPECT_EQ(sum(samples["length"]), 50'000u);
  EXPECT_EQ(sum(samples["thread_instructions"]), 5'000u * 4'999 / 2);
  EXPECT_EQ(sum(samples["l1d_accesses"]), 20'000u);
  EXPECT_EQ(sum(samples["l1d_hits"]), 10'000u);
  EXPECT_EQ(sum(samples["dram_bytes"]), 160'000u);
}

TEST(Html, WhatSmsDoIsMeansOfEachSmAndColumn) {
  sim::Result r = small_result();
  const auto sms_of = [&] { return data_in({"", "", {{"swl", &r}}})["runs"][0]["samples"]["sms"]; };
  EXPECT_EQ(sms_of(), Json::parse(R"({"start":[],"length":[],"ipc":[],"l1d_hit_rate":[],)"
                                  R"("warps":[]})"))
      << "no samples";
  r.sms_over_time = {{100, {{3200, 40, 30, 400, 0}, {0, 0, 0, 200, 0}}},
                     {150, {{4800, 40, 30, 550, 0}, {1600, 3, 1, 317, 0}}}};
  EXPECT_EQ(sms_of(),
            Json::parse(R"({"start":[0,100],"length":[100,50],"ipc":[[32.0,0.0],[32.0,32.0]],)"
                        R"("l1d_hit_rate":[[0.75,null],[null,0.333]],)"
                        R"("warps":[[4.0,2.0],[3.0,2.3]]})"));
  r.sms_over_time.back().sms[1].throttled_warp_cycles = 50;
  EXPECT_EQ(sms_of()["allowed"], Json::parse("[[4.0,2.0],[3.0,1.3]]")) << "with a throttle";
}

TEST(Html, ManySmsAndColumnsShareTheRoom) {
  constexpr std::size_t kSms = 132, kCounts = 500;
  sim::Result r = small_result();
  for (Cycle i = 1; i <= kCounts; ++i)
    r.sms_over_time.push_back(
        {10 * i, std::vector<timing::SmCounts::Sm>(kSms, {.warp_cycles = 5 * i})});
  const Json data = data_in({"", "", std::vector<report::Run>(20, {"swl", &r})});
  std::size_t cells = 0;
  for (const Json& run : data["runs"]) {
    const Json& sms = run["samples"]["sms"];
    EXPECT_EQ(sum(sms["length"]), 10 * kCounts);
    EXPECT_EQ(sms["warps"][3][kSms - 1], 0.5);
    cells += 3 * sms["warps"].size() * kSms;
  }
  EXPECT_LE(cells, kMaxCellsOfPage + 20 * 3 * kSms);
  EXPECT_GT(cells, kMaxCellsOfPage / 2);
}

TEST(JsonText, QuotesAndEscapes) {
  EXPECT_EQ(json_text("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(json_text(""), R"("")");
}

}  // namespace
}  // namespace raddle::report::report_test

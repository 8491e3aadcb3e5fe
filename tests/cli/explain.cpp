// raddle explain, and raddle report of kept results.
#include "cli/raddle.h"

namespace raddle::test::explain_test {
namespace {

/// Two policies, and the first again by itself with all that a page shows.
struct Kept {
  Folder folder;
  std::string both = folder / "both.json", one = folder / "one.json", page = folder / "page.html";

  Kept() {
    EXPECT_EQ(raddle("compare vecadd size=tiny --gpu ccws --policies lrr,gto --quiet --json",
                     {both, "--report", folder / "drawn.html"})
                  .status,
              0);
    EXPECT_EQ(
        raddle("run vecadd size=tiny --gpu ccws --policy warp=lrr --quiet --json", {one}).status,
        0);
  }
};

Json data_of(const std::string& page) {
  const std::string text = read_file(page), open = "id=\"raddle-data\" type=\"application/json\">";
  const std::size_t from = text.find(open) + open.size();
  return Json::parse(text.substr(from, text.find("</script", from) - from), nullptr, false);
}

const Kept& kept() {
  static const Kept files;
  return files;
}

TEST(Explain, TwoPoliciesOfAComparisonAndTheNumbersSum) {
  const Outcome outcome = raddle("explain", {kept().both});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("vecadd size=tiny"));
  EXPECT_THAT(outcome.out, HasSubstr("policy.warp.name lrr -> gto"));
  const Json of = json_of(raddle("explain --json", {kept().both}))["explanations"][0];
  EXPECT_EQ(of["a"]["label"], "lrr");
  const Json kept_runs = Json::parse(read_file(kept().both))["runs"];
  std::int64_t sum = 0;
  for (const Json& part : of["kernels"]["parts"])
    sum += part["b"].get<std::int64_t>() - part["a"].get<std::int64_t>();
  EXPECT_EQ(sum, kept_runs[1]["result"]["totals"]["cycles"].get<std::int64_t>() -
                     kept_runs[0]["result"]["totals"]["cycles"].get<std::int64_t>());
  EXPECT_FALSE(of["of_kernels"][0]["lines"].is_null());
}

TEST(Explain, PoliciesAreChosenAndWrongOnesRefused) {
  const Json turned = json_of(raddle("explain --json --policies gto,lrr", {kept().both}));
  EXPECT_EQ(turned["explanations"][0]["a"]["label"], "gto");
  const Json apart =
      json_of(raddle("explain --json --policies warp=lrr,gto", {kept().one, kept().both}));
  EXPECT_EQ(apart["explanations"][0]["b"]["label"], "gto");
  expect_refused(raddle("explain --policies lrr,ccws", {kept().both}),
                 {"both.json", "'lrr', 'gto'", "found 'ccws'"});
  expect_refused(raddle("explain --policies lrr", {kept().both}), {"expected two", "'lrr'"});
  expect_refused(raddle("explain", {kept().one, kept().both}), {"both.json", "--policies"});
  expect_refused(raddle("explain", {kept().one}), {"one.json", "a second file"});
}

TEST(Explain, OtherFilesAreRefused) {
  expect_refused(raddle("explain", {kept().folder / "no.json", kept().one}), {"no.json"});
  const std::string other = kept().folder.write("kind.json", R"({"schema":1,"kind":"x"})");
  expect_refused(raddle("explain", {other, kept().one}), {"kind.json", "found a document"});
  const std::string untimed = kept().folder / "untimed.json";
  raddle("run vecadd size=tiny --functional --quiet --json", {untimed});
  expect_refused(raddle("explain", {kept().one, untimed}), {"B was run without timing"});
}

TEST(KeptReport, DrawsWhatTheReportDrewLessWhatWasNotKept) {
  const Outcome outcome = raddle("report", {kept().both, "-o", kept().page});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("report: "));
  const Json again = data_of(kept().page), drawn = data_of(kept().folder / "drawn.html");
  ASSERT_EQ(again["runs"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    for (const char* member : {"label", "core_clock_mhz", "result"})
      EXPECT_EQ(again["runs"][i][member], drawn["runs"][i][member]) << member;
  EXPECT_EQ(again["runs"][1]["difference"], drawn["runs"][1]["difference"]);
  EXPECT_THAT(again["kept"].dump(), HasSubstr("not drawn: activity over time"));
}

TEST(KeptReport, TheFirstFileOrTheOneNamedIsTheBaseline) {
  const auto first = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {kept().one, kept().both, "--quiet", "-o", kept().page};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(raddle("report", words).status, 0);
    return data_of(kept().page)["runs"][0]["label"].get<std::string>();
  };
  EXPECT_EQ(first({}), "warp=lrr");
  EXPECT_EQ(first({"--baseline", kept().both}), "lrr");
  EXPECT_EQ(first({"--baseline", "gto"}), "gto");
  expect_refused(raddle("report", {kept().both, "--baseline", "x", "-o", kept().page}),
                 {"--baseline", "'lrr', 'gto'", "found 'x'"});
}

TEST(KeptReport, HasTheMeansOverTheSeedsAndWhatChangesBringOfOneFile) {
  const Folder folder;
  const std::string json = folder / "s.json", page = folder / "s.html";
  ASSERT_EQ(raddle("compare vecadd size=tiny --gpu gtx480 --set sm.count=2 --policies lrr,gto "
                   "--seeds 2 --what-if l2=x2 --quiet --json",
                   {json, "--report", folder / "drawn.html"})
                .status,
            0);
  ASSERT_EQ(raddle("report", {json, "--quiet", "-o", page}).status, 0);
  const Json again = data_of(page), drawn = data_of(folder / "drawn.html");
  for (const auto& [table, of] : {std::pair{"over_seeds", "speedup"}, {"what_if", "policies"}}) {
    ASSERT_EQ(again[table].size(), drawn[table].size()) << table;
    ASSERT_FALSE(again[table].empty()) << table;
    for (std::size_t i = 0; i < again[table].size(); ++i)
      EXPECT_EQ(again[table][i][of], drawn[table][i][of]) << table;
  }
  ASSERT_EQ(again["runs"].size(), drawn["runs"].size()) << "runs on changed machines are no more";
  for (std::size_t i = 0; i < again["runs"].size(); ++i)
    EXPECT_EQ(again["runs"][i]["label"], drawn["runs"][i]["label"]);
  EXPECT_THAT(read_file(page), HasSubstr("<td>gto, seed 2</td>")) << "also without scripts";
  EXPECT_THAT(raddle("explain", {json}).out, AllOf(HasSubstr("seed 1"), HasSubstr("seed 2")));
  ASSERT_EQ(raddle("report", {kept().one, json, "--quiet", "-o", page}).status, 0);
  const Json both = data_of(page);
  EXPECT_TRUE(both["over_seeds"].empty() && both["what_if"].empty());
  EXPECT_THAT(both["kept"].dump(),
              AllOf(HasSubstr("the means over the seeds of "), HasSubstr("what changes of")));
}

TEST(KeptReport, WhatCannotBeDrawnIsRefusedAndNothingWritten) {
  const std::string page = kept().folder / "none.html";
  const std::string paper =
      kept().folder.write("paper.json", R"({"schema":1,"kind":"reproduction"})");
  expect_refused(raddle("report", {kept().one, paper, "-o", page}), {"found both"});
  expect_refused(raddle("report", {kept().one, kept().one, "-o", page}), {"named twice"});
  const std::string spoilt = kept().folder.write("spoilt.json", R"({"schema":1,"totals":3})");
  const Outcome many = raddle("report", {spoilt, "-o", page});
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, HasSubstr("spoilt.json: totals: expected an object, found 3"));
  EXPECT_FALSE(std::filesystem::exists(page));
  expect_refused(raddle("report", {kept().one, "-o", kept().folder / "no/page.html"}), {"no"});
}

}  // namespace
}  // namespace raddle::test::explain_test

#include "raddle/report/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "raddle/base/rng.h"
#include "samples.h"

namespace raddle::report::difference_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json kernel_json(const std::string& name, std::int64_t start, std::int64_t cycles) {
  return {{"name", name},
          {"start_cycle", start},
          {"end_cycle", start + cycles},
          {"cycles", cycles},
          {"execution_cycles", cycles},
          {"dram_bytes", 0},
          {"stalls", {{"issued", 0}, {"memory", 0}, {"lsu", 0}}},
          {"details", {{"l1d_misses", 0}, {"l1d_refused", {{"mshr", 0}, {"way", 0}}}}}};
}

/// Two schedulers, kernels one after the other, cycle `gap` between them.
Json result_of(std::vector<std::pair<std::string, std::int64_t>> kernels, std::int64_t gap = 0) {
  Json out = {{"schema", 1},
              {"config", {{"core_clock_mhz", 1000.0}, {"policy", {{"warp", {{"name", "lrr"}}}}}}},
              {"workload", {{"name", "bfs"}, {"parameters", {{"size", "tiny"}}}}},
              {"timed", true},
              {"schedulers", 2},
              {"kernels", Json::array()}};
  std::int64_t at = 0;
  for (const auto& [name, cycles] : kernels) {
    out["kernels"].push_back(kernel_json(name, at, cycles));
    at += cycles + gap;
  }
  out["totals"]["cycles"] = at - gap;
  out["stalls"] = {{"issued", 0}, {"idle", 2 * (at - gap)}};
  return out;
}

/// "title difference" of each part.
std::vector<std::string> texts(const Waterfall& of) {
  std::vector<std::string> out;
  for (const DifferencePart& part : of.parts)
    out.push_back(part.title + " " + std::to_string(part.difference()));
  return out;
}

TEST(Difference, KernelsGapsAndOverlapsSumToTheWhole) {
  const Json a = result_of({{"first", 100}, {"second", 200}}, 10);
  const Json b = result_of({{"first", 150}, {"second", 190}, {"third", 7}}, 4);
  const Difference of = difference_of(a, b);
  EXPECT_EQ(of.kernels.a, 310);
  EXPECT_EQ(of.kernels.b, 355);
  EXPECT_THAT(texts(of.kernels),
              ElementsAre("first 50", "second -10", "third 7", "no launch under way -2"));
  Json together = a;
  together["kernels"][1]["start_cycle"] = 50;
  together["kernels"][1]["end_cycle"] = 250;
  together["totals"]["cycles"] = 250;
  EXPECT_THAT(texts(difference_of(a, together).kernels),
              ElementsAre("second 0", "first 0", "counted twice where launches overlap -50",
                          "no launch under way -10"));
}

TEST(Difference, OfLaunchesSummedByKernelTheRestHasOneName) {
  Json a = result_of({{"first", 100}}, 0), b = result_of({{"first", 70}}, 0);
  a["kernels_by_name"] = a["kernels"];
  a["kernels"] = Json::array();
  a["totals"]["cycles"] = 130;
  EXPECT_THAT(texts(difference_of(a, b).kernels),
              ElementsAre("first -30", "between kernels, less what overlaps -30"));
}

TEST(Difference, SchedulerCyclesOfAllSchedulersAreOneCycle) {
  Json a = result_of({{"k", 100}}), b = result_of({{"k", 90}});
  a["kernels"][0]["stalls"] = {{"issued", 40}, {"memory", 101}, {"lsu", 1}};
  b["kernels"][0]["stalls"] = {{"issued", 40}, {"memory", 41}, {"lsu", 31}};
  b["kernels"][0]["execution_cycles"] = 85;
  const Waterfall of = difference_of(a, b).of_kernels.at(0).schedulers;
  EXPECT_THAT(texts(of), ElementsAre("memory -30", "load/store unit 15", "issued 0",
                                     "before its first block and after its last 5",
                                     "no warp of it on the scheduler 0"));
}

TEST(Difference, AllocationsOfOneNameAndSizeAreOneAnothersWhateverTheirAddress) {
  Json a = result_of({{"k", 100}}), b = a;
  const auto row = [](const char* name, const char* address, int bytes, int read) {
    return Json{{"name", name},
                {"address", address},
                {"bytes", bytes},
                {"arguments", {{"k", {2}}}},
                {"kernels", {{"k", {{"dram_read_bytes", read}, {"dram_written_bytes", 5}}}}}};
  };
  a["analysis"]["allocations"]["rows"] = {row("allocation 1", "0x10", 64, 300),
                                          row("allocation 2", "0x90", 64, 10)};
  b["analysis"]["allocations"]["rows"] = {row("allocation 1", "0x50", 64, 100),
                                          row("allocation 2", "0x90", 32, 10)};
  a["kernels"][0]["dram_bytes"] = 330;
  b["kernels"][0]["dram_bytes"] = 120;
  const KernelDifference of = difference_of(a, b).of_kernels.at(0);
  ASSERT_TRUE(of.dram_bytes);
  EXPECT_THAT(texts(*of.dram_bytes),
              ElementsAre("allocation 1 (argument 2) -200", "allocation 2 (argument 2) -15",
                          "allocation 2 (argument 2) 15", "of no allocation -10"));
  b.erase("analysis");
  const Difference without = difference_of(a, b);
  EXPECT_FALSE(without.of_kernels.at(0).dram_bytes);
  EXPECT_THAT(without.notes, testing::Contains("no traffic by allocation in B"));
}

Json line_json(int line, int warps) {
  return {{"line", line}, {"instruction", "add"}, {"warps", {{"memory", warps}}}};
}

TEST(Difference, LinesDivideTheCyclesOfTheKernelAndKnowTheirError) {
  Json a = result_of({{"k", 1000}}), b = result_of({{"k", 1000}});
  for (Json* one : {&a, &b})
    (*one)["analysis"]["source"] = {{"looks", 100}, {"kernels", {{"k", {{"file", "x.ptx"}}}}}};
  a["analysis"]["source"]["kernels"]["k"]["lines"] = {line_json(1, 75), line_json(2, 25)};
  b["analysis"]["source"]["kernels"]["k"]["lines"] = {line_json(1, 50), line_json(3, 50)};
  const Difference of = difference_of(a, b);
  ASSERT_TRUE(of.of_kernels.at(0).lines);
  EXPECT_THAT(texts(*of.of_kernels.at(0).lines),
              ElementsAre("x.ptx:3 add 500", "x.ptx:1 add -250", "x.ptx:2 add -250"));
  // 1000 sqrt(p (1 - p) / 100) of both sides.
  EXPECT_NEAR(of.of_kernels[0].lines->parts[1].error, 100 * std::hypot(std::sqrt(0.1875), 0.5),
              1e-9);
  EXPECT_EQ(of.looks_a, 100u);
}

TEST(Difference, WhatIsNotAlikeIsSaid) {
  Json a = result_of({{"k", 10}}), b = a;
  EXPECT_EQ(work_that_differs(a, b), "");
  b["config"]["core_clock_mhz"] = 500.0;
  b["config"]["name"] = "v100";
  b["workload"]["parameters"]["size"] = "small";
  b["workload"]["result"] = "wrong";
  const std::string notes = testing::PrintToString(difference_of(a, b).notes);
  EXPECT_THAT(notes, HasSubstr("not the same work: size tiny and small"));
  EXPECT_THAT(notes, HasSubstr("A has 1000 MHz, B 500 MHz"));
  EXPECT_THAT(notes, HasSubstr("not the same machine: unnamed and v100"));
  EXPECT_THAT(notes, HasSubstr("the result of B is wrong"));
  b = a;
  a["workload"]["input_hash"] = "1";
  b["workload"]["input_hash"] = "2";
  EXPECT_THAT(work_that_differs(a, b), HasSubstr("input_hash"));
}

TEST(Difference, SettingsOfAnotherPolicyAreNotListed) {
  const Json a = Json::parse(
      R"({"sm":{"ways":4},"policy":{"throttle":{"name":"none"},"warp":{"name":"gto","k":1}}})");
  const Json b = Json::parse(
      R"({"sm":{"ways":8},
          "policy":{"throttle":{"name":"swl","limit":3},"warp":{"name":"gto","k":2}}})");
  EXPECT_THAT(settings_that_differ(a, b), ElementsAre("policy.throttle.name none -> swl",
                                                      "policy.warp.k 1 -> 2", "sm.ways 4 -> 8"));
  EXPECT_THAT(settings_that_differ(a, a), IsEmpty());
}

TEST(WhyNotExplained, NamesWhatCannotBeCompared) {
  const Json a = result_of({{"k", 10}});
  const auto why = [&](const std::function<void(Json&)>& change) {
    Json b = a;
    change(b);
    return why_not_explained(a, b);
  };
  EXPECT_EQ(why([](Json&) {}), "");
  EXPECT_THAT(why([](Json& b) { b["tenants"] = {{{"name", "x"}}}; }), HasSubstr("co-run"));
  EXPECT_THAT(why([](Json& b) { b["timed"] = false; }), HasSubstr("B was run without timing"));
  EXPECT_THAT(why([](Json& b) {
                b["sampling"] = {{"launches_estimated", 3}};
              }),
              HasSubstr("estimated"));
  EXPECT_THAT(why([](Json& b) { b["sampling"] = {{"launches_estimated", 0}}; }), IsEmpty());
  EXPECT_THAT(why([](Json& b) { b["kernels"][0]["name"] = "other"; }),
              HasSubstr("no kernel is in both"));
}

/// Anything a result may say, and some things that it never does.
Json random_result(Rng& rng) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(rng.below(n)); };
  std::vector<std::pair<std::string, std::int64_t>> kernels;
  const std::uint64_t many = 1 + rng.below(20);
  for (std::uint64_t i = 0; i < many; ++i)
    kernels.emplace_back("k" + std::to_string(rng.below(16)), 1 + below(100'000));
  Json out = result_of(kernels, below(3) * 700);
  out["kernels"][0]["name"] = "k0";  // in every one
  out["schedulers"] = 1 + below(600);
  out["totals"]["cycles"] = out["totals"]["cycles"].get<std::int64_t>() + below(1000);
  for (auto& [reason, n] : out["stalls"].items()) n = below(100'000'000);
  out["analysis"]["source"] = {{"looks", 1 + below(300)}, {"kernels", Json::object()}};
  out["analysis"]["allocations"]["rows"] = Json::array();
  for (Json& kernel : out["kernels"]) {
    if (rng.below(4) == 0) kernel["start_cycle"] = below(1000);
    kernel["execution_cycles"] = below(100'000);
    kernel["dram_bytes"] = below(1'000'000);
    for (auto& [reason, n] : kernel["stalls"].items()) n = below(50'000'000);
    for (auto& [cause, n] : kernel["details"]["l1d_refused"].items()) n = below(1'000'000);
    Json& profile = out["analysis"]["source"]["kernels"][kernel["name"].get<std::string>()];
    profile = {{"file", "x.ptx"}, {"lines", Json::array()}};
    for (int line = 0; line < below(40); ++line)
      profile["lines"].push_back(
          line_json(static_cast<int>(below(50)), static_cast<int>(below(9))));
    Json row = {{"name", "allocation " + std::to_string(below(20))}, {"bytes", 64}};
    row["kernels"][kernel["name"].get<std::string>()] = {{"dram_read_bytes", below(1'000'000)},
                                                         {"l1d_misses", below(1000)}};
    out["analysis"]["allocations"]["rows"].push_back(std::move(row));
  }
  return out;
}

void expect_sums(const Waterfall& of) {
  std::int64_t a = 0, b = 0, difference = 0;
  for (const DifferencePart& part : of.parts) {
    a += part.a;
    b += part.b;
    difference += part.difference();
    EXPECT_FALSE(part.title.empty());
    EXPECT_TRUE(std::isfinite(part.error));
  }
  EXPECT_EQ(a, of.a);
  EXPECT_EQ(b, of.b);
  EXPECT_EQ(difference, of.difference());
}

TEST(DifferenceProperty, EveryWaterfallOfAnyTwoResultsSumsAndTurnsRound) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Json a = random_result(rng), b = random_result(rng);
    const Difference of = difference_of(a, b), back = difference_of(b, a);
    EXPECT_EQ(of.kernels.difference(), b["totals"]["cycles"].get<std::int64_t>() -
                                           a["totals"]["cycles"].get<std::int64_t>());
    EXPECT_EQ(back.kernels.difference(), -of.kernels.difference());
    EXPECT_EQ(of.schedulers.difference(), of.kernels.difference());
    expect_sums(of.kernels);
    expect_sums(of.schedulers);
    ASSERT_FALSE(of.of_kernels.empty());
    std::int64_t before = ~std::uint64_t{0} >> 1;
    for (const KernelDifference& kernel : of.of_kernels) {
      EXPECT_LE(std::abs(kernel.schedulers.difference()), before) << "largest first";
      before = std::abs(kernel.schedulers.difference());
      for (const Waterfall* one : {&kernel.schedulers, &kernel.refused}) expect_sums(*one);
      for (const auto* one : {&kernel.dram_bytes, &kernel.l1d_misses, &kernel.lines})
        if (*one) expect_sums(**one);
      if (kernel.lines) {
        EXPECT_EQ(kernel.lines->difference(), kernel.schedulers.difference());
      }
    }
  }
}

TEST(DifferenceProperty, APartOfSchedulersIsOffByLessThanACycle) {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    const Json a = random_result(rng), b = random_result(rng);
    const double schedulers = a["schedulers"].get<double>();
    for (const DifferencePart& part : difference_of(a, b).schedulers.parts) {
      if (part.name.empty()) continue;
      const double exact = a["stalls"].value(part.name, 0.0) / schedulers;
      EXPECT_LT(std::abs(static_cast<double>(part.a) - exact), 1.0);
    }
  }
}

TEST(Explanation, SaysWhatWasChangedAndNumbersThatSum) {
  Json a = result_of({{"expand", 1000}, {"advance", 500}}),
       b = result_of({{"expand", 800}, {"advance", 520}});
  a["kernels"][0]["stalls"] = {{"issued", 400}, {"memory", 1500}, {"lsu", 100}};
  b["kernels"][0]["stalls"] = {{"issued", 400}, {"memory", 900}, {"lsu", 300}};
  b["config"]["policy"]["warp"]["name"] = "gto";
  const std::string text =
      explanation({"lrr", "a.json", &a}, {"gto", "b.json", &b}, difference_of(a, b));
  EXPECT_THAT(text, HasSubstr("bfs size=tiny: B takes 180 cycles less than A, 1,320 instead of "
                              "1,500 (1.136 times as fast)\n"));
  EXPECT_THAT(text, HasSubstr("B  gto (b.json): policy.warp.name lrr -> gto\n"));
  EXPECT_THAT(text, HasSubstr("-180 cycles    = expand -200, advance +20\n"));
  EXPECT_THAT(text, HasSubstr("-200 cycles    = memory -300, load/store unit +100\n"));
  EXPECT_THAT(text, HasSubstr("Note: no source lines in A and B.\n"));
  EXPECT_THAT(text, Not(HasSubstr("sampled")));
  EXPECT_THAT(explanation({"", "", &a}, {"", "", &a}, difference_of(a, a)),
              HasSubstr("B takes as many cycles as A, 1,500"));
}

TEST(DifferenceOnPage, NamesItsBaseAndSaysWhyThereIsNone) {
  const Json a = result_of({{"k", 10}}), b = result_of({{"k", 12}});
  const Json of = difference_on_page(a, b, 3);
  EXPECT_EQ(of["base"], 3);
  EXPECT_EQ(of["kernels"]["parts"][0], Json({{"name", "k"}, {"title", "k"}, {"a", 10}, {"b", 12}}));
  Json other = b;
  other["timed"] = false;
  const Json none = difference_on_page(a, other, 0);
  EXPECT_THAT(none["why"].get<std::string>(), HasSubstr("without timing"));
  EXPECT_FALSE(none.contains("kernels"));
  Json shared = a;
  shared["tenants"] = {{{"name", "x"}}};
  const Json of_shared = difference_on_page(shared, shared, 0);
  EXPECT_TRUE(of_shared.contains("schedulers"));
  EXPECT_FALSE(of_shared.contains("kernels")) << "launches of tenants are not told";
}

}  // namespace
}  // namespace raddle::report::difference_test

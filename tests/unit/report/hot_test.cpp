// What a kept result spends most on: order, shares, and what is said of what it lacks.
#include "raddle/report/hot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/report/kept.h"
#include "samples.h"

namespace raddle::report::hot_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// 300 cycles of two schedulers; the second kernel has two launches.
Json kept() {
  sim::Result result = small_result();
  result.kernels.push_back(kernel("second", 300, 360));
  result.policies["warp"]["name"] = "gto";
  const auto stall = [](sim::KernelResult& of, stats::Stall why, std::uint64_t cycles) {
    of.counters.sm.stall[static_cast<unsigned>(why)] = cycles;
  };
  stall(result.kernels[0], stats::Stall::Barrier, 100);
  stall(result.kernels[1], stats::Stall::Memory, 250);
  stall(result.kernels[2], stats::Stall::Memory, 50);
  stall(result.kernels[2], stats::Stall::Lsu, 20);
  result.totals.sm.issued = 150;
  result.totals.scheduler.stall[static_cast<unsigned>(stats::Stall::Memory)] = 300;
  result.totals.scheduler.stall[static_cast<unsigned>(stats::Stall::Idle)] = 150;
  return sim::to_json(result);
}

Json line(unsigned number, const char* instruction, Json warps, unsigned awaited = 0) {
  return {{"line", number},
          {"instruction", instruction},
          {"issued", 10},
          {"memory_lines", 0},
          {"thread_instructions", 320},
          {"l1d_hits", 0},
          {"l1d_pending_hits", 0},
          {"l1d_misses", 0},
          {"warps", std::move(warps)},
          {"awaited", awaited}};
}

Json of_source(Json line, const char* file, unsigned number) {
  line["source"] = {{"file", file}, {"line", number}};
  return line;
}

Json row(const char* name, unsigned dram, unsigned loads, unsigned hits, unsigned misses) {
  Json out = {{"name", name}, {"bytes", 4096}, {"kernels", Json::object()}};
  for (const char* key : {"stores", "atomics", "l1d_pending_hits", "l2_hits", "l2_pending_hits",
                          "l2_misses", "dram_written_bytes"})
    out[key] = 0;
  out["loads"] = loads;
  out["l1d_hits"] = hits;
  out["l1d_misses"] = misses;
  out["dram_read_bytes"] = dram;
  return out;
}

/// As a file would hold it: what the reader refuses must not get here.
Hot hot(const Json& result) {
  const std::vector<KeptRun> runs = read_kept(result, "a.json").runs;
  EXPECT_EQ(why_not_hot(runs.at(0).result), "");
  return hot_of(runs.at(0).result);
}

TEST(Hot, KernelsAreSummedAndTheLongestIsFirst) {
  const Hot found = hot(kept());
  EXPECT_EQ(found.cycles, 300u);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(found.kernels[0].name, "second");
  EXPECT_EQ(found.kernels[0].launches, 2u);
  EXPECT_EQ(found.kernels[0].amount, 150u + 60);
  EXPECT_DOUBLE_EQ(found.kernels[0].share, 0.7);
  EXPECT_EQ(found.kernels[1].name, "first");
  EXPECT_DOUBLE_EQ(found.kernels[1].share, 0.5) << "launches that overlap count each";
}

TEST(Hot, WhatIsLostMostIsAShareOfTheKernelsSchedulerCycles) {
  const Hot found = hot(kept());
  EXPECT_EQ(found.kernels[0].lost_to.name, "memory");
  EXPECT_DOUBLE_EQ(found.kernels[0].lost_to.share, 300. / (100 + 250 + 100 + 50 + 20));
  EXPECT_EQ(found.kernels[1].lost_to.name, "barrier")
      << "not what was issued, though it is as much";
  EXPECT_EQ(found.lost_to.name, "memory");
  EXPECT_DOUBLE_EQ(found.lost_to.share, 0.5);
  EXPECT_DOUBLE_EQ(found.issued, 0.25);
}

TEST(Hot, SumsByKernelSayTheSameAsSingleLaunches) {
  sim::Result result = small_result();
  result.kernels.push_back(kernel("second", 300, 360));
  const Json single = sim::to_json(result), sums = sim::to_json(result, 1);
  ASSERT_TRUE(sums.contains("kernels_by_name"));
  EXPECT_EQ(to_json(hot(single), 0), to_json(hot(sums), 0));
}

TEST(Hot, LinesAreOfTheCudaSourceWhereItIsNamedAndThoseOfTwoKernelsAreOne) {
  Json result = kept();
  result["analysis"]["source"] = {{"looks", 9}, {"kernels", Json::object()}};
  Json& kernels = result["analysis"]["source"]["kernels"];
  kernels["first"] = {{"file", "a.ptx"},
                      {"lines",
                       {line(4, "ld.global.u32", {{"lsu", 5}}, 60),
                        of_source(line(5, "add.s32", {{"memory", 30}, {"ready", 5}}), "a.cu", 7),
                        line(6, "exit", Json::object())}}};
  kernels["second"] = {{"file", "a.ptx"},
                       {"lines",
                        {of_source(line(15, "mul.s32", {{"memory", 20}}), "a.cu", 7),
                         of_source(line(16, "st.global", {{"ready", 40}}), "a.cu", 8)}}};
  const Hot found = hot(result);
  ASSERT_TRUE(found.lines.has_value());
  ASSERT_EQ(found.lines->size(), 3u) << "exit has cost nothing";
  const HotLine &load = (*found.lines)[0], &both = (*found.lines)[1], &store = (*found.lines)[2];
  EXPECT_EQ(load.instruction, "ld.global.u32");
  EXPECT_EQ(load.file, "");
  EXPECT_DOUBLE_EQ(load.share, 0.05);
  EXPECT_DOUBLE_EQ(load.awaited, 0.6) << "the larger of both puts it first";
  EXPECT_EQ(both.file, "a.cu");
  EXPECT_EQ(both.line, 7u);
  EXPECT_THAT(both.kernels, ElementsAre("first", "second"));
  EXPECT_DOUBLE_EQ(both.share, 0.55);
  EXPECT_EQ(both.waits.name, "memory");
  EXPECT_DOUBLE_EQ(both.waits.share, 50. / 55);
  EXPECT_EQ(store.waits.name, "ready");
}

TEST(Hot, AllocationsByTheirTrafficWithDramThenByTheirAccesses) {
  Json result = kept();
  result["analysis"]["allocations"] = {
      {"known", true},
      {"rows",
       {row("quiet", 0, 0, 0, 0), row("cached", 0, 30, 30, 0), row("read", 960, 10, 0, 10),
        row("more", 320, 60, 15, 45)}}};
  const Hot found = hot(result);
  ASSERT_TRUE(found.allocations.has_value());
  std::vector<std::string> names;
  for (const HotAllocation& one : *found.allocations) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("read", "more", "cached"));
  EXPECT_DOUBLE_EQ(found.allocations->front().dram_share, 0.75);
  EXPECT_DOUBLE_EQ((*found.allocations)[1].access_share, 0.6);
  EXPECT_DOUBLE_EQ((*found.allocations)[1].l1d_hit_rate.value(), 0.25);
  EXPECT_FALSE((*found.allocations)[1].l2_hit_rate.has_value()) << "nothing has asked the L2";
}

TEST(Hot, SaysWhichOptionMakesARunKeepWhatIsNotThere) {
  EXPECT_THAT(hot(kept()).lacking,
              ElementsAre("lines and allocations are not in this file: add --report PAGE.html to "
                          "the run"));
  Json result = kept();
  result["analysis"]["source"] = {{"looks", 1}, {"kernels", Json::object()}};
  EXPECT_THAT(hot(result).lacking, ElementsAre(HasSubstr("allocations are not in this file")));
  EXPECT_THAT(hot(result).lines.value(), IsEmpty());
  result["analysis"]["allocations"] = {{"known", true}, {"rows", Json::array()}};
  EXPECT_THAT(hot(result).lacking, IsEmpty());
}

TEST(Hot, OfSampledRunsSharesAreOfWhatWasTimed) {
  Json result = kept();
  result["config"]["run"]["sampling_error"] = 0.03;
  result["sampling"] = {{"launches_timed", 3},
                        {"launches_estimated", 7},
                        {"cycles_half_width", 10},
                        {"confidence", 0.95},
                        {"timed_totals", result["totals"]}};
  result["totals"]["cycles"] = 3000;
  const Hot found = hot(result);
  EXPECT_EQ(found.cycles, 300u);
  EXPECT_DOUBLE_EQ(found.kernels[0].share, 0.7);
  EXPECT_THAT(found.lacking,
              ElementsAre(HasSubstr("without --sampling-error"), HasSubstr("7 were estimated")));
}

TEST(Hot, LaunchesThatWereNotTimedAreSaid) {
  Json result = kept();
  const std::size_t before = hot(result).lacking.size();
  result["launches_left_out"] = 50;
  const std::vector<std::string> lacking = hot(result).lacking;
  ASSERT_EQ(lacking.size(), before + 1);
  EXPECT_THAT(lacking.back(), HasSubstr("of the first launches; 50 more were not timed"));
}

TEST(Hot, OfACorunTenantsStandWhereKernelsDo) {
  Json result = kept();
  result["kernels"] = Json::array();
  result["tenants"] = {{{"name", "bfs"},
                        {"warp_instructions", 100},
                        {"kernels_completed", 2},
                        {"stalls", {{"memory", 250}, {"launch", 0}}}},
                       {{"name", "spmv"}, {"warp_instructions", 300}, {"kernels_completed", 1}}};
  const Hot found = hot(result);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(found.kernels[0].name, "spmv");
  EXPECT_DOUBLE_EQ(found.kernels[0].share, 0.75);
  EXPECT_EQ(found.kernels[1].lost_to.name, "memory");
  EXPECT_DOUBLE_EQ(found.kernels[1].lost_to.share, 250. / 350);
  EXPECT_TRUE(to_json(found, 0).contains("tenants"));
  EXPECT_THAT(found.lacking, ElementsAre(HasSubstr("lines are not in this file")))
      << "a co-run has no traffic by allocation, whatever it is told";
}

TEST(Hot, JsonHasTheFirstOfEachListAndHowManyThereAre) {
  const Json all = to_json(hot(kept()), 0), one = to_json(hot(kept()), 1);
  EXPECT_EQ(all["kernels"].size(), 2u);
  ASSERT_EQ(one["kernels"].size(), 1u);
  EXPECT_EQ(one["kernels"][0]["name"], "second");
  EXPECT_EQ(one["of"]["kernels"], 2);
  EXPECT_TRUE(one["lines"].is_null());
  EXPECT_TRUE(one["of"]["lines"].is_null());
}

TEST(Hot, WhatWasNotTimedIsNotHot) {
  Json result = kept();
  result["timed"] = false;
  EXPECT_THAT(why_not_hot(result), HasSubstr("without timing"));
}

}  // namespace
}  // namespace raddle::report::hot_test

// The result JSON: what its numbers are made of, and what its hash covers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include "raddle/sim/result/result.h"
#include "raddle/sim/result/version.h"
#include "raddle_paths.h"

namespace raddle::sim::result_json_test {
namespace {

Result sample() {
  Result r;
  r.workload = "w";
  r.cycles = 1000;
  r.schedulers = 4;
  r.totals.sm.issued = 1500;
  r.totals.sm.thread_instructions = 40000;
  r.totals.scheduler.stall[0] = 2500;
  r.totals.sm.l1d_accesses = 200;
  r.totals.sm.l1d_hits = 150;
  r.totals.sm.l1d_pending_hits = 10;
  r.totals.sm.l1d_misses = 40;
  r.totals.l2.reads = 30;
  r.totals.l2.writes = 9;
  r.totals.l2.atomics = 1;
  r.totals.l2.hits = 10;
  r.totals.request.bytes = 100;
  r.totals.reply.bytes = 11;
  r.kernels.push_back({});
  r.kernels[0].name = "k";
  r.kernels[0].start = 100;
  r.kernels[0].end = 600;
  return r;
}

TEST(ResultJson, DerivedFiguresFollowTheirDefinitions) {
  const auto t = to_json(sample())["totals"];
  EXPECT_DOUBLE_EQ(t["ipc"].get<double>(), 40.0);
  EXPECT_DOUBLE_EQ(t["l1d_hit_rate"].get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(t["l1d_mpki"].get<double>(), 1.0)
      << "misses per thousand thread instructions, pending hits apart";
  EXPECT_EQ(t["l2_accesses"], 40);
  EXPECT_DOUBLE_EQ(t["l2_hit_rate"].get<double>(), 0.25);
  EXPECT_EQ(t["noc_bytes"], 111);
}

TEST(ResultJson, StallsAndIssuedFillTheSchedulerCycles) {
  const auto stalls = to_json(sample())["stalls"];
  std::uint64_t sum = 0;
  for (const auto& [name, cycles] : stalls.items()) sum += cycles.get<std::uint64_t>();
  EXPECT_EQ(sum, 4000u);
}

TEST(ResultJson, NothingIsDividedByZero) {
  const auto t = to_json(Result{})["totals"];
  for (const char* key : {"ipc", "l1d_hit_rate", "l1d_mpki", "l2_hit_rate"})
    EXPECT_EQ(t[key].get<double>(), 0) << key;
}

TEST(ResultJson, WhatIsZeroIsWritten) {
  for (const char* key : {"request_token_wait_cycles", "starved_token_intervals"}) {
    const auto json = to_json(sample());
    EXPECT_EQ(json["details"].at(key), 0) << key;
    EXPECT_EQ(json["kernels"][0]["details"].at(key), 0) << key;
  }
}

TEST(ResultJson, KernelsHaveTheirOwnCycles) {
  EXPECT_EQ(to_json(sample())["kernels"][0]["cycles"], 500);
}

TEST(ResultJson, CyclesFromTheFirstBlockToTheLastStandBesideThem) {
  Result r = sample();
  KernelResult& k = r.kernels[0];
  k.first = 300;
  k.last = 580;
  k.counters.sm.thread_instructions = 2800;
  k.counters.sm.stall[static_cast<unsigned>(stats::Stall::Memory)] = 7;
  for (const std::size_t limit : {kMaxSingleLaunches, std::size_t{0}}) {
    const auto json = to_json(r, limit);
    const auto& kernel = json[limit == 0 ? "kernels_by_name" : "kernels"][0];
    EXPECT_EQ(kernel["execution_cycles"], 280);
    EXPECT_DOUBLE_EQ(kernel["execution_ipc"].get<double>(), 10.0);
    EXPECT_DOUBLE_EQ(kernel["ipc"].get<double>(), 5.6) << "of all its cycles, as ever";
    EXPECT_EQ(kernel["stalls"]["memory"], 7);
    EXPECT_FALSE(kernel["stalls"].contains("launch")) << "no kernel's warp was there";
  }
}

TEST(ResultJson, ATitleIsTheNameAsItsAuthorWroteIt) {
  Result r = sample();
  r.kernels[0].name = "_Z4fillILi3EEvPfi";
  const auto kernel = to_json(r)["kernels"][0];
  EXPECT_EQ(kernel["name"], "_Z4fillILi3EEvPfi");
  EXPECT_EQ(kernel["title"], "fill<3>(float*, int)");
}

TEST(ResultJson, TheHashIgnoresTheHostAndNothingElse) {
  const std::string hash = to_json(sample())["state_hash"];
  Result r = sample();
  r.host.wall_seconds = 3;
  r.host.threads = 8;
  r.host.peak_rss_bytes = 1;
  EXPECT_EQ(to_json(r)["state_hash"], hash);
  r = sample();
  ++r.totals.dram.row_hits;
  r.component_hash = 1;
  EXPECT_NE(to_json(r)["state_hash"], hash);
  r = sample();
  r.kernels[0].end = 601;
  EXPECT_NE(to_json(r)["state_hash"], hash);
  r = sample();
  r.verdict = Result::Verdict::Wrong;
  EXPECT_NE(to_json(r)["state_hash"], hash);
}

TEST(ResultJson, AWrongResultSaysWhatDiffers) {
  Result r = sample();
  r.verdict = Result::Verdict::Wrong;
  r.difference = "element 3";
  const auto workload = to_json(r)["workload"];
  EXPECT_EQ(workload["result"], "wrong");
  EXPECT_EQ(workload["difference"], "element 3");
  EXPECT_FALSE(to_json(sample())["workload"].contains("difference"));
}

/// The hash's own definition: XXH64 of the text of all but a few members.
std::string hash_of_text(nlohmann::ordered_json json) {
  for (const char* left_out : {"host", "analysis", "state_hash"}) json.erase(left_out);
  json["raddle_version"] = RADDLE_VERSION;
  const std::string text = json.dump();
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

TEST(ResultJson, TheHashIsThatOfTheTextWithTheReleaseInPlaceOfTheSources) {
  const auto json = to_json(sample());
  EXPECT_EQ(json["raddle_version"], version());
  EXPECT_EQ(json["state_hash"], hash_of_text(json));
  EXPECT_EQ(to_json(Result{})["state_hash"], hash_of_text(to_json(Result{})));
}

TEST(Version, IsTheReleaseWithTheHashOfTheSources) {
  EXPECT_EQ(version(), std::string(RADDLE_VERSION) + "+" + std::string(sources_hash()));
  EXPECT_EQ(sources_hash().size(), 16u);
  EXPECT_EQ(sources_hash().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

// --- many launches -------------------------------------------------------------------------------

/// Launches of three kernels in turn, every second one of a kernel's making.
Result many(std::size_t launches) {
  Result r = sample();
  r.kernels.clear();
  r.totals = {};
  for (std::size_t i = 0; i < launches; ++i) {
    KernelResult k;
    k.name = std::string(1, static_cast<char>('c' - i % 3));
    k.start = 10 * i;
    k.end = k.start + 5 + i;
    k.counters.sm.issued = k.warp_instructions = i + 1;
    k.counters.sm.thread_instructions = k.thread_instructions = 32 * (i + 1);
    k.counters.dram.bytes = 7 * i;
    k.energy.femtojoule[2] = 1000 * i;
    if (i % 2 == 1) k.parent = KernelParent{0, {}};
    stats::accumulate(r.totals, k.counters);
    r.kernels.push_back(std::move(k));
  }
  return r;
}

TEST(ManyLaunches, UpToTheLimitEachIsTold) {
  const auto json = to_json(many(kMaxSingleLaunches));
  EXPECT_EQ(json["kernels"].size(), kMaxSingleLaunches);
  EXPECT_FALSE(json.contains("kernels_by_name"));
  EXPECT_EQ(json["schema"], 1);
}

TEST(ManyLaunches, BeyondItTheSumsAreAndTheyAddUpToTheTotals) {
  const auto json = to_json(many(kMaxSingleLaunches + 1));
  EXPECT_TRUE(json["kernels"].empty());
  ASSERT_EQ(json["kernels_by_name"].size(), 3u);
  std::uint64_t launches = 0;
  std::map<std::string, std::uint64_t> sums;
  for (const auto& group : json["kernels_by_name"]) {
    launches += group["launches"].get<std::uint64_t>();
    for (const char* key : {"warp_instructions", "thread_instructions", "dram_bytes"})
      sums[key] += group[key].get<std::uint64_t>();
  }
  EXPECT_EQ(launches, kMaxSingleLaunches + 1);
  for (const auto& [key, sum] : sums) EXPECT_EQ(sum, json["totals"][key]) << key;
}

TEST(ManyLaunches, AGroupHasTheExtremesOfItsLaunches) {
  const auto groups = groups_of(many(8).kernels);  // c: 0 3 6, b: 1 4 7, a: 2 5
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "c");
  EXPECT_EQ(groups[1].name, "b");
  EXPECT_EQ(groups[2].launches, 2u);
  EXPECT_EQ(groups[1].device_launches, 2u);
  EXPECT_EQ(groups[1].start, 10u);
  EXPECT_EQ(groups[1].end, 82u);
  EXPECT_EQ(groups[1].shortest, 6u);
  EXPECT_EQ(groups[1].longest, 12u);
  EXPECT_EQ(groups[1].cycles, 6u + 9u + 12u);
  EXPECT_EQ(groups[0].energy.femtojoule[2], 9000u);
  const auto json = to_json(many(8), 0)["kernels_by_name"][1];
  EXPECT_EQ(json["cycles_mean"], 9.0);
  EXPECT_EQ(json["cycles_min"], 6);
  EXPECT_EQ(json["cycles_max"], 12);
}

TEST(ManyLaunches, TheHashCoversEachOneHoweverManyAreTold) {
  const Result r = many(30);
  const auto all = to_json(r, kAllLaunches);
  EXPECT_EQ(all["state_hash"], hash_of_text(all));
  for (const std::size_t notified : {0u, 29u, 30u})
    EXPECT_EQ(to_json(r, notified)["state_hash"], all["state_hash"]) << notified;
  Result other = many(30);
  ++other.kernels[17].counters.l2.hits;
  EXPECT_NE(to_json(other, 0)["state_hash"], all["state_hash"]);
}

}  // namespace
}  // namespace raddle::sim::result_json_test

// The result JSON: what its numbers are made of, and what its hash covers.
#include <gtest/gtest.h>

#include "raddle/sim/result.h"

namespace raddle::sim {
namespace {

Result sample() {
  Result r;
  r.workload = "w";
  r.cycles = 1000;
  r.schedulers = 4;
  r.totals.sm.issued = 1500;
  r.totals.sm.thread_instructions = 40000;
  r.totals.scheduler.stall[0] = 2500;
  r.totals.sm.l1d_accesses = 200, r.totals.sm.l1d_hits = 150;
  r.totals.sm.l1d_pending_hits = 10, r.totals.sm.l1d_misses = 40;
  r.totals.l2.reads = 30, r.totals.l2.writes = 9, r.totals.l2.atomics = 1, r.totals.l2.hits = 10;
  r.totals.request.bytes = 100, r.totals.reply.bytes = 11;
  r.kernels.push_back({});
  r.kernels[0].name = "k", r.kernels[0].start = 100, r.kernels[0].end = 600;
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

TEST(ResultJson, KernelsHaveTheirOwnCycles) {
  EXPECT_EQ(to_json(sample())["kernels"][0]["cycles"], 500);
}

TEST(ResultJson, TheHashIgnoresTheHostAndNothingElse) {
  const std::string hash = to_json(sample())["state_hash"];
  Result r = sample();
  r.host.wall_seconds = 3, r.host.threads = 8, r.host.peak_rss_bytes = 1;
  EXPECT_EQ(to_json(r)["state_hash"], hash);
  r = sample(), ++r.totals.dram.row_hits, r.component_hash = 1;
  EXPECT_NE(to_json(r)["state_hash"], hash);
  r = sample(), r.kernels[0].end = 601;
  EXPECT_NE(to_json(r)["state_hash"], hash);
  r = sample(), r.verdict = Result::Verdict::Wrong;
  EXPECT_NE(to_json(r)["state_hash"], hash);
}

TEST(ResultJson, AWrongResultSaysWhatDiffers) {
  Result r = sample();
  r.verdict = Result::Verdict::Wrong, r.difference = "element 3";
  const auto workload = to_json(r)["workload"];
  EXPECT_EQ(workload["result"], "wrong");
  EXPECT_EQ(workload["difference"], "element 3");
  EXPECT_FALSE(to_json(sample())["workload"].contains("difference"));
}

}  // namespace
}  // namespace raddle::sim

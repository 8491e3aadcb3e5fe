// What tenants use in each interval, and how it spreads (sim/result/use_over_time.h), by hand.
#include "raddle/sim/result/use_over_time.h"

#include <gtest/gtest.h>

#include <cmath>

namespace raddle::sim::use_over_time_test {
namespace {

/// A network of two thirds of the core's clock, as on ccbp.
policy::BandwidthFacts facts() {
  policy::BandwidthFacts out;
  out.cycles = 2.0 / 3;
  out.reply_bytes = 512;
  out.dram_bytes = 256;
  out.read_reply_bytes = 160;
  return out;
}

stats::GpuCounters counted(std::uint64_t requests, std::uint64_t reads, std::uint64_t sent,
                           std::uint64_t reply_flits, std::uint64_t dram_bytes) {
  stats::GpuCounters out;
  out.sm.requests = requests;
  out.request.kind[0].packets = reads;
  out.request.packets = sent;
  out.reply.flits = reply_flits;
  out.dram.bytes = dram_bytes;
  return out;
}

TEST(Spread, IsOfTheValuesWhateverTheirOrder) {
  const Spread spread = spread_of({{30}, {10}, {20}, {100}, {40}, {50}, {60}, {70}, {80}, {90}});
  EXPECT_DOUBLE_EQ(spread.mean, 55);
  EXPECT_NEAR(spread.deviation, 28.7228, 1e-4);
  EXPECT_DOUBLE_EQ(spread.p10, 10);
  EXPECT_DOUBLE_EQ(spread.p50, 50);
  EXPECT_DOUBLE_EQ(spread.p90, 90);
  EXPECT_DOUBLE_EQ(spread.above[0], 90) << "above 10 percent";
  EXPECT_DOUBLE_EQ(spread.above[5], 40) << "above 60 percent";
  EXPECT_DOUBLE_EQ(spread.above[9], 0) << "above 100 percent";
}

TEST(Spread, OfNothingIsNothing) {
  const Spread spread = spread_of({});
  EXPECT_EQ(spread.mean, 0);
  EXPECT_EQ(spread.p90, 0);
}

TEST(Spread, OfOneValueHasNoDeviation) {
  const Spread spread = spread_of({{61}});
  EXPECT_EQ(spread.deviation, 0);
  EXPECT_EQ(spread.p10, 61);
  EXPECT_EQ(spread.above[5], 100);
  EXPECT_EQ(spread.above[6], 0);
}

/// Two tenants, two intervals of 300 cycles, which are 200 of the network.
UseRecord two_intervals() {
  UseRecord record(300, 2, facts(), 32);
  const std::vector<std::uint32_t> blocks = {112, 64};
  std::vector<stats::GpuCounters> now = {counted(100, 80, 100, 800, 12800),
                                         counted(0, 0, 0, 800, 12800)};
  record.add(300, now, blocks);
  now = {counted(500, 320, 400, 1600, 12800), counted(40, 40, 40, 3200, 38400)};
  record.add(600, now, blocks);
  return record;
}

TEST(Spread, IntervalsCountByTheirLength) {
  const Spread spread = spread_of({{60, 1000}, {10, 3000}});
  EXPECT_DOUBLE_EQ(spread.mean, 22.5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt((37.5 * 37.5 + 3 * 12.5 * 12.5) / 4));
  EXPECT_EQ(spread.p50, 10);
  EXPECT_EQ(spread.p90, 60);
  EXPECT_DOUBLE_EQ(spread.above[2], 25) << "above 30";
}

TEST(UseRecord, HasDifferencesOfWhatWasCounted) {
  const UseRecord record = two_intervals();
  ASSERT_EQ(record.samples().size(), 2u);
  const UseSample& second = record.samples()[1];
  EXPECT_EQ(second.start, 300u);
  EXPECT_EQ(second.end, 600u);
  EXPECT_EQ(second.tenant[0].requests, 400u);
  EXPECT_EQ(second.tenant[1].reply_flits, 2400u);
  EXPECT_EQ(second.tenant[1].dram_bytes, 25600u);
  EXPECT_EQ(second.tenant[1].blocks, 64u);
}

TEST(UseRecord, UsesAreInPercentOfThePeak) {
  const UseRecord record = two_intervals();
  // 1,600 and 3,200 flits of 32 bytes of 200 x 512 bytes; 25,600 bytes each of 200 x 256.
  EXPECT_DOUBLE_EQ(record.noc(0).mean, 75);
  EXPECT_DOUBLE_EQ(record.noc(0).deviation, 25);
  EXPECT_DOUBLE_EQ(record.dram(0).mean, 50);
  EXPECT_DOUBLE_EQ(record.dram(0).deviation, 0);
}

TEST(UseRecord, DemandIsWhatTheRequestsThatCameAskFor) {
  // In the second interval tenant 0 has 400 requests, of 300 that left 240 were reads; tenant 1 has
  // 40, all reads: (320 + 40) lines of 160 bytes of 200 x 512.
  EXPECT_DOUBLE_EQ(two_intervals().demand(300).mean, 56.25);
}

TEST(UseRecord, TheWarmUpIsLeftOut) {
  EXPECT_DOUBLE_EQ(two_intervals().noc(300).mean, 100);
  EXPECT_DOUBLE_EQ(two_intervals().noc(301).mean, 0) << "an interval belongs where it begins";
}

TEST(UseRecord, SummaryNamesEverything) {
  const auto json = two_intervals().summary(0);
  EXPECT_EQ(json["sample_cycles"], 300);
  EXPECT_EQ(json["noc"]["p90"], 100);
  EXPECT_EQ(json["noc"]["above"]["60"], 50);
  EXPECT_EQ(json["dram"]["mean"], 50);
  EXPECT_TRUE(json["noc_demand"].contains("deviation"));
}

}  // namespace
}  // namespace raddle::sim::use_over_time_test

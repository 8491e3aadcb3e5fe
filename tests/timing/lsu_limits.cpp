// The SM's memory side against closed forms: latencies of chains, Little's law at every limit, the
// ladder of bank conflicts.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::lsu_limits_test {
namespace {

using namespace raddle::support;
using stats::Refusal;
using Cycles = std::vector<Cycle>;

class LsuLimits : public ::testing::Test {
 protected:
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t chase = code.load(10, 10), load = code.load(1, 11), store = code.store(5, 10),
                fence = code.fence(), shared = code.load_shared(1, 10), used = code.alu(3, {1}),
                exit = code.exit();
  static constexpr Cycle kRoundTrip = 100;
};

TEST_F(LsuLimits, AChainOfHitsRunsAtTheHitLatency) {
  for (std::uint32_t latency : {1u, 2u, 28u, 200u}) {
    machine.sm.l1d.hit_latency_cycles = latency;
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      for (unsigned i = 0; i < 20; ++i) w.lines(chase, {{100, 1, 1}}, 1);
      w.op(exit);
    });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(9000);
    const Cycles t = sm.issue_times();
    EXPECT_EQ(t[19] - t[1], 18 * latency);
    EXPECT_EQ(sm.counters().load_cycles, kRoundTrip + 19 * latency);
    EXPECT_EQ(sm.counters().load_hit_cycles, 19 * latency);
    EXPECT_EQ(sm.counters().load_outside_cycles, kRoundTrip);
  }
}

TEST_F(LsuLimits, RequestsNameTheTenantOfTheirLaunch) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(load, {{100 + w.warp(), 1}});
    w.lines(store, {{200 + w.warp(), 1}});
    w.op(exit);
  });
  auto other = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{300, 1}});
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.tenant = TenantId{3};
  sm.start_block(0, r);
  sm.tenant = TenantId{5};
  sm.start_block(0, other, 0, 1);
  sm.run(1000);
  ASSERT_EQ(sm.sent().size(), 5u);
  for (const SmHarness::Sent& sent : sm.sent())
    EXPECT_EQ(index(sent.message.tenant), sent.message.line == 300 ? 5 : 3) << sent.message.line;
}

// Two lines a cycle, of one instruction or of two behind one another.
TEST_F(LsuLimits, LinesOfACycleBoundTheRateOfMisses) {
  machine.noc.queue_flits = 64;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}, {101, 1}, {102, 1}}).lines(store, {{200, 1}}).op(exit);
  });
  for (const auto& [lines, served] : {std::pair(1u, 3u), std::pair(2u, 2u), std::pair(3u, 1u)}) {
    machine.sm.lsu_lines = lines;
    for (bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(1000);
      const auto c = sm.counters();
      EXPECT_EQ(c.load_lsu_cycles, served - 1) << lines << " lines a cycle";
      EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 2, 3})) << "the port still takes one a cycle";
    }
  }
}

// An instruction takes as many cycles as its most used bank has lines, whatever their order.
TEST_F(LsuLimits, BanksOfSectorsBoundTheLinesOfACycle) {
  machine.sm.lsu_lines = 4;
  machine.sm.lsu_sector_banks = true;
  constexpr std::uint32_t kA = 1, kB = 1u << 8, kC = 1u << 16, kD = 1u << 31;  // a word of each
  const std::vector<std::pair<std::vector<TransactionSpec>, Cycle>> cases = {
      {{{100, kA, 1}, {101, kB, 2}, {102, kC, 4}, {103, kD, 8}}, 1},
      {{{100, kA, 1}, {101, kA, 2}, {102, kA, 4}, {103, kA, 8}}, 4},
      {{{100, kA, 1}, {101, kA, 2}, {102, kB, 4}, {103, kB, 8}}, 2},
      {{{100, kA | kB, 1}, {101, kC | kD, 2}, {102, kA, 4}}, 2},
      {{{100, ~0u, 1}, {101, ~0u, 2}}, 2},
  };
  for (const auto& [transactions, cycles] : cases)
    for (bool skip : {false, true}) {
      auto r = one_block(
          code, 1, [&, lines = transactions](WarpWriter& w) { w.lines(load, lines).op(exit); });
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(1000);
      EXPECT_EQ(sm.counters().load_lsu_cycles, cycles - 1) << &transactions - &cases.front().first;
      EXPECT_EQ(sm.sent().size(), transactions.size());
    }
}

TEST_F(LsuLimits, HalfWarpsLookUpALineTwice) {
  machine.sm.l1d.coalescing = timing::Coalescing::HalfWarp;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(used).lines(load, {{100}}).lines(store, {{200}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(1000);
  const auto c = sm.counters();
  EXPECT_EQ(c.l1d_accesses, 4u);
  EXPECT_EQ(c.l1d_hits, 2u);
  EXPECT_EQ(c.l1d_misses, 2u) << "each half asks for its own sectors";
  EXPECT_EQ(c.l1d_stores, 2u);
  EXPECT_EQ(c.load_cycles, kRoundTrip + 1 + machine.sm.l1d.hit_latency_cycles + 1)
      << "the second half is a cycle behind the first, in both loads";
}

TEST_F(LsuLimits, AChainOfMissesRunsAtTheRoundTrip) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (unsigned i = 0; i < 20; ++i) w.lines(chase, {{100 + i, 1, 1}}, 1);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(9000);
  EXPECT_EQ(sm.issue_times()[19], 19 * kRoundTrip);
  EXPECT_EQ(sm.counters().load_cycles, 20 * kRoundTrip);
  EXPECT_EQ(sm.counters().load_outside_cycles, 20 * kRoundTrip);
}

/// Sixteen warps, each four loads of a line of its own.
Recording many_misses(const Code& code, std::uint32_t load, std::uint32_t exit) {
  return one_block(code, 16, [&](WarpWriter& w) {
    std::vector<TransactionSpec> lines;
    for (std::uint32_t i = 0; i < 4; ++i) lines.push_back({1000 + w.warp() * 4 + i, 1});
    w.lines(load, lines).op(exit);
  });
}

// N misses under way, each for a round trip: N lines per round trip.
TEST_F(LsuLimits, MshrsBoundTheMissesByLittlesLaw) {
  auto r = many_misses(code, load, exit);
  for (std::uint32_t entries : {1u, 2u, 5u, 16u}) {
    machine.sm.l1d.mshr_entries = entries;
    for (bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(20000);
      const Cycles t = sm.sent_times();
      ASSERT_EQ(t.size(), 64u);
      for (unsigned i = 0; i < 64; ++i)
        EXPECT_EQ(t[i], i / entries * kRoundTrip + i % entries)
            << entries << " entries, miss " << i;
      const auto c = sm.counters();
      EXPECT_EQ(c.l1d_reservation_fails, c.l1d_refused[static_cast<unsigned>(Refusal::Mshr)]);
    }
  }
}

TEST_F(LsuLimits, MergeSlotsBoundTheAccessesToOneLine) {
  for (std::uint32_t merges : {1u, 2u, 4u}) {
    machine.sm.l1d.mshr_merges = merges;
    auto r = one_block(code, 8, [&](WarpWriter& w) { w.lines(load, {{100, 1}}).op(exit); });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(900);
    const auto c = sm.counters();
    EXPECT_EQ(c.l1d_pending_hits, merges - 1);
    EXPECT_EQ(c.l1d_hits, 8 - merges) << "tried again when the line has come";
    EXPECT_EQ(c.l1d_refused[static_cast<unsigned>(Refusal::Merge)], kRoundTrip - merges);
  }
}

TEST_F(LsuLimits, StoreBufferBoundsTheStoresByLittlesLaw) {
  auto r = one_block(code, 16, [&](WarpWriter& w) {
    w.lines(store, {{1000 + w.warp(), 1}, {2000 + w.warp(), 1}}).op(exit);
  });
  for (std::uint32_t entries : {1u, 4u}) {
    machine.sm.l1d.store_buffer = entries;
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(20000);
    ASSERT_EQ(sm.sent().size(), 32u);
    // A full round: all entries leave, one acknowledgement later the next store enters, and its
    // write leaves in the cycle after.
    const Cycles t = sm.sent_times();
    for (unsigned i = entries; i < 32; ++i) EXPECT_EQ(t[i] - t[i - entries], kRoundTrip + 1) << i;
  }
}

TEST_F(LsuLimits, LoadsInFlightBoundTheLoadsOfAnSm) {
  machine.sm.loads_in_flight = 2;
  auto r = one_block(code, 8, [&](WarpWriter& w) {
    w.lines(load, {{100 + w.warp(), 1}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(2000);
  const Cycles t = sm.sent_times();
  for (unsigned i = 2; i < 8; ++i) EXPECT_EQ(t[i] - t[i - 2], kRoundTrip) << i;
}

TEST_F(LsuLimits, AQueueOfOneMissWorks) {
  machine.sm.l1d.miss_queue = 1;
  machine.sm.lsu_queue = 1;
  machine.sm.l1d.mshr_entries = 1;

  machine.sm.l1d.mshr_merges = 1;
  machine.sm.l1d.ways = 1;
  machine.sm.l1d.size_kib = 1;
  machine.sm.l1d.line_bytes = machine.l2.line_bytes = 128;
  auto r = many_misses(code, load, exit);
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(20000);
  EXPECT_EQ(sm.sent_times()[63], 63 * kRoundTrip);
  EXPECT_TRUE(sm.sm().idle());
}

TEST_F(LsuLimits, BankConflictsAreALadder) {
  for (unsigned ways : {1u, 2u, 4u, 8u, 16u, 32u}) {
    constexpr unsigned kAccesses = 8;
    auto r = one_block(code, kAccesses,
                       [&](WarpWriter& w) { w.passes(shared, ways).op(used).op(exit); });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(900);
    EXPECT_EQ(sm.issue_times(0)[1], 24 + ways - 1) << "latency: one more cycle per pass";
    Cycle last = 0;
    for (const Issue& i : sm.issues())
      if (i.warp % 8 == 3) last = std::max(last, i.at);
    // Throughput: an access begins when the one before it has had its passes.
    const Cycle begins = (kAccesses - 1) * ways;
    EXPECT_EQ(last, begins + 24 + ways - 1 + 1) << ways << "-way: the last warp's exit";
    EXPECT_EQ(sm.counters().shared_passes, kAccesses * ways);
  }
}

TEST_F(LsuLimits, SectorGrainTakesACycleForEachSector) {
  machine.sm.l1d.coalescing = timing::Coalescing::Sector;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(used).lines(load, {{100, 0xff0000ff}}).op(used).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(900);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 2, 3}));
  EXPECT_EQ(sm.counters().l1d_accesses, 6u);
  EXPECT_EQ(sm.counters().loads, 2u);
  EXPECT_EQ(sm.issue_times()[1], 103u);
  EXPECT_EQ(sm.issue_times()[3] - sm.issue_times()[2], 29u) << "two sectors, the second a cycle on";
}

TEST_F(LsuLimits, WithoutAnL1EverythingGoesToTheL2) {
  machine.sm.l1d.size_kib = 0;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}}).op(used).lines(load, {{100, 1}}).op(used);
    w.lines(store, {{100, 1}}).op(fence).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(900);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 101, 202}));
  EXPECT_EQ(sm.sent()[0].message.sectors, 1);
  EXPECT_EQ(sm.counters().l1d_accesses, 0u);
  EXPECT_EQ(sm.counters().load_outside_cycles, 2 * kRoundTrip);
  EXPECT_TRUE(sm.sm().idle());
}

}  // namespace
}  // namespace raddle::lsu_limits_test

// The constant cache: exact cycles of hits, misses and merged misses.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::const_cache_test {
namespace {

using namespace raddle::support;
using timing::MessageKind;
using Cycles = std::vector<Cycle>;

class ConstCacheTiming : public ::testing::Test {
 protected:
  ConstCacheTiming() {
    machine.sm.const_cache.size_kib = 1;
    machine.sm.const_cache.ways = 2;
    for (unsigned i = 0; i < 24; ++i) {  // eight to a line of 64 bytes
      constant.push_back(code.load_const(1));
    }
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::vector<std::uint32_t> constant;
  std::uint32_t used = code.alu(3, {1}), exit = code.exit();
};

TEST_F(ConstCacheTiming, MissOnceThenHit) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (unsigned i : {0u, 7u, 8u}) w.passes(constant[i], 1).op(used);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 100, 101, 109, 110, 210, 211}))
      << "a round trip, the hit latency of 8, another line's round trip";
  ASSERT_EQ(sm.sent().size(), 2u);
  EXPECT_EQ(sm.sent()[0].message.kind, MessageKind::Read);
  EXPECT_EQ(sm.sent()[0].message.sectors, 3) << "64 of 128 bytes";
  EXPECT_EQ(sm.sent()[1].message.sectors, 12);
  EXPECT_EQ(sm.sent()[0].message.line, sm.sent()[1].message.line);
  EXPECT_EQ(sm.counters().const_accesses, 3u);
  EXPECT_EQ(sm.counters().const_misses, 2u);
  EXPECT_EQ(sm.counters().const_hits, 1u);
  EXPECT_TRUE(sm.sm().idle());
}

TEST_F(ConstCacheTiming, ADistinctAddressTakesAPassEach) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.passes(constant[0], 1).op(used).passes(constant[0], 3).op(used).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[3] - sm.issue_times()[2], 10u);
}

TEST_F(ConstCacheTiming, WarpsMergeAndAreServedTogether) {
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.passes(constant[0], 1).op(used).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent().size(), 1u);
  for (unsigned slot : {0u, 8u}) EXPECT_EQ(sm.issue_times(slot)[1], 100u);
  EXPECT_EQ(sm.counters().const_accesses, 4u);
}

TEST_F(ConstCacheTiming, LimitsHoldTheHead) {
  struct Limit {
    std::uint32_t mshrs, merges, queue;
    stats::Refusal why;
  };
  for (Limit limit : {Limit{1, 8, 8, stats::Refusal::Mshr}, {4, 1, 8, stats::Refusal::Merge}})
    for (bool skip : {false, true}) {
      machine.sm.const_cache.mshr_entries = limit.mshrs;
      machine.sm.const_cache.mshr_merges = limit.merges;
      auto r = one_block(code, 2, [&](WarpWriter& w) {
        w.passes(constant[limit.mshrs == 1 ? w.warp() * 8 : 0], 1).op(used).op(exit);
      });
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(400);
      EXPECT_EQ(sm.counters().l1d_refused[static_cast<unsigned>(limit.why)], 99u);
      EXPECT_EQ(sm.issue_times(8)[1], limit.mshrs == 1 ? 200u : 108u)
          << "a miss of its own, or a hit when the line has come";
    }
}

TEST_F(ConstCacheTiming, AKernelFindsItsBankAbsentAndLeavesOthersAlone) {
  auto read = [&](WarpWriter& w) { w.passes(constant[0], 1).op(used).op(exit); };
  auto first = one_block(code, 1, read), second = one_block(code, 1, read);
  SmHarness sm(machine);
  sm.start_block(0, first, 0, 0);
  sm.start_block(300, second, 0, 1);
  sm.run(900);
  ASSERT_EQ(sm.sent().size(), 2u);
  EXPECT_NE(sm.sent()[0].message.line, sm.sent()[1].message.line) << "a bank for each launch slot";
}

TEST_F(ConstCacheTiming, WhatFitsMissesOnce) {
  machine.sm.const_cache.size_kib = 1;
  machine.sm.const_cache.ways = 16;  // one set
  machine.sm.const_cache.line_bytes = 64;
  auto again = machine;
  again.sm.const_cache.ways = 1;
  again.sm.const_cache.line_bytes = 128;  // eight sets of one way
  for (const auto& m : {machine, again}) {
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      for (unsigned round = 0; round < 3; ++round)
        for (unsigned i = 0; i < 24; ++i) w.passes(constant[i], 1).op(used);
      w.op(exit);
    });
    SmHarness sm(m);
    sm.start_block(0, r);
    sm.run(4000);
    EXPECT_EQ(sm.counters().const_misses, m.sm.const_cache.line_bytes == 64 ? 3u : 2u)
        << "compulsory only: 192 bytes";
  }
}

}  // namespace
}  // namespace raddle::const_cache_test

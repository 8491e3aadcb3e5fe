// Instruction fetch: what a jump and a line that is not in the cache cost, exact cycles.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_fetch_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using Cycles = std::vector<Cycle>;

class SmFetch : public ::testing::Test {
 protected:
  SmFetch() {
    machine.sm.schedulers = 1;
    machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
    machine.sm.fetch.cycles = 3;
    machine.sm.fetch.buffer = 3;
    machine.sm.fetch.instruction_bytes = 16;
    machine.sm.fetch.cache_line_bytes = 64;
    machine.sm.fetch.cache_ways = 2;
    machine.sm.fetch.miss_latency_cycles = 50;
  }
  /// Both with and without skipping; they must agree.
  void run(Recording& r, Cycle end = 400) {
    for (bool skip : {true, false}) {
      auto before = std::move(sm);
      sm = std::make_unique<SmHarness>(machine);
      sm->skip = skip;
      sm->start_block(0, r);
      sm->run(end);
      if (before) {
        EXPECT_EQ(before->issues(), sm->issues());
        EXPECT_EQ(before->stalls(Stall::Fetch), sm->stalls(Stall::Fetch));
      }
    }
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::unique_ptr<SmHarness> sm;
};

TEST_F(SmFetch, AWarpStartsWithAnEmptyBufferAndStraightCodeKeepsUp) {
  auto a = code.alu(1, {9});
  for (std::uint8_t i = 2; i < 6; ++i) code.alu(i, {9});
  auto exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 5; ++i) w.op(a + i, i < 3 ? 1 : 2);  // several records
    w.op(exit);
  });
  run(r);
  EXPECT_EQ(sm->issue_times(), (Cycles{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(sm->stalls(Stall::Fetch), 3u);
}

TEST_F(SmFetch, ATakenBranchIsFollowedByAFetchOneNotTakenIsNot) {
  auto top = code.alu(1, {9}), branch = code.branch({8}), exit = code.exit();
  auto r =
      one_block(code, 1, [&](WarpWriter& w) { w.op(top).op(branch).op(top).op(branch).op(exit); });
  run(r);
  // The branch is resolved after 8 cycles; its target comes 3 cycles later.
  EXPECT_EQ(sm->issue_times(), (Cycles{3, 4, 4 + 8 + 3, 16, 16 + 8}));
  EXPECT_EQ(sm->stalls(Stall::Fetch), 3u + 3u);
  EXPECT_EQ(sm->stalls(Stall::Dependence), 7u + 7u);
}

TEST_F(SmFetch, AnotherPathBeginsWithoutABranch) {
  auto a = code.alu(1, {9}), b = code.alu(2, {9}), c = code.alu(3, {9}), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a, 1).op(c, 1).op(b, 2).op(exit); });
  run(r);
  // a to c and c to b are jumps, b to the exit is one.
  EXPECT_EQ(sm->issue_times(), (Cycles{3, 7, 11, 15}));
}

TEST_F(SmFetch, OperandsArriveWhileTheTargetIsFetched) {
  auto s = code.sfu(1, {9}), branch = code.branch({8}), skipped = code.alu(2, {9}),
       use = code.alu(3, {1}), exit = code.exit();
  (void)skipped;
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(s).op(branch).op(use).op(exit); });
  run(r);
  EXPECT_EQ(sm->issue_times(), (Cycles{3, 4, 3 + 21, 25})) << "fetched at 15, operand at 24";
  EXPECT_EQ(sm->stalls(Stall::Fetch), 3u + 3u);
}

TEST_F(SmFetch, OtherWarpsIssueInTheMeantime) {
  auto a = code.alu(1, {9}), b = code.alu(2, {9}), exit = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.op(a).op(exit);  // a jump over b
    else w.op(a).op(b).op(exit);
  });
  run(r);
  EXPECT_EQ(sm->issue_times(0), (Cycles{3, 7}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{4, 5, 6}));
}

TEST_F(SmFetch, ABufferShorterThanTheFetchLimitsOneWarp) {
  machine.sm.fetch.buffer = 1;
  auto a = code.alu(1, {9});
  code.alu(2, {9});
  code.alu(3, {9});
  auto exit = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) { w.op(a).op(a + 1).op(a + 2).op(exit); });
  run(r);
  EXPECT_EQ(sm->issue_times(0), (Cycles{3, 6, 9, 12})) << "one instruction in three cycles";
  EXPECT_EQ(sm->issue_times(1), (Cycles{4, 7, 10, 13})) << "for each warp";
  machine.sm.fetch.buffer = 2;
  sm.reset();
  auto one = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(a + 1).op(a + 2).op(exit); });
  run(one);
  EXPECT_EQ(sm->issue_times(0), (Cycles{3, 4, 6, 7})) << "two in three";
}

TEST_F(SmFetch, ABranchOutOfAShortBufferIsFollowedByOneFetch) {
  machine.sm.fetch.buffer = 1;
  machine.sm.cost[static_cast<unsigned>(OpClass::Control)].latency = 1;
  auto top = code.alu(1, {9}), branch = code.branch({8}), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(top).op(branch).op(top).op(exit); });
  run(r);
  // The branch issues at 6 and is resolved at 7; from there the target, and from there the exit,
  // which is a jump as well.
  EXPECT_EQ(sm->issue_times(), (Cycles{3, 6, 10, 14}));
}

TEST_F(SmFetch, LinesAreMissedOnceAndSharedByTheWarps) {
  machine.sm.fetch.cache_kib = 1;
  auto a = code.alu(1, {9});
  for (std::uint8_t i = 2; i < 8; ++i) code.alu(i, {9});
  auto exit = code.exit();  // 8 instructions of 16 bytes: two lines
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 7; ++i) w.op(a + i);
    w.op(exit);
  });
  run(r);
  // First line asked for at 0, decoded at 53; the next at the fifth instruction.
  EXPECT_EQ(sm->issue_times(0), (Cycles{53, 54, 55, 56, 107, 108, 109, 110}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{57, 58, 59, 60, 111, 112, 113, 114}))
      << "the line the first one asked for";
  EXPECT_EQ(sm->stalls(Stall::Fetch), 53u + (107u - 61u));
}

TEST_F(SmFetch, ACacheTooSmallMissesAgainALargeOneDoesNot) {
  // Two lines of one set each and a loop over three lines that fall into the first set.
  machine.sm.fetch.cache_kib = 1;  // 16 lines in 8 sets of 2
  auto make = [&](unsigned lines) {
    Code c;
    for (unsigned i = 0; i < 8 * 4 * 2 + 4; ++i) c.alu(1, {9});
    auto exit = c.exit();
    return one_block(c, 1, [=](WarpWriter& w) {
      for (unsigned round = 0; round < 4; ++round)
        for (unsigned i = 0; i < lines; ++i) w.op(i * 8 * 4);
      w.op(exit);
    });
  };
  machine.sm.fetch.cycles = 0;
  auto fits = make(2), does_not = make(3);
  run(fits, 2000);
  std::uint64_t few = sm->stalls(Stall::Fetch);
  sm.reset();
  run(does_not, 2000);
  std::uint64_t many = sm->stalls(Stall::Fetch);
  EXPECT_GT(few, 3 * 45u);
  EXPECT_LE(few, 3 * 51u) << "two lines and the exit's";
  EXPECT_GT(many, 12 * 45u) << "least recently used goes, each round anew";
}

TEST_F(SmFetch, ACacheForAllOrOneForEachScheduler) {
  machine.sm.schedulers = 2;
  machine.sm.fetch.cache_kib = 1;
  auto s = code.sfu(1, {9}), use = code.alu(2, {1}), exit = code.exit();
  Recording r(code, {{2}, {32}, 0});
  r.each_warp([&](WarpWriter& w) { w.op(s).op(use).op(exit); });
  for (bool own : {true, false}) {
    machine.sm.fetch.cache_per_scheduler = own;
    SmHarness h(machine);
    h.start_block(0, r, 0, 0);    // scheduler 0
    h.start_block(100, r, 1, 1);  // scheduler 1
    h.run(400);
    EXPECT_EQ(h.issue_times(8)[0], own ? 153u : 103u);
  }
}

}  // namespace
}  // namespace raddle::sm_fetch_test

// Exact cycles of the issue stage: latencies, initiation intervals, hazards, schedulers.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_issue_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using Cycles = std::vector<Cycle>;

class SmIssue : public ::testing::Test {
 protected:
  timing::MachineSpec machine = small_machine();
  Code code;
};

TEST_F(SmIssue, FirstInstructionIssuesInTheCycleTheBlockArrives) {
  auto a = code.alu(1, {2}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(ex); });
  SmHarness sm(machine);
  sm.start_block(7, r);
  sm.run(50);
  EXPECT_EQ(sm.issue_times(), (Cycles{7, 8}));
}

TEST_F(SmIssue, DependentInstructionWaitsTheLatencyOfEachClass) {
  for (unsigned c = 0; c < trace::kOpClasses; ++c) {
    if (c == static_cast<unsigned>(OpClass::Memory)) continue;
    Code own;
    auto a = own.op(static_cast<OpClass>(c), 1, {2}), b = own.alu(3, {1}), ex = own.exit();
    auto r = one_block(own, 1, [&](WarpWriter& w) { w.op(a).op(b).op(ex); });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(200);
    EXPECT_EQ(sm.issue_times()[1], machine.sm.cost[c].latency) << trace::kOpClassNames[c];
  }
}

TEST_F(SmIssue, IndependentInstructionsOfOneUnitAreAnIntervalApart) {
  auto a = code.alu(1, {9}), b = code.alu(2, {9}), c = code.sfu(3, {9}), d = code.sfu(4, {9}),
       ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(b).op(c).op(d).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(50);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 2, 3, 11, 12}));  // int every 2, sfu every 8
  EXPECT_EQ(sm.stalls(Stall::Unit), 1u + 7u);
}

TEST_F(SmIssue, WarpsOfOneSchedulerShareItsUnits) {
  auto a = code.alu(1, {9}), f = code.fma(2, {9}), ex = code.exit();
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.op(w.warp() < 2 ? a : f).op(ex); });
  SmHarness sm(
      machine);  // warps 0 and 2 (slots 0, 1) on scheduler 0; 1 and 3 (slots 8, 9) on scheduler 1
  sm.start_block(0, r);
  sm.run(50);
  EXPECT_EQ(sm.issue_times(0)[0], 0u);
  EXPECT_EQ(sm.issue_times(8)[0], 0u) << "each scheduler has its own units";
  EXPECT_EQ(sm.issue_times(1)[0], 2u) << "fp32 is free at 1, but the oldest warp's exit goes first";
  EXPECT_EQ(sm.issue_times(0)[1], 1u);
}

TEST_F(SmIssue, EachSchedulerIssuesOnePerCycle) {
  machine.sm.schedulers = 4;
  auto c = code.op(OpClass::Control, 1, {2}), ex = code.exit();
  auto r = one_block(code, 8, [&](WarpWriter& w) { w.op(c).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(50);
  EXPECT_EQ(sm.issues().size(), 16u);
  EXPECT_EQ(sm.issues().back().at, 3u);
  EXPECT_EQ(sm.counters().issued, 16u);
}

TEST_F(SmIssue, WarpsAreDealtRoundRobinOverSchedulersAlsoAcrossBlocks) {
  auto c = code.exit();
  Recording r(code, {{3}, {32}, 0});
  r.each_warp([&](WarpWriter& w) { w.op(c); });
  SmHarness sm(machine);
  for (unsigned b = 0; b < 3; ++b) sm.start_block(0, r, b, b);
  sm.run(10);
  EXPECT_EQ(sm.issues(), (std::vector<Issue>{{0, 0, 0}, {0, 1, 8}, {1, 0, 1}}));
}

TEST_F(SmIssue, SecondWriteOfARegisterWaitsForTheFirst) {
  auto a = code.sfu(1, {2}), b = code.alu(1, {3}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(b).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(60);
  EXPECT_EQ(sm.issue_times()[1], 21u);
}

TEST_F(SmIssue, BranchHoldsBackItsSuccessor) {
  auto b = code.branch({1}), a = code.alu(2, {3}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(b).op(a).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(60);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 8, 9}));
  EXPECT_EQ(sm.stalls(Stall::Dependence), 7u + 2u) << "behind the branch; at the end for the add";
}

TEST_F(SmIssue, SeveralDestinationsAreAllGuardedAndAllReleased) {
  auto two = code.add(OpKind::Alu, OpClass::Sfu, {1, 2}, {9}, "div.both");
  auto a = code.alu(3, {1}), b = code.fma(4, {2}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(two).op(a).op(b).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(60);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 21, 22, 23}));
}

TEST_F(SmIssue, RunsOfOneRecordCountEachInstructionAndItsLanes) {
  std::uint32_t first = code.alu(0, {100});
  for (std::uint8_t i = 1; i < 70; ++i) code.alu(i, {100});
  auto ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 70; ++i) w.op(first + i, 0xff);
    w.op(ex);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(300);
  EXPECT_EQ(sm.counters().issued, 71u);
  EXPECT_EQ(sm.counters().thread_instructions, 70u * 8 + 32);
}

TEST_F(SmIssue, OtherRegistersDoNotWait) {
  auto a = code.sfu(1, {2}), b = code.alu(3, {2}), c = code.alu(4, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(b).op(c).op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(60);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 1, 21, 22}));
}

TEST_F(SmIssue, BlockEndsWhenItsLastWritesAreDone) {
  auto a = code.sfu(1, {2}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(ex).op(a); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(60);
  ASSERT_EQ(sm.ended().size(), 1u);
  EXPECT_EQ(sm.ended()[0].at, 1u + 21u);
  EXPECT_TRUE(sm.sm().idle());
  EXPECT_EQ(sm.counters().blocks, 1u);
}

TEST_F(SmIssue, EverySchedulerCycleIsIssuedOrHasOneReason) {
  auto a = code.alu(1, {1}), s = code.sfu(1, {1}), ex = code.exit();
  auto r = one_block(code, 5, [&](WarpWriter& w) { w.op(a).op(s).op(a).op(ex); });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(13, r);
    for (Cycle end : {5, 14, 20, 33, 100, 1000}) {
      sm.run(end);
      std::uint64_t sum = sm.counters().issued;
      for (std::uint64_t n : sm.scheduler_counters().stall) sum += n;
      EXPECT_EQ(sum, 2 * end) << "skip " << skip;
    }
    EXPECT_EQ(sm.counters().issued, 20u);
  }
}

TEST_F(SmIssue, CountersMayBeReadBeforeTheLastTick) {
  auto ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(ex); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(50);
  stats::SchedulerCounters early = sm.sm().scheduler_counters(30),
                           late = sm.sm().scheduler_counters(80);
  auto idle = static_cast<unsigned>(Stall::Idle);
  EXPECT_EQ(late.stall[idle] - early.stall[idle], 2u * 50);
}

}  // namespace
}  // namespace raddle::sm_issue_test

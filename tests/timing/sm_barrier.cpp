// Barriers, sleeping, the end of warps and blocks, and what a stuck SM says.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_barrier_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using trace::BarrierKind;
using Cycles = std::vector<Cycle>;

class SmBarrier : public ::testing::Test {
 protected:
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t a = code.alu(1, {9}), s = code.sfu(2, {9}), after_s = code.alu(3, {2}),
                bar = code.barrier();
  std::uint32_t sleep = code.sleep(), exit = code.exit(), load = code.load(4, 9),
                use = code.alu(5, {4}), fence = code.fence();
};

TEST_F(SmBarrier, OpensAFixedTimeAfterTheLastArrival) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 1) w.op(s).op(after_s);
    w.barrier(bar).op(a).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  EXPECT_EQ(sm.issue_times(0), (Cycles{0, 30, 31}));
  EXPECT_EQ(sm.issue_times(8), (Cycles{0, 21, 22, 30, 31}))
      << "last arrival at 22, control latency 8";
  EXPECT_EQ(sm.stalls(Stall::Barrier), 29u + 7u);
}

/// An H200: 14.1 cycles for one warp, 28.0 for 8, 76.1 for 32 (data/silicon/h200/micro.csv).
TEST_F(SmBarrier, AnSmCountsOneArrivalAfterAnother) {
  machine.sm.barrier_interval_cycles = 2;
  machine.sm.cost[static_cast<unsigned>(trace::OpClass::Barrier)].latency = 14;
  for (const unsigned warps : {1u, 2u, 8u}) {
    auto r = one_block(code, warps, [&](WarpWriter& w) { w.barrier(bar).op(exit); });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(200);
    EXPECT_EQ(sm.issue_times(0).back(), 2 * (warps - 1) + 14u) << warps;
  }
}

TEST_F(SmBarrier, BlocksOfAnSmAreCountedTogether) {
  machine.sm.barrier_interval_cycles = 4;
  auto one = one_block(code, 1, [&](WarpWriter& w) { w.barrier(bar).op(exit); });
  auto two = one_block(code, 1, [&](WarpWriter& w) { w.barrier(bar).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, one);
  sm.start_block(0, two, 0, 1);
  sm.run(200);
  ASSERT_EQ(sm.ended().size(), 2u);
  const Cycle first = sm.ended()[0].at, second = sm.ended()[1].at;
  EXPECT_EQ(second - first, 4u) << "both have arrived in cycle 0";
}

TEST_F(SmBarrier, WhoOnlyArrivesDoesNotMakeOthersWaitForEver) {
  machine.sm.barrier_interval_cycles = 4;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (unsigned i = 0; i < 3000; ++i) w.barrier(bar, 1, BarrierKind::Arrive, 5);
    w.barrier(bar).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(20'000);
  const Cycles times = sm.issue_times(0);
  EXPECT_LE(times.back() - times[times.size() - 2], 4 * timing::SmSpec::kMaxWarps + 8u);
}

TEST_F(SmBarrier, CountsEachUse) {
  auto r = one_block(code, 3, [&](WarpWriter& w) {
    for (unsigned i = 0; i < 10; ++i) w.op(w.warp() == i % 3 ? s : a).barrier(bar);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(1000);
  EXPECT_EQ(sm.ended().size(), 1u);
  EXPECT_EQ(sm.counters().issued, 3u * 21);
}

TEST_F(SmBarrier, EndedWarpsAreNotWaitedFor) {
  auto r = one_block(code, 3, [&](WarpWriter& w) {
    if (w.warp() == 0) w.op(s).op(after_s).op(s).op(exit);
    else w.barrier(bar).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  ASSERT_EQ(sm.ended().size(), 1u);
  // 21 the use, 22 the second sfu, 23 the exit: the warp counts no more, whatever it still waits
  // for.
  EXPECT_EQ(sm.issue_times(8).back(), 23u + 8u);
}

TEST_F(SmBarrier, ALoadUnderWayDoesNotKeepTheOthersWaitingForAnEndedWarp) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.lines(load, {{100}}).op(exit);
    else w.barrier(bar).op(a).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(300);
  EXPECT_EQ(sm.issue_times(8)[1], 1u + 8u);
  ASSERT_EQ(sm.ended().size(), 1u);
  EXPECT_EQ(sm.ended()[0].at, 100u) << "the block ends when the line has come";
}

TEST_F(SmBarrier, AnExitIsNoArrivalWhereACountIsGiven) {
  auto r = one_block(code, 3, [&](WarpWriter& w) {
    if (w.warp() == 0) w.op(exit);
    else if (w.warp() == 1) w.barrier(bar, 2, BarrierKind::Sync, 2).op(exit);
    else w.op(s).op(after_s).barrier(bar, 2, BarrierKind::Arrive, 2).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  ASSERT_EQ(sm.ended().size(), 1u);
  // Warp 2, on scheduler 0 behind the exit: sfu at 1, its use at 22, the arrival at 23.
  EXPECT_EQ(sm.issue_times(8).back(), 23u + 8u);
}

TEST_F(SmBarrier, ProducersArriveConsumersWaitOnNamedBarriersInTurn) {
  // Two producers arrive at barriers 1 and 2 by turns, two consumers synchronise there.
  auto r = one_block(code, 4, [&](WarpWriter& w) {
    bool produces = w.warp() < 2;
    for (unsigned i = 0; i < 6; ++i) {
      if (produces) w.op(s).op(after_s);
      w.barrier(bar, 1 + i % 2, produces ? BarrierKind::Arrive : BarrierKind::Sync, 4);
    }
    w.op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(1000);
    ASSERT_EQ(sm.ended().size(), 1u);
    EXPECT_GE(sm.issue_times(1).back(), 6 * 22u) << "consumers go at the producers' pace";
    EXPECT_LE(sm.issue_times(1).back(), 6 * 24u + 16);
  }
}

TEST_F(SmBarrier, ExpectedCountsAndIdentifiersAreIndependent) {
  auto r = one_block(code, 4, [&](WarpWriter& w) {
    w.barrier(bar, w.warp() / 2 + 1, BarrierKind::Sync, 2).op(a).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  EXPECT_EQ(sm.ended().size(), 1u);
}

TEST_F(SmBarrier, ArrivingDoesNotWait) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.barrier(bar, 3, BarrierKind::Arrive, 2).op(a).op(exit);
    else w.op(s).op(after_s).barrier(bar, 3, BarrierKind::Sync, 2).op(a).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  EXPECT_EQ(sm.issue_times(0), (Cycles{0, 1, 2}));
  EXPECT_EQ(sm.issue_times(8)[3], 22u + 8u);
}

TEST_F(SmBarrier, WarpLevelBarrierWaitsForNobody) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.barrier(bar, 0, BarrierKind::Warp);
    w.op(a).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  EXPECT_EQ(sm.issue_times(0), (Cycles{0, 1, 2}));
}

TEST_F(SmBarrier, BlocksDoNotSeeEachOthersBarriers) {
  Recording r(code, {{2}, {64}, 0});
  r.each_warp([&](WarpWriter& w) {
    if (w.block() == 1) w.op(s).op(after_s);
    w.barrier(bar).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r, 0, 0);
  sm.start_block(0, r, 1, 1);
  sm.run(200);
  ASSERT_EQ(sm.ended().size(), 2u);
  EXPECT_EQ(sm.ended()[0].slot, 0u);
  EXPECT_LT(sm.ended()[0].at, 22u);
}

TEST_F(SmBarrier, SleepTakesItsNanoseconds) {
  machine.core_clock_mhz = 2000;
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.passes(sleep, 7).op(a).op(exit); });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(600);
    EXPECT_EQ(sm.issue_times()[1], 256u) << "2^7 ns at 2 GHz";
    EXPECT_EQ(sm.stalls(Stall::Sleep), 255u);
  }
}

TEST_F(SmBarrier, SleepersWakeInTheirOwnTime) {
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.passes(sleep, 5 + w.warp()).op(a).op(exit); });
  SmHarness sm(machine);
  sm.skip = true;
  sm.start_block(0, r);
  sm.run(600);
  EXPECT_EQ(sm.issue_times(0)[1], 32u);
  EXPECT_EQ(sm.issue_times(8)[1], 64u);
  EXPECT_EQ(sm.issue_times(1)[1], 1u + 128u);
}

TEST_F(SmBarrier, StallReasonIsThatOfTheNearestWarp) {
  machine.sm.schedulers = 1;
  auto r = one_block(code, 3, [&](WarpWriter& w) {
    if (w.warp() == 0) w.lines(load, {{100}}).op(use);
    if (w.warp() == 1) w.op(s).op(after_s).barrier(bar, 0, BarrierKind::Sync, 2);
    if (w.warp() == 2) w.barrier(bar, 0, BarrierKind::Sync, 2);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  // 0 load, 1 sfu, 2 barrier; until 21 warp 1 waits for its sfu; 22 after_s, 23 barrier; until 30
  // warp 0 waits for memory; barrier opens: exits at 31 and 32; until 99 memory; 100 use, 101 exit,
  // 102-103 for the result of `use`.
  EXPECT_EQ(sm.issues().size(), 9u);
  EXPECT_EQ(sm.stalls(Stall::Dependence), 19u + 2u);
  EXPECT_EQ(sm.stalls(Stall::Memory), 7u + 67u);
  EXPECT_EQ(sm.stalls(Stall::Barrier), 0u);
  EXPECT_EQ(sm.stalls(Stall::Idle), 200u - 104u);
}

TEST_F(SmBarrier, AStuckSmSaysWhoWaitsWhereForWhat) {
  auto block = one_block(code, 4, [&](WarpWriter& writer) {
    if (writer.warp() == 0) writer.lines(load, {{100}}).op(use);
    if (writer.warp() == 1) writer.lines(load, {{200}}).op(fence);
    if (writer.warp() == 2) writer.barrier(bar);
    if (writer.warp() == 3) writer.lines(load, {{300}});
    writer.op(exit);
  });
  machine.sm.l1d.mshr_entries = 2;
  SmHarness sm(machine);
  sm.reply_after = kNever;
  sm.start_block(0, block, 0);
  sm.run(100);
  std::string text;
  sm.sm().describe(text, 10);
  EXPECT_NE(text.find("warp 0 of block 0 of kernel 'kernel' waits at kernel.ptx:8 (op) for an "
                      "operand from memory"),
            text.npos)
      << text;
  EXPECT_NE(text.find("warp 1 of block 0 of kernel 'kernel' waits at kernel.ptx:9 (membar.gl) for "
                      "1 earlier memory operations to be visible"),
            text.npos)
      << text;
  EXPECT_NE(text.find("warp 2 of block 0 of kernel 'kernel' waits at kernel.ptx:4 (bar.sync) at "
                      "barrier 0: 1 of 3 warps have come; not waiting there: warp 0, 1\n"),
            text.npos)
      << text;
  EXPECT_NE(
      text.find("warp 3 of block 0 of kernel 'kernel' has ended, its memory operations have not"),
      text.npos)
      << text;
  EXPECT_NE(text.find("is blocked: no MSHR is free"), text.npos) << text;
  std::string brief;
  sm.sm().describe(brief, 1);
  EXPECT_NE(brief.find("... and 3 more"), brief.npos) << brief;
}

}  // namespace
}  // namespace raddle::sm_barrier_test

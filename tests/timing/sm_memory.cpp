// Exact cycles and messages of the load/store unit and the L1D, against a mock memory.
#include <gtest/gtest.h>

#include <functional>

#include "support/sm_harness.h"

namespace raddle::sm_memory_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using timing::MessageKind;
using Cycles = std::vector<Cycle>;

class SmMemory : public ::testing::Test {
 protected:
  SmMemory() { machine.sm.l1d.hit_latency_cycles = 28; }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), load2 = code.load(2, 11), use = code.alu(3, {1}),
                use2 = code.fma(4, {2});
  std::uint32_t store = code.store(5, 10), fence = code.fence(), atomic = code.atomic(6, 10),
                reduce = code.reduce(10);
  std::uint32_t use6 = code.alu(7, {6}), shared = code.load_shared(1, 10),
                shared2 = code.load_shared(2, 10);
  std::uint32_t constant = code.load_const(1), exit = code.exit();
};

TEST_F(SmMemory, MissThenHit) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(use).lines(load2, {{100}}).op(use2).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  Cycles t = sm.issue_times();
  ASSERT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.sent()[0].at, 0u) << "a miss leaves in the cycle of its issue";
  EXPECT_EQ(sm.sent()[0].message.line, 100u);
  EXPECT_EQ(sm.sent()[0].message.sectors, 0xf);
  EXPECT_EQ(t[1], 100u) << "the reply's cycle";
  EXPECT_EQ(t[3] - t[2], 28u) << "hit latency";
  stats::SmCounters c = sm.counters();
  EXPECT_EQ(c.l1d_accesses, 2u);
  EXPECT_EQ(c.l1d_hits, 1u);
  EXPECT_EQ(c.l1d_misses, 1u);
  EXPECT_EQ(c.l1d_miss_cycles, 100u);
  EXPECT_EQ(c.l1d_fills, 1u);
}

TEST_F(SmMemory, HitLatencyOfOneCycleIsPossible) {
  machine.sm.l1d.hit_latency_cycles = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(use).lines(load2, {{100}}).op(use2).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[3] - sm.issue_times()[2], 1u);
}

TEST_F(SmMemory, OneLineACycleAndOneFlitACycle) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}, {101, 1}, {102, 1}, {103, 1}})
        .lines(store, {{200}, {300, 1}})
        .op(use)
        .op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  // Four read requests of one flit, then a write of four sectors (8 + 128 bytes = 5 flits), then
  // the small one.
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 2, 3, 4, 9}));
  EXPECT_EQ(sm.sent()[4].message.kind, MessageKind::Write);
  EXPECT_EQ(sm.sent()[5].message.sectors, 1);
  EXPECT_EQ(sm.issue_times()[2], 103u) << "the last line's data";
}

TEST_F(SmMemory, SchedulersTakeTurnsOnTheWayIn) {
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.lines(load, {{100 + w.warp()}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  // Slots 0, 1 belong to scheduler 0, slots 8, 9 to scheduler 1. Whoever may not enter stalls for
  // the LSU.
  EXPECT_EQ(sm.issue_times(0)[0], 0u);
  EXPECT_EQ(sm.issue_times(8)[0], 1u);
  EXPECT_EQ(sm.issue_times(1)[0], 2u);
  EXPECT_EQ(sm.issue_times(9)[0], 3u);
  EXPECT_EQ(sm.stalls(Stall::Lsu), 1u);
}

TEST_F(SmMemory, AccessesToAMissingLineMerge) {
  auto r = one_block(code, 2, [&](WarpWriter& w) { w.lines(load, {{100}}).op(use).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.counters().l1d_pending_hits, 1u);
  EXPECT_EQ(sm.issue_times(0)[1], 100u);
  EXPECT_EQ(sm.issue_times(8)[1], 100u);
}

TEST_F(SmMemory, OtherSectorsOfAMissingLineAreAskedForAlone) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(load, {{100, w.warp() == 0 ? 0xffu : 0xff00u}}).op(use).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 2u);
  EXPECT_EQ(sm.sent()[0].message.sectors, 1);
  EXPECT_EQ(sm.sent()[1].message.sectors, 2);
  EXPECT_EQ(sm.sent()[0].message.tag, sm.sent()[1].message.tag);
  EXPECT_EQ(sm.counters().l1d_misses, 2u);
  EXPECT_EQ(sm.counters().l1d_miss_cycles, 200u);
  EXPECT_EQ(sm.issue_times(0)[1], 100u);
  EXPECT_EQ(sm.issue_times(8)[1], 101u);
}

TEST_F(SmMemory, FullMshrStallsTheHeadUntilAFill) {
  machine.sm.l1d.mshr_entries = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).lines(load2, {{200}}).op(use2).op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(400);
    EXPECT_EQ(sm.sent_times(), (Cycles{0, 100}));
    EXPECT_EQ(sm.counters().l1d_reservation_fails, 99u) << "cycles 1 to 99";
    EXPECT_EQ(sm.counters().l1d_accesses, 2u) << "a refused access does not count";
  }
}

TEST_F(SmMemory, RefusedCyclesShowWhileTheHeadIsStillRefused) {
  machine.sm.l1d.mshr_entries = 1;
  auto r = one_block(code, 1,
                     [&](WarpWriter& w) { w.lines(load, {{100}}).lines(load2, {{200}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(51);
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 50u);
}

TEST_F(SmMemory, MergeLimitStallsTheHead) {
  machine.sm.l1d.mshr_merges = 2;
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 98u)
      << "the third access is tried at 2 and hits at 100";
  EXPECT_EQ(sm.counters().l1d_hits, 1u);
}

TEST_F(SmMemory, WithoutCreditsTheMissQueueFillsAndHoldsTheHead) {
  machine.noc.queue_flits = 5;
  machine.sm.l1d.miss_queue = 2;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    std::vector<TransactionSpec> lines;
    for (unsigned i = 0; i < 9; ++i) lines.push_back({100 + i, 1});
    w.lines(load, lines).op(use).op(exit);
  });
  SmHarness sm(machine);
  sm.credit_after = 40;
  sm.start_block(0, r);
  sm.run(400);
  // Five credits go out at 0-4 and come back at 40-44; lines 5 and 6 wait in the queue, line 7 at
  // the head.
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 2, 3, 4, 40, 41, 42, 43}));
  // Line 7 is refused from 7 on; the queue has room after the packet of 40 has left: 41. Line 8
  // at 42.
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 34u);
  EXPECT_EQ(sm.issue_times()[1], 143u);
}

TEST_F(SmMemory, StoresDoNotAllocateAndAreAcknowledged) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100}}).op(fence).lines(load, {{100}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[1], 100u) << "the fence waits for the acknowledgement";
  EXPECT_EQ(sm.stalls(Stall::Fence), 99u);
  EXPECT_EQ(sm.counters().l1d_misses, 1u);
  EXPECT_EQ(sm.counters().l1d_stores, 1u);
  EXPECT_EQ(sm.sent()[0].message.tag, 0) << "the warp";
}

/// A line is loaded, something happens, and it is loaded again: how often it missed.
class SmAcquire : public SmMemory {
 protected:
  SmAcquire() { machine.sm.l1d.invalidate_at_acquire = true; }
  std::uint64_t misses_around(const std::function<void(WarpWriter&)>& between) {
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      w.lines(load, {{100}}).op(use);
      between(w);
      w.lines(load2, {{100}}).op(use2).op(exit);
    });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(1000);
    times_ = sm.issue_times();
    return sm.counters().l1d_misses;
  }
  std::uint32_t acquire = acquiring();
  Cycles times_;

 private:
  std::uint32_t acquiring() {
    const std::uint32_t inst = code.load(8, 10);
    code.raw().instructions[inst].acquires = true;
    code.raw().instructions[inst].bypass_l1 = true;
    return inst;
  }
};

TEST_F(SmAcquire, AFenceEmptiesTheL1dWhereTheMachineSaysSo) {
  const auto fences = [&](WarpWriter& w) { w.op(fence); };
  EXPECT_EQ(misses_around([](WarpWriter&) {}), 1u);
  EXPECT_EQ(misses_around(fences), 2u);
  machine.sm.l1d.invalidate_at_acquire = false;
  EXPECT_EQ(misses_around(fences), 1u);
}

TEST_F(SmAcquire, FencesThatAcquireNothingLeaveTheL1dAlone) {
  for (const std::uint8_t kind : {trace::kBlockScope, trace::kReleaseOnly}) {
    code.raw().instructions[fence].bytes = kind;
    EXPECT_EQ(misses_around([&](WarpWriter& w) { w.op(fence); }), 1u) << unsigned{kind};
  }
}

TEST_F(SmAcquire, DirtyLinesStay) {
  machine.sm.l1d.write_policy = timing::WritePolicy::WriteBack;
  const auto writes = [&](WarpWriter& w) { w.lines(store, {{100}}).op(fence); };
  EXPECT_EQ(misses_around(writes), 1u);
}

TEST_F(SmAcquire, NothingOfTheWarpPassesAnAcquiringLoad) {
  const auto acquires = [&](WarpWriter& w) { w.lines(acquire, {{300}}); };
  EXPECT_EQ(misses_around(acquires), 2u);
  ASSERT_EQ(times_.size(), 6u);
  EXPECT_EQ(times_[3] - times_[2], 100u)
      << "the next load waits for it, though it needs no register";
}

TEST_F(SmAcquire, WhatReleasesWaitsForEarlierAccesses) {
  code.raw().instructions[store].releases = true;
  const auto stores = [&](WarpWriter& w) { w.lines(reduce, {{400, 1}}).lines(store, {{300, 1}}); };
  EXPECT_EQ(misses_around(stores), 1u) << "and brings nothing in";
  EXPECT_EQ(times_[3] - times_[2], 100u);
}

TEST_F(SmMemory, FenceWaitsForLoadsStoresAndReductions) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}})
        .lines(store, {{200, 1}, {300, 1}})
        .lines(reduce, {{400, 1}})
        .op(fence)
        .op(exit);
  });
  SmHarness sm(machine);
  sm.reply_after = kNever;
  sm.start_block(0, r);
  sm.run(50);
  ASSERT_EQ(sm.sent().size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(sm.issue_times().size(), 3u) << i;
    sm.reply(60 + 10 * i, sm.sent()[3 - i].message);
    sm.run(61 + 10 * i);
  }
  EXPECT_EQ(sm.issue_times().size(), 4u);
  EXPECT_EQ(sm.issue_times().back(), 90u);
}

TEST_F(SmMemory, FenceWithNothingUnderWayIssuesAtOnce) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(fence).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(50);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 1}));
}

TEST_F(SmMemory, WritePolicyDecidesWhatAStoreDoesToAPresentLine) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(use).lines(store, {{100}}).lines(load2, {{100}}).op(use2).op(exit);
  });
  for (auto write_policy : {timing::WritePolicy::WriteThrough, timing::WritePolicy::WriteEvict}) {
    machine.sm.l1d.write_policy = write_policy;
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(600);
    bool kept = write_policy == timing::WritePolicy::WriteThrough;
    EXPECT_EQ(sm.counters().l1d_hits, kept ? 1u : 0u);
    EXPECT_EQ(sm.sent().size(), kept ? 2u : 3u);
  }
}

TEST_F(SmMemory, WriteBackAroundKeepsWhatIsPresentAndSendsTheRestOn) {
  machine.sm.l1d.write_policy = timing::WritePolicy::WriteBackAround;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(use).lines(store, {{100}});       // present: dirty, nothing leaves
    w.lines(store, {{200, 1}}).lines(load2, {{200}}).op(use2);  // absent: leaves, allocates nothing
    w.lines(atomic, {{100, 0x1, 0x1}}, 0x1).op(use6).op(exit);  // pushes the dirty line out
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(900);
  std::vector<std::pair<MessageKind, std::uint32_t>> sent;
  for (const auto& one : sm.sent()) sent.emplace_back(one.message.kind, one.message.line);
  const std::vector<std::pair<MessageKind, std::uint32_t>> expected = {{MessageKind::Read, 100},
                                                                       {MessageKind::Write, 200},
                                                                       {MessageKind::Read, 200},
                                                                       {MessageKind::Write, 100},
                                                                       {MessageKind::Atomic, 100}};
  EXPECT_EQ(sent, expected);
  EXPECT_EQ(sm.counters().l1d_stores, 2u);
  EXPECT_EQ(sm.counters().l1d_store_hits, 1u);
}

TEST_F(SmMemory, AtomicsGoToTheL2AndRemoveTheLine) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}})
        .op(use)
        .lines(atomic, {{100, 0x3, 0x7}, {101, 0x1, 0x8}}, 0xf)
        .op(use6)
        .lines(load2, {{100}})
        .op(use2)
        .op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(900);
  ASSERT_EQ(sm.sent().size(), 4u);
  EXPECT_EQ(sm.sent()[1].message.kind, MessageKind::Atomic);
  EXPECT_EQ(sm.sent()[1].message.meeting, 2) << "three lanes in two words";
  EXPECT_EQ(sm.sent()[1].message.sectors, 1);
  EXPECT_EQ(sm.sent()[2].message.meeting, 1);
  EXPECT_EQ(sm.issue_times()[3], sm.sent()[2].at + 100) << "its result needs both lines";
  EXPECT_EQ(sm.counters().atomics, 2u);
  EXPECT_EQ(sm.counters().l1d_hits, 0u);
}

TEST_F(SmMemory, ReductionsReturnNothingButHoldTheBlock) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(reduce, {{100}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent()[0].message.kind, MessageKind::Reduce);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 1}));
  EXPECT_EQ(sm.ended()[0].at, 100u);
  EXPECT_EQ(sm.stalls(Stall::Memory), 98u) << "ended, its memory operation has not";
}

TEST_F(SmMemory, BypassingLoadsNeitherUseNorFillTheL1) {
  code.raw().instructions[load].bypass_l1 = true;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load2, {{100}})
        .op(use2)
        .lines(load, {{100, 0xff}, {101, 1}})
        .op(use)
        .lines(load, {{100}})
        .op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(900);
  ASSERT_EQ(sm.sent().size(), 4u);
  EXPECT_EQ(sm.sent()[1].message.sectors, 1);
  EXPECT_EQ(sm.issue_times()[3], sm.sent()[2].at + 100);
  EXPECT_EQ(sm.counters().l1d_accesses, 1u);
}

TEST_F(SmMemory, PredicatedOffAccessesTouchNothing) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {}, 0).op(use).lines(store, {}, 0).op(fence).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 1, 2, 3, 4}));
  EXPECT_TRUE(sm.sent().empty());
  EXPECT_EQ(sm.counters().thread_instructions, 3u * 32);
}

TEST_F(SmMemory, ReservedWaysCannotBeTakenAndStallTheHead) {
  machine.sm.l1d.ways = 2;
  machine.sm.l1d.reserve_on_miss = true;
  std::uint32_t sets = machine.sm.l1d.sets();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{0, 1}, {sets, 1}, {2 * sets, 1}}).op(use).lines(load2, {{sets, 1}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 100}));
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 98u);
  EXPECT_EQ(sm.counters().l1d_evictions, 1u) << "line 0, filled first";
  EXPECT_EQ(sm.counters().l1d_hits, 1u) << "line `sets` is still there";
}

TEST_F(SmMemory, WithoutReservationTheSameMissesAllGoOut) {
  machine.sm.l1d.ways = 2;
  std::uint32_t sets = machine.sm.l1d.sets();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{0, 1}, {sets, 1}, {2 * sets, 1}}).op(use).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1, 2}));
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 0u);
}

TEST_F(SmMemory, ShortLinesSplitAPieceInTwo) {
  machine.sm.l1d.line_bytes = machine.l2.line_bytes = 64;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).lines(load2, {{200, 0xff00, 0xff00}}, 0xff00).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 3u);
  EXPECT_EQ(sm.sent()[0].message.line, 200u);
  EXPECT_EQ(sm.sent()[1].message.line, 201u);
  EXPECT_EQ(sm.sent()[0].message.sectors, 3);
  EXPECT_EQ(sm.sent()[2].message.line, 400u);
  EXPECT_EQ(sm.sent()[2].message.sectors, 2);
}

TEST_F(SmMemory, WholeLineCachesFetchAllSectorsButStoreOnlyThoseTouched) {
  machine.sm.l1d.sector_bytes = 128;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}}).lines(store, {{200, 1u << 31}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent()[0].message.sectors, 0xf);
  EXPECT_EQ(sm.sent()[1].message.sectors, 8);
}

TEST_F(SmMemory, LocalWindowsOfWarpsDoNotOverlap) {
  code.raw().local_bytes_per_thread = 8;
  auto local = code.memory(OpKind::LoadLocal, {1}, {10}, "ld.local.u32");
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.lines(local, {{0}, {1}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  std::vector<std::uint32_t> lines;
  for (auto& s : sm.sent()) lines.push_back(s.message.line);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(std::unique(lines.begin(), lines.end()) - lines.begin(), 6);
  EXPECT_GE(lines[0], 0x38'0000'0000ull / 128);
}

TEST_F(SmMemory, BankConflictsTakePassesAndHoldTheUnit) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.passes(shared, 4).passes(shared2, 1).op(use).op(use2).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  Cycles t = sm.issue_times();
  EXPECT_EQ(t[2], 24u + 3u) << "shared latency and three more passes";
  EXPECT_EQ(t[3], 4u + 24u) << "the second access begins at 4";
  EXPECT_EQ(sm.counters().shared_accesses, 2u);
  EXPECT_EQ(sm.counters().shared_passes, 5u);
}

TEST_F(SmMemory, ConstantAccessesTakeTheirLatencyAndOnePassPerAddress) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.passes(constant, 1).op(use).passes(constant, 3).op(use).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  Cycles t = sm.issue_times();
  EXPECT_EQ(t[1] - t[0], 8u);
  EXPECT_EQ(t[3] - t[2], 10u);
  EXPECT_EQ(sm.counters().const_accesses, 2u);
}

TEST_F(SmMemory, VectorLoadsGuardEveryDestination) {
  auto vector = code.memory(OpKind::LoadGlobal, {1, 2}, {10}, "ld.global.v2.f32");
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(vector, {{100}}).op(use2).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[1], 100u);
  EXPECT_EQ(sm.stalls(Stall::Memory), 99u);
}

TEST_F(SmMemory, KernelStartFlushesTheCacheIfTheMachineSaysSo) {
  auto r1 = one_block(code, 1, [&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
  auto r2 = one_block(code, 1, [&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
  for (bool flush : {true, false}) {
    machine.sm.l1d.flush_at_kernel_start = flush;
    SmHarness sm(machine);
    sm.start_block(0, r1);
    sm.start_block(500, r2);
    sm.run(900);
    EXPECT_EQ(sm.counters().l1d_hits, flush ? 0u : 1u);
  }
}

TEST_F(SmMemory, LoadsInFlightAreLimited) {
  machine.sm.loads_in_flight = 1;
  auto r = one_block(code, 1,
                     [&](WarpWriter& w) { w.lines(load, {{100}}).lines(load2, {{200}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[1], 100u);
  EXPECT_EQ(sm.stalls(Stall::Lsu), 99u);
}

TEST_F(SmMemory, QueueOfTheLoadStoreUnitIsLimited) {
  machine.sm.lsu_queue = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.passes(shared, 8).passes(shared2, 8).passes(shared, 8).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  // The first is taken over at once, the second waits in the queue until 8; the third also needs
  // register 1 (at 31).
  EXPECT_EQ(sm.issue_times()[1], 1u);
  EXPECT_EQ(sm.issue_times()[2], 31u);
}

TEST_F(SmMemory, RequestsAndRepliesBalance) {
  auto r = one_block(code, 16, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 20; ++i)
      w.lines(load, {{w.warp() * 7 + i, 0xff}, {900 + i, 1}})
          .lines(store, {{3000 + i}})
          .lines(atomic, {{4000, 1, 1}})
          .op(use);
    w.op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(3, r);
    sm.run(20000);
    stats::SmCounters c = sm.counters();
    EXPECT_TRUE(sm.sm().idle());
    EXPECT_EQ(c.l1d_accesses, c.l1d_hits + c.l1d_pending_hits + c.l1d_misses);
    EXPECT_EQ(c.l1d_accesses, 16u * 20 * 2);
    EXPECT_EQ(c.l1d_fills, c.l1d_misses);
    EXPECT_EQ(sm.sent().size(), c.l1d_misses + c.l1d_stores + c.atomics);
  }
}

}  // namespace
}  // namespace raddle::sm_memory_test

// The parts of an SM without the SM: warp table, blocks and barriers, units, stall account, front
// end, schedulers' slots, throttle gate.
#include <gtest/gtest.h>

#include "raddle/timing/cache/mshr.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/front_end.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/throttle_gate.h"
#include "raddle/timing/sm/units.h"
#include "raddle/timing/sm/warps.h"
#include "support/machines.h"

namespace raddle::sm_parts_test {
namespace {

using namespace raddle::timing;

SmSpec spec_of(unsigned schedulers, unsigned warps) {
  SmSpec spec;
  spec.schedulers = schedulers;
  spec.warps = warps;
  return spec;
}

DecodedInst reads(unsigned reg, Unit unit = Unit::Int, Route route = Route::Pipeline) {
  DecodedInst in;
  in.uses.set(reg);
  in.unit = unit;
  in.route = route;
  return in;
}

// --- warp table ---------------------------------------------------------------------------------

TEST(WarpTable, HazardsDecideWhereAWarpBelongs) {
  WarpTable warps(8);
  const DecodedInst use = reads(3);
  Warp& warp = warps.enter(2, 1);
  warp.next = &use;
  warps.check_hazards(2);
  EXPECT_EQ(warps.ready, bit_of(2)) << "nothing is pending";
  warps.forget_hazards(2);
  warp.pending.set(3);
  warps.check_hazards(2);
  EXPECT_EQ(warps.ready | warps.memory_wait | warps.fence_wait, 0u) << "waits for a unit's result";
  warp.pending_memory.set(3);
  warps.check_hazards(2);
  EXPECT_EQ(warps.memory_wait, bit_of(2));
  EXPECT_EQ(warps.block_of[2], 1);
}

TEST(WarpTable, WhatReleasesWaitsForOperationsUnderWay) {
  WarpTable warps(8);
  DecodedInst fence = reads(3, Unit::Control, Route::Fence);
  fence.releases = true;
  Warp& warp = warps.enter(0, 0);
  warp.next = &fence;
  warp.outstanding = 1;
  warps.check_hazards(0);
  EXPECT_EQ(warps.fence_wait, bit_of(0));
  warps.forget_hazards(0);
  fence.releases = false;  // the block's
  warps.check_hazards(0);
  EXPECT_EQ(warps.ready, bit_of(0));
}

TEST(WarpTable, TheRankOfACoreIsTheEighthsOfItsWarpsThatAreReady) {
  WarpTable warps(16);
  EXPECT_EQ(warps.core_rank(), policy::kLastCoreRank) << "nobody waits";
  const auto rank = [&](unsigned resident, unsigned ended, unsigned ready) {
    warps.resident = static_cast<WarpMask>(low_bits(resident));
    warps.ended = static_cast<WarpMask>(low_bits(ended));
    warps.ready = static_cast<WarpMask>(low_bits(ready)) << ended;
    return unsigned{warps.core_rank()};
  };
  for (unsigned ready = 0; ready <= 8; ++ready) EXPECT_EQ(rank(8, 0, ready), std::min(ready, 7u));
  EXPECT_EQ(rank(16, 0, 1), 0u) << "1/16 is below 1/8";
  EXPECT_EQ(rank(16, 0, 2), 1u) << "1/8 is not";
  EXPECT_EQ(rank(3, 0, 1), 2u) << "2 2/3 eighths";
  EXPECT_EQ(rank(16, 8, 4), 4u) << "of those that have not ended";
  EXPECT_EQ(rank(2, 2, 0), 7u) << "all have";
}

TEST(WarpTable, SaysWhichLawOfItsSetsIsBroken) {
  WarpTable warps(8);
  const DecodedInst use = reads(3);
  warps.enter(5, 0).next = &use;
  EXPECT_EQ(warps.broken(), nullptr);
  warps.ready = bit_of(4);
  EXPECT_STREQ(warps.broken(), "only resident warps are in sets");
  warps.ready = bit_of(5);
  EXPECT_EQ(warps.broken(), nullptr);
  warps.memory_wait = bit_of(5);
  EXPECT_STREQ(warps.broken(), "a ready warp waits for nothing");
  warps.memory_wait = 0;
  warps.at_barrier = bit_of(5);
  EXPECT_STREQ(warps.broken(), "a ready warp is at an instruction");
  warps.ready = 0;
  warps.sleeping = bit_of(5);
  EXPECT_STREQ(warps.broken(), "a warp is parked in one place");
}

TEST(WarpTable, SleepersWakeInTheirCycle) {
  WarpTable warps(8);
  warps.enter(1, 0);
  warps.enter(2, 0);
  warps.sleep_until(20, 1);
  warps.sleep_until(10, 2);
  EXPECT_EQ(warps.next_wake(), 10u);
  std::vector<unsigned> wakeups;
  auto wake = [&](unsigned w) {
    wakeups.push_back(w);
    warps.sleeping &= ~bit_of(w);
  };
  warps.wake(10, wake);
  EXPECT_EQ(wakeups, (std::vector<unsigned>{2}));
  EXPECT_EQ(warps.next_wake(), 20u);
  warps.wake(20, wake);
  EXPECT_EQ(warps.next_wake(), kNever);
}

// --- barriers -----------------------------------------------------------------------------------

class Blocks : public ::testing::Test {
 protected:
  Blocks() {
    blocks.start(3, launch, 7, 3);
    for (unsigned w = 0; w < 3; ++w) blocks.add_warp(3, w);
  }
  WarpMask end_stream() {
    WarpMask out = 0;
    blocks.stream_ended(3, [&](const Opened& o) { out |= o.here; });
    return out;
  }
  Launch launch;
  BlockTable blocks{4};
};

TEST_F(Blocks, ABarrierOpensWithTheLastWarpOfTheBlock) {
  EXPECT_EQ(blocks.arrive(3, 0, bit_of(0), 0).here, 0u);
  EXPECT_EQ(blocks.arrive(3, 0, bit_of(1), 0).here, 0u);
  EXPECT_EQ(blocks.arrive(3, 0, bit_of(2), 0).here, 0b111u);
  EXPECT_EQ(blocks.arrive(3, 0, bit_of(1), 0).here, 0u) << "it has closed again";
}

TEST_F(Blocks, ANumberOfWarpsMayBeExpectedAndSomeOnlyCounted) {
  EXPECT_EQ(blocks.arrive(3, 5, 0, 2).here, 0u) << "arrives, and does not wait";
  EXPECT_EQ(blocks.arrive(3, 5, bit_of(2), 2).here, 0b100u);
}

TEST_F(Blocks, WhoHasEndedIsNotWaitedFor) {
  EXPECT_EQ(blocks.arrive(3, 0, bit_of(0), 0).here, 0u);
  EXPECT_EQ(blocks.arrive(3, 1, bit_of(1), 3).here, 0u);
  EXPECT_EQ(end_stream(), 0u);
  EXPECT_EQ(end_stream(), 0b001u) << "one runs and has come; the other barrier waits for three";
}

TEST_F(Blocks, TheBlockEndsWithItsLastWarpHereOrAbroad) {
  blocks.leave_for_abroad(3, 1);
  EXPECT_EQ(blocks[3].warps, 0b101u);
  end_stream();
  EXPECT_FALSE(blocks.leave(3, 0));
  end_stream();
  EXPECT_FALSE(blocks.leave(3, 2)) << "one is abroad";
  end_stream();
  EXPECT_TRUE(blocks.ended_abroad(3));
  EXPECT_EQ(blocks[3].live, 0);
}

// --- units --------------------------------------------------------------------------------------

TEST(ExecutionUnits, ATakenUnitBlocksItsSchedulersWarps) {
  const SmSpec spec = spec_of(2, 8);
  ExecutionUnits units(spec, SchedulerSlots(spec));
  EventWheel wheel(16);
  DecodedInst in = reads(1, Unit::Fp64);
  in.interval = 4;
  units.want(0, Unit::Fp64);
  units.issued(0, Unit::Fp64);
  units.take(10, 0, in, wheel);
  units.want(1, Unit::Fp64);  // of scheduler 0
  units.want(2, Unit::Int);
  units.want(4, Unit::Fp64);  // of scheduler 1
  EXPECT_EQ(units.free_for(0b10110), 0b10100u);
  EXPECT_EQ(units.broken(0b10110), nullptr);
  EXPECT_EQ(wheel.next(11), 14u);
  WarpMask again = 0;
  wheel.take(
      14, [&](std::uint32_t free) { again = units.release(free, 0b10110); }, [](Event) {});
  EXPECT_EQ(again, bit_of(1));
  EXPECT_EQ(units.free_for(0b10110), 0b10110u);
}

TEST(ExecutionUnits, ASharedUnitIsTakenFromAll) {
  SmSpec spec = spec_of(2, 8);
  spec.shared_unit[static_cast<unsigned>(Unit::Sfu)] = true;
  ExecutionUnits units(spec, SchedulerSlots(spec));
  EventWheel wheel(16);
  DecodedInst in = reads(1, Unit::Sfu);
  in.interval = 8;
  units.want(4, Unit::Sfu);
  units.take(0, 1, in, wheel);
  units.want(0, Unit::Sfu);
  EXPECT_TRUE(units.shared(static_cast<unsigned>(Unit::Sfu)));
  EXPECT_EQ(units.free_for(0b10001), 0u);
  units.withdraw(0, Unit::Sfu);
  EXPECT_EQ(units.broken(bit_of(4)), nullptr);
  EXPECT_NE(units.broken(bit_of(0)), nullptr) << "a warp at an instruction wants a unit";
}

// --- stall account -------------------------------------------------------------------------------

TEST(StallAccount, ChargesWholeIntervalsToTheReasonTheyBeganWith) {
  using stats::Stall;
  StallAccount stalls(2);
  SmKernelCounters counters{kernel_slots(1)};
  stalls.stalls(0, 0, Stall::Memory, 3, counters);
  stalls.stalls(5, 0, Stall::Memory, 3, counters);
  stalls.stalls(8, 0, Stall::Unit, 3, counters);
  stalls.issues(10, 0, counters);
  const auto at = [](Stall s) { return static_cast<unsigned>(s); };
  EXPECT_EQ(counters[3].stall[at(Stall::Memory)], 8u);
  EXPECT_EQ(counters[3].stall[at(Stall::Unit)], 2u);
  stalls.stalls(11, 0, Stall::Barrier, 3, counters);
  stats::SmCounters open = counters[3];
  stalls.settle(15, 3, open);
  EXPECT_EQ(open.stall[at(Stall::Barrier)], 4u) << "still under way";
  EXPECT_EQ(counters[3].stall[at(Stall::Barrier)], 0u);
  std::uint64_t cycles = 1;  // in which it issued
  const stats::SchedulerCounters all = stalls.counters(15, 0, 0);
  for (const std::uint64_t s : all.stall) cycles += s;
  EXPECT_EQ(cycles, 2u * 15) << "every scheduler's every cycle is somebody's";
}

TEST(StallAccount, WarpsCountForAsLongAsTheyAreThere) {
  StallAccount stalls(1);
  stalls.count_warps(10, 0b111, 0b001);
  EXPECT_EQ(stalls.counters(10, 0b11, 0).warp_cycles, 30u);
  EXPECT_EQ(stalls.counters(15, 0b11, 0b11).warp_cycles, 40u);
  EXPECT_EQ(stalls.counters(15, 0b11, 0b11).throttled_warp_cycles, 20u);
}

// --- front end -----------------------------------------------------------------------------------

TEST(FrontEnd, AShortBufferLimitsStraightCode) {
  SmSpec spec = spec_of(1, 4);
  spec.fetch.cycles = 6;
  spec.fetch.buffer = 2;
  FrontEnd front_end(spec, SchedulerSlots(spec));
  EXPECT_TRUE(front_end.present());
  EXPECT_TRUE(front_end.limits_straight_code());
  EXPECT_EQ(front_end.buffered(100, 101, 0), 101u) << "two are there";
  EXPECT_EQ(front_end.buffered(101, 102, 0), 106u) << "fetched when the first one left";
  EXPECT_EQ(front_end.buffered(106, 107, 0), 107u);
  EXPECT_EQ(front_end.buffered(107, 108, 0), 112u);
  EXPECT_EQ(front_end.buffered(107, 108, 1), 108u) << "every warp has its own";
}

TEST(FrontEnd, WithoutFetchEverythingIsThere) {
  SmSpec spec = spec_of(1, 4);
  spec.fetch.cycles = 0;
  FrontEnd front_end(spec, SchedulerSlots(spec));
  EXPECT_FALSE(front_end.present());
  EXPECT_EQ(front_end.buffered(5, 6, 0), 6u);
}

// --- schedulers' slots ---------------------------------------------------------------------------

TEST(SchedulerSlots, EveryWarpHasOneScheduler) {
  const SchedulerSlots slots(spec_of(4, 64));
  WarpMask all = 0;
  for (unsigned s = 0; s < slots.schedulers(); ++s) {
    EXPECT_EQ(all & slots[s], 0u);
    all |= slots[s];
    EXPECT_EQ(slots.scheduler_of(slots.first_slot(s)), s);
    EXPECT_TRUE(has(slots[s], slots.first_slot(s)));
  }
  EXPECT_EQ(all, ~WarpMask{0});
  EXPECT_EQ(slots.after(3), 0u);
}

// --- throttle gate -------------------------------------------------------------------------------

TEST(ThrottleGate, WithoutAPolicyNothingIsKept) {
  const ThrottleGate gate(nullptr, {});
  EXPECT_FALSE(gate.present());
  EXPECT_EQ(gate.no_load(), 0u);
  EXPECT_EQ(gate.policy(), nullptr);
}

TEST(ThrottleGate, DeniesLoadsOrEverything) {
  WarpTable warps(8);
  const DecodedInst load = reads(1, Unit::Lsu, Route::Load);
  const DecodedInst store = reads(1, Unit::Lsu, Route::Store);
  const DecodedInst add = reads(1);
  warps.enter(0, 0).next = &load;
  warps.enter(1, 0).next = &store;
  warps.enter(2, 0).next = &add;
  warps.enter(3, 0).next = &load;
  ThrottleGate gate(nullptr, {});
  const ThrottleGate::Answer answer{0b0111, 0b0100};
  EXPECT_EQ(gate.changes(answer), 0b0111u);
  gate.adopt(answer);
  EXPECT_EQ(gate.changes(answer), 0u);
  EXPECT_EQ(gate.denied(0b1111, 0b1011, warps), 0b0101u) << "the load, and who may not issue";
  gate.forget(0);
  EXPECT_EQ(gate.denied(0b1111, 0b1011, warps), 0b0100u);
}

// --- MSHRs whose waiters go ----------------------------------------------------------------------

TEST(MshrCancel, WhoIsLeftIsServedInOrder) {
  Mshrs<std::uint16_t> mshrs(4, 8);
  for (unsigned gone = 0; gone < 4; ++gone) {
    const unsigned e = mshrs.add(9, 0b01, 0);
    for (std::uint16_t w = 1; w < 4; ++w) mshrs.wait(e, w == 3 ? 0b10 : 0b01, w);
    EXPECT_TRUE(mshrs.waits(e, 0b11, static_cast<std::uint16_t>(gone)));
    mshrs.cancel(e, static_cast<std::uint16_t>(gone));
    EXPECT_FALSE(mshrs.waits(e, 0b11, static_cast<std::uint16_t>(gone)));
    EXPECT_EQ(mshrs.waiting_for(e), 3u);
    std::vector<unsigned> served;
    auto note = [&](std::uint16_t w) { served.push_back(w); };
    EXPECT_FALSE(mshrs.arrive(e, 0b01, note));
    EXPECT_TRUE(mshrs.arrive(e, 0b10, note));
    std::vector<unsigned> expected = {0, 1, 2, 3};
    std::erase(expected, gone);
    EXPECT_EQ(served, expected);
    EXPECT_EQ(mshrs.used(), 0u);
    EXPECT_EQ(mshrs.waiting(), 0u);
  }
}

TEST(MshrCancel, AnOrphanComesAndAnAbandonedEntryDoesNot) {
  Mshrs<std::uint16_t> mshrs(2, 4);
  const unsigned unclaimed = mshrs.add(9, 0b11, 5);
  mshrs.cancel(unclaimed, 5);
  EXPECT_EQ(mshrs.used(), 1u);
  EXPECT_EQ(mshrs.missing(unclaimed), 0b11);
  EXPECT_TRUE(mshrs.arrive(unclaimed, 0b11, [](std::uint16_t) { FAIL() << "nobody waits"; }));
  const unsigned abandoned = mshrs.add(9, 0b01, 5);
  mshrs.wait(abandoned, 0b10, 5);
  mshrs.cancel(abandoned, 5);
  EXPECT_EQ(mshrs.waiting_for(abandoned), 0u) << "it waited twice";
  mshrs.abandon(abandoned);
  EXPECT_EQ(mshrs.used(), 0u);
  EXPECT_EQ(mshrs.find(9), mshrs.kNone);
}

TEST(MshrUnclaimed, CountAsFreeWhileThereIsRoomForThem) {
  Mshrs<std::uint16_t> mshrs(2, 4, 1);
  const unsigned first = mshrs.add(1, 0b01, 5), second = mshrs.add(2, 0b01, 6);
  EXPECT_TRUE(mshrs.full());
  mshrs.cancel(first, 5);
  EXPECT_TRUE(mshrs.full()) << "nobody has said so";
  mshrs.unclaimed(first);
  mshrs.unclaimed(first);
  EXPECT_FALSE(mshrs.full());
  EXPECT_EQ(mshrs.taken(), 1u);
  EXPECT_EQ(mshrs.used(), 2u);
  mshrs.cancel(second, 6);
  mshrs.unclaimed(second);
  EXPECT_EQ(mshrs.taken(), 1u) << "one is all there is room for";
  const unsigned third = mshrs.add(3, 0b01, 7);
  EXPECT_TRUE(mshrs.full());
  EXPECT_TRUE(mshrs.arrive(first, 0b01, [](std::uint16_t) { FAIL() << "nobody waits"; }));
  EXPECT_TRUE(mshrs.full()) << "an orphan was not one of the two";
  EXPECT_EQ(mshrs.used(), 2u);
  mshrs.unclaimed(second);
  EXPECT_FALSE(mshrs.full());
  EXPECT_TRUE(mshrs.arrive(third, 0b01, [](std::uint16_t w) { EXPECT_EQ(w, 7); }));
  EXPECT_TRUE(mshrs.arrive(second, 0b01, [](std::uint16_t) { FAIL() << "nobody waits"; }));
  EXPECT_EQ(mshrs.used(), 0u);
  EXPECT_EQ(mshrs.taken(), 0u);
}

TEST(MshrUnclaimed, WhoWaitsForOneAgainNeedsAFreeEntry) {
  Mshrs<std::uint16_t> mshrs(2, 4, 2);
  const unsigned unclaimed = mshrs.add(1, 0b01, 5);
  mshrs.cancel(unclaimed, 5);
  mshrs.unclaimed(unclaimed);
  const unsigned second = mshrs.add(2, 0b01, 6);
  EXPECT_TRUE(mshrs.can_merge(unclaimed));
  const unsigned third = mshrs.add(3, 0b01, 7);
  ASSERT_TRUE(mshrs.full());
  EXPECT_FALSE(mshrs.can_merge(unclaimed));
  EXPECT_TRUE(mshrs.can_merge(third));
  EXPECT_TRUE(mshrs.arrive(third, 0b01, [](std::uint16_t) {}));
  ASSERT_TRUE(mshrs.can_merge(unclaimed));
  mshrs.wait(unclaimed, 0b01, 8);
  EXPECT_TRUE(mshrs.full());
  EXPECT_EQ(mshrs.taken(), 2u);
  EXPECT_TRUE(mshrs.arrive(unclaimed, 0b01, [](std::uint16_t w) { EXPECT_EQ(w, 8); }));
  EXPECT_TRUE(mshrs.arrive(second, 0b01, [](std::uint16_t) {}));
  EXPECT_EQ(mshrs.used(), 0u);
}

}  // namespace
}  // namespace raddle::sm_parts_test

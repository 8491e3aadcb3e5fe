// Warps that leave one SM and arrive at another: two real SMs, each with a mock memory of its own,
// and a mock of whoever decides which warp goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "raddle/base/rng.h"
#include "support/migration_rig.h"

namespace raddle::sm_migration_test {
namespace {

using namespace raddle::support;

TEST_F(SmMigration, ALoadUnderWayIsAskedForAgainAndTheWarpGoesOn) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto block = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  SmHarness alone(machine);
  alone.start_block(0, block);
  alone.run(400);
  const std::vector<Cycle> plain = alone.issue_times();
  ASSERT_EQ(plain.size(), 3u);

  Neighbours sms(machine);
  sms.start(block, 1);
  sms.run(20);
  ASSERT_EQ(sms.may_leave(0), ExportRefusal::None);
  const unsigned slot = sms.move(0);
  EXPECT_EQ(sms.home.sm().migration().counters().unclaimed, 1u) << "its request had left";
  sms.run(400);
  // The load enters the guest's load/store unit in cycle 20, as it entered the home's when it
  // issued; from there everything takes as long as it does at home.
  EXPECT_EQ(sms.guest.issue_times(slot),
            (std::vector<Cycle>{20 + plain[1] - plain[0], 20 + plain[2] - plain[0]}));
  EXPECT_EQ(sms.home.issue_times(0), (std::vector<Cycle>{plain[0]}));
  EXPECT_EQ(sms.home.counters().loads, 0u);
  EXPECT_EQ(sms.guest.counters().loads, 1u) << "counted where its data came";
  EXPECT_EQ(sms.home.counters().replies, 1u) << "the orphan";
  EXPECT_EQ(sms.issued(), alone.counters().issued);
  ASSERT_EQ(sms.ended_abroad.size(), 1u);
  ASSERT_EQ(sms.home.ended().size(), 1u);
  EXPECT_EQ(sms.home.ended()[0].at, sms.ended_abroad[0].at + 1) << "told in the next cycle";
  EXPECT_TRUE(sms.guest.ended().empty()) << "the block is the home's";
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigration, TheOrphanFillsTheCacheAtHome) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  Recording again(code, {{1}, {32}, 0});
  again.each_warp([&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  machine.sm.l1d.flush_at_kernel_start = false;
  Neighbours sms(machine);
  sms.start(r, 1);
  sms.run(20);
  sms.move(0);
  sms.run(400);
  EXPECT_EQ(sms.home.counters().l1d_fills, 1u);
  sms.start(again, 1);
  sms.run(600);
  EXPECT_EQ(sms.home.counters().l1d_hits, 1u);
  sms.expect_all_over(machine.sm);
}

// Four MSHRs, a warp for each, and a fifth that waits for one.
TEST_F(SmMigration, AnOrphansMshrIsFreeAtOnceByParameter) {
  machine.sm.l1d.mshr_entries = 4;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 5, [&](WarpWriter& w) { w.lines(ld, {{7 + w.warp()}}).op(use).op(ex); });
  for (const bool release : {false, true}) {
    using Unclaimed = policy::Passage::Unclaimed;
    machine.migration = policy::Passage{};
    machine.migration->unclaimed = release ? Unclaimed::Release : Unclaimed::Hold;
    Neighbours sms(machine);
    sms.start(r, 5);
    sms.run(20);
    ASSERT_EQ(sms.home.sent().size(), 4u);
    const unsigned slot = sms.home.order().front();
    ASSERT_EQ(sms.may_leave(slot), ExportRefusal::None);
    sms.move(slot);
    EXPECT_EQ(sms.home.sm().migration().counters().unclaimed, 1u);
    sms.run(30);
    EXPECT_EQ(sms.home.sent().size(), release ? 5u : 4u);
    EXPECT_FALSE(sms.home.sm().idle());
    sms.run(600);
    EXPECT_EQ(sms.home.counters().l1d_fills, 5u) << "the orphan fills the cache all the same";
    EXPECT_EQ(sms.issued(), 15u);
    sms.expect_all_over(machine.sm);
  }
}

// The first of three requests leaves, the others wait for credits.
TEST_F(SmMigration, MissesAreSeenInOrderOfAge) {
  using policy::Misses, policy::MissesFrom;
  machine.noc.queue_flits = 1;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto block = one_block(code, 4, [&](WarpWriter& w) {
    w.lines(ld, {{w.warp() == 3 ? 7u : 7 + w.warp()}}).op(use).op(ex);
  });
  Neighbours sms(machine);
  sms.home.credit_after = kNever;
  sms.start(block, 4);
  sms.run(20);
  const std::vector<unsigned> order = sms.home.order();  // the fourth warp wants the first's line
  ASSERT_EQ(order.size(), 4u);
  const auto warps_at = [&](Misses among, MissesFrom from, unsigned position) {
    policy::PendingMiss miss;
    if (!sms.home.sm().migration().miss({among, from, position}, miss))
      return std::vector<unsigned>{};
    EXPECT_EQ(miss.waiting, miss.warps.size());
    EXPECT_TRUE(miss.only_loads);
    return miss.warps;
  };
  using Warps = std::vector<unsigned>;
  const std::vector<Warps> lines = {{order[0], order[3]}, {order[1]}, {order[2]}, {}};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(warps_at(Misses::Outstanding, MissesFrom::Oldest, i), lines[i]);
    EXPECT_EQ(warps_at(Misses::Outstanding, MissesFrom::Newest, i), i < 3 ? lines[2 - i] : Warps{});
    EXPECT_EQ(warps_at(Misses::Unsent, MissesFrom::Oldest, i), i < 2 ? lines[1 + i] : Warps{})
        << "the first has left";
    EXPECT_EQ(warps_at(Misses::Unsent, MissesFrom::Newest, i), i < 2 ? lines[2 - i] : Warps{});
  }
  // When the oldest has no loads here any more it is an orphan, and not looked at.
  for (const unsigned slot : lines[0]) sms.move(slot);
  EXPECT_EQ(warps_at(Misses::Outstanding, MissesFrom::Oldest, 0), lines[1]);
  EXPECT_EQ(warps_at(Misses::Outstanding, MissesFrom::Newest, 1), lines[1]);
  EXPECT_EQ(warps_at(Misses::Outstanding, MissesFrom::Oldest, 2), Warps{});
}

TEST_F(SmMigration, ARequestThatHasNotLeftIsWithdrawn) {
  machine.noc.queue_flits = 1;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(
      code, 2, [&](WarpWriter& w) { w.lines(ld, {{w.warp() == 0 ? 7u : 8u}}).op(use).op(ex); });
  Neighbours sms(machine);
  sms.home.credit_after = kNever;
  sms.start(r, 2);
  sms.run(20);
  ASSERT_EQ(sms.home.sent().size(), 1u);
  const unsigned stays = sms.home.sent()[0].message.line == 7 ? 0 : 1;
  const auto order = sms.home.order();
  const unsigned slot_that_left = order[0];
  const unsigned waits = order[1];
  ASSERT_NE(slot_that_left, waits);
  ASSERT_EQ(sms.may_leave(waits), ExportRefusal::None);
  sms.move(waits);
  EXPECT_EQ(sms.home.sm().migration().counters().cancelled, 1u);
  EXPECT_EQ(sms.home.sm().migration().counters().unclaimed, 0u);
  sms.run(400);
  EXPECT_EQ(sms.home.sent().size(), 1u);
  EXPECT_EQ(sms.home.counters().requests, 1u);
  ASSERT_EQ(sms.guest.sent().size(), 1u);
  EXPECT_EQ(sms.guest.sent()[0].message.line, stays == 0 ? 8u : 7u);
  EXPECT_EQ(sms.home.ended().size(), 1u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigration, WhoStaysStillGetsALineThatBothWaitedFor) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  for (unsigned leaves = 0; leaves < 3; ++leaves) {
    Neighbours sms(machine);
    sms.start(r, 3);
    sms.run(20);
    const unsigned slot = sms.home.order()[leaves];
    ASSERT_EQ(sms.may_leave(slot), ExportRefusal::None) << in_words(sms.may_leave(slot));
    sms.move(slot);
    EXPECT_EQ(sms.home.sm().migration().counters().unclaimed, 0u);
    sms.run(400);
    EXPECT_EQ(sms.home.counters().loads, 2u);
    EXPECT_EQ(sms.guest.counters().loads, 1u);
    EXPECT_EQ(sms.issued(), 9u);
    EXPECT_EQ(sms.home.ended().size(), 1u);
    sms.expect_all_over(machine.sm);
  }
}

// Of a load of two lines only the one that has not come is asked for again.
TEST_F(SmMigration, WhatHasComeIsNotAskedForAgain) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(ld, {{7, kFullMask, 0xffff}, {9, kFullMask, 0xffff0000}}).op(use).op(ex);
  });
  Neighbours sms(machine);
  sms.start(r, 1);
  while (sms.home.counters().l1d_fills == 0) sms.step();
  ASSERT_EQ(sms.may_leave(0), ExportRefusal::None);
  const WarpContext context = sms.leave(0);
  ASSERT_EQ(context.loads.size(), 1u);
  ASSERT_EQ(context.loads[0].transactions.size(), 1u);
  EXPECT_EQ(context.loads[0].transactions[0].line, 9u);
  EXPECT_EQ(context.loads[0].transactions[0].lanes, 0xffff0000u);
  sms.arrive(context);
  sms.run(600);
  ASSERT_EQ(sms.guest.sent().size(), 1u);
  EXPECT_EQ(sms.guest.sent()[0].message.line, 9u);
  sms.expect_all_over(machine.sm);
}

// Shorter machine lines: a piece of the stream is two of them.
TEST_F(SmMigration, HalfOfAPieceIsAskedForAgain) {
  machine.l2.line_bytes = machine.sm.l1d.line_bytes = 64;
  machine.sm.l1d.sector_bytes = machine.l2.sector_bytes = 32;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  Neighbours sms(machine);
  sms.start(r, 1);
  while (sms.home.counters().l1d_fills == 0) sms.step();
  ASSERT_EQ(sms.may_leave(0), ExportRefusal::None);
  const WarpContext context = sms.leave(0);
  ASSERT_EQ(context.loads.at(0).transactions.size(), 1u);
  EXPECT_EQ(context.loads[0].transactions[0].words, 0xffff0000u);
  sms.arrive(context);
  sms.run(600);
  ASSERT_EQ(sms.guest.sent().size(), 1u);
  EXPECT_EQ(sms.guest.sent()[0].message.line, 15u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigration, TheContextSaysWhatItIsAndHowLargeItIs) {
  const auto a = code.alu(3, {9}), ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(
      code, 2, [&](WarpWriter& w) { w.op(a).lines(ld, {{7 + w.warp()}}, 0xff).op(use).op(ex); });
  Neighbours sms(machine);
  sms.start(r, 2);
  sms.run(20);
  const WarpContext context = sms.leave(1 * 8);  // scheduler 1's first slot
  EXPECT_EQ(context.home.sm, 0u);
  EXPECT_EQ(context.home.slot, 0u);
  EXPECT_EQ(context.index, 1u);
  EXPECT_EQ(context.local_window, 8u);
  EXPECT_EQ(context.next - context.launch->code->instructions(), use);
  EXPECT_EQ(context.mask, kFullMask) << "of the record of `use`";
  ASSERT_EQ(context.loads.size(), 1u);
  EXPECT_EQ(context.loads[0].inst, ld);
  EXPECT_EQ(context.architectural_bytes(), 16u * 32 * 4 + 32) << "16 registers of 32 lanes";
  EXPECT_EQ(context.needs, (timing::BlockNeeds{32, 1, 512, 0}));
  sms.arrive(context);
  sms.run(400);
  sms.expect_all_over(machine.sm);
}

// --- residency ----------------------------------------------------------------------------------

TEST_F(SmMigration, TheSlotAtHomeIsFreeForAnotherBlockWhileTheBlockStays) {
  machine.sm.warps = 2;
  machine.sm.schedulers = 1;
  machine.sm.threads = 64;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  Recording r(code, {{3}, {32}, 0});
  r.each_warp([&](WarpWriter& w) { w.lines(ld, {{7 + w.block()}}).op(use).op(ex); });
  Neighbours sms(machine);
  sms.guest.reply_after = 1000;
  sms.start(r, 1, 0);
  sms.start(r, 1, 1);
  sms.run(20);
  EXPECT_FALSE(sms.home_account.fits(needs_of(r, machine.sm, 1)));
  sms.move(0);
  EXPECT_TRUE(sms.home_account.fits(needs_of(r, machine.sm, 1)));
  EXPECT_EQ(sms.guest_account.free().warps, 1u);
  sms.start(r, 1, 2);
  sms.run(600);
  EXPECT_EQ(sms.home.ended().size(), 2u) << "the two blocks whose warps are at home";
  EXPECT_EQ(sms.home.counters().blocks, 2u);
  sms.run(1600);
  EXPECT_EQ(sms.home.ended().size(), 3u);
  EXPECT_EQ(sms.home.counters().blocks, 3u);
  EXPECT_EQ(sms.guest.counters().blocks, 0u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigration, AGuestThatCannotTakeTheWarpSaysWhy) {
  machine.sm.warps = 2;
  machine.sm.schedulers = 1;
  machine.sm.threads = 64;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  Neighbours sms(machine);
  sms.start(r, 1);
  sms.run(20);
  const WarpContext context = sms.leave(0);
  EXPECT_EQ(sms.home.sm().migration().may_import(context), ImportRefusal::OwnWarp);
  WarpContext other = context;
  sms.arrive(context);
  other.loads.clear();
  other.home.block = 1;
  EXPECT_EQ(sms.guest.sm().migration().may_import(other), ImportRefusal::None);
  sms.arrive(other);
  EXPECT_EQ(sms.guest.sm().migration().may_import(other), ImportRefusal::NoSlot);
}

// A warp may have more loads under way than the load/store unit takes at once.
TEST_F(SmMigration, LoadsEnterAsTheGuestTakesThem) {
  machine.sm.l1d.mshr_entries = machine.sm.loads_in_flight = machine.sm.l1d.miss_queue = 64;
  const unsigned loads = 3 * machine.sm.lsu_queue;
  Code many;
  std::vector<std::uint32_t> ld;
  for (unsigned i = 0; i < loads; ++i) ld.push_back(many.load(static_cast<std::uint8_t>(i + 1), 0));
  const auto use = many.alu(200, {1}), ex = many.exit();
  auto r = one_block(many, 1, [&](WarpWriter& w) {
    for (unsigned i = 0; i < loads; ++i) w.lines(ld[i], {{10 + i}});
    w.op(use).op(ex);
  });
  Neighbours sms(machine);
  sms.start(r, 1);
  sms.home.reply_after = 5000;
  while (sms.home.sent().size() < loads && sms.now < 4000) sms.step();
  ASSERT_EQ(sms.may_leave(0), ExportRefusal::None);
  const WarpContext context = sms.leave(0);
  ASSERT_EQ(context.loads.size(), loads);
  sms.arrive(context);
  sms.run(12000);
  EXPECT_EQ(sms.guest.counters().loads, context.loads.size());
  EXPECT_EQ(sms.home.ended().size(), 1u);
  sms.expect_all_over(machine.sm);
}

// --- who may not leave ---------------------------------------------------------------------------

class SmMigrationRefusal : public SmMigration {
 protected:
  /// What keeps the one warp that runs these instructions, in a cycle.
  template <class Write>
  ExportRefusal at(Cycle cycle, Write write) {
    Code own = code;
    auto r = one_block(own, 1, write);
    Neighbours sms(machine);
    sms.start(r, 1);
    sms.run(cycle);
    return sms.may_leave(0);
  }
};

TEST_F(SmMigrationRefusal, OtherResultsStoresAtomicsAndHits) {
  const auto ld = code.load(1, 10), sfu = code.sfu(2, {9}), st = code.store(3, 4),
             atom = code.atomic(5, 6), red = code.reduce(6), use = code.alu(7, {1, 2}),
             nap = code.sleep(), ex = code.exit();
  const std::vector<TransactionSpec> line = {{7}};
  EXPECT_EQ(at(0, [&](WarpWriter& w) { w.op(ex); }), ExportRefusal::NotResident) << "not yet here";
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.op(sfu).op(use).op(ex); }),
            ExportRefusal::ResultUnderWay);
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(st, line).lines(ld, line).op(use).op(ex); }),
            ExportRefusal::OperationUnderWay);
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(red, line).lines(ld, {{8}}).op(use).op(ex); }),
            ExportRefusal::OperationUnderWay);
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(atom, line).lines(ld, {{8}}).op(use).op(ex); }),
            ExportRefusal::OperationUnderWay);
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.passes(nap, 10).op(ex); }), ExportRefusal::Parked);
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(ld, line).op(ex); }), ExportRefusal::Ended);
}

TEST_F(SmMigrationRefusal, AHitUnderWayAndAnInstructionInTheQueue) {
  const auto ld = code.load(1, 10), again = code.load(2, 1), far = code.load(3, 10),
             use = code.alu(7, {2, 3}), ex = code.exit();
  auto twice = [&](WarpWriter& w) { w.lines(ld, {{7}}).lines(again, {{7}}).op(use).op(ex); };
  // The first load's data come with the reply; the second load issues then and hits.
  SmHarness alone(machine);
  auto r = one_block(code, 1, twice);
  alone.start_block(0, r);
  alone.run(400);
  const Cycle hit = alone.issue_times()[1];
  EXPECT_EQ(at(hit + 2, twice), ExportRefusal::HitUnderWay);
  std::vector<TransactionSpec> lines;
  for (unsigned i = 0; i < 32; ++i) lines.push_back({100 + i, 1, 1u << i});
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(far, lines).op(use).op(ex); }),
            ExportRefusal::InQueue);
}

// No MSHR holds what goes past the L1D, however long ago it left.
TEST_F(SmMigrationRefusal, ALoadThatGoesPastTheL1d) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  const auto write = [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); };
  machine.sm.l1d.hit_latency_cycles = 4;
  ASSERT_EQ(at(20, write), ExportRefusal::None);
  code.raw().instructions[ld].bypass_l1 = true;
  EXPECT_EQ(at(20, write), ExportRefusal::HitUnderWay);
}

TEST_F(SmMigrationRefusal, AKernelThatSharesWithItsBlock) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), bar = code.barrier(), ex = code.exit();
  EXPECT_EQ(at(10, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).barrier(bar).op(ex); }),
            ExportRefusal::SharesWithBlock);
}

TEST_F(SmMigrationRefusal, AnSmThatKeepsNoDescriptors) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  SmHarness alone(machine);
  alone.start_block(0, r);
  alone.run(20);
  EXPECT_EQ(alone.sm().migration().may_export(0), ExportRefusal::Unsupported);
}

// --- properties ----------------------------------------------------------------------------------

/// Loads, stores, atomics, fences and arithmetic in any order.
void write_anything(Rng& rng, WarpWriter& w, const std::vector<std::uint32_t>& arithmetic,
                    const std::vector<std::uint32_t>& memory, std::uint32_t fence,
                    std::uint32_t exit) {
  const auto below = [&](std::uint64_t n) {
    return static_cast<unsigned>(rng.below(static_cast<std::uint32_t>(n)));
  };
  for (unsigned left = 20 + below(20); left != 0; --left) {
    if (below(8) == 0) {
      w.op(fence);
    } else if (below(3) != 0) {
      std::vector<TransactionSpec> transactions;
      const std::uint32_t first = below(200);
      for (unsigned n = 1 + below(4), i = 0; i < n; ++i)
        transactions.push_back({first + 3 * i, 1u << below(32) | 1u, 0xffu << (8 * i)});
      w.lines(memory[below(memory.size())], transactions);
    } else {
      w.op(arithmetic[below(arithmetic.size())]);
    }
  }
  w.op(exit);
}

TEST_F(SmMigration, HoweverOftenWarpsLeaveNothingIsLostOrDoneTwice) {
  std::vector<std::uint32_t> arithmetic, memory;
  for (std::uint8_t to = 1; to < 6; ++to) {
    arithmetic.push_back(code.alu(to, {static_cast<std::uint8_t>(to + 1)}));
    memory.push_back(code.load(to, static_cast<std::uint8_t>(to + 2)));
  }
  memory.push_back(code.store(3, 4));
  memory.push_back(code.atomic(5, 6));
  const auto fence = code.fence(), ex = code.exit();
  std::uint64_t moves = 0, unclaimed = 0, cancelled = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Rng rng(seed);
    machine.sm.l1d.mshr_entries = seed % 2 == 0 ? 4 : 32;
    machine.sm.l1d.reserve_on_miss = seed % 3 == 0;
    machine.noc.queue_flits = seed % 4 == 0 ? 8 : 64;
    machine.sm.fetch.cycles = seed % 5 == 0 ? 6 : 0;
    machine.migration = policy::Passage{};
    if (seed % 8 < 4) machine.migration->unclaimed = policy::Passage::Unclaimed::Release;
    Recording recording(code, {{2}, {4 * kLanes}, 0});
    recording.each_warp(
        [&](WarpWriter& w) { write_anything(rng, w, arithmetic, memory, fence, ex); });
    SmHarness alone(machine);
    alone.start_block(0, recording, 0, 0);
    alone.start_block(0, recording, 1, 1);
    alone.run(60000);
    ASSERT_EQ(alone.ended().size(), 2u);

    Neighbours sms(machine);
    sms.start(recording, 4, 0);
    sms.start(recording, 4, 1);
    std::uint64_t moved = 0;
    while (sms.home.ended().size() < 2 && sms.now < 60000) {
      sms.step();
      const auto warp = static_cast<unsigned>(rng.below(machine.sm.warps));
      if (sms.may_leave(warp) != ExportRefusal::None || rng.below(4) != 0) continue;
      if (sms.guest_account.free().warps == 0) continue;
      const WarpContext context = sms.leave(warp);
      while (sms.guest.sm().migration().may_import(context) != ImportRefusal::None) sms.step();
      sms.arrive(context);
      ++moved;
    }
    ASSERT_EQ(sms.home.ended().size(), 2u) << "seed " << seed;
    sms.run(sms.now + 2000);  // orphans come
    SCOPED_TRACE("seed " + std::to_string(seed));
    const stats::SmCounters home = sms.home.counters(), guest = sms.guest.counters(),
                            whole = alone.counters();
    EXPECT_EQ(home.class_issued[0] + guest.class_issued[0], whole.class_issued[0]);
    EXPECT_EQ(home.issued + guest.issued, whole.issued);
    EXPECT_EQ(home.thread_instructions + guest.thread_instructions, whole.thread_instructions);
    EXPECT_EQ(home.loads + guest.loads, whole.loads) << "each is over once";
    EXPECT_EQ(home.l1d_stores + guest.l1d_stores, whole.l1d_stores);
    EXPECT_EQ(home.atomics + guest.atomics, whole.atomics);
    EXPECT_EQ(sms.home.sm().migration().counters().warps_out, moved);
    EXPECT_EQ(sms.guest.sm().migration().counters().warps_in, moved);
    EXPECT_EQ(sms.ended_abroad.size(), moved);
    sms.expect_all_over(machine.sm);
    moves += moved;
    unclaimed += sms.home.sm().migration().counters().unclaimed;
    cancelled += sms.home.sm().migration().counters().cancelled;
  }
  EXPECT_GT(moves, 30u) << "the property was tested";
  EXPECT_GT(unclaimed, 5u);
  EXPECT_GT(cancelled, 0u);
}

}  // namespace
}  // namespace raddle::sm_migration_test

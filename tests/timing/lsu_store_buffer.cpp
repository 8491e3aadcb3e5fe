// The store buffer between the L1D and the interconnect: exact cycles and messages.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::lsu_store_buffer_test {
namespace {

using namespace raddle::support;
using timing::MessageKind;
using Cycles = std::vector<Cycle>;

class LsuStoreBuffer : public ::testing::Test {
 protected:
  LsuStoreBuffer() { machine.sm.l1d.store_buffer = 2; }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), store = code.store(5, 10), fence = code.fence(),
                atomic = code.atomic(6, 10), alu = code.alu(3, {4}), exit = code.exit();
};

TEST_F(LsuStoreBuffer, StoresToOneLineCombineUntilTheWarpEnds) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 0xff}}).lines(store, {{100, 0xff00}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.sent()[0].message.sectors, 3);
  EXPECT_EQ(sm.sent()[0].at, 2u) << "in the cycle of the exit";
  EXPECT_EQ(sm.ended()[0].at, 102u) << "acknowledged";
  EXPECT_EQ(sm.counters().l1d_stores, 2u);
  EXPECT_EQ(sm.counters().stores_combined, 1u);
  EXPECT_EQ(sm.counters().requests, 1u);
}

TEST_F(LsuStoreBuffer, AFenceSendsEverythingAndWaits) {
  machine.sm.l1d.store_buffer = 4;
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.lines(store, {{100, 1}}).op(fence);
    else w.lines(store, {{200, 1}});
    for (unsigned i = 0; i < 100; ++i) w.op(alu);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  // Warp 0 stores at 0 and waits at its fence from then on; warp 1 (slot 8) stores at 1.
  EXPECT_EQ(sm.sent_times(), (Cycles{1, 3})) << "packets of two flits, oldest first";
  EXPECT_EQ(sm.issue_times(0)[1], 101u);
}

TEST_F(LsuStoreBuffer, WithoutAFenceEntriesLeaveWhenNoneIsFree) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 1}}).op(alu).op(alu).op(alu).lines(store, {{200, 1}});
    for (unsigned i = 0; i < 20; ++i) w.op(alu);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  const Cycle second = sm.issue_times()[4];
  EXPECT_EQ(sm.sent_times(), (Cycles{second + 1, second + 3}));
}

TEST_F(LsuStoreBuffer, EntriesAreHeldUntilTheyAreAcknowledged) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 1}, {200, 1}, {300, 1}, {400, 1}}).op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(600);
    // Entries of 100 and 200 leave at 1 and 3 (two flits each); their acknowledgements free places
    // for 300 and 400. Two lines per round trip.
    EXPECT_EQ(sm.sent_times(), (Cycles{1, 3, 102, 104}));
    const auto c = sm.counters();
    EXPECT_EQ(c.l1d_refused[static_cast<unsigned>(stats::Refusal::StoreBuffer)],
              c.l1d_reservation_fails);
    EXPECT_EQ(c.l1d_reservation_fails, 99u + 1u) << "300 from 2 to 100, 400 from 102 to 102";
  }
}

TEST_F(LsuStoreBuffer, WarpsWhoseStoresCombineAllWaitForTheOneWrite) {
  auto r = one_block(code, 3, [&](WarpWriter& w) {
    w.lines(store, {{100, 1u << w.warp() * 8}}).op(alu).op(alu).op(alu).op(fence).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.sent()[0].message.sectors, 1 | 2 | 4);
  EXPECT_EQ(sm.counters().stores_combined, 2u);
  for (unsigned slot : {0u, 1u, 8u}) {
    const Cycles t = sm.issue_times(slot);
    EXPECT_GE(t[4], sm.sent()[0].at + 100) << "the fence of slot " << slot;
    EXPECT_LE(t[4], sm.sent()[0].at + 102) << "slot 1 after fence and exit of the older slot 0";
  }
}

TEST_F(LsuStoreBuffer, ALineThatHasLeftTakesNewStoresInANewEntry) {
  machine.sm.l1d.store_buffer = 3;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 1}}).op(fence).lines(store, {{100, 1}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent().size(), 2u);
  EXPECT_EQ(sm.counters().stores_combined, 0u);
}

TEST_F(LsuStoreBuffer, AtomicsAndBypassingStoresGoPast) {
  std::uint32_t strong = code.store(5, 10);
  code.raw().instructions[strong].bypass_l1 = true;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 1}}).lines(strong, {{200, 1}}).lines(atomic, {{300, 1, 1}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 3u);
  EXPECT_EQ(sm.sent()[0].message.line, 200u);
  EXPECT_EQ(sm.sent()[2].message.line, 100u) << "at the warp's end";
}

TEST_F(LsuStoreBuffer, ABlockFenceWaitsForNothing) {
  code.raw().instructions[fence].bytes = trace::kBlockScope;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 1}}).op(fence).op(alu).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 1, 2, 3}));
  EXPECT_EQ(sm.sent()[0].at, 3u) << "at the exit";
}

}  // namespace
}  // namespace raddle::lsu_store_buffer_test

// What stores do to the L1D under each write policy: exact cycles and messages.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::l1d_write_policies_test {
namespace {

using namespace raddle::support;
using timing::MessageKind;
using timing::WritePolicy;
using Cycles = std::vector<Cycle>;

class L1dWritePolicies : public ::testing::Test {
 protected:
  L1dWritePolicies() { machine.sm.l1d.ways = 2; }  // 32 sets
  void use(WritePolicy p) { machine.sm.l1d.write_policy = p; }
  std::uint32_t set() const { return machine.sm.l1d.sets(); }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), used = code.alu(3, {1}), store = code.store(5, 10),
                fence = code.fence(), atomic = code.atomic(6, 10), exit = code.exit();
};

TEST_F(L1dWritePolicies, WriteBackKeepsAStoreThatHits) {
  use(WritePolicy::WriteBack);
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(used).lines(store, {{100}}).op(fence).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent().size(), 1u) << "the load";
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 100, 101, 102, 103}))
      << "the store is done a cycle after it was served";
  EXPECT_EQ(sm.counters().l1d_stores, 1u);
  EXPECT_EQ(sm.counters().l1d_store_hits, 1u);
}

TEST_F(L1dWritePolicies, WriteBackFetchesAnAbsentLineAndWaitsForIt) {
  use(WritePolicy::WriteBack);
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.lines(store, {{100, 0xff}}).op(fence).lines(load, {{100, 0xff}});
    else w.lines(load, {{100, 0xff}}).op(used);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 1u);
  EXPECT_EQ(sm.sent()[0].message.kind, MessageKind::Read);
  EXPECT_EQ(sm.sent()[0].message.sectors, 1);
  EXPECT_EQ(sm.issue_times(0)[1], 100u) << "the fence";
  EXPECT_EQ(sm.issue_times(8)[1], 100u) << "the other warp's load has merged";
  stats::SmCounters c = sm.counters();
  EXPECT_EQ(c.l1d_store_misses, 1u);
  EXPECT_EQ(c.l1d_store_hits, 0u);
  EXPECT_EQ(c.l1d_pending_hits, 1u);
  EXPECT_EQ(c.l1d_misses, 0u) << "counts loads";
  EXPECT_EQ(c.l1d_fills, 1u);
}

TEST_F(L1dWritePolicies, ADirtyLineThatLosesItsWayIsWrittenBack) {
  for (auto policy : {WritePolicy::WriteBack, WritePolicy::WriteValidate})
    for (bool reserve : {false, true}) {
      use(policy);
      machine.sm.l1d.reserve_on_miss = reserve;
      auto r = one_block(code, 1, [&](WarpWriter& w) {
        w.lines(store, {{100, 0xff00}}).op(fence);
        w.lines(load, {{100 + set(), 1}}).op(used).lines(load, {{100 + 2 * set(), 1}}).op(used);
        w.op(exit);
      });
      SmHarness sm(machine);
      sm.start_block(0, r);
      sm.run(900);
      ASSERT_FALSE(sm.sent().empty());
      const auto& last = sm.sent().back();
      EXPECT_EQ(last.message.kind, MessageKind::Write);
      EXPECT_EQ(last.message.line, 100u);
      EXPECT_EQ(last.message.sectors, 2) << "the dirty one only";
      const auto& miss = sm.sent()[sm.sent().size() - 2];
      EXPECT_EQ(miss.message.line, 100 + 2 * set());
      // At the miss the write-back enters the queue in the next cycle; at the fill, with the data.
      EXPECT_EQ(last.at, miss.at + (reserve ? 1 : 100));
      EXPECT_EQ(sm.counters().l1d_write_backs, 1u);
      EXPECT_EQ(sm.counters().l1d_evictions, 1u);
      EXPECT_TRUE(sm.sm().idle());
    }
}

TEST_F(L1dWritePolicies, WriteValidateNeedsNoData) {
  use(WritePolicy::WriteValidate);
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 0xff}}).op(fence).lines(load, {{100, 0xff}}).op(used);
    w.lines(load, {{100, 0xffff}}).op(used).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[1], 1u) << "the fence";
  EXPECT_EQ(sm.issue_times()[3] - sm.issue_times()[2], 28u) << "a hit";
  ASSERT_EQ(sm.sent().size(), 1u) << "the sector that was not written";
  EXPECT_EQ(sm.sent()[0].message.sectors, 2);
}

TEST_F(L1dWritePolicies, WriteThroughValidateKeepsWholeSectorsAndWritesThrough) {
  use(WritePolicy::WriteThroughValidate);
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 0x1ff}}).op(fence).lines(load, {{100, 0xffff}}).op(used).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  ASSERT_EQ(sm.sent().size(), 2u);
  EXPECT_EQ(sm.sent()[0].message.kind, MessageKind::Write);
  EXPECT_EQ(sm.sent()[0].message.sectors, 3);
  EXPECT_EQ(sm.issue_times()[1], 100u) << "acknowledged";
  EXPECT_EQ(sm.sent()[1].message.sectors, 2) << "written in part only";
}

TEST_F(L1dWritePolicies, WriteThroughValidateTakesNoWayThatIsReserved) {
  use(WritePolicy::WriteThroughValidate);
  machine.sm.l1d.reserve_on_miss = true;
  machine.sm.l1d.ways = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}}).lines(store, {{100 + set()}}).op(used).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 1})) << "the store goes on without a way";
  EXPECT_EQ(sm.counters().l1d_evictions, 0u);
}

TEST_F(L1dWritePolicies, WriteValidateWaitsForAReservedWay) {
  use(WritePolicy::WriteValidate);
  machine.sm.l1d.reserve_on_miss = true;
  machine.sm.l1d.ways = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}}).lines(store, {{100 + set()}}).op(fence).op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(400);
    EXPECT_EQ(sm.issue_times()[2], 101u) << "the fence, after the fill";
    EXPECT_EQ(sm.counters().l1d_refused[static_cast<unsigned>(stats::Refusal::Way)], 99u);
    EXPECT_EQ(sm.counters().l1d_reservation_fails, 99u);
  }
}

TEST_F(L1dWritePolicies, AtomicsAndBypassingLoadsFollowTheWriteBackOfTheirLine) {
  use(WritePolicy::WriteValidate);
  std::uint32_t bypass = code.load(2, 10);
  code.raw().instructions[bypass].bypass_l1 = true;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100, 0xff}, {200, 0xff}}).op(fence);
    w.lines(atomic, {{100, 1, 1}}).lines(bypass, {{200, 1, 1}}).op(exit);
  });
  for (unsigned queue : {1u, 8u}) {
    machine.sm.l1d.miss_queue = queue;
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(400);
    std::vector<MessageKind> kinds;
    for (auto& s : sm.sent()) kinds.push_back(s.message.kind);
    EXPECT_EQ(kinds, (std::vector{MessageKind::Write, MessageKind::Atomic, MessageKind::Write,
                                  MessageKind::Read}));
    EXPECT_TRUE(sm.sm().idle());
  }
}

TEST_F(L1dWritePolicies, AFlushWritesDirtyLinesBackBeforeAnythingIsAskedFor) {
  use(WritePolicy::WriteValidate);
  auto first = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(store, {{100}, {101}, {102, 0xff}}).op(fence).op(exit);
  });
  auto second = one_block(code, 1, [&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, first);
  sm.start_block(500, second);
  sm.run(900);
  ASSERT_EQ(sm.sent().size(), 4u);
  // A line of four sectors is a packet of five flits. The write-backs enter the queue from the
  // cycle of the flush on, one a cycle; the load behind them.
  EXPECT_EQ(sm.sent_times(), (Cycles{500, 505, 510, 512}));
  EXPECT_EQ(sm.sent()[3].message.kind, MessageKind::Read);
  EXPECT_EQ(sm.counters().l1d_reservation_fails, 2u)
      << "500 and 501: at 502 the last one enters the queue";
}

TEST_F(L1dWritePolicies, LocalMemoryHasAPolicyOfItsOwn) {
  use(WritePolicy::WriteEvict);
  machine.sm.l1d.local_write_policy = WritePolicy::WriteValidate;
  code.raw().local_bytes_per_thread = 8;
  auto spill = code.memory(OpKind::StoreLocal, {}, {5}, "st.local.u32"),
       restore = code.memory(OpKind::LoadLocal, {1}, {10}, "ld.local.u32");
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(spill, {{0}}).lines(restore, {{0}}).op(used).lines(store, {{100}}).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  EXPECT_EQ(sm.issue_times()[2] - sm.issue_times()[1], 28u) << "restored from the L1";
  ASSERT_EQ(sm.sent().size(), 1u) << "the global store";
  EXPECT_EQ(sm.sent()[0].message.line, 100u);
}

TEST_F(L1dWritePolicies, HashedIndexSpreadsAStrideOfTheSets) {
  auto evictions = [&](timing::SetIndex index) {
    machine.sm.l1d.index = index;
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      for (unsigned round = 0; round < 2; ++round)
        for (unsigned i = 0; i < 16; ++i) w.lines(load, {{100 + i * set(), 1}}).op(used);
      w.op(exit);
    });
    SmHarness sm(machine);
    sm.start_block(0, r);
    sm.run(9000);
    EXPECT_TRUE(sm.sm().idle());
    return sm.counters().l1d_evictions;
  };
  EXPECT_EQ(evictions(timing::SetIndex::Modulo), 30u) << "one set of two ways";
  EXPECT_LT(evictions(timing::SetIndex::Hash), 8u);
}

}  // namespace
}  // namespace raddle::l1d_write_policies_test

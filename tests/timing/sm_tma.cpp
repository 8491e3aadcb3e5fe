// Bulk and tensor copies made by a unit of the SM (sm.tma): exact cycles.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_tma_test {
namespace {

using namespace raddle::support;
using trace::ObjectAction;
using trace::ObjectChange;
using Cycles = std::vector<Cycle>;

/// A line every 3 cycles, the first 5 after the issue, and 10 from a copy to the next; replies come
/// 100 cycles after a request has left.
class SmTma : public ::testing::Test {
 protected:
  SmTma() {
    machine.sm.tma = {.interval_cycles = 3,
                      .latency_cycles = 5,
                      .copy_cycles = 10,
                      .lines_in_flight = 64,
                      .descriptors = 1,
                      .shared_cycles = 1};
    mark_copies(trace::CopyKind::Bulk, {load, store, reduce, notifies});
    mark_copies(trace::CopyKind::Tensor, {tensor, other});
  }
  void mark_copies(trace::CopyKind kind, const std::vector<std::uint32_t>& instructions) {
    for (const std::uint32_t inst : instructions) code.raw().instructions[inst].copy = kind;
  }
  std::uint32_t object(ObjectAction action) {
    const std::uint32_t i = code.add(OpKind::BarrierObject, OpClass::Barrier, {}, {}, "mbarrier");
    code.raw().instructions[i].bytes = static_cast<std::uint16_t>(action);
    return i;
  }
  std::uint32_t groups(std::uint8_t what, unsigned left = 0) {
    const std::uint32_t inst = code.add(OpKind::Fence, OpClass::Control, {}, {}, "bulk.group");
    code.raw().instructions[inst].bytes =
        static_cast<std::uint16_t>(what | left << trace::kGroupsLeft);
    return inst;
  }
  static std::vector<TransactionSpec> one(std::uint32_t arrivals, std::uint32_t value) {
    const trace::Transaction t =
        ObjectChange{.object = 5, .arrivals = arrivals, .value = value, .lanes = 1}.packed();
    return {{t.line, t.words, t.lanes}};
  }
  static std::vector<TransactionSpec> lines(std::uint32_t first, unsigned count) {
    std::vector<TransactionSpec> out;
    for (unsigned i = 0; i < count; ++i) out.push_back({first + i, kFullMask, 1});
    return out;
  }
  struct Seen {
    Cycles issued, sent;
    stats::SmCounters counters;
    bool operator==(const Seen& other) const {
      return issued == other.issued && sent == other.sent;
    }
  };
  template <class Write>
  Seen run(Write write, unsigned warps = 1) {
    auto r = one_block(code, warps, write);
    Seen out[2];
    for (const bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(5000);
      EXPECT_EQ(sm.ended().size(), 1u);
      EXPECT_TRUE(sm.sm().idle());
      EXPECT_TRUE(sm.sm().audit().empty());
      out[skip] = {sm.issue_times(), sm.sent_times(), sm.counters()};
      kinds.clear();
      for (const SmHarness::Sent& sent : sm.sent()) kinds.push_back(sent.message.kind);
    }
    EXPECT_EQ(out[0], out[1]) << "skipped cycles change nothing";
    return out[0];
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::vector<timing::MessageKind> kinds;
  std::uint32_t alu = code.alu(1, {9}), bar = code.barrier(), exit = code.exit();
  std::uint32_t load = code.memory(OpKind::LoadGlobal, {}, {9}, "cp.async.bulk"),
                store = code.memory(OpKind::StoreGlobal, {}, {9}, "cp.async.bulk"),
                reduce = code.memory(OpKind::ReduceGlobal, {}, {9}, "cp.reduce.async.bulk"),
                tensor = code.memory(OpKind::LoadGlobal, {}, {9}, "cp.async.bulk.tensor"),
                other = code.memory(OpKind::LoadGlobal, {}, {9}, "cp.async.bulk.tensor");
  std::uint32_t init = object(ObjectAction::Init), arrive = object(ObjectAction::Arrive),
                notifies = object(ObjectAction::Copied), wait = object(ObjectAction::Wait);
  std::uint32_t ends = groups(trace::kEndsBulkGroup);
};

TEST_F(SmTma, ACopyIsOneInstructionAndItsLinesLeaveAtTheUnitsRate) {
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(load, lines(100, 3))
        .lines(load, lines(200, 1))
        .lines(notifies, one(0, 512))
        .op(alu)
        .op(exit);
  });
  EXPECT_EQ(seen.issued, (Cycles{0, 1, 2})) << "its records are taken together";
  EXPECT_EQ(seen.sent, (Cycles{5, 8, 11, 14}));
  EXPECT_EQ(seen.counters.issued, 3u);
  EXPECT_EQ(seen.counters.l1d_accesses, 0u) << "past the L1D";
}
TEST_F(SmTma, CopiesFollowOneAnother) {
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(load, lines(100, 2)).op(alu).lines(load, lines(200, 6)).op(alu);
    w.lines(load, lines(300, 1)).op(exit);
  });
  EXPECT_EQ(seen.sent, (Cycles{5, 8, 15, 18, 21, 24, 27, 30, 33}))
      << "10 cycles from a short one to the next, which then follows at the rate";
}
TEST_F(SmTma, WaitersGoOnWhenTheLastLineHasCome) {
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(init, one(1, 0)).lines(arrive, one(1, 384));
    w.lines(load, lines(100, 3))
        .lines(notifies, one(0, 384))
        .lines(wait, one(0, 1))
        .op(alu)
        .op(exit);
  });
  const Cycle latency = machine.sm.cost[static_cast<unsigned>(OpClass::Barrier)].latency;
  ASSERT_EQ(seen.sent.size(), 3u);
  EXPECT_EQ(seen.sent[0], seen.issued[2] + 5);
  EXPECT_EQ(seen.sent[2], seen.sent[0] + 6);
  EXPECT_EQ(seen.issued[3], seen.issued[2] + 1) << "it comes to wait at once";
  EXPECT_EQ(seen.issued[4], seen.sent[2] + 100 + latency);
}
TEST_F(SmTma, ADescriptorIsReadOnceAndKept) {
  const auto same = run([&](WarpWriter& w) {
    w.lines(tensor, lines(100, 2)).op(alu).lines(tensor, lines(200, 1)).op(exit);
  });
  EXPECT_EQ(same.sent, (Cycles{5, 105, 108, 115})) << "the descriptor, then lines";
  const auto two = run([&](WarpWriter& w) {
    w.lines(tensor, lines(100, 1)).op(alu).lines(other, lines(200, 1)).op(alu);
    w.lines(tensor, lines(300, 1)).op(exit);
  });
  EXPECT_EQ(two.sent, (Cycles{5, 105, 115, 215, 225, 325})) << "there is room for one";
  machine.sm.tma.descriptors = 2;
  const auto both = run([&](WarpWriter& w) {
    w.lines(tensor, lines(100, 1)).op(alu).lines(other, lines(200, 1)).op(alu);
    w.lines(tensor, lines(300, 1)).op(exit);
  });
  EXPECT_EQ(both.sent, (Cycles{5, 105, 115, 215, 225}));
}
TEST_F(SmTma, StoresHaveReadTheirSourceBeforeTheyAreOver) {
  const auto reads = groups(trace::kWaitsForBulkReads), all = groups(trace::kWaitsForBulkGroups),
             one_left = groups(trace::kWaitsForBulkGroups, 1);
  const auto when = [&](std::uint32_t waits) {
    return run([&](WarpWriter& w) {
             w.lines(store, lines(100, 2)).op(ends).lines(store, lines(200, 2)).op(ends);
             w.op(waits).op(exit);
           })
        .issued[4];
  };
  // Lines leave the unit at 5, 8, 15 and 18, and the SM, whose port each takes for 5 cycles, at 5,
  // 10, 15 and 20.
  EXPECT_EQ(when(reads), 19u) << "the last line has been read";
  EXPECT_EQ(when(one_left), 110u);
  EXPECT_EQ(when(all), 120u);
  EXPECT_EQ(kinds, std::vector(4, timing::MessageKind::Write));
}
TEST_F(SmTma, AFenceWaitsForNoCopyAndTheWarpsEndForAll) {
  const auto fence = code.fence();
  const Seen seen = run([&](WarpWriter& w) { w.lines(reduce, lines(100, 1)).op(fence).op(exit); });
  EXPECT_EQ(seen.issued, (Cycles{0, 1, 2}));
  EXPECT_EQ(kinds, std::vector(1, timing::MessageKind::Reduce));
  EXPECT_EQ(seen.counters.atomics, 1u);
}
TEST_F(SmTma, OnlySoManyLinesAreUnderWay) {
  machine.sm.tma.lines_in_flight = 2;
  const Seen seen = run([&](WarpWriter& w) { w.lines(load, lines(100, 4)).op(exit); });
  EXPECT_EQ(seen.sent, (Cycles{5, 8, 105, 108}));
}
TEST_F(SmTma, LinesThatComeTakeSharedMemory) {
  machine.sm.tma.shared_cycles = 4;
  const auto shared = code.load_shared(2, 9), user = code.alu(3, {2}), nap = code.sleep();
  const auto when = [&](bool copies) {
    const Seen seen = run([&](WarpWriter& w) {
      if (copies) w.lines(load, lines(100, 1));
      else w.op(alu);
      w.passes(nap, 6).passes(shared, 1).op(user).op(exit);
    });
    return seen.issued[3] - seen.issued[2];
  };
  machine.core_clock_mhz = 1641;  // 64 ns are 105 cycles: it wakes just behind the copy's line
  const Cycle alone = when(false);
  EXPECT_EQ(alone, machine.sm.shared_latency_cycles);
  EXPECT_EQ(when(true), alone + 3) << "the line came a cycle before";
}
TEST_F(SmTma, ACopyOfNothingIsOverAtOnce) {
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(init, one(1, 0)).lines(arrive, one(1, 64));
    w.lines(load, {}).lines(notifies, one(0, 64)).lines(wait, one(0, 1)).op(alu).op(exit);
  });
  EXPECT_TRUE(seen.sent.empty()) << "all of it lies outside the tensor";
  EXPECT_GT(seen.issued[4], seen.issued[3] + 1);
}
TEST_F(SmTma, ATensorCopyOfNothingReadsItsDescriptorAllTheSame) {
  const auto all = groups(trace::kWaitsForBulkGroups);
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(tensor, {}).op(alu).lines(store, {}).op(ends).op(all).lines(load, lines(200, 1));
    w.op(exit);
  });
  ASSERT_EQ(seen.sent.size(), 2u);
  EXPECT_EQ(seen.sent[0], 5u);
  EXPECT_GT(seen.issued[4], seen.sent[0] + 100) << "the store of nothing is behind it";
  EXPECT_GT(seen.sent[1], seen.issued[5]);
}
TEST_F(SmTma, AStoreOfNothingReadsItsDescriptorAllTheSame) {
  code.raw().instructions[store].copy = trace::CopyKind::Tensor;
  const auto reads = groups(trace::kWaitsForBulkReads);
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(store, {}).op(ends).op(reads).lines(store, lines(100, 1)).op(exit);
  });
  EXPECT_EQ(seen.sent.size(), 2u);
  EXPECT_GT(seen.issued[2], seen.sent[0] + 100);
}
TEST_F(SmTma, WithoutTheUnitTheLoadStoreUnitMakesThem) {
  machine.sm.tma = {};
  const Seen seen = run([&](WarpWriter& w) {
    w.lines(tensor, lines(100, 3)).lines(notifies, one(0, 384)).op(alu).op(exit);
  });
  EXPECT_EQ(seen.sent.size(), 3u);
  EXPECT_EQ(seen.issued.size(), 4u) << "what tells the object is an instruction of its own";
}

}  // namespace
}  // namespace raddle::sm_tma_test

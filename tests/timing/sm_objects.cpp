// Barrier objects in shared memory: phases, copies that tell of their bytes, and warps that wait.
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/timing/sm/barrier_objects.h"
#include "support/sm_harness.h"

namespace raddle::sm_objects_test {
namespace {

using namespace raddle::support;
using timing::BarrierObjects;
using trace::ObjectAction;
using trace::ObjectChange;
using Cycles = std::vector<Cycle>;

struct Words {
  explicit Words(const ObjectChange& change) : packed(change.packed()) {}
  const std::uint32_t* words() const { return &packed.line; }
  trace::Transaction packed;
};

class Objects : public ::testing::Test {
 protected:
  static constexpr unsigned kSlot = 1;
  Objects() : objects(4) { objects.start_block(kSlot); }
  timing::WarpMask act(unsigned warp, ObjectAction action, ObjectChange change) {
    change.lanes = 1;
    return objects.act(kSlot, warp, action, Words(change).words(), 1);
  }
  bool passes(unsigned warp, std::uint32_t object, std::uint32_t phases) {
    return objects.passes(kSlot, warp,
                          Words({.object = object, .value = phases, .lanes = 1}).words(), 1);
  }
  BarrierObjects objects;
};

TEST_F(Objects, APieceKeepsItsNumbers) {
  for (const ObjectChange& p : {ObjectChange{0, 0, 0, 1}, ObjectChange{29055, 1024, 232448, ~0u}}) {
    const ObjectChange read = ObjectChange::of(Words(p).words());
    EXPECT_EQ(read.object, p.object);
    EXPECT_EQ(read.arrivals, p.arrivals);
    EXPECT_EQ(read.value, p.value);
    EXPECT_EQ(read.lanes, p.lanes);
    EXPECT_NE(p.packed().words, 0u) << "files refuse pieces without words";
  }
}
TEST_F(Objects, AllArrivalsEndAPhase) {
  act(0, ObjectAction::Init, {.object = 7, .arrivals = 2});
  EXPECT_TRUE(passes(3, 7, 0));
  EXPECT_FALSE(passes(3, 7, 1));
  EXPECT_FALSE(passes(4, 7, 2));
  EXPECT_EQ(act(0, ObjectAction::Arrive, {.object = 7, .arrivals = 1}), 0u);
  EXPECT_EQ(act(0, ObjectAction::Arrive, {.object = 8, .arrivals = 1}), 0u) << "another object";
  EXPECT_EQ(act(1, ObjectAction::Arrive, {.object = 7, .arrivals = 1}), timing::bit_of(3));
  EXPECT_TRUE(passes(3, 7, 1));
  EXPECT_EQ(act(0, ObjectAction::Arrive, {.object = 7, .arrivals = 2}), timing::bit_of(4));
}
TEST_F(Objects, BytesKeepAPhaseOpenWhicheverComesFirst) {
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 1});
  EXPECT_FALSE(passes(2, 1, 1));
  EXPECT_EQ(act(0, ObjectAction::Come, {.object = 1, .value = 64}), 0u);
  EXPECT_EQ(act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1, .value = 96}), 0u);
  EXPECT_EQ(act(0, ObjectAction::Come, {.object = 1, .value = 32}), timing::bit_of(2));
}
TEST_F(Objects, WhoDropsIsNotExpectedAgain) {
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 2});
  act(0, ObjectAction::Drop, {.object = 1, .arrivals = 1});
  act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1});
  EXPECT_TRUE(passes(2, 1, 1));
  act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1});
  EXPECT_TRUE(passes(2, 1, 2));
}
TEST_F(Objects, CopiesTellWhenTheyHaveCome) {
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 1});
  act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1, .value = 128});
  objects.issued(5, 2);
  EXPECT_EQ(act(5, ObjectAction::Copied, {.object = 1, .value = 128}), 0u);
  objects.issued(5, 1);  // a later one, which it does not wait for
  EXPECT_FALSE(passes(2, 1, 1));
  EXPECT_EQ(objects.came(5), 0u);
  EXPECT_EQ(objects.came(5), timing::bit_of(2));
  EXPECT_EQ(objects.came(5), 0u);
  EXPECT_EQ(objects.came(5), 0u) << "one that was issued elsewhere";
}
TEST_F(Objects, AnArrivalOfCopiesKeepsThePhaseOpenMeanwhile) {
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 1});
  objects.issued(5, 1);
  act(5, ObjectAction::Copies, {.object = 1, .arrivals = 1});
  act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1});
  EXPECT_FALSE(passes(2, 1, 1));
  EXPECT_EQ(objects.came(5), timing::bit_of(2));
}
TEST_F(Objects, ANewBlockAndANewWarpBeginAfresh) {
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 1});
  act(0, ObjectAction::Arrive, {.object = 1, .arrivals = 1});
  objects.issued(5, 1);
  objects.start_block(kSlot);
  objects.start_warp(5);
  EXPECT_FALSE(passes(2, 1, 1));
  act(0, ObjectAction::Init, {.object = 1, .arrivals = 1});
  EXPECT_EQ(act(5, ObjectAction::Copied, {.object = 1, .arrivals = 1}), timing::bit_of(2));
}

class SmObjects : public ::testing::Test {
 protected:
  std::uint32_t object(ObjectAction action) {
    const std::uint32_t i = code.add(OpKind::BarrierObject, OpClass::Barrier, {}, {}, "mbarrier");
    code.raw().instructions[i].bytes = static_cast<std::uint16_t>(action);
    return i;
  }
  static std::vector<TransactionSpec> one(std::uint32_t arrivals, std::uint32_t value) {
    const trace::Transaction t =
        ObjectChange{.object = 5, .arrivals = arrivals, .value = value, .lanes = 1}.packed();
    return {{t.line, t.words, t.lanes}};
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t a = code.alu(1, {9}), s = code.sfu(2, {9}), after_s = code.alu(3, {2}),
                bar = code.barrier(), exit = code.exit();
  std::uint32_t init = object(ObjectAction::Init), arrive = object(ObjectAction::Arrive),
                copied = object(ObjectAction::Copied), wait = object(ObjectAction::Wait);
  std::uint32_t copy = code.memory(OpKind::LoadGlobal, {}, {9}, "cp.async.bulk");
};

TEST_F(SmObjects, AWarpWaitsForAnArrival) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0)
      w.lines(init, one(1, 0)).barrier(bar).op(s).op(after_s).lines(arrive, one(1, 0));
    else w.barrier(bar).lines(wait, one(0, 1)).op(a);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(200);
  const Cycles first = sm.issue_times(0), second = sm.issue_times(8);
  ASSERT_EQ(first.size(), 6u);
  ASSERT_EQ(second.size(), 4u);
  const Cycle latency = machine.sm.cost[static_cast<unsigned>(OpClass::Barrier)].latency;
  EXPECT_LT(second[1], first[4]) << "it has come before";
  EXPECT_EQ(second[2], first[4] + latency);
  EXPECT_EQ(sm.ended().size(), 1u);
}
TEST_F(SmObjects, AnArrivalIsSeenAndATestAnsweredAfterTheMachinesTimes) {
  machine.sm.barrier_objects = {.visible_cycles = 52, .test_cycles = 36};
  const std::uint32_t test = code.add(OpKind::BarrierObject, OpClass::Barrier, {4}, {}, "mbarrier");
  code.raw().instructions[test].bytes = static_cast<std::uint16_t>(ObjectAction::Wait);
  const std::uint32_t answer = code.alu(5, {4});
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0)
      w.lines(init, one(1, 0)).barrier(bar).op(s).op(after_s).lines(arrive, one(1, 0));
    else w.barrier(bar).lines(test, one(0, 1)).op(a).lines(test, one(0, 1)).op(answer);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(300);
  const Cycles first = sm.issue_times(0), second = sm.issue_times(8);
  ASSERT_EQ(first.size(), 6u);
  ASSERT_EQ(second.size(), 6u);
  EXPECT_EQ(second[2], first[4] + 52);
  EXPECT_EQ(second[4], second[3] + 36) << "it is over, and that is known then";
}

TEST_F(SmObjects, ArrivalsAreCountedOneAfterAnother) {
  machine.sm.barrier_objects = {.visible_cycles = 52, .interval_cycles = 4};
  constexpr unsigned kArrive = 4;
  auto r = one_block(code, kArrive + 1, [&](WarpWriter& w) {
    if (w.warp() == kArrive)
      w.lines(init, one(kArrive, 0)).barrier(bar).lines(wait, one(0, 1)).op(a);
    else w.barrier(bar).op(s).op(after_s).lines(arrive, one(1, 0));
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(300);
  Cycles arrivals;  // two warps of each of two schedulers
  for (const unsigned slot : {0u, 8u, 1u, 9u}) arrivals.push_back(sm.issue_times(slot).at(3));
  std::sort(arrivals.begin(), arrivals.end());
  Cycle counted = 0;
  for (const Cycle at : arrivals) counted = std::max(at, counted + 4);
  EXPECT_GT(counted, arrivals.back()) << "they come closer together than they are counted";
  EXPECT_EQ(sm.issue_times(2).at(3), counted + 52);
}

TEST_F(SmObjects, AWarpWaitsForTheBytesOfACopyAndTheCopyingWarpDoesNot) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0)
      w.lines(init, one(1, 0))
          .barrier(bar)
          .lines(arrive, one(1, 256))
          .lines(copy, {{100}, {101}})
          .lines(copied, one(0, 256))
          .op(a);
    else w.barrier(bar).lines(wait, one(0, 1)).op(a);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(400);
  const Cycles first = sm.issue_times(0), second = sm.issue_times(8);
  ASSERT_EQ(first.size(), 7u);
  ASSERT_EQ(second.size(), 4u);
  EXPECT_LT(first.back(), first[3] + 20);
  EXPECT_GE(second[2], first[3] + sm.reply_after) << "the copy's lines come then";
  EXPECT_LT(second[2], first[3] + sm.reply_after + 40);
  EXPECT_EQ(sm.ended().size(), 1u);
}
TEST_F(SmObjects, WhatIsNeverToldKeepsAWarpForEver) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(init, one(2, 0)).lines(arrive, one(1, 0)).lines(wait, one(0, 1)).op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(1000);
  EXPECT_EQ(sm.issue_times(0).size(), 3u);
  EXPECT_TRUE(sm.ended().empty());
  std::string text;
  sm.sm().describe(text, 10);
  EXPECT_NE(text.find("for phase 1 of the barrier object at shared address 40"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace raddle::sm_objects_test

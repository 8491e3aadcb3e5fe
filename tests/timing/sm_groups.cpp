// Groups of copies and of products: who waits for N of them waits for all but the N youngest, exact
// cycles.
#include <gtest/gtest.h>

#include "raddle/timing/sm/async_groups.h"
#include "support/sm_harness.h"

namespace raddle::sm_groups_test {
namespace {

using namespace raddle::support;
using timing::AsyncGroups;
using Cycles = std::vector<Cycle>;
using Kind = AsyncGroups::Kind;

TEST(AsyncGroups, AllButTheYoungestAreWaitedFor) {
  AsyncGroups groups;
  const auto first = groups.issued(Kind::Copies, 3);
  groups.end_group(Kind::Copies, 3);
  const auto second = groups.issued(Kind::Copies, 3);
  EXPECT_EQ(groups.issued(Kind::Copies, 3), second);
  groups.end_group(Kind::Copies, 3);
  EXPECT_TRUE(groups.waits(Kind::Copies, 3, 0));
  EXPECT_TRUE(groups.waits(Kind::Copies, 3, 1));
  EXPECT_FALSE(groups.waits(Kind::Copies, 3, 2));
  EXPECT_FALSE(groups.waits(Kind::Bulk, 3, 0)) << "another kind";
  EXPECT_FALSE(groups.waits(Kind::Copies, 2, 0)) << "another warp";
  groups.over(Kind::Copies, 3, second);
  groups.over(Kind::Copies, 3, second);
  EXPECT_TRUE(groups.waits(Kind::Copies, 3, 1)) << "the first is still under way";
  groups.over(Kind::Copies, 3, first);
  EXPECT_FALSE(groups.waits(Kind::Copies, 3, 0));
  EXPECT_FALSE(groups.any(Kind::Copies, 3));
}
TEST(AsyncGroups, AnEmptyGroupCounts) {
  AsyncGroups groups;
  groups.issued(Kind::Copies, 0);
  groups.end_group(Kind::Copies, 0);
  EXPECT_FALSE(groups.waits(Kind::Copies, 0, 1));
  groups.end_group(Kind::Copies, 0);
  EXPECT_TRUE(groups.waits(Kind::Copies, 0, 1));
}
TEST(AsyncGroups, TheOpenGroupIsNotWaitedFor) {
  AsyncGroups groups;
  groups.issued(Kind::Copies, 0);
  EXPECT_FALSE(groups.waits(Kind::Copies, 0, 0));
  EXPECT_TRUE(groups.any(Kind::Copies, 0));
}
TEST(AsyncGroups, MoreThanNumbersCanTellCountAsOne) {
  AsyncGroups groups;
  const auto first = groups.issued(Kind::Bulk, 0);
  for (unsigned i = 0; i < 600; ++i) groups.end_group(Kind::Bulk, 0);
  EXPECT_TRUE(groups.waits(Kind::Bulk, 0, 253));
  groups.over(Kind::Bulk, 0, first);
  EXPECT_FALSE(groups.any(Kind::Bulk, 0));
  groups.end_group(Kind::Bulk, 0);
  EXPECT_NE(groups.issued(Kind::Bulk, 0), first);
}
TEST(AsyncGroups, ANewWarpHasNone) {
  AsyncGroups groups;
  groups.issued(Kind::Copies, 0);
  groups.end_group(Kind::Copies, 0);
  groups.start_warp(0);
  EXPECT_FALSE(groups.waits(Kind::Copies, 0, 0));
}

/// Lines come 100 cycles after they have left, those of the second copy as they are told.
class SmGroups : public ::testing::Test {
 protected:
  std::uint32_t groups(std::uint8_t what, unsigned left = 0) {
    const std::uint32_t inst = code.add(OpKind::Fence, OpClass::Control, {}, {}, "cp.async.group");
    code.raw().instructions[inst].bytes =
        static_cast<std::uint16_t>(what | left << trace::kGroupsLeft);
    return inst;
  }
  /// When warp 0 issues each of its instructions; a copy has a line of its own.
  Cycles times(const std::vector<std::uint32_t>& instructions) {
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      std::uint32_t line = 100;
      for (const std::uint32_t inst : instructions)
        if (trace::carries_lines(code.raw().instructions[inst].kind)) w.lines(inst, {{line++}});
        else w.op(inst);
    });
    Cycles out[2];
    for (const bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(2000);
      out[skip] = sm.issue_times();
      EXPECT_EQ(sm.ended().size(), 1u);
    }
    EXPECT_EQ(out[0], out[1]);
    return out[0];
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t copy = code.memory(OpKind::LoadGlobal, {}, {9}, "cp.async.cg");
  std::uint32_t store = code.store(1, 2), exit = code.exit();
  std::uint32_t ends = groups(trace::kEndsGroup);
};

TEST_F(SmGroups, WaitingForNLeavesTheYoungestUnderWay) {
  const auto all = groups(trace::kWaitsForGroups), one = groups(trace::kWaitsForGroups, 1),
             two = groups(trace::kWaitsForGroups, 2);
  const Cycles none = times({copy, ends, copy, ends, two, exit});
  EXPECT_EQ(none, (Cycles{0, 1, 2, 3, 4, 5}));
  const Cycles first = times({copy, ends, copy, ends, one, exit});
  EXPECT_EQ(first[4], 100u) << "the first copy's line left at 0";
  const Cycles both = times({copy, ends, copy, ends, all, exit});
  EXPECT_EQ(both[4], 102u) << "the second's at 2";
}
TEST_F(SmGroups, StoresAndTheOpenGroupAreNotWaitedFor) {
  const auto all = groups(trace::kWaitsForGroups), copies = groups(trace::kWaitsForCopies);
  EXPECT_EQ(times({copy, ends, copy, store, all, exit})[4], 100u);
  EXPECT_EQ(times({copy, ends, copy, store, copies, exit})[4], 102u) << "wait_all";
  EXPECT_EQ(times({store, all, exit}), (Cycles{0, 1, 2}));
}
TEST_F(SmGroups, AnEmptyGroupIsOne) {
  const auto one = groups(trace::kWaitsForGroups, 1);
  EXPECT_EQ(times({copy, ends, one, exit}), (Cycles{0, 1, 2, 3}));
  EXPECT_EQ(times({copy, ends, ends, one, exit})[3], 100u);
}
TEST_F(SmGroups, OldRecordingsWaitForAll) {
  EXPECT_EQ(times({copy, store, groups(trace::kReleaseOnly), exit})[2], 101u);
}
TEST_F(SmGroups, WithoutAUnitForThemBulkGroupsAreAllOperations) {
  EXPECT_EQ(times({copy, store, groups(trace::kEndsBulkGroup), exit}), (Cycles{0, 1, 2, 3}));
  for (const std::uint8_t waits : {trace::kWaitsForBulkGroups, trace::kWaitsForBulkReads})
    EXPECT_EQ(times({copy, store, groups(waits, 1), exit})[2], 101u);
}
TEST_F(SmGroups, AWarpThatWaitsSaysForWhat) {
  const auto one = groups(trace::kWaitsForGroups, 1);
  auto r = one_block(
      code, 1, [&](WarpWriter& w) { w.lines(copy, {{100}}).op(ends).op(ends).op(one).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(50);
  std::string text;
  sm.sm().describe(text, 10);
  EXPECT_NE(text.find("until at most 1 groups are under way"), std::string::npos) << text;
}

}  // namespace
}  // namespace raddle::sm_groups_test

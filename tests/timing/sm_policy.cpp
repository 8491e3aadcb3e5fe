// Order in which warps issue under the real warp policies, as seen from outside the SM.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_policy_test {
namespace {

using namespace raddle::support;
using Order = std::vector<unsigned>;

class SmPolicy : public ::testing::Test {
 protected:
  SmPolicy() {
    machine.sm.schedulers = 1;
    machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
  }
  /// Order of the first `n` issues of `warps` warps that each run `each`.
  template <class Write>
  Order order(std::string_view policy, unsigned warps, std::size_t n, Write each) {
    auto r = one_block(code, warps, each);
    SmHarness sm(machine, policy);
    sm.start_block(0, r);
    sm.run(1000);
    Order all = sm.order();
    all.resize(std::min(all.size(), n));
    return all;
  }
  timing::MachineSpec machine = small_machine();
  Code code;
};

TEST_F(SmPolicy, LrrTakesTurns) {
  auto a = code.alu(1, {9}), b = code.alu(2, {9}), ex = code.exit();
  EXPECT_EQ(order("lrr", 3, 9, [&](WarpWriter& w) { w.op(a).op(b).op(ex); }),
            (Order{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_F(SmPolicy, GtoStaysUntilItStallsThenTakesTheOldest) {
  auto a = code.alu(1, {9}), b = code.alu(2, {1}), ex = code.exit();  // b waits 4 cycles for a
  EXPECT_EQ(order("gto", 6, 8, [&](WarpWriter& w) { w.op(a).op(b).op(ex); }),
            (Order{0, 1, 2, 3, 0, 0, 1, 1}));
}

TEST_F(SmPolicy, GreedEndsWithTheWarp) {
  auto s = code.sfu(1, {9}), use = code.alu(2, {1}), a = code.alu(3, {9}), ex = code.exit();
  Recording r(code, {{3}, {32}, 0});
  r.each_warp([&](WarpWriter& w) {
    if (w.block() == 0) w.op(s).op(use);
    if (w.block() == 2) w.op(a);
    w.op(ex);
  });
  for (const char* policy : {"gto", "greedy_rr"}) {
    SmHarness sm(machine, policy);
    sm.start_block(0, r, 0, 0);   // slot 0; its result is there at 21
    sm.start_block(0, r, 1, 1);   // slot 1: issued last, and gone at once
    sm.start_block(21, r, 2, 1);  // slot 1 again
    sm.run(100);
    EXPECT_EQ(sm.order(), (Order{0, 1, 0, 0, 1, 1})) << policy << ": the new warp is no heir";
  }
}

TEST_F(SmPolicy, OldestMeansBlockThenWarpAlsoWhenSlotsAreReused) {
  auto a = code.alu(1, {9}), ex = code.exit();
  Recording r(code, {{3}, {32}, 0});
  r.each_warp([&](WarpWriter& w) {
    for (unsigned i = 0; i < (w.block() == 0 ? 1u : 30u); ++i) w.op(a);
    w.op(ex);
  });
  SmHarness sm(machine, "oldest");
  sm.start_block(0, r, 0, 0);   // slot 0, gone by cycle 10
  sm.start_block(0, r, 1, 1);   // slot 1
  sm.start_block(20, r, 2, 0);  // slot 0 again, younger than slot 1
  sm.run(400);
  std::vector<Cycle> older = sm.issue_times(1);
  for (std::size_t i = 2; i + 1 < older.size(); ++i)
    EXPECT_EQ(older[i] - older[i - 1], 4u) << "never held up";
  EXPECT_EQ(sm.issue_times(0).size(), 2u + 31u) << "and the younger fills its gaps";
}

TEST_F(SmPolicy, TwoLevelKeepsToItsGroupWhileAnyOfItCanIssue) {
  auto a = code.alu(1, {9}), b = code.alu(2, {9}), ex = code.exit();
  Order all = order("two_level", 16, 24, [&](WarpWriter& w) { w.op(a).op(b).op(ex); });
  for (unsigned w : all) EXPECT_LT(w, 8u);
}

}  // namespace
}  // namespace raddle::sm_policy_test

// Operand collection and execution units shared by schedulers, exact cycles.
#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "raddle/timing/sm/operands.h"
#include "support/sm_harness.h"

namespace raddle::sm_units_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using timing::OperandCollectors;
using timing::OperandSpec;
using timing::Unit;
using Cycles = std::vector<Cycle>;

OperandSpec operands(std::uint32_t collectors, std::uint32_t cycles = 2) {
  OperandSpec out;
  out.collectors = collectors;
  out.banks = 2;
  out.cycles = cycles;
  return out;
}

TEST(OperandCollectors, WhatFitsIntoTheCyclesIsOnTime) {
  OperandCollectors c(operands(4));
  EXPECT_EQ(c.collect(10, 0x12), 0u) << "two of bank 0, one of bank 1";
  OperandCollectors d(operands(4));
  EXPECT_EQ(d.collect(10, 0x03), 1u) << "three of one bank";
}

TEST(OperandCollectors, ABankServesInOrderOfIssue) {
  OperandCollectors c(operands(4));
  EXPECT_EQ(c.collect(10, 0x03), 1u);  // bank 0 until 13
  EXPECT_EQ(c.collect(11, 0x10), 0u) << "bank 1 is free";
  EXPECT_EQ(c.collect(11, 0x02), 2u) << "13 and 14, on time would be 13";
  EXPECT_EQ(c.collect(20, 0x02), 0u) << "what is over is forgotten";
}

TEST(OperandCollectors, CollectorsAreTakenInTurnUntilTheOperandsAreThere) {
  OperandCollectors c(operands(2));
  c.collect(10, 0x05);  // until 15
  EXPECT_LE(c.free_at(), 11u) << "the second";
  c.collect(11, 0x10);  // until 13
  EXPECT_EQ(c.free_at(), 15u) << "the first, though the second is free before";
}

// One instruction a cycle at most: as a bank-by-bank account says, also where it is passed over.
TEST(OperandCollectors, AgreeWithAnAccountOfEveryBank) {
  Rng rng(5);
  OperandCollectors collectors(operands(3));
  Cycle free[4] = {};
  for (Cycle now = 10; now < 5000; now += 1 + rng.below(3)) {
    std::uint64_t reads = 0;
    Cycle done = now + 2;
    for (unsigned bank = 0; bank < 4; ++bank) {
      const unsigned operands_of_bank = rng.below(8) == 0 ? 2 + rng.below(3) : rng.below(2);
      if (operands_of_bank == 0) continue;
      reads |= std::uint64_t{operands_of_bank} << 4 * bank;
      free[bank] = std::max(free[bank], now) + operands_of_bank;
      done = std::max(done, free[bank]);
    }
    if (reads == 0) continue;
    ASSERT_EQ(collectors.collect(now, reads), done - now - 2) << now;
  }
}

class SmUnits : public ::testing::Test {
 protected:
  void interval(OpClass c, std::uint32_t cycles) {
    machine.sm.cost[static_cast<unsigned>(c)].interval = cycles;
  }
  timing::MachineSpec machine = small_machine();
  Code code;
};

TEST_F(SmUnits, DependentChainsRunAtTheLatencyWhateverTheCollectors) {
  machine.sm.operands = operands(1);
  auto a = code.fma(1, {1, 2, 3}), exit = code.exit();  // two of bank 1, one of bank 0
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (unsigned i = 0; i < 5; ++i) w.op(a);
    w.op(exit);
  });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  EXPECT_EQ(sm.issue_times(), (Cycles{0, 4, 8, 12, 16, 18})) << "at 17 the collector is taken";
  EXPECT_EQ(sm.counters().operand_wait_cycles, 0u);
}

TEST_F(SmUnits, AConflictDelaysTheResultAndHoldsTheCollector) {
  machine.sm.operands = operands(1);
  auto a = code.fma(1, {2, 4, 6}), b = code.fma(7, {1}), c = code.alu(8, {9}), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(b).op(c).op(exit); });
  auto r2 = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0) w.op(a).op(b).op(exit);
    else w.op(exit);
  });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(100);
    EXPECT_EQ(sm.issue_times(), (Cycles{0, 5, 7, 9})) << "3 operands of bank 0: a cycle late";
    EXPECT_EQ(sm.counters().operand_wait_cycles, 1u);
  }
  machine.sm.schedulers = 1;
  SmHarness sm(machine);
  sm.start_block(0, r2);
  sm.run(100);
  EXPECT_EQ(sm.issue_times(1), (Cycles{3})) << "even an exit waits while no collector is free";
  EXPECT_EQ(sm.stalls(Stall::Unit), 2u + 1u);
}

TEST_F(SmUnits, ConflictsSetTheRateOfAStreamOfThem) {
  machine.sm.schedulers = 1;
  machine.sm.operands = operands(2);
  auto a = code.fma(1, {2, 4, 6}), exit = code.exit();
  const unsigned n = 16;
  auto r = one_block(code, n, [&](WarpWriter& w) { w.op(a).op(exit); });
  SmHarness sm(machine, "lrr");
  sm.start_block(0, r);
  sm.run(300);
  Cycle last = 0;
  for (unsigned w = 0; w < n; ++w) last = std::max(last, sm.issue_times(w)[0]);
  EXPECT_NEAR(static_cast<double>(last), 3.0 * (n - 1), 4) << "three cycles each, not two";
}

TEST_F(SmUnits, ASharedUnitTakesOneOfAllSchedulers) {
  machine.sm.shared_unit[static_cast<unsigned>(Unit::Sfu)] = true;
  interval(OpClass::Sfu, 4);
  auto s = code.sfu(1, {9}), exit = code.exit();
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.op(s).op(exit); });
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(100);
    EXPECT_EQ(sm.issue_times(0)[0], 0u);
    EXPECT_EQ(sm.issue_times(8)[0], 4u) << "the other scheduler's turn";
    EXPECT_EQ(sm.issue_times(1)[0], 8u);
    EXPECT_EQ(sm.issue_times(9)[0], 12u);
  }
}

TEST_F(SmUnits, ASharedUnitOfIntervalOneAlternates) {
  machine.sm.shared_unit[static_cast<unsigned>(Unit::Fp32)] = true;
  interval(OpClass::Fp32, 1);
  auto f = code.fma(1, {9}), exit = code.exit();
  auto r = one_block(code, 8, [&](WarpWriter& w) { w.op(f).op(exit); });
  for (bool skip : {false, true}) {
    SmHarness sm(machine, "lrr");
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(100);
    std::vector<Issue> shared;
    for (const Issue& i : sm.issues())
      if (sm.issue_times(i.warp)[0] == i.at) shared.push_back(i);
    for (std::size_t i = 1; i < shared.size(); ++i) EXPECT_NE(shared[i].at, shared[i - 1].at);
    EXPECT_EQ(shared[0].scheduler, 0u);
    EXPECT_EQ(shared[1].scheduler, 1u);
    EXPECT_GT(sm.stalls(Stall::Unit), 0u);
  }
}

TEST_F(SmUnits, UnitsNotNamedStayPrivate) {
  machine.sm.shared_unit[static_cast<unsigned>(Unit::Sfu)] = true;
  auto a = code.alu(1, {9}), exit = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) { w.op(a).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(100);
  EXPECT_EQ(sm.issue_times(0)[0], 0u);
  EXPECT_EQ(sm.issue_times(8)[0], 0u);
}

}  // namespace
}  // namespace raddle::sm_units_test

// Products of warpgroups (sm.warpgroup): they run beside their warp, exact cycles.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_products_test {
namespace {

using namespace raddle::support;
using Cycles = std::vector<Cycle>;

/// Each warp's part of a product takes the unit for 32 cycles and 43 more.
class SmProducts : public ::testing::Test {
 protected:
  SmProducts() { machine.sm.warpgroup = {.interval_cycles = 8, .latency_cycles = 43}; }
  std::uint32_t product(std::uint8_t first, Code::Registers sources = {1}) {
    const auto last = static_cast<std::uint8_t>(first + 1);
    sources.insert(sources.end(), {first, last});  // adds to what is there
    const std::uint32_t inst = code.add(OpKind::Alu, OpClass::Tensor, {first, last},
                                        std::move(sources), "wgmma.mma_async");
    code.raw().instructions[inst].bytes = 4 * 64 | trace::kWarpgroupProduct;
    return inst;
  }
  std::uint32_t groups(unsigned what) {
    const std::uint32_t inst =
        code.add(OpKind::Barrier, OpClass::Control, {}, {}, "wgmma.wait_group");
    code.raw().instructions[inst].bytes = static_cast<std::uint16_t>(what);
    return inst;
  }
  std::uint32_t wait_for_all() { return groups(trace::kWaitsForProducts); }
  /// When warp 0 issues each of its instructions, with and without skipped cycles.
  Cycles times(const std::vector<std::uint32_t>& instructions) {
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      for (const std::uint32_t inst : instructions)
        if (code.raw().instructions[inst].kind == OpKind::Barrier)
          w.barrier(inst, 0, trace::BarrierKind::Warp);
        else w.op(inst);
    });
    Cycles out[2];
    for (const bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(2000);
      out[skip] = sm.issue_times();
    }
    EXPECT_EQ(out[0], out[1]);
    return out[0];
  }
  timing::MachineSpec machine = small_machine();
  Code code;
};

TEST_F(SmProducts, OneSumIsAddedToAtTheRateOfTheUnit) {
  const auto p = product(10), reader = code.alu(2, {10}), exit = code.exit();
  EXPECT_EQ(times({p, p, p, p, reader, exit}), (Cycles{0, 32, 64, 96, 96 + 75, 96 + 76}))
      << "who reads the sum waits for the last";
}

TEST_F(SmProducts, AWarpGoesOnBesideThem) {
  const auto p = product(10), other = code.alu(2, {3}), exit = code.exit();
  EXPECT_EQ(times({p, other, other, exit}), (Cycles{0, 1, 5, 6}));
}

TEST_F(SmProducts, SumsAreThereOneByOne) {
  const auto p = product(10), q = product(12), first = code.alu(2, {11}),
             second = code.alu(3, {12}), exit = code.exit();
  EXPECT_EQ(times({p, q, first, second, exit}), (Cycles{0, 32, 75, 32 + 75, 32 + 76}));
  // A sum to which two add in turn, another between them.
  EXPECT_EQ(times({p, q, p, second, first, exit}), (Cycles{0, 32, 64, 107, 64 + 75, 64 + 76}));
}

TEST_F(SmProducts, OperandsInRegistersAreWaitedFor) {
  const auto made = code.alu(1, {2}), p = product(10), exit = code.exit();
  EXPECT_EQ(times({made, p, exit}), (Cycles{0, 4, 5}));
}

TEST_F(SmProducts, WaitingForAllIsUntilTheLast) {
  const auto p = product(10), q = product(12), wait = wait_for_all(), exit = code.exit();
  EXPECT_EQ(times({p, q, p, wait, exit})[3], 64u + 75u);
  EXPECT_EQ(times({wait, exit})[0], 0u) << "nothing is under way";
}

TEST_F(SmProducts, WarpsOfASchedulerShareItsUnit) {
  const auto p = product(10), exit = code.exit();
  machine.sm.schedulers = 2;
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.op(p).op(exit); });
  SmHarness sm(machine);
  sm.start_block(0, r);
  sm.run(500);
  Cycles first;
  for (unsigned w = 0; w < machine.sm.warps; ++w)
    if (!sm.issue_times(w).empty()) first.push_back(sm.issue_times(w)[0]);
  std::ranges::sort(first);
  EXPECT_EQ(first, (Cycles{0, 0, 32, 32}));
}

TEST_F(SmProducts, WaitingForNLeavesTheYoungestGroupsUnderWay) {
  const auto p = product(10), q = product(12), ends = groups(trace::kEndsProducts),
             none = groups(trace::kWaitsForProductGroups | 2 << trace::kGroupsLeft),
             one = groups(trace::kWaitsForProductGroups | 1 << trace::kGroupsLeft),
             exit = code.exit();
  EXPECT_EQ(times({p, ends, q, ends, one, exit}), (Cycles{0, 1, 32, 33, 75, 76}));
  EXPECT_EQ(times({p, ends, q, ends, none, exit}), (Cycles{0, 1, 32, 33, 34, 35}));
  EXPECT_EQ(times({p, p, ends, q, ends, one, exit})[5], 32u + 75u) << "the group's last";
}

/// Of 16 columns: 4 parts a column. 64 rows of A and 16 of B have 32 bytes each.
TEST_F(SmProducts, OperandsTakeSharedMemory) {
  const auto interval = [&](std::uint16_t flags) {
    const auto p = product(10), exit = code.exit();
    code.raw().instructions[p].bytes = 4 * 16 | trace::kWarpgroupProduct | flags;
    return times({p, p, exit})[1];
  };
  EXPECT_EQ(interval(trace::kSharedA), 8u) << "the tensor unit's own rate";
  machine.sm.warpgroup.shared_bytes = 128;
  EXPECT_EQ(interval(trace::kSharedA), (64 + 16) * 32 / 128u);
  EXPECT_EQ(interval(0), 8u) << "A comes from registers";
  EXPECT_EQ(interval(trace::kSharedA | trace::kSparseA), (64 + 2 * 16) * 32 / 128u);
}

/// A warp goes on while the unit has accepted fewer than so many that it has not computed.
TEST_F(SmProducts, AUnitAcceptsSomeBeforeItHasComputedThem) {
  const auto p = product(10), reader = code.alu(2, {10}), exit = code.exit();
  machine.sm.warpgroup.register_queue = 3;
  EXPECT_EQ(times({p, p, p, p, p, reader, exit}),
            (Cycles{0, 1, 2, 32, 64, 4 * 32 + 75, 4 * 32 + 76}));
  const auto other = code.alu(3, {4});
  EXPECT_EQ(times({p, p, p, other, p, exit})[3], 3u) << "a warp goes on beside them";
}

TEST_F(SmProducts, HowManyDependsOnWhereAIs) {
  const auto p = product(10), q = product(12), exit = code.exit();
  code.raw().instructions[q].bytes |= trace::kSharedA;
  machine.sm.warpgroup.queue = 4;
  machine.sm.warpgroup.register_queue = 2;
  EXPECT_EQ(times({p, p, p, p, exit}), (Cycles{0, 1, 32, 64, 65}));
  EXPECT_EQ(times({q, q, q, q, q, exit}), (Cycles{0, 1, 2, 3, 32, 33}));
}

/// Another instruction of the unit begins when it has computed them, and is accepted alone.
TEST_F(SmProducts, OthersOfTheUnitComeBehindThem) {
  timing::OpCost& cost = machine.sm.cost[static_cast<unsigned>(OpClass::Tensor)];
  cost.latency = 20;
  cost.interval = 8;
  const auto p = product(10), plain = code.add(OpKind::Alu, OpClass::Tensor, {20}, {1}, "mma"),
             reader = code.alu(2, {20}), exit = code.exit();
  code.raw().instructions[plain].bytes = trace::kTensorParts;
  machine.sm.warpgroup.register_queue = 4;
  EXPECT_EQ(times({p, p, plain, p, reader, exit}), (Cycles{0, 1, 2, 64 + 8, 64 + 20, 64 + 21}))
      << "two products of 32 cycles are before it";
}

/// The wheel of events holds no more than a thousand cycles.
TEST_F(SmProducts, LongProductsWaitBeforeTheyAreIssued) {
  machine.sm.warpgroup.interval_cycles = 63;  // 252 cycles each
  machine.sm.warpgroup.register_queue = timing::WarpgroupSpec::kMaxQueue;
  const auto p = product(10), reader = code.alu(2, {10}), exit = code.exit();
  const Cycles all = times({p, p, p, p, p, p, reader, exit});
  EXPECT_EQ(all[6], 6 * 252u + 43u) << "the unit is never without work";
  EXPECT_LT(all[2], all[3]);
}

/// So do others of the unit, which may take longer than products.
TEST_F(SmProducts, SlowOthersOfTheUnitWaitBeforeTheyAreIssued) {
  timing::OpCost& cost = machine.sm.cost[static_cast<unsigned>(OpClass::Tensor)];
  cost.latency = 960;
  cost.interval = 8;
  machine.sm.warpgroup.register_queue = timing::WarpgroupSpec::kMaxQueue;
  const auto p = product(10), plain = code.add(OpKind::Alu, OpClass::Tensor, {20}, {1}, "mma"),
             reader = code.alu(2, {20}), exit = code.exit();
  code.raw().instructions[plain].bytes = trace::kTensorParts;
  const Cycles all = times({p, p, p, p, plain, reader, exit});
  EXPECT_EQ(all[5], 4 * 32u + 960u) << "it begins when the products are computed";
}

TEST_F(SmProducts, AMachineWithoutTheirRateMakesThemAsOtherProducts) {
  machine.sm.warpgroup = {};
  timing::OpCost& cost = machine.sm.cost[static_cast<unsigned>(OpClass::Tensor)];
  cost.latency = 30;
  cost.interval = 8;
  const auto p = product(10), exit = code.exit();
  EXPECT_EQ(times({p, p, exit}), (Cycles{0, 32, 33})) << "the unit is taken for longer than 30";
  cost.latency = 40;
  EXPECT_EQ(times({p, p, exit}), (Cycles{0, 40, 41})) << "the sum is waited for";
}

}  // namespace
}  // namespace raddle::sm_products_test

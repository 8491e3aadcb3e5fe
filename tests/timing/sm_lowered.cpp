// Lowered code in the SM: one PTX instruction of the stream as none, one or several machine
// instructions. Expansions are written by hand here.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_lowered_test {
namespace {

using namespace raddle::support;
using trace::BarrierKind;
using Cycles = std::vector<Cycle>;

class SmLowered : public ::testing::Test {
 protected:
  /// Runs one block of `warps` warps of the recording with machine code `as`, PTX instruction i
  /// being [first[i], first[i + 1]) of it.
  template <class Write>
  SmHarness& run(unsigned warps, const Code& as, std::vector<std::uint32_t> first, Write write) {
    recording = std::make_unique<Recording>(one_block(ptx, warps, write));
    sm = std::make_unique<SmHarness>(machine);
    sm->lower(*recording, {as.raw(), std::move(first)});
    sm->start_block(0, *recording);
    return sm->run(300);
  }
  timing::MachineSpec machine = small_machine();
  Code ptx, as;
  std::unique_ptr<Recording> recording;
  std::unique_ptr<SmHarness> sm;
};

TEST_F(SmLowered, ARecordThatStandsForNothingIsPassedOver) {
  auto a = ptx.alu(1, {9}), move = ptx.alu(2, {1}), param = ptx.load_const(3), b = ptx.alu(4, {2}),
       exit = ptx.exit();
  as.alu(1, {9});
  as.alu(4, {1});
  as.exit();
  run(1, as, {0, 1, 1, 1, 2, 3},
      [&](WarpWriter& w) { w.op(a).op(move, 1).passes(param, 1).op(b).op(exit); });
  EXPECT_EQ(sm->issue_times(), (Cycles{0, 4, 5}));
  EXPECT_EQ(sm->counters().issued, 3u);
  EXPECT_EQ(sm->counters().const_accesses, 0u);
  EXPECT_EQ(sm->ended().size(), 1u);
}

TEST_F(SmLowered, ARunCoversItsWholeRange) {
  auto a = ptx.alu(1, {9}), exit = ptx.exit();
  ptx.raw().instructions.insert(ptx.raw().instructions.begin() + 1, 2, ptx.raw().instructions[a]);
  exit += 2;
  // The run of three PTX instructions is 2 + 0 + 3 machine instructions.
  for (std::uint8_t i = 0; i < 5; ++i) as.op(OpClass::Control, i, {100});
  as.exit();
  run(1, as, {0, 2, 2, 5, 6}, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 3; ++i) w.op(i, 0xf);
    w.op(exit);
  });
  EXPECT_EQ(sm->issue_times(), (Cycles{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(sm->counters().thread_instructions, 5u * 4 + 32);
}

TEST_F(SmLowered, LongRunsOfLongExpansions) {
  std::uint32_t first = ptx.alu(1, {100});
  std::vector<std::uint32_t> begin = {0};
  for (unsigned i = 1; i < 63; ++i) ptx.alu(1, {100});
  auto exit = ptx.exit();
  for (unsigned i = 0; i < 63; ++i) {
    for (unsigned k = 0; k < 40; ++k) as.op(OpClass::Control, 1, {100});
    begin.push_back(40 * (i + 1));
  }
  as.exit();
  begin.push_back(63 * 40 + 1);
  machine.sm.cost[static_cast<unsigned>(OpClass::Control)].latency = 1;
  run(1, as, begin, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 63; ++i) w.op(first + i);
    w.op(exit);
  });
  sm->run(3000);
  EXPECT_EQ(sm->counters().issued, 63u * 40 + 1);
}

TEST_F(SmLowered, PiecesBelongToTheOneMemoryInstruction) {
  auto load = ptx.load(1, 10), shared = ptx.load_shared(2, 11), exit = ptx.exit();
  // Address arithmetic before each access, a conversion behind it.
  as.alu(20, {10});
  as.load(1, 20);
  as.alu(1, {1});
  as.alu(21, {11});
  as.load_shared(2, 21);
  as.alu(2, {2});
  as.exit();
  machine.sm.l1d.hit_latency_cycles = 28;
  run(1, as, {0, 3, 6, 7}, [&](WarpWriter& w) {
    w.lines(load, {{100}, {101}}).passes(shared, 2).op(exit);
  });
  EXPECT_EQ(sm->sent_times(), (Cycles{4, 5})) << "the load issues when its address is there";
  Cycle data = 5 + 100, address = data + 2;  // the integer unit takes an instruction in two cycles
  EXPECT_EQ(sm->issue_times(), (Cycles{0, 4, data, address, address + 4,
                                       address + 4 + machine.sm.shared_latency_cycles + 1,
                                       address + 4 + machine.sm.shared_latency_cycles + 2}));
  EXPECT_EQ(sm->counters().shared_passes, 2u);
  EXPECT_EQ(sm->counters().l1d_accesses, 2u);
}

TEST_F(SmLowered, ABarrierInTheMiddleOfItsExpansion) {
  auto bar = ptx.barrier(), exit = ptx.exit();
  as.alu(1, {9});
  as.barrier();
  as.alu(2, {9});
  as.exit();
  run(2, as, {0, 3, 4}, [&](WarpWriter& w) { w.barrier(bar, 5).op(exit); });
  EXPECT_EQ(sm->issue_times(0), (Cycles{0, 1, 9, 10}));
  EXPECT_EQ(sm->issue_times(8), (Cycles{0, 1, 9, 10}));
  EXPECT_EQ(sm->counters().thread_instructions, 2u * 4 * 32)
      << "a barrier's record has no lane mask";
}

TEST_F(SmLowered, AWarpOfNothingEndsAtOnce) {
  auto a = ptx.alu(1, {9}), exit = ptx.exit();
  as.alu(1, {9});
  run(3, as, {0, 1, 1}, [&](WarpWriter& w) {
    if (w.warp() == 1) w.op(a);
    w.op(exit);
  });
  EXPECT_EQ(sm->counters().issued, 1u);
  ASSERT_EQ(sm->ended().size(), 1u);
  EXPECT_EQ(sm->ended()[0].at, 4u) << "when the add has written";
  EXPECT_TRUE(sm->sm().idle());
}

TEST_F(SmLowered, CountersAreKeptByKernel) {
  machine.sm.schedulers = 1;
  machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
  auto sine = ptx.sfu(1, {2}), use = ptx.alu(3, {1}), load = ptx.load(4, 9), exit = ptx.exit();
  auto first = one_block(ptx, 1, [&](WarpWriter& w) { w.op(sine, 0xff).op(use).op(exit); });
  auto second = one_block(ptx, 1, [&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
  SmHarness both(machine);
  both.start_block(0, first, 0, 0);
  both.start_block(0, second, 0, 1);
  both.run(300);
  stats::SmCounters first_counts = both.counters(0), second_counts = both.counters(1),
                    all = both.counters();
  EXPECT_EQ(first_counts.issued, 3u);
  EXPECT_EQ(first_counts.thread_instructions, 8u + 32 + 32);
  EXPECT_EQ(first_counts.class_issued[static_cast<unsigned>(OpClass::Sfu)], 1u);
  EXPECT_EQ(first_counts.class_lanes[static_cast<unsigned>(OpClass::Sfu)], 8u);
  EXPECT_EQ(first_counts.register_reads, 2u);
  EXPECT_EQ(first_counts.register_writes, 2u);
  EXPECT_EQ(second_counts.issued, 2u);
  EXPECT_EQ(second_counts.l1d_misses, 1u);
  EXPECT_EQ(second_counts.l1d_fills, 1u);
  EXPECT_EQ(first_counts.l1d_accesses + first_counts.l1d_fills, 0u);
  EXPECT_EQ(all.issued, 5u);
  EXPECT_EQ(all.blocks, 2u);
  // 0 sfu, 1 load, 2 exit of the second; until 20 the first waits for its sfu; 21 use, 22 exit,
  // 23-24 for its result; until 100 the second waits for its line.
  using stats::Stall;
  auto stall = [](const auto& c, Stall why) { return c.stall[static_cast<unsigned>(why)]; };
  EXPECT_EQ(stall(first_counts, Stall::Dependence), 18u + 2u);
  EXPECT_EQ(stall(first_counts, Stall::Memory), 0u);
  EXPECT_EQ(stall(second_counts, Stall::Memory), 101u - 25u);
  EXPECT_EQ(stall(second_counts, Stall::Dependence), 0u);
  stats::SchedulerCounters schedulers = both.scheduler_counters();
  for (unsigned reason = 0; reason < stats::kStalls; ++reason)
    if (reason != static_cast<unsigned>(Stall::Idle)) {
      EXPECT_EQ(schedulers.stall[reason], all.stall[reason]) << stats::kStallNames[reason];
    }
}

}  // namespace
}  // namespace raddle::sm_lowered_test

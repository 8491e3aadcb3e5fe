// The profile of an SM's instructions: counted where they issue and where the L1D answers, and seen
// where warps stand, to the cycle.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_profile_test {
namespace {

using namespace raddle::support;
using stats::Stall;

class SmProfileTest : public ::testing::TestWithParam<bool> {
 protected:
  SmProfileTest() {
    machine.sm.schedulers = 1;
    machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
  }
  void run(Recording& r, Cycle end) {
    sm.emplace(machine);
    sm->skip = GetParam();
    sm->sm().keep_profile(timing::SamplingTimes(1, 1));  // every cycle
    sm->start_block(0, r, 0, 3);
    sm->run(end);
    ASSERT_EQ(sm->ended().size(), 1u);
    ASSERT_EQ(sm->sm().profile(sm->now())->tables().size(), 1u);
  }
  const stats::InstructionCounters& of(std::uint32_t inst) {
    return sm->sm().profile(sm->now())->tables().begin()->second.at(inst);
  }
  std::uint64_t seen(std::uint32_t inst, Stall state) {
    return of(inst).seen[static_cast<unsigned>(state)];
  }
  Cycle issued(std::size_t n, unsigned warp = 0) const { return sm->issue_times(warp).at(n); }

  timing::MachineSpec machine = small_machine();
  Code code;
  std::optional<SmHarness> sm;
};
INSTANTIATE_TEST_SUITE_P(Skip, SmProfileTest, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Skip" : "EveryCycle"; });

TEST(SamplingTimes, AreAtRandomDistancesAroundTheInterval) {
  timing::SamplingTimes samplings(64, 7), whole(64, 7);
  Cycle last = 0;
  std::uint64_t count = 0;
  for (Cycle now = 1; now <= 100'000; ++now) {
    const std::uint64_t times = samplings.before(now);
    ASSERT_LE(times, 1u);
    if (times == 0) continue;
    if (count++ != 0) {
      EXPECT_GE(now - last, 32u);
      EXPECT_LE(now - last, 96u);
    }
    last = now;
  }
  EXPECT_NEAR(static_cast<double>(count), 100'000.0 / 64, 40);
  EXPECT_EQ(whole.before(100'000), count) << "asked once or in every cycle";
}

// A warp stands at an instruction from the cycle in which it issues the one before; the look at the
// end of that cycle is the first to find it there, the one before its own issue the last.
TEST_P(SmProfileTest, AWarpStandsWhereItsNextInstructionIs) {
  const std::uint32_t a = code.alu(1, {9}), dep = code.alu(2, {1}), load = code.load(4, 9),
                      use = code.alu(5, {4}), exit = code.exit();
  auto r = one_block(code, 1,
                     [&](WarpWriter& w) { w.op(a).op(dep).lines(load, {{7}}).op(use).op(exit); });
  run(r, 500);
  EXPECT_EQ(seen(dep, Stall::Dependence), issued(1) - issued(0));
  EXPECT_EQ(seen(use, Stall::Memory), issued(3) - issued(2));
  EXPECT_EQ(of(use).seen_in_all(), issued(3) - issued(2)) << "and for nothing else";
  EXPECT_EQ(of(load).awaited, issued(3) - issued(2));
  EXPECT_EQ(of(use).awaited + of(dep).awaited, 0u);
  EXPECT_EQ(of(load).seen[stats::kReady], issued(2) - issued(1));
  for (const std::uint32_t inst : {a, dep, load, use, exit}) {
    EXPECT_EQ(of(inst).issued, 1u);
    EXPECT_EQ(of(inst).lanes, 32u);
  }
}

// Each wait is charged to the load whose data is missing, whichever came first.
TEST_P(SmProfileTest, AWaitIsCausedByTheLoadWhoseDataIsMissing) {
  const std::uint32_t one = code.load(4, 9), two = code.load(5, 9), last = code.load(6, 9),
                      of_two = code.alu(7, {5}), of_one = code.alu(8, {4}), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(one, {{7}}).lines(two, {{9}}).lines(last, {{11}}).op(of_two).op(of_one).op(exit);
  });
  run(r, 900);
  EXPECT_EQ(of(two).awaited, seen(of_two, Stall::Memory));
  EXPECT_EQ(of(one).awaited, seen(of_one, Stall::Memory));
  EXPECT_GT(of(two).awaited, 50u);
  EXPECT_EQ(of(last).awaited, seen(exit, Stall::Memory)) << "the warp ends with its data";
}

TEST_P(SmProfileTest, TwoReadyWarpsWaitForEachOther) {
  const std::uint32_t a = code.alu(1, {9}), b = code.alu(2, {9}), exit = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) { w.op(a).op(b).op(exit); });
  run(r, 200);
  // oldest first: warp 0 issues a, b at 0, 1 and its exit, warp 1 then.
  EXPECT_EQ(of(b).seen[stats::kReady], issued(1, 0) - issued(0, 0) + issued(1, 1) - issued(0, 1));
  EXPECT_EQ(of(a).seen[stats::kReady], issued(0, 1) - issued(0, 0));
  EXPECT_EQ(of(a).issued, 2u);
}

TEST_P(SmProfileTest, BarriersAndUnitsAreToldApart) {
  machine.sm.cost[static_cast<unsigned>(OpClass::Sfu)].interval = 8;
  const std::uint32_t slow = code.sfu(1, {9}), again = code.sfu(2, {9}), bar = code.barrier(),
                      exit = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.op(slow);
    if (w.warp() == 0) w.op(again);
    w.barrier(bar).op(exit);
  });
  run(r, 400);
  EXPECT_GT(seen(again, Stall::Unit) + seen(slow, Stall::Unit), 4u);
  EXPECT_GT(seen(bar, Stall::Barrier), 4u) << "warp 1 is there first";
  EXPECT_EQ(seen(slow, Stall::Barrier), 0u);
  EXPECT_EQ(of(bar).issued, 2u);
}

TEST_P(SmProfileTest, LinesAndHitsAreThoseOfTheirInstruction) {
  const std::uint32_t cold = code.load(4, 9), use = code.alu(5, {4}), warm = code.load(6, 5),
                      after = code.alu(7, {6}), store = code.store(7, 9), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(cold, {{7, kFullMask, 0xffff}, {9, kFullMask, 0xffff0000}});
    w.op(use).lines(warm, {{7}}).op(after).lines(store, {{20}, {21}, {22}}).op(exit);
  });
  run(r, 900);
  EXPECT_EQ(of(cold).lines, 2u);
  EXPECT_EQ(of(cold).l1d_misses, 2u);
  EXPECT_EQ(of(warm).l1d_hits, 1u);
  EXPECT_EQ(of(warm).l1d_misses + of(warm).l1d_pending_hits, 0u);
  EXPECT_EQ(of(store).lines, 3u);
  EXPECT_EQ(of(store).l1d_hits + of(store).l1d_misses, 0u) << "loads only";
  EXPECT_EQ(of(use).lines + of(after).lines, 0u);
}

}  // namespace
}  // namespace raddle::sm_profile_test

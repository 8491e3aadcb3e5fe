// Shared memory of other blocks of a cluster (sm.cluster): latency and the way there, exact cycles.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_distant_test {
namespace {

using namespace raddle::support;
using Cycles = std::vector<Cycle>;

class SmDistant : public ::testing::Test {
 protected:
  SmDistant() { machine.sm.cluster = {.latency_cycles = 180, .row_cycles = 6}; }
  template <class Write>
  Cycles times(Write write) {
    auto r = one_block(code, 1, write);
    Cycles out[2];
    for (const bool skip : {false, true}) {
      SmHarness sm(machine);
      sm.skip = skip;
      sm.start_block(0, r);
      sm.run(2000);
      EXPECT_EQ(sm.ended().size(), 1u);
      out[skip] = sm.issue_times();
    }
    EXPECT_EQ(out[0], out[1]);
    return out[0];
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load_shared(2, 9), user = code.alu(3, {2}),
                near = code.load_shared(4, 9), near_user = code.alu(5, {4}), exit = code.exit();
};

TEST_F(SmDistant, ALoadHasALatencyOfItsOwnAndTakesTheWayForEachRow) {
  const auto when = [&](unsigned rows) {
    return times(
        [&](WarpWriter& w) { w.passes(load, trace::kDistant + rows).op(user).op(exit); })[1];
  };
  EXPECT_EQ(when(1), 180u + 6 - 1);
  EXPECT_EQ(when(3), 180u + 3 * 6 - 1);
}
TEST_F(SmDistant, WhatComesBehindWaitsForTheWay) {
  const Cycles seen = times([&](WarpWriter& w) {
    w.passes(load, trace::kDistant + 2).passes(near, 1).op(near_user).op(exit);
  });
  EXPECT_EQ(seen[2], 12u + machine.sm.shared_latency_cycles);
}
TEST_F(SmDistant, WithoutThatItIsTheBlocksOwnWithAPassForEachLane) {
  machine.sm.cluster = {};
  const auto when = [&](LaneMask lanes, unsigned rows) {
    return times(
        [&](WarpWriter& w) { w.passes(load, trace::kDistant + rows, lanes).op(user).op(exit); })[1];
  };
  EXPECT_EQ(when(kFullMask, 1), machine.sm.shared_latency_cycles + 31);
  EXPECT_EQ(when(1, 4), machine.sm.shared_latency_cycles + 3) << "a copy of four rows by a thread";
}

}  // namespace
}  // namespace raddle::sm_distant_test

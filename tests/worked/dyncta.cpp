// dyncta on examples worked out by hand from the rule that docs/mechanisms/more_schedulers.md
// states.
#include <gtest/gtest.h>

#include <vector>

#include "support/fake_sm.h"
#include "support/settings.h"

namespace raddle::policy::dyncta_test {
namespace {

using Warps = std::vector<unsigned>;

/// An SM that holds 6 blocks of two warps: block b has warps 2 b and 2 b + 1.
class Dyncta : public testing::Test {
 protected:
  static constexpr Cycle kPeriod = 2048;
  void start(const test::Settings& settings = {}, unsigned schedulers = 1) {
    policy =
        test::choose(all_policies().throttle, "dyncta", settings)->make({0, 64, 1, schedulers});
    policy->sm_observer()->attach(sm);
    policy->on_kernel_start(now);
    for (unsigned w = 0; w < 12; ++w) {
      age.insert(w);
      running |= WarpMask{1} << w;
      block_of[w] = static_cast<std::uint8_t>(w / 2);
      sm.facts[w] = {.block_slot = block_of[w], .blocks_most = 6};
      policy->on_warp_start(now, w);
    }
    all_wait(now, WarpWait::Nothing);
  }
  void all_wait(Cycle at, WarpWait what) { wait(at, running, what); }
  void wait(Cycle at, WarpMask warps, WarpWait what) {
    sm.wait(warps, what);
    policy->sm_observer()->waits_changed(at);
  }
  /// Blocks that are active from that cycle on.
  unsigned active(Cycle at) {
    const Admission a = policy->ask({running, 0, age, block_of, at});
    EXPECT_EQ(a.until, (at / kPeriod + 1) * kPeriod) << "the end of the period";
    EXPECT_EQ(a.issue & running, a.load & running);
    const auto warps = static_cast<unsigned>(std::popcount(a.issue & running));
    EXPECT_EQ(a.issue & running, low_bits(warps)) << "the oldest";
    return warps / 2;
  }
  std::unique_ptr<ThrottlePolicy> policy;
  test::FakeSm sm;
  AgeMatrix64 age;
  BlockOfWarp block_of{};
  WarpMask running = 0;
  Cycle now = 0;
};

TEST_F(Dyncta, StartsWithHalf) {
  start();
  EXPECT_EQ(active(0), 3u);
}

TEST_F(Dyncta, LittleWaitingForMemoryAddsABlock) {
  start();
  active(0);
  all_wait(100, WarpWait::Memory);
  all_wait(227, WarpWait::Nothing);  // 127 < 128
  EXPECT_EQ(active(2048), 4u);
  all_wait(3000, WarpWait::Memory);
  all_wait(3128, WarpWait::Dependence);  // 128
  EXPECT_EQ(active(4096), 4u) << "between the thresholds nothing changes";
}

TEST_F(Dyncta, MuchWaitingForMemoryPausesTheYoungest) {
  start();
  active(0);
  all_wait(1000, WarpWait::Memory);
  all_wait(1385, WarpWait::Nothing);  // 385 > 384
  EXPECT_EQ(active(2048), 2u);
  all_wait(2048, WarpWait::Memory);
  EXPECT_EQ(active(4096), 1u);
  EXPECT_EQ(active(6144), 1u) << "one always goes on";
}

TEST_F(Dyncta, OnlyActiveBlocksCount) {
  start();
  active(0);
  wait(0, low_bits(6), WarpWait::Memory);  // the three that are active; 6 to 11 are ready
  EXPECT_EQ(active(2048), 2u) << "what is paused keeps nobody busy";
  wait(2048, low_bits(4) & ~low_bits(3), WarpWait::Nothing);
  EXPECT_EQ(active(4096), 3u) << "one warp of an active block was ready all the time";
}

TEST_F(Dyncta, RefusalsByTheLoadStoreUnitAreWaitingForMemory) {
  start({}, 2);
  active(0);
  sm.scheduler_cycles[static_cast<unsigned>(StallReason::Lsu)] = 768;  // of two: 384
  EXPECT_EQ(active(2048), 3u);
  sm.scheduler_cycles[static_cast<unsigned>(StallReason::Lsu)] += 770;
  EXPECT_EQ(active(4096), 2u);
}

TEST_F(Dyncta, IdlingAddsABlockWhateverMemoryDoes) {
  start();
  active(0);
  all_wait(0, WarpWait::Barrier);
  all_wait(16, WarpWait::Memory);
  EXPECT_EQ(active(2048), 2u) << "16 cycles are not more than t_idle";
  all_wait(2048, WarpWait::Barrier);
  all_wait(2065, WarpWait::Memory);
  EXPECT_EQ(active(4096), 3u) << "17 are";
}

TEST_F(Dyncta, NeverMoreThanTheSmHolds) {
  start();
  unsigned last = 0;
  for (Cycle at = 0; at <= 8 * kPeriod; at += kPeriod) last = active(at);
  EXPECT_EQ(last, 6u);
}

TEST_F(Dyncta, AKernelBeginsWithHalfAgain) {
  start();
  active(0);
  EXPECT_EQ(active(2048), 4u);
  policy->on_kernel_start(2100);
  age.remove(11);
  policy->on_warp_end(2100, 11);
  age.insert(11);
  policy->on_warp_start(2100, 11);
  EXPECT_EQ(active(2100), 3u);
}

}  // namespace
}  // namespace raddle::policy::dyncta_test

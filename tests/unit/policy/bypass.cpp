// bypass=tokens by hand: who holds a token, and whose loads go past.
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "support/fake_sm.h"
#include "support/settings.h"

namespace raddle::test::bypass_test {
namespace {

using policy::WarpWait;

class TwoTokens : public testing::Test {
 protected:
  TwoTokens()
      : choice_(choose(policy::all_policies().bypass, "tokens", {{"tokens", "2"}})),
        policy_(choice_->make({})) {
    policy_->sm_observer()->attach(sm_);
  }
  void start(unsigned slot, Cycle now) {
    sm_.facts[slot] = {};
    sm_.facts[slot].started = now;
    policy_->l1_observer()->warp_started({now, 0, 0, 0, static_cast<std::uint8_t>(slot), 0, {}});
    sm_.wait(std::uint64_t{1} << slot, WarpWait::Nothing);
  }
  void notify() { policy_->sm_observer()->waits_changed(0); }
  bool past(unsigned slot, bool pending = false) {
    return policy_->ask({0, 0, 0, static_cast<std::uint8_t>(slot), {}, pending, false, false});
  }
  std::string who_brings() {
    std::string out;
    for (unsigned slot = 0; slot < 4; ++slot)
      if (!past(slot)) out += std::to_string(slot);
    return out;
  }

  FakeSm sm_;
  std::unique_ptr<policy::Choice<policy::BypassPolicy>> choice_;
  std::unique_ptr<policy::BypassPolicy> policy_;
};

TEST_F(TwoTokens, TheOldestHoldThem) {
  start(3, 1);
  start(1, 2);
  start(0, 3);
  start(2, 3);
  notify();
  EXPECT_EQ(who_brings(), "13");
}

TEST_F(TwoTokens, OfWarpsThatHaveStartedTogetherTheFirstOfTheLaunch) {
  start(0, 1);
  start(1, 1);
  start(2, 1);
  sm_.facts[0].block = 2;
  sm_.facts[1].block = 1;
  sm_.facts[2].block = 1;
  sm_.facts[1].index = 1;
  notify();
  EXPECT_EQ(who_brings(), "12");
}

TEST_F(TwoTokens, AWarpKeepsItsOwnWhateverItWaitsFor) {
  start(0, 1);
  start(1, 2);
  start(2, 3);
  notify();
  sm_.wait(0b001, WarpWait::Barrier);
  sm_.wait(0b010, WarpWait::Memory);
  notify();
  EXPECT_EQ(who_brings(), "01");
}

TEST_F(TwoTokens, WhoEndsGivesItToTheOldestWithout) {
  start(0, 1);
  start(1, 2);
  start(2, 3);
  start(3, 4);
  notify();
  sm_.wait(0b0001, WarpWait::Ended);
  notify();
  EXPECT_EQ(who_brings(), "12");
}

TEST_F(TwoTokens, AnotherWarpInTheSlotHasNone) {
  start(0, 1);
  start(1, 2);
  start(2, 3);
  notify();
  start(0, 9);  // in the cycle in which the other has gone
  notify();
  EXPECT_EQ(who_brings(), "12");
}

TEST_F(TwoTokens, WithoutOneALoadWaitsForWhatIsUnderWay) {
  start(0, 1);
  start(1, 2);
  start(2, 3);
  notify();
  EXPECT_TRUE(past(2));
  EXPECT_FALSE(past(2, true));
}

}  // namespace
}  // namespace raddle::test::bypass_test

// cawa and mascar on examples worked out by hand from the rules that
// docs/mechanisms/more_schedulers.md states.
#include <gtest/gtest.h>

#include <vector>

#include "support/fake_sm.h"
#include "support/settings.h"

namespace raddle::policy::known_warp_policies_test {
namespace {

using Warps = std::vector<unsigned>;

WarpMask mask(const Warps& warps) {
  WarpMask out = 0;
  for (unsigned w : warps) out |= WarpMask{1} << w;
  return out;
}

/// One scheduler that sees its SM. Warps are there from cycle 0, oldest first.
class Scheduler {
 public:
  Scheduler(const std::string& name, const Warps& warps, const test::Settings& settings = {})
      : policy_(test::choose(all_policies().warp, name, settings)->make({})) {
    policy_->sm_observer()->attach(sm);
    for (unsigned w : warps) {
      age_.insert(w);
      sm.facts[w] = {.next = 0, .code_size = 100};
      policy_->on_warp_start(w);
    }
    sm.load_store = {.mshrs = 8, .mshrs_taken = 0, .queue = 8, .queue_taken = 0};
  }
  /// The warp has issued so many, the last in that cycle, and stands at instruction `next`.
  void at(unsigned w, std::uint64_t issued, Cycle last, std::uint32_t next) {
    sm.facts[w].issued = issued;
    sm.facts[w].last_issue = last;
    sm.facts[w].next = next;
    policy_->on_warp_start(w);  // what was computed before holds no more
  }
  void memory(const Warps& warps) {
    for (unsigned w : warps) sm.facts[w].kind = InstKind::Load;
    memory_ |= mask(warps);
  }
  /// `ready`: of this scheduler and so of its SM; the others wait for memory.
  unsigned pick(const Warps& ready) {
    sm.wait(age_.members(), WarpWait::Memory);
    sm.wait(mask(ready), WarpWait::Nothing);
    return pick_of(ready);
  }
  unsigned pick_of(const Warps& ready) {
    return policy_->pick({mask(ready), age_.members(), age_, ++now_, memory_});
  }
  void end(unsigned w) { policy_->on_warp_end(w); }
  test::FakeSm sm;

 private:
  std::unique_ptr<WarpPolicy> policy_;
  AgeMatrix64 age_;
  WarpMask memory_ = 0;
  Cycle now_ = 0;
};

// --- cawa: criticality = nInst x CPI + nStall ----------------------------------------------------

// Warp 1: 20 instructions in 100 cycles, CPI 5, 80 stalls, 60 left: 60 x 5 + 80 = 380.
// Warp 2: 25 in 100 cycles, CPI 4, 75 stalls, 70 left: 70 x 4 + 75 = 355.
TEST(Cawa, TakesTheMostCritical) {
  Scheduler s("cawa", {0, 1, 2});
  s.at(0, 50, 99, 90);  // 10 x 2 + 50 = 70
  s.at(1, 20, 99, 40);
  s.at(2, 25, 99, 30);
  EXPECT_EQ(s.pick({0, 1, 2}), 1u);
  EXPECT_EQ(s.pick({0, 2}), 2u) << "1 stalls: the next most critical";
  EXPECT_EQ(s.pick({0, 1, 2}), 2u) << "greedy, although 1 is back";
}

TEST(Cawa, OfEqualOnesTheOldest) {
  Scheduler s("cawa", {5, 3, 4});
  EXPECT_EQ(s.pick({3, 4, 5}), 5u) << "nobody has issued: 100 left each";
}

// A loop puts a warp back: after 30 instructions at CPI 2 one stands at 10 and one at 30.
TEST(Cawa, AWarpThatGoesRoundAgainHasMoreLeft) {
  Scheduler s("cawa", {0, 1});
  s.at(0, 30, 59, 30);
  s.at(1, 30, 59, 10);
  EXPECT_EQ(s.pick({0, 1}), 1u) << "90 x 2 + 30 against 70 x 2 + 30";
}

TEST(Cawa, EachPartCountsAlone) {
  const auto first = [](const test::Settings& settings) {
    Scheduler s("cawa", {0, 1}, settings);
    s.at(0, 10, 99, 99);  // 1 left at CPI 10, 90 stalls: 10 + 90
    s.at(1, 90, 99, 10);  // 90 left at CPI 10/9, 10 stalls: 100 + 10
    return s.pick({0, 1});
  };
  EXPECT_EQ(first({}), 1u) << "110 against 100";
  EXPECT_EQ(first({{"disparity", "false"}}), 0u) << "90 stalls against 10";
  EXPECT_EQ(first({{"stalls", "false"}}), 1u) << "100 against 10";
}

TEST(Cawa, CriticalityFollowsWhatAWarpIssues) {
  Scheduler s("cawa", {0, 1});
  s.at(0, 10, 99, 50);
  s.at(1, 10, 99, 52);
  EXPECT_EQ(s.pick({0, 1}), 0u) << "50 x 10 + 90 against 48 x 10 + 90";
  s.sm.facts[0].next = 60;
  s.sm.facts[0].issued = 11;
  s.sm.facts[0].last_issue = 109;
  EXPECT_EQ(s.pick({1}), 1u);
  s.end(1);  // greed ends with the warp
  EXPECT_EQ(s.pick({0, 1}), 1u) << "40 x 10 + 99 now";
}

// --- mascar --------------------------------------------------------------------------------------

TEST(Mascar, IsGtoWhileMemoryTakesRequests) {
  Scheduler s("mascar", {2, 0, 1});
  s.memory({0, 1, 2});
  EXPECT_EQ(s.pick({0, 1}), 0u);
  EXPECT_EQ(s.pick({0, 1, 2}), 0u);
  EXPECT_EQ(s.pick({1, 2}), 2u);
}

TEST(Mascar, SaturatedOnlyTheOwnerUsesMemory) {
  Scheduler s("mascar", {0, 1, 2, 3});
  s.memory({0, 1, 2});
  s.sm.load_store.mshrs_taken = 6;  // 2 of 8 are free
  s.sm.load_store.last_user = 1;
  EXPECT_EQ(s.pick({0, 1, 2, 3}), 1u) << "the owner goes first";
  EXPECT_EQ(s.pick({0, 2, 3}), 0u) << "1 waits for its data: the oldest with a memory instruction";
  s.sm.load_store.last_user = 0;
  s.sm.wait(0b0001, WarpWait::Dependence);
  s.sm.wait(0b1100, WarpWait::Nothing);
  EXPECT_EQ(s.pick_of({2, 3}), 3u) << "0 will go on: 2 must wait with its load, 3 computes";
  EXPECT_EQ(s.pick_of({2}), WarpPolicy::kInvalidId);
  s.sm.load_store.mshrs_taken = 5;
  EXPECT_EQ(s.pick_of({2}), 2u) << "not saturated any more";
}

TEST(Mascar, AFullMissQueueSaturatesToo) {
  Scheduler s("mascar", {0, 1}, {{"free_queue", "0"}, {"free_mshrs", "0"}});
  s.memory({0, 1});
  s.sm.load_store.last_user = 0;
  s.sm.wait(0b01, WarpWait::Fetch);
  s.sm.wait(0b10, WarpWait::Nothing);
  s.sm.load_store.queue_taken = 7;
  EXPECT_EQ(s.pick_of({1}), 1u);
  s.sm.load_store.queue_taken = 8;
  EXPECT_EQ(s.pick_of({1}), WarpPolicy::kInvalidId);
  s.sm.load_store.mshrs = 0;  // an SM without an L1D
  s.sm.load_store.queue_taken = 0;
  EXPECT_EQ(s.pick_of({1}), 1u);
}

TEST(Mascar, MoreTakenThanThereIsIsAFault) {
  Scheduler s("mascar", {0});
  s.sm.load_store.mshrs_taken = 9;  // of 8
  EXPECT_DEATH(s.pick({0}), "mascar.cpp");
  s.sm.load_store.mshrs_taken = 0;
  s.sm.load_store.queue_taken = 9;
  EXPECT_DEATH(s.pick({0}), "mascar.cpp");
}

TEST(Mascar, SharedMemoryIsNoneOfItsBusiness) {
  Scheduler s("mascar", {0, 1});
  s.memory({0, 1});
  s.sm.facts[1].kind = InstKind::Shared;
  s.sm.load_store.mshrs_taken = 8;
  s.sm.load_store.last_user = 0;
  s.sm.wait(0b01, WarpWait::Dependence);
  s.sm.wait(0b10, WarpWait::Nothing);
  EXPECT_EQ(s.pick_of({1}), 1u);
}

}  // namespace
}  // namespace raddle::policy::known_warp_policies_test

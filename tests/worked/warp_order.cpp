// Warp policies on examples worked out by hand from docs/mechanisms/ccws.md.
#include <gtest/gtest.h>

#include <vector>

#include "support/settings.h"

namespace raddle::policy::warp_order_test {
namespace {

using Warps = std::vector<unsigned>;

/// One scheduler with one policy. Warps are assigned in the order of `assign` (oldest first).
class Scheduler {
 public:
  explicit Scheduler(const std::string& name, const test::Settings& settings = {},
                     unsigned first_slot = 0, unsigned slots = 64) {
    WarpPolicy::Context context;
    context.first_slot = first_slot;
    context.slots = slots;
    policy_ = test::choose(all_policies().warp, name, settings)->make(context);
  }
  void assign(const Warps& warps, unsigned tenant = 0) {
    for (unsigned w : warps) {
      age_.insert(w);
      of_tenant_[tenant] |= WarpMask{1} << w;
    }
  }
  void exit(unsigned warp) {
    age_.remove(warp);
    for (WarpMask& warps : of_tenant_) warps &= ~(WarpMask{1} << warp);
    policy_->on_warp_end(warp);
  }
  unsigned pick(const Warps& ready) {
    WarpMask mask = 0;
    for (unsigned w : ready) mask |= WarpMask{1} << w;
    return policy_->pick({mask, age_.members(), age_, ++now_, 0, of_tenant_});
  }
  /// The same warps ready for so many cycles.
  Warps picks(const Warps& ready, unsigned cycles) {
    Warps out;
    for (unsigned i = 0; i < cycles; ++i) out.push_back(pick(ready));
    return out;
  }

 private:
  std::unique_ptr<WarpPolicy> policy_;
  AgeMatrix64 age_;
  TenantMasks of_tenant_{};
  Cycle now_ = 0;
};

// "order = warps cyclically from the one after the last issued; first ready one issues"
TEST(Lrr, TakesTurnsInSlotOrder) {
  Scheduler s("lrr");
  s.assign({2, 0, 1, 3});
  EXPECT_EQ(s.picks({0, 1, 2, 3}, 6), (Warps{0, 1, 2, 3, 0, 1}));
}

TEST(Lrr, AWarpThatIsNotReadyLosesItsTurn) {
  Scheduler s("lrr");
  s.assign({0, 1, 2, 3});
  EXPECT_EQ(s.pick({0, 1, 2, 3}), 0u);
  EXPECT_EQ(s.pick({0, 2, 3}), 2u);
  EXPECT_EQ(s.pick({0, 1, 2}), 0u) << "3 is not ready, 0 comes after it";
  EXPECT_EQ(s.pick({0}), 0u) << "alone, it goes on";
}

TEST(Lrr, GoesRoundPastTheLastSlot) {
  Scheduler s("lrr");
  s.assign({5, 63});
  EXPECT_EQ(s.picks({5, 63}, 4), (Warps{5, 63, 5, 63}));
}

// "last issued warp first; then all others by age"
TEST(Gto, StaysUntilTheStallThenTakesTheOldest) {
  Scheduler s("gto");
  s.assign({3, 1, 0, 2});  // 3 is oldest
  EXPECT_EQ(s.pick({0, 1, 2}), 1u);
  EXPECT_EQ(s.pick({0, 1, 2, 3}), 1u) << "greedy although 3 is older";
  EXPECT_EQ(s.pick({0, 2, 3}), 3u);
  EXPECT_EQ(s.pick({0, 2}), 0u);
  EXPECT_EQ(s.picks({0, 1, 2, 3}, 3), (Warps{0, 0, 0}));
}

TEST(Gto, AgeIsTheOrderOfAssignmentNotTheSlot) {
  Scheduler s("gto");
  s.assign({0, 1});
  s.exit(0);
  s.assign({0});  // a new block's warp in the old slot
  EXPECT_EQ(s.pick({0, 1}), 1u);
}

TEST(Oldest, AlwaysTakesTheOldest) {
  Scheduler s("oldest");
  s.assign({3, 1, 0, 2});
  EXPECT_EQ(s.pick({0, 1, 2}), 1u);
  EXPECT_EQ(s.pick({0, 1, 2, 3}), 3u);
  EXPECT_EQ(s.pick({0, 2}), 0u);
  EXPECT_EQ(s.pick({0, 1, 2}), 1u);
}

TEST(GreedyRr, StaysUntilTheStallThenTakesTheNext) {
  Scheduler s("greedy_rr");
  s.assign({3, 1, 0, 2});
  EXPECT_EQ(s.picks({0, 1, 2}, 3), (Warps{0, 0, 0}));
  EXPECT_EQ(s.pick({1, 2, 3}), 1u);
  EXPECT_EQ(s.pick({0, 3}), 3u);
  EXPECT_EQ(s.pick({0, 1}), 0u) << "round past the last slot";
}

// Maestro: kernels in turn, one instruction each; within one, as gto.
TEST(LrrGto, TenantsTakeTurnsAndEachStaysWithItsWarp) {
  Scheduler s("lrr_gto");
  s.assign({4, 0, 1}, 0);
  s.assign({3, 2}, 2);
  EXPECT_EQ(s.picks({0, 1, 2, 3}, 6), (Warps{0, 3, 0, 3, 0, 3})) << "0 and 3 are the oldest ready";
  EXPECT_EQ(s.pick({1, 2, 3, 4}), 4u) << "0 has stalled: the oldest of its tenant";
  EXPECT_EQ(s.pick({0, 1, 2, 4}), 2u);
  EXPECT_EQ(s.pick({0, 1, 2, 3, 4}), 4u) << "greedy, not 0";
  EXPECT_EQ(s.pick({0, 1, 2, 3, 4}), 2u) << "greedy, although 3 is older";
}

TEST(LrrGto, ATenantWithoutAReadyWarpLosesItsTurn) {
  Scheduler s("lrr_gto");
  s.assign({0, 1}, 1);
  s.assign({2, 3}, 4);
  s.assign({5}, 7);
  EXPECT_EQ(s.picks({0, 2, 5}, 4), (Warps{0, 2, 5, 0}));
  EXPECT_EQ(s.pick({1, 5}), 5u) << "4 has none";
  EXPECT_EQ(s.pick({1, 5}), 1u);
  EXPECT_EQ(s.picks({5}, 2), (Warps{5, 5})) << "alone, it goes on";
}

TEST(LrrGto, WithOneTenantItIsGto) {
  Scheduler one("lrr_gto"), gto("gto");
  for (Scheduler* s : {&one, &gto}) s->assign({3, 1, 0, 2});
  for (const Warps& ready :
       std::vector<Warps>{{0, 1, 2}, {0, 1, 2, 3}, {0, 2, 3}, {0, 2}, {1, 2}, {0, 1, 2, 3}})
    EXPECT_EQ(one.pick(ready), gto.pick(ready));
}

TEST(LrrGto, GreedEndsWithTheWarp) {
  Scheduler s("lrr_gto");
  s.assign({0, 1}, 0);
  EXPECT_EQ(s.pick({0, 1}), 0u);
  s.exit(0);
  s.assign({0}, 3);  // another tenant's warp in the old slot
  EXPECT_EQ(s.pick({0, 1}), 0u) << "the turn is tenant 3's";
  EXPECT_EQ(s.pick({0, 1}), 1u);
}

// 2LVL-LRR: "leaving a group happens only when none of it can issue"
TEST(TwoLevel, LeavesAGroupOnlyWhenNoneOfItCanIssue) {
  Scheduler s("two_level", {{"group_size", "2"}});
  s.assign({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(s.picks({0, 1, 2, 3, 4, 5}, 4), (Warps{0, 1, 0, 1}));
  EXPECT_EQ(s.pick({1, 2, 3}), 1u);
  EXPECT_EQ(s.pick({2, 3, 4, 5}), 2u) << "the next group";
  EXPECT_EQ(s.pick({0, 1, 3}), 3u) << "group 0 is ready again but group 1 can still issue";
  EXPECT_EQ(s.pick({0, 1, 5}), 5u) << "round robin: the group after, not the first";
  EXPECT_EQ(s.pick({0, 1}), 0u) << "round past the last group; 1 was its last, so 0";
}

TEST(TwoLevel, HasGroupsOfEightByDefault) {
  Scheduler s("two_level");
  s.assign({0, 7, 8, 15});
  EXPECT_EQ(s.picks({0, 7, 8, 15}, 4), (Warps{0, 7, 0, 7}));
  EXPECT_EQ(s.picks({8, 15}, 3), (Warps{8, 15, 8}));
}

// 2LVL-GTO: "g = 2, intra GTO, inter: stay in current group, else group holding the oldest warp"
TEST(TwoLevel, GtoFormGoesToTheGroupOfTheOldest) {
  Scheduler s("two_level", {{"group_size", "2"}, {"inner", "gto"}, {"outer", "gto"}});
  s.assign({4, 0, 3, 1, 2, 5});  // groups {0,1} {2,3} {4,5}; oldest to youngest 4 0 3 1 2 5
  EXPECT_EQ(s.pick({0, 1, 2, 3}), 0u) << "starts in group 0: its oldest";
  EXPECT_EQ(s.pick({0, 1, 4}), 0u) << "greedy";
  EXPECT_EQ(s.pick({1, 4}), 1u) << "stays in the group";
  EXPECT_EQ(s.pick({3, 5}), 5u)
      << "group 2 holds the oldest warp 4, although 4 itself is not ready";
  EXPECT_EQ(s.pick({3, 4, 5}), 5u) << "greedy inside the group";
  EXPECT_EQ(s.pick({1, 2, 3}), 1u) << "group 0 (warp 0) is older than group 1 (warp 3)";
}

TEST(TwoLevel, GtoBetweenGroupsBeginsWithTheOldest) {
  Scheduler s("two_level", {{"group_size", "2"}, {"inner", "rr"}, {"outer", "gto"}});
  s.assign({5, 0, 1, 4});  // groups {0,1} {4,5}
  EXPECT_EQ(s.pick({0, 1, 4}), 4u) << "the group of 5";
  EXPECT_EQ(s.picks({0, 4, 5}, 3), (Warps{5, 4, 5})) << "round robin inside";
  EXPECT_EQ(s.picks({0, 1}, 3), (Warps{0, 1, 0}));
  EXPECT_EQ(s.pick({0, 4, 5}), 0u) << "the older group waits until this one stalls";
}

TEST(TwoLevel, RoundRobinBetweenGroupsOfGto) {
  Scheduler s("two_level", {{"group_size", "2"}, {"inner", "gto"}, {"outer", "rr"}});
  s.assign({1, 0, 5, 4, 3, 2});
  EXPECT_EQ(s.picks({0, 1, 2, 3}, 2), (Warps{1, 1})) << "the first group, its oldest, greedily";
  EXPECT_EQ(s.pick({0, 4, 5}), 0u) << "stays in the group";
  EXPECT_EQ(s.pick({2, 3, 4, 5}), 3u) << "the next group, although another holds an older warp";
  EXPECT_EQ(s.pick({0, 1, 4, 5}), 5u);
  EXPECT_EQ(s.pick({0, 1, 2}), 1u) << "round past the last group; greed was for 5";
}

TEST(TwoLevel, ASingleGroupIsTheInnerPolicy) {
  Scheduler rr("two_level", {{"group_size", "64"}}),
      gto("two_level", {{"group_size", "64"}, {"inner", "gto"}});
  Scheduler plain_rr("lrr"), plain_gto("gto");
  for (Scheduler* s : {&rr, &gto, &plain_rr, &plain_gto}) s->assign({9, 4, 33, 0, 63});
  for (const Warps& ready :
       {Warps{0, 4, 9}, Warps{4, 33}, Warps{0, 33, 63}, Warps{9, 63}, Warps{0, 4, 9, 33, 63}})
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_EQ(rr.pick(ready), plain_rr.pick(ready));
      EXPECT_EQ(gto.pick(ready), plain_gto.pick(ready));
    }
}

TEST(TwoLevel, GroupsCountFromTheSchedulersFirstSlot) {
  Scheduler s("two_level", {{"group_size", "2"}}, 3, 5);  // groups {3,4} {5,6} {7}
  s.assign({3, 4, 5, 6, 7});
  EXPECT_EQ(s.picks({3, 4, 5, 6, 7}, 3), (Warps{3, 4, 3}));
  EXPECT_EQ(s.picks({5, 6, 7}, 3), (Warps{5, 6, 5}));
  EXPECT_EQ(s.picks({3, 4, 7}, 2), (Warps{7, 7}));
}

}  // namespace
}  // namespace raddle::policy::warp_order_test

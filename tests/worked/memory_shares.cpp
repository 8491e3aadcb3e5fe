// MIL and BMI on examples worked out by hand from docs/mechanisms/ccbp.md: which tenant's memory
// instructions an SM lets go.
#include <gtest/gtest.h>

#include <vector>

#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/warp/policy.h"
#include "support/settings.h"

namespace raddle::policy::memory_shares_test {
namespace {

using Warps = std::vector<unsigned>;
constexpr TenantId tenant(unsigned t) { return static_cast<TenantId>(t); }
constexpr WarpMask bit(unsigned w) { return WarpMask{1} << w; }

WarpMask set_of(const Warps& warps) {
  WarpMask out = 0;
  for (unsigned w : warps) out |= bit(w);
  return out;
}

L1Access access_of(unsigned warp, unsigned t, Cycle at, L1Outcome outcome) {
  return {
      .at = at, .warp = static_cast<std::uint8_t>(warp), .outcome = outcome, .tenant = tenant(t)};
}

// --- MIL ----------------------------------------------------------------------------------------

/// Four warps of two tenants: 0 and 1 are tenant 0's, 2 and 3 tenant 1's. Windows of four accesses.
class Mil : public testing::Test {
 protected:
  Mil()
      : policy(test::choose(all_policies().throttle, "mil", {{"window", "4"}})->make({})),
        of_tenant{set_of({0, 1}), set_of({2, 3})} {
    for (unsigned w = 0; w < 4; ++w) {
      policy->on_warp_start(0, w);
      age.insert(w);
    }
  }
  void issue(unsigned t, unsigned loads) {
    for (unsigned i = 0; i < loads; ++i) policy->on_load(now, tenant(t));
  }
  void done(unsigned t, unsigned loads) {
    for (unsigned i = 0; i < loads; ++i) policy->on_load_done(now, tenant(t));
  }
  /// A window of accesses of warp `w`; the first waits `refused` cycles.
  void window(unsigned w, unsigned t, Cycle refused) {
    L1Observer& l1d = *policy->l1_observer();
    if (refused != 0) l1d.access(access_of(w, t, now, L1Outcome::Refused));
    now += refused;
    for (unsigned i = 0; i < 4; ++i) l1d.access(access_of(w, t, now, L1Outcome::Miss));
  }
  /// Warps that may load; all may issue what else they have.
  Warps may_load() {
    const Admission a = policy->ask({0xF, 0, age, block_of, ++now, of_tenant});
    EXPECT_EQ(a.issue & 0xF, 0xFu);
    EXPECT_EQ(a.until, kNever);
    Warps out;
    for (WarpMask m = a.load & 0xF; m != 0; m &= m - 1) out.push_back(lowest(m));
    return out;
  }
  bool must_ask() const { return policy->until() <= now; }

  std::unique_ptr<ThrottlePolicy> policy;
  TenantMasks of_tenant;
  AgeMatrix64 age;
  BlockOfWarp block_of{};
  Cycle now = 0;
};

TEST_F(Mil, NobodyIsLimitedWhereTheL1dKeepsUp) {
  issue(0, 20);
  window(0, 0, 3);  // 3 cycles for 4 accesses: f < 1
  EXPECT_EQ(may_load(), (Warps{0, 1, 2, 3}));
}

TEST_F(Mil, ALimitIsThePeakLessTheRefusedCyclesOfAnAccess) {
  issue(0, 6);
  window(0, 0, 11);  // f = 2 and a part: 6 - 2 = 4
  EXPECT_EQ(may_load(), (Warps{2, 3})) << "six are under way; the other tenant is free";
  done(0, 2);
  EXPECT_FALSE(must_ask());
  EXPECT_EQ(may_load(), (Warps{2, 3})) << "four of four";
  done(0, 1);
  EXPECT_TRUE(must_ask());
  EXPECT_EQ(may_load(), (Warps{0, 1, 2, 3}));
  issue(0, 1);
  EXPECT_TRUE(must_ask());
  EXPECT_EQ(may_load(), (Warps{2, 3}));
}

TEST_F(Mil, AWindowWithoutStallsLetsOneMoreGo) {
  issue(0, 6);
  window(0, 0, 8);  // limit 4
  done(0, 2);
  EXPECT_EQ(may_load(), (Warps{2, 3}));
  window(0, 0, 0);
  EXPECT_TRUE(must_ask());
  EXPECT_EQ(may_load(), (Warps{0, 1, 2, 3})) << "four of five";
  issue(0, 1);
  EXPECT_EQ(may_load(), (Warps{2, 3}));
}

TEST_F(Mil, OneIsAlwaysLetGo) {
  issue(1, 3);
  window(2, 1, 400);
  EXPECT_EQ(may_load(), (Warps{0, 1}));
  done(1, 2);
  EXPECT_EQ(may_load(), (Warps{0, 1}));
  done(1, 1);
  EXPECT_EQ(may_load(), (Warps{0, 1, 2, 3}));
}

TEST_F(Mil, ThePeakIsOfTheWindow) {
  issue(0, 6);
  done(0, 5);
  window(0, 0, 0);  // the peak of 6 goes with it
  issue(0, 1);
  window(0, 0, 4);  // peak 2, f = 1: limit 1
  EXPECT_EQ(may_load(), (Warps{2, 3}));
  done(0, 1);
  EXPECT_EQ(may_load(), (Warps{2, 3})) << "one of one";
}

TEST_F(Mil, EachTenantPaysForItsOwnRefusals) {
  issue(0, 5);
  issue(1, 5);
  L1Observer& l1d = *policy->l1_observer();
  l1d.access(access_of(0, 0, 10, L1Outcome::Refused));
  l1d.access(access_of(2, 1, 12, L1Outcome::Miss));
  l1d.access(access_of(0, 0, 30, L1Outcome::Miss));
  for (unsigned i = 0; i < 3; ++i) l1d.access(access_of(2, 1, 31, L1Outcome::Hit));
  for (unsigned i = 0; i < 3; ++i) l1d.access(access_of(0, 0, 32, L1Outcome::Hit));
  EXPECT_EQ(may_load(), (Warps{2, 3})) << "20 cycles, 4 accesses: 5 - 5, so 1";
}

// --- BMI ----------------------------------------------------------------------------------------

/// One scheduler; windows of two memory instructions.
class Bmi : public testing::Test {
 protected:
  Bmi() : policy(test::choose(all_policies().warp, "bmi", {{"window", "2"}})->make({})) {}
  void assign(const Warps& warps, unsigned t) {
    for (unsigned w : warps) {
      age.insert(w);
      of_tenant[t] |= bit(w);
    }
  }
  unsigned pick(const Warps& ready, const Warps& memory) {
    const unsigned w =
        policy->pick({set_of(ready), age.members(), age, ++now, set_of(memory), of_tenant});
    for (unsigned t = 0; t < kMaxTenants; ++t)
      for (unsigned i = 0; i < requests[t] && (of_tenant[t] & bit(w)) != 0; ++i)
        policy->l1_observer()->access(access_of(w, t, now, L1Outcome::Hit));
    return w;
  }
  /// All ready, all at a memory instruction: of `cycles` picks, those of tenant 1.
  unsigned share_of_1(const Warps& warps, unsigned cycles) {
    unsigned out = 0;
    for (unsigned i = 0; i < cycles; ++i) out += (of_tenant[1] & bit(pick(warps, warps))) != 0;
    return out;
  }
  std::unique_ptr<WarpPolicy> policy;
  AgeMatrix64 age;
  TenantMasks of_tenant{};
  std::array<unsigned, kMaxTenants> requests{1, 1};  ///< of a memory instruction, by tenant
  Cycle now = 0;
};

TEST_F(Bmi, WithEqualRequestsTenantsTakeTurns) {
  assign({0, 1}, 0);
  assign({2, 3}, 1);
  EXPECT_EQ(share_of_1({0, 1, 2, 3}, 40), 20u);
}

TEST_F(Bmi, ATenantOfManyRequestsGetsAsManyFewerInstructions) {
  assign({0, 1}, 0);
  assign({2, 3}, 1);
  requests = {1, 4};  // quotas 4 and 1
  share_of_1({0, 1, 2, 3}, 20);
  EXPECT_EQ(share_of_1({0, 1, 2, 3}, 50), 10u) << "4 to 1";
  requests = {6, 4};  // quotas 2 and 3
  share_of_1({0, 1, 2, 3}, 40);
  EXPECT_NEAR(share_of_1({0, 1, 2, 3}, 50), 30u, 1);
}

TEST_F(Bmi, WhatDoesNotGoToMemoryIsGreedyThenOldest) {
  assign({2, 3}, 1);
  assign({0, 1}, 0);
  EXPECT_EQ(pick({0, 1, 3}, {}), 3u);
  EXPECT_EQ(pick({0, 1, 2, 3}, {}), 3u) << "greedy";
  EXPECT_EQ(pick({0, 1, 2}, {}), 2u) << "oldest";
}

TEST_F(Bmi, AMemoryInstructionWaitsOnlyForAnothers) {
  assign({0, 1}, 0);
  assign({2, 3}, 1);
  EXPECT_EQ(pick({0, 2}, {0, 2}), 0u) << "equal, and 0 is the oldest";
  EXPECT_EQ(pick({0, 2}, {0}), 0u) << "nobody else has one";
  EXPECT_EQ(pick({1, 2}, {1, 2}), 2u) << "tenant 1 has spent nothing";
  EXPECT_EQ(pick({1, 3}, {3}), 1u) << "3 may, and 1 is older";
}

TEST_F(Bmi, WithOneTenantItIsGto) {
  const auto gto = test::choose(all_policies().warp, "gto", {})->make({});
  assign({3, 1, 0, 2}, 0);
  for (const Warps& ready :
       std::vector<Warps>{{0, 1, 2}, {0, 1, 2, 3}, {0, 2, 3}, {0, 2}, {1, 2}, {0, 1, 2, 3}})
    EXPECT_EQ(pick(ready, {0, 3}), gto->pick({set_of(ready), age.members(), age, now}));
}

}  // namespace
}  // namespace raddle::policy::memory_shares_test

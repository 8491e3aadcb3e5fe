// Throttle policies on examples worked out by hand: CCWS figure 6 and equation 1 (U-C1 to U-C3 of
// docs/mechanisms/ccws.md), the barrier rule of static warp limiting.
#include <gtest/gtest.h>

#include <vector>

#include "raddle/policy/throttle/locality_scores.h"
#include "raddle/policy/throttle/victim_tags.h"
#include "support/settings.h"

namespace raddle::policy::throttle_test {
namespace {

using Warps = std::vector<unsigned>;

Warps members(WarpMask mask) {
  Warps out;
  for (; mask != 0; mask &= mask - 1) out.push_back(lowest(mask));
  return out;
}

// --- U-C1: figure 6, base 100, four warps ------------------------------------------------------

/// W2's hits are half of the instructions x K: LLDS = 0.5 x cutoff. `issued` instructions a hit.
class Figure6 : public testing::Test {
 protected:
  Figure6() {
    for (unsigned w = 0; w < 4; ++w) scores.start(0, w);
    for (unsigned i = 0; i < 16; ++i) scores.issue(1);  // 1 hit in 16 instructions, K = 8: 0.5
  }
  Warps may(Cycle now) { return members(scores.allowed(now).warps); }
  LocalityScores scores{{}};
};

TEST_F(Figure6, T0AllMayLoad) {
  EXPECT_EQ(scores.cutoff(), 400u);
  EXPECT_EQ(may(0), (Warps{0, 1, 2, 3}));
  EXPECT_EQ(scores.allowed(0).until, kNever);
}

TEST_F(Figure6, T1AHitOfW2PushesW3Out) {
  scores.hit(0, 2);
  EXPECT_EQ(scores.score(0, 2), 200u) << "LLDS";
  EXPECT_EQ(may(0), (Warps{0, 1, 2})) << "sums before 2, 0, 1, 3: 0, 200, 300, 400";
}

TEST_F(Figure6, T2AHitOfW0TooPushesW1Out) {
  scores.hit(0, 2);
  for (unsigned i = 0; i < 16; ++i) scores.issue(0);  // again half
  scores.hit(0, 0);
  EXPECT_EQ(scores.score(0, 0), 200u);
  EXPECT_EQ(may(0), (Warps{0, 2})) << "sums before 0, 2, 1, 3 (equals by slot): 0, 200, 400, 500";
}

TEST_F(Figure6, T3DecayLetsBothBack) {
  scores.hit(0, 2);
  for (unsigned i = 0; i < 16; ++i) scores.issue(0);
  scores.hit(0, 0);
  EXPECT_EQ(scores.allowed(0).until, 1u) << "at 199 each, 398 stand before W1";
  EXPECT_EQ(may(1), (Warps{0, 1, 2}));
  EXPECT_EQ(scores.allowed(1).until, 51u) << "150 + 150 + 100 before W3 are too much still";
  EXPECT_EQ(may(50), (Warps{0, 1, 2}));
  EXPECT_EQ(may(51), (Warps{0, 1, 2, 3}));
  EXPECT_EQ(scores.score(60, 0), 140u) << "the figure's T3";
  EXPECT_EQ(may(60), (Warps{0, 1, 2, 3}));
}

TEST_F(Figure6, T4TheCutoffFallsWithTheWarps) {
  scores.hit(0, 2);
  scores.end(400, 2);
  EXPECT_EQ(scores.cutoff(), 300u);
  scores.hit(400, 0);
  EXPECT_EQ(scores.score(400, 0), 150u) << "half of 300";
  EXPECT_EQ(may(400), (Warps{0, 1, 3})) << "sums before: 0, 150, 250; 200 points would block W3";
}

TEST_F(Figure6, SumsAreOverTheWarpsThatRun) {
  scores.hit(0, 2);  // 1 hit, 16 instructions, all of these W1's
  scores.end(10, 2);
  scores.hit(10, 0);
  EXPECT_EQ(scores.score(10, 0), 150u) << "W2's hit has left with it: 1 in 16 of 300, x 8";
  scores.end(20, 1);
  scores.issue(3);
  scores.issue(3);
  scores.hit(20, 3);
  EXPECT_EQ(scores.score(20, 3), 8u * 200u) << "2 hits, and W1's 16 instructions have left: 2";
}

// --- U-C3: equation 1 ---------------------------------------------------------------------------

TEST(Equation1, TenHitsInTwoThousandInstructionsOf32Warps) {
  LocalityScores scores{{}};
  for (unsigned w = 0; w < 32; ++w) scores.start(0, w);
  for (unsigned i = 0; i < 2000; ++i) scores.issue(i % 32);
  for (unsigned i = 0; i < 10; ++i) scores.hit(0, i);
  EXPECT_EQ(scores.detected(), 128u);
  EXPECT_EQ(scores.score(0, 9), 128u);
  EXPECT_EQ(scores.score(0, 0), 100u) << "12.8 of the first hit are less than the base (A-C7)";
}

// "0.02 -> LLDS 512, at most 7 warps if all are at LLDS"
TEST(Equation1, TwoHitsInAHundredLeaveSevenWarps) {
  LocalityScores scores{{}};
  for (unsigned w = 0; w < 32; ++w) scores.start(0, w);
  for (unsigned i = 0; i < 1600; ++i) scores.issue(i % 32);
  for (unsigned i = 0; i < 32; ++i) scores.hit(0, i);
  EXPECT_EQ(scores.detected(), 512u);
  for (unsigned i = 0; i < 1600; ++i) scores.issue(i % 32);
  for (unsigned i = 0; i < 32; ++i) scores.hit(0, i);  // all at LLDS, the last ones exactly
  EXPECT_EQ(std::popcount(scores.allowed(0).warps), 7);
}

TEST(Equation1, ScoresSaturateWhereTheyHaveSoManyBits) {
  LocalityScores ten_bits{{.maximum = 1023}}, wide{{}};
  for (LocalityScores* s : {&ten_bits, &wide}) {
    for (unsigned w = 0; w < 32; ++w) s->start(0, w);
    for (unsigned i = 0; i < 25; ++i) s->issue(0);
    s->hit(0, 5);
  }
  EXPECT_EQ(wide.score(0, 5), 1024u) << "0.04 hits per instruction suffice (A-C6)";
  EXPECT_EQ(ten_bits.score(0, 5), 1023u);
}

TEST(Equation1, AScoreIsWhatTheLastHitGaveNotTheSumOfAll) {
  LocalityScores scores{{}};
  for (unsigned w = 0; w < 8; ++w) scores.start(0, w);
  for (unsigned i = 0; i < 16; ++i) scores.issue(0);
  scores.hit(0, 3);
  EXPECT_EQ(scores.score(0, 3), 400u);
  EXPECT_EQ(scores.score(150, 3), 250u);
  for (unsigned i = 0; i < 48; ++i) scores.issue(0);
  scores.hit(150, 3);
  EXPECT_EQ(scores.score(150, 3), 200u) << "2 in 64: 0.25 x 800, less than it had";
}

TEST(Equation1, TotalsOfWarpsOfTheKernelOrOfTheRun) {
  auto detected = [](ScoreTotals totals) {
    LocalityScores s{{.totals = totals}};
    for (unsigned w = 0; w < 10; ++w) s.start(0, w);
    for (unsigned i = 0; i < 80; ++i) s.issue(0);
    for (unsigned i = 0; i < 4; ++i) s.hit(0, 0);
    s.kernel_start();
    s.end(1, 0);
    s.start(1, 0);
    for (unsigned i = 0; i < 20; ++i) s.issue(1);
    s.hit(1, 1);
    return s.detected();
  };
  EXPECT_EQ(detected(ScoreTotals::Run), 5u * 8 * 1000 / 100);
  EXPECT_EQ(detected(ScoreTotals::Kernel), 1u * 8 * 1000 / 20);
  EXPECT_EQ(detected(ScoreTotals::Resident), 1u * 8 * 1000 / 20);
}

// --- U-C2: the victim tags ----------------------------------------------------------------------

TEST(VictimTags, TheNinthOfASetPushesOutTheFirst) {
  VictimTags tags(32, 16, 8);  // 2 sets of 8
  for (std::uint32_t i = 0; i < 9; ++i) tags.insert(4, 100 + 2 * i);
  EXPECT_FALSE(tags.holds(4, 100));
  for (std::uint32_t i = 1; i < 9; ++i) EXPECT_TRUE(tags.holds(4, 100 + 2 * i)) << i;
  tags.insert(4, 101);  // the other set
  EXPECT_TRUE(tags.holds(4, 102)) << "has room of its own";
}

TEST(VictimTags, OtherWarpsTagsNeverHit) {
  VictimTags tags(32, 16, 8);
  tags.insert(4, 100);
  for (unsigned w = 0; w < 32; ++w) EXPECT_EQ(tags.holds(w, 100), w == 4);
}

// --- static warp limiting -----------------------------------------------------------------------

/// A throttle that is asked about an SM whose warps are all there from the beginning.
class Swl : public testing::Test {
 protected:
  void limit(const char* warps) {
    policy = test::choose(all_policies().throttle, "swl", {{"limit", warps}})->make({});
  }
  /// Warps in order of age.
  void assign(const Warps& warps, std::uint8_t block) {
    for (unsigned w : warps) {
      age.insert(w);
      running |= WarpMask{1} << w;
      block_of[w] = block;
      policy->on_warp_start(now, w);
    }
  }
  void end(unsigned w) {
    age.remove(w);
    running &= ~(WarpMask{1} << w);
    waiting &= running;
    policy->on_warp_end(now, w);
  }
  Warps admitted() {
    const Admission a = policy->ask({running, waiting, age, block_of, ++now});
    EXPECT_EQ(a.issue & running, a.issue & a.load & running) << "who may issue may load";
    EXPECT_EQ(a.until, kNever);
    return members(a.issue & running);
  }
  std::unique_ptr<ThrottlePolicy> policy;
  AgeMatrix64 age;
  BlockOfWarp block_of{};
  WarpMask running = 0, waiting = 0;
  Cycle now = 0;
};

TEST_F(Swl, AdmitsTheOldestWarps) {
  limit("3");
  assign({5, 4, 0, 1}, 0);
  EXPECT_EQ(admitted(), (Warps{0, 4, 5}));
  end(4);
  EXPECT_EQ(admitted(), (Warps{0, 1, 5}));
  assign({4}, 1);
  EXPECT_EQ(admitted(), (Warps{0, 1, 5})) << "the newcomer in the old slot is the youngest";
}

TEST_F(Swl, AdmitsAllWhenTheyAreFewer) {
  limit("32");
  assign({0, 1, 2}, 0);
  EXPECT_EQ(admitted(), (Warps{0, 1, 2}));
}

// "if any admitted warp waits at a TB barrier, all warps of that TB are admitted until the barrier
// opens, then the limit applies again"
TEST_F(Swl, AWarpAtABarrierLetsItsWholeBlockIn) {
  limit("2");
  assign({0, 1, 2, 3}, 7);
  assign({4, 5}, 3);
  EXPECT_EQ(admitted(), (Warps{0, 1}));
  waiting = 0b10;
  EXPECT_EQ(admitted(), (Warps{0, 1, 2, 3})) << "and none of the other block";
  waiting = 0b1110;
  EXPECT_EQ(admitted(), (Warps{0, 1, 2, 3}));
  waiting = 0;
  EXPECT_EQ(admitted(), (Warps{0, 1}));
}

TEST_F(Swl, AWarpThatIsNotAdmittedLetsNobodyIn) {
  limit("1");
  assign({0, 1}, 0);
  assign({2, 3}, 1);
  waiting = 0b0100;
  EXPECT_EQ(admitted(), (Warps{0}));
  end(0);
  EXPECT_EQ(admitted(), (Warps{1}));
  end(1);
  EXPECT_EQ(admitted(), (Warps{2, 3})) << "now 2 is within the limit, and waits";
}

}  // namespace
}  // namespace raddle::policy::throttle_test

// LATOA's rules and its policy, against a machine that is only numbers.
#include "raddle/policy/migrate/latoa_rules.h"

#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "support/settings.h"
#include "unit/policy/migrate_world.h"

namespace raddle::policy::latoa_test {
namespace {

using namespace migrate_test;

using test::Settings;

// --- rules ---------------------------------------------------------------------------------------

TEST(CoreStates, OfSixtyFourMshrsAThirdIsRelaxedAndMoreThanTwoThirdsAreCritical) {
  const StateBounds bounds;
  EXPECT_EQ(bounds.of(0, 64), CoreState::Relaxed);
  EXPECT_EQ(bounds.of(21, 64), CoreState::Relaxed);
  EXPECT_EQ(bounds.of(22, 64), CoreState::Neutral);
  EXPECT_EQ(bounds.of(42, 64), CoreState::Neutral);
  EXPECT_EQ(bounds.of(43, 64), CoreState::Critical);
  EXPECT_EQ(bounds.of(64, 64), CoreState::Critical);
}

TEST(CoreStates, AnExactThirdIsRelaxedAndExactTwoThirdsAreNotCritical) {
  const StateBounds bounds;
  EXPECT_EQ(bounds.of(16, 48), CoreState::Relaxed);
  EXPECT_EQ(bounds.of(17, 48), CoreState::Neutral);
  EXPECT_EQ(bounds.of(32, 48), CoreState::Neutral);
  EXPECT_EQ(bounds.of(33, 48), CoreState::Critical);
}

TEST(Irregularity, UpToAQuarterOfTheSlots) {
  EXPECT_TRUE(is_irregular(1, 16, 25));
  EXPECT_TRUE(is_irregular(4, 16, 25));
  EXPECT_FALSE(is_irregular(5, 16, 25));
  EXPECT_FALSE(is_irregular(1, 16, 0));
  EXPECT_TRUE(is_irregular(16, 16, 100));
}

constexpr unsigned kEast = 0, kNorth = 1, kWest = 2, kSouth = 3, kInvalidId = 4;

TEST(StickyNeighbour, TakesTheFirstRelaxedAndStaysWithIt) {
  StickyNeighbour chooser;
  const auto send = [&](const std::array<bool, 4>& relaxed) {
    const unsigned place = chooser.choose(relaxed, NeighbourOrder::Enws);
    if (place != kInvalidId) chooser.sent_to(place);
    return place;
  };
  EXPECT_EQ(send({false, true, true, true}), kNorth);
  EXPECT_EQ(send({true, true, true, true}), kNorth) << "sticky";
  EXPECT_EQ(send({true, false, true, true}), kEast);
  EXPECT_EQ(send({true, true, true, true}), kEast);
  EXPECT_EQ(send({false, false, false, false}), kInvalidId);
  EXPECT_EQ(send({false, false, false, true}), kSouth);
}

TEST(StickyNeighbour, StaysWithWhomItHasSentToAndNotWithWhomItHasLookedAt) {
  StickyNeighbour chooser;
  chooser.sent_to(kWest);
  EXPECT_EQ(chooser.choose({true, true, false, true}, NeighbourOrder::Enws), kEast);
  EXPECT_EQ(chooser.choose({true, true, true, true}, NeighbourOrder::Enws), kWest);
}

TEST(StickyNeighbour, TheOrderIsAParameter) {
  const std::array<bool, 4> all = {true, true, true, true};
  const std::array<unsigned, 5> first = {kEast, kNorth, kWest, kSouth, kSouth};
  for (unsigned order = 0; order < first.size(); ++order)
    EXPECT_EQ(StickyNeighbour().choose(all, static_cast<NeighbourOrder>(order)), first[order]);
  EXPECT_EQ(StickyNeighbour().choose({true, false, true, false}, NeighbourOrder::Swne), kWest);
  EXPECT_EQ(StickyNeighbour().choose({true, false, true, false}, NeighbourOrder::Senw), kEast);
}

// --- the policy ----------------------------------------------------------------------------------

class LatoaPolicy : public testing::Test {
 protected:
  LatoaPolicy() {
    // The middle is critical, all others relaxed; twelve misses wait, each for one warp.
    world.taken[kMiddle] = 50;
    for (unsigned slot = 0; slot < 12; ++slot) {
      world.sms[kMiddle].outstanding.push_back({1, {slot}, true});
      world.sms[kMiddle].warps[slot] = {true, 1, false, 0};
    }
  }
  void make(const Settings& settings = {}) {
    MigratePolicy::Context context;
    context.mshrs = 64;
    context.merges = 16;
    context.neighbours = three_by_three();
    policy = test::choose(all.migrate, "latoa", settings)->make(context);
  }
  /// One look: the warps that leave.
  std::vector<Migration> look(Cycle at) {
    if (policy == nullptr) make();
    world.at = at;
    world.moves.clear();
    next = policy->look(world);
    EXPECT_GT(next, at);
    return world.moves;
  }
  std::uint64_t statistic(const std::string& name, Cycle at) {
    policy->settle(at);
    Read read;
    policy->visit_statistics(read);
    EXPECT_TRUE(read.values.contains(name)) << name;
    return read.values[name];
  }
  /// The one reason for which the middle's warps stay in cycle 10.
  void expect_refused(const std::string& why) {
    EXPECT_TRUE(look(10).empty()) << why;
    EXPECT_EQ(statistic(why, 11), 1u) << why;
    EXPECT_EQ(statistic("attempts", 11), 1u) << why;
    EXPECT_EQ(statistic("warps", 11), 0u) << why;
  }
  Sm& middle() { return world.sms[kMiddle]; }

  Registries all = all_policies();
  std::unique_ptr<MigratePolicy> policy;
  World world;
  Cycle next = 0;
};

TEST_F(LatoaPolicy, TheSeventhPendingMissGoesToTheEast) {
  const std::vector<Migration> moves = look(10);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].sm, kMiddle);
  EXPECT_EQ(moves[0].slot, 6u);
  EXPECT_EQ(moves[0].to, kEastOf);
  EXPECT_EQ(statistic("offloads", 11), 1u);
  EXPECT_EQ(statistic("warps", 11), 1u);
}

TEST_F(LatoaPolicy, AllWarpsOfTheMissGoTogether) {
  middle().outstanding[6] = {4, {3, 9, 6}, true};
  const std::vector<Migration> moves = look(10);
  ASSERT_EQ(moves.size(), 3u);
  for (const Migration& m : moves) EXPECT_EQ(m.to, kEastOf);
  EXPECT_EQ(statistic("offloads", 11), 1u);
  EXPECT_EQ(statistic("warps", 11), 3u);
}

TEST_F(LatoaPolicy, SomeOtherMissByParameter) {
  make({{"entry", "2"}, {"entry_from", "newest"}});
  EXPECT_EQ(look(10).at(0).slot, 10u);
  make({{"entry", "2"}});
  EXPECT_EQ(look(10).at(0).slot, 1u);
}

TEST_F(LatoaPolicy, OnlyThoseNotSentByParameter) {
  for (unsigned slot = 0; slot < 12; ++slot) middle().unsent.push_back({1, {11 - slot}, true});
  make({{"among", "unsent"}});
  EXPECT_EQ(look(10).at(0).slot, 5u);
  middle().outstanding.clear();
  EXPECT_EQ(look(11).at(0).slot, 5u);
  make({{"among", "unsent"}});
  middle().unsent.resize(6);
  expect_refused("refused_no_entry");
}

TEST_F(LatoaPolicy, StaysWithANeighbourThatIsRelaxed) {
  world.taken[kEastOf] = 22;
  EXPECT_EQ(look(10).at(0).to, kNorthOf);
  world.taken[kEastOf] = 0;
  EXPECT_EQ(look(11).at(0).to, kNorthOf);
  world.taken[kNorthOf] = 22;
  EXPECT_EQ(look(12).at(0).to, kEastOf);
  world.taken[kEastOf] = world.taken[kSouthOf] = 40;
  EXPECT_EQ(look(13).at(0).to, kWestOf);
}

TEST_F(LatoaPolicy, SaysWhyNobodyLeaves) {
  middle().outstanding.resize(6);
  expect_refused("refused_no_entry");
}
TEST_F(LatoaPolicy, NotIfTheLineIsPopular) {
  middle().outstanding[6].waiting = 5;
  expect_refused("refused_regular");
}
TEST_F(LatoaPolicy, NotIfAStoreWaitsToo) {
  middle().outstanding[6].only_loads = false;
  expect_refused("refused_store");
}
TEST_F(LatoaPolicy, NotIfNobodyWaitsAnyMore) {
  middle().outstanding[6] = {0, {}, true};
  expect_refused("refused_cannot_leave");
}
TEST_F(LatoaPolicy, NotIfOneOfTheWarpsCannot) {
  middle().outstanding[6].warps = {6, 7};
  middle().stay = {7};
  expect_refused("refused_cannot_leave");
}
TEST_F(LatoaPolicy, NotIfThreadsAreElsewhere) {
  middle().warps[6].converged = false;
  expect_refused("refused_diverged");
}
TEST_F(LatoaPolicy, NotIfItWaitsForThreeLoads) {
  middle().warps[6].awaited = 3;
  expect_refused("refused_not_waiting");
}
TEST_F(LatoaPolicy, NotIfItCouldGoOn) {
  middle().warps[6].awaited = 0;
  expect_refused("refused_not_waiting");
}
TEST_F(LatoaPolicy, NotIfNoNeighbourIsRelaxed) {
  for (const unsigned sm : {kEastOf, kNorthOf, kWestOf, kSouthOf}) world.taken[sm] = 22;
  expect_refused("refused_no_neighbour");
}
// The paper says of BFS that adopters are what it lacks (section 6.1); so that is asked first.
TEST_F(LatoaPolicy, WithoutANeighbourWarpsAreNotLookedAt) {
  for (const unsigned sm : {kEastOf, kNorthOf, kWestOf, kSouthOf}) world.taken[sm] = 22;
  middle().warps[6].converged = false;
  expect_refused("refused_no_neighbour");
}
TEST_F(LatoaPolicy, LooksAgainWhenANeighbourHasBecomeRelaxed) {
  for (const unsigned sm : {kEastOf, kNorthOf, kWestOf, kSouthOf}) world.taken[sm] = 22;
  EXPECT_TRUE(look(10).empty());
  world.taken[kEastOf] = 3;
  world.only_changed = {kEastOf};
  EXPECT_EQ(look(12).size(), 1u);
  EXPECT_EQ(statistic("refused_no_neighbour", 13), 2u);
}
// Whoever skips cycles must count what one who looks in each of them counts.
TEST_F(LatoaPolicy, WhyItsWarpsStayIsLookedAtAgainWhenANeighbourIsNoLongerRelaxed) {
  middle().stay = {6};
  EXPECT_TRUE(look(10).empty());
  for (const unsigned sm : {kEastOf, kNorthOf, kWestOf, kSouthOf}) world.taken[sm] = 22;
  world.only_changed = {kEastOf, kNorthOf, kWestOf, kSouthOf};
  EXPECT_TRUE(look(20).empty());
  EXPECT_EQ(statistic("refused_no_neighbour", 25), 5u);
  EXPECT_EQ(statistic("refused_cannot_leave", 25), 10u);
}
TEST_F(LatoaPolicy, NotIfTheNeighbourHasNoRoom) {
  world.sms[kEastOf].has_room = false;  // the north would have
  expect_refused("refused_no_context");
}
TEST_F(LatoaPolicy, NotWhileAContextLeaves) {
  middle().outgoing = 1;
  expect_refused("refused_leaving");
}

TEST_F(LatoaPolicy, MoreContextsMayLeaveByParameter) {
  middle().outgoing = 1;
  make({{"outbox", "2"}});
  EXPECT_EQ(look(10).size(), 1u);
}

TEST_F(LatoaPolicy, DivergedWarpsGoByParameter) {
  middle().warps[6].converged = false;
  make({{"converged", "false"}});
  EXPECT_EQ(look(10).size(), 1u);
}

TEST_F(LatoaPolicy, WhoHasMovedStaysForAWhile) {
  middle().warps[6] = {true, 1, true, 500};
  EXPECT_TRUE(look(1499).empty());
  EXPECT_EQ(next, 1500u) << "it looks again when the time is over";
  EXPECT_EQ(look(1500).size(), 1u);
  EXPECT_EQ(statistic("refused_cooling", 1501), 1u);
  EXPECT_EQ(statistic("warps_again", 1501), 1u);
}

TEST_F(LatoaPolicy, ABaselineOnlyCounts) {
  make({{"moves", "false"}});
  EXPECT_TRUE(look(0).empty());
  world.taken[kMiddle] = 30;
  look(40);
  world.taken[kMiddle] = 3;
  look(60);
  EXPECT_EQ(statistic("critical_cycles", 100), 40u);
  EXPECT_EQ(statistic("neutral_cycles", 100), 20u);
  EXPECT_EQ(statistic("relaxed_cycles", 100), 8 * 100u + 40u);
}

// Nothing changes in between, so looking every cycle must count what two looks count.
TEST_F(LatoaPolicy, WhatIsCountedDoesNotDependOnHowOftenItLooks) {
  middle().outstanding[6].waiting = 9;
  world.taken[0] = 64;
  std::map<std::string, std::uint64_t> seen[2];
  for (const bool often : {false, true}) {
    make();
    for (Cycle t = 5; t < 40; t += often ? 1 : 35) EXPECT_TRUE(look(t).empty());
    world.taken[0] = 1;
    look(40);
    world.taken[0] = 64;
    policy->settle(50);
    Read read;
    policy->visit_statistics(read);
    seen[often ? 1 : 0] = read.values;
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0]["refused_regular"], 45u);
  EXPECT_EQ(seen[0]["refused_no_entry"], 35u) << "SM 0, until cycle 40";
  EXPECT_EQ(seen[0]["attempts"], 80u);
}

TEST_F(LatoaPolicy, RefusesMachinesThatItCannotRunOn) {
  const auto broken = [&](const Settings& settings, const MachineFacts& machine) {
    const auto choice = test::choose(all.migrate, "latoa", settings);
    std::string out;
    for (const std::string& rule : choice->violations(machine)) out += rule + "\n";
    return out;
  };
  MachineFacts mesh;
  mesh.mesh = true;
  EXPECT_EQ(broken({}, mesh), "");
  EXPECT_NE(broken({}, MachineFacts{}).find("noc.topology"), std::string::npos);
  MachineFacts bare = mesh;
  bare.l1d = false;
  EXPECT_NE(broken({}, bare).find("sm.l1d.size_kib"), std::string::npos);
  const std::string order = broken({{"relaxed", "8"}}, mesh);
  EXPECT_NE(order.find("relaxed is 8, critical is 8"), std::string::npos) << order;
}

}  // namespace
}  // namespace raddle::policy::latoa_test

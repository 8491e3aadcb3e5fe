// The policy migrate=balance, against a machine that is only numbers.
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "support/settings.h"
#include "unit/policy/migrate_world.h"

namespace raddle::policy::balance_test {
namespace {

using namespace migrate_test;
using test::Settings;

class BalancePolicy : public testing::Test {
 protected:
  BalancePolicy() {
    world.carries = true;
    for (unsigned sm = 0; sm < 9; ++sm) fill(sm, 20);
  }
  void fill(unsigned sm, unsigned warps) {
    world.sms[sm].warps.clear();
    for (unsigned slot = 0; slot < warps; ++slot) world.sms[sm].warps[slot] = {true, 1, false, 0};
  }
  void make(const Settings& settings = {}) {
    MigratePolicy::Context context;
    context.mshrs = 64;
    context.neighbours = three_by_three();
    policy = test::choose(all.migrate, "balance", settings)->make(context);
  }
  std::vector<Migration> look(Cycle at) {
    if (policy == nullptr) make();
    world.at = at;
    world.moves.clear();
    next = policy->look(world);
    EXPECT_GT(next, at);
    return world.moves;
  }
  std::uint64_t statistic(const std::string& name) {
    Read read;
    policy->visit_statistics(read);
    EXPECT_TRUE(read.values.contains(name)) << name;
    return read.values[name];
  }
  std::size_t warps(unsigned sm) const { return world.sms[sm].warps.size(); }

  Registries all = all_policies();
  std::unique_ptr<MigratePolicy> policy;
  World world;
  Cycle next = 0;
};

TEST_F(BalancePolicy, AnSmWithFewWarpsTakesABatchFromTheOneWithMost) {
  fill(2, 0);
  fill(8, 30);
  EXPECT_TRUE(look(99).empty());
  EXPECT_EQ(next, 100u);
  const std::vector<Migration> moves = look(100);
  ASSERT_EQ(moves.size(), 4u);
  for (const Migration& m : moves) {
    EXPECT_EQ(m.sm, 8u);
    EXPECT_EQ(m.to, 2u);
  }
  EXPECT_EQ(next, 200u);
  EXPECT_EQ(statistic("warps"), 4u);
  EXPECT_TRUE(look(150).empty()) << "the next round is at 200";
}

TEST_F(BalancePolicy, GoesOnUntilItHasMoreThanFewOrTheOthersHaveNotClearlyMore) {
  fill(2, 0);
  for (Cycle at = 100; at < 2000; at += 100) look(at);
  EXPECT_EQ(warps(2), 11u) << "of its third batch the giver's 17 are not eight more than eleven";
  for (unsigned sm = 0; sm < 9; ++sm) fill(sm, sm == 4 ? 9 : 2);
  make();
  for (Cycle at = 100; at < 2000; at += 100) look(at);
  EXPECT_EQ(warps(4), 9u) << "seven more are not eight more";
  EXPECT_EQ(statistic("refused_no_giver"), statistic("asked"));
}

TEST_F(BalancePolicy, TheEmptiestIsServedFirst) {
  for (unsigned sm = 0; sm < 9; ++sm) fill(sm, 7);
  fill(3, 4);
  fill(6, 1);
  fill(0, 12);  // enough for one of them
  const std::vector<Migration> moves = look(100);
  ASSERT_FALSE(moves.empty());
  EXPECT_EQ(moves.front().to, 6u);
  EXPECT_EQ(moves.front().sm, 0u);
}

TEST_F(BalancePolicy, AnSmThatIsShortOfMshrsTakesNone) {
  fill(2, 0);
  world.taken[2] = 43;
  EXPECT_TRUE(look(100).empty());
  EXPECT_EQ(statistic("asked"), 0u);
}

TEST_F(BalancePolicy, OnlyNeighboursGiveByParameter) {
  fill(0, 0);
  fill(8, 40);
  make({{"reach", "neighbours"}});
  const std::vector<Migration> moves = look(100);
  ASSERT_FALSE(moves.empty());
  EXPECT_EQ(moves.front().sm, 1u);
}

TEST_F(BalancePolicy, WarpsThatCannotGoAndThoseThatJustCameStay) {
  fill(2, 0);
  for (unsigned slot = 0; slot < 20; ++slot) world.sms[0].stay.insert(slot);
  EXPECT_TRUE(look(100).empty());
  EXPECT_EQ(statistic("refused_cannot_leave"), 1u);
  world.sms[0].stay.clear();
  for (auto& [slot, state] : world.sms[0].warps) state = {true, 1, true, 150};
  EXPECT_TRUE(look(200).empty());
  EXPECT_EQ(look(1200).size(), 4u) << "a thousand cycles later";
  EXPECT_EQ(statistic("warps_again"), 4u);
}

TEST_F(BalancePolicy, WaitsWhileContextsLeaveAndWhereThereIsNoRoom) {
  fill(2, 0);
  for (unsigned sm = 0; sm < 9; ++sm) world.sms[sm].outgoing = 4;
  EXPECT_TRUE(look(100).empty());
  for (unsigned sm = 0; sm < 9; ++sm) world.sms[sm].outgoing = 0;
  world.sms[2].has_room = false;
  EXPECT_TRUE(look(200).empty());
}

TEST(BalanceParameters, ACrossbarHasNoWayFromSmToSm) {
  const Registries all = all_policies();
  const auto broken = [&](const Settings& settings, bool mesh) {
    MachineFacts machine;
    machine.mesh = mesh;
    return test::choose(all.migrate, "balance", settings)->violations(machine).size();
  };
  EXPECT_EQ(broken({}, true), 0u);
  EXPECT_EQ(broken({}, false), 1u);
  EXPECT_EQ(broken({{"transfer", "free"}}, false), 0u);
  EXPECT_EQ(broken({{"transfer", "free"}, {"reach", "neighbours"}}, false), 1u);
}

}  // namespace
}  // namespace raddle::policy::balance_test

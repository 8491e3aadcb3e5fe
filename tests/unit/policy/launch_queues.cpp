// Queues of launches (policy/dispatch/launch_queues.h, bound_queues.h): order, the table on the
// chip, and what a visit of an SM names.
#include "raddle/policy/dispatch/launch_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/policy/dispatch/bound_queues.h"

namespace raddle::policy::launch_queues_test {
namespace {

using ::testing::ElementsAre;
using Stage = BoundQueues::Stage;

std::vector<std::uint32_t> drained(LevelQueues& queues) {
  std::vector<std::uint32_t> out;
  while (const auto entry = queues.pop()) out.push_back(*entry);
  return out;
}

TEST(LevelQueues, GiveTheHighestLevelFirstAndTheOldestOfIt) {
  LevelQueues queues(3);
  for (const auto& [entry, level] :
       {std::pair{10u, 0u}, {11u, 2u}, {12u, 3u}, {13u, 2u}, {14u, 0u}})
    queues.push(entry, level);
  EXPECT_EQ(queues.size(), 5u);
  EXPECT_EQ(queues.first(), 12u);
  EXPECT_EQ(queues.first([](std::uint32_t entry) { return entry % 2 == 1; }), 11u);
  EXPECT_EQ(queues.first([](std::uint32_t) { return false; }), std::nullopt);
  EXPECT_THAT(drained(queues), ElementsAre(12, 11, 13, 10, 14));
  EXPECT_TRUE(queues.empty());
  EXPECT_EQ(queues.first(), std::nullopt);
}

TEST(LevelQueues, CountWhatANewEntryComesAfter) {
  LevelQueues queues(2);
  queues.push(1, 0);
  queues.push(2, 1);
  queues.push(3, 2);
  queues.push(4, 2);
  EXPECT_EQ(queues.ahead(2), 2u);
  EXPECT_EQ(queues.ahead(1), 3u);
  EXPECT_EQ(queues.ahead(0), 4u);
}

TEST(LevelQueues, AnEntryMayLeaveFromAnywhere) {
  LevelQueues queues(1);
  for (std::uint32_t entry = 0; entry < 5; ++entry) queues.push(entry, 1);
  queues.remove(2, 1);
  queues.remove(4, 1);
  queues.remove(0, 1);
  EXPECT_THAT(drained(queues), ElementsAre(1, 3));
}
TEST(LevelQueuesDeathTest, ButOnlyOneThatIsThere) {
  LevelQueues queues(1);
  EXPECT_DEATH(queues.remove(1, 1), "");
  queues.push(1, 0);
  queues.push(2, 0);
  queues.push(3, 0);
  EXPECT_DEATH(queues.remove(7, 0), "");
}

TEST(EntryTable, WhatFindsNoPlaceIsInMemoryUntilOneIsFree) {
  EntryTable table(2, 2);
  EXPECT_TRUE(table.add(1, 1));
  EXPECT_TRUE(table.add(2, 1));
  EXPECT_FALSE(table.add(3, 1));
  EXPECT_FALSE(table.add(4, 2));
  EXPECT_FALSE(table.add(5, 2));
  EXPECT_EQ(table.on_chip(), 2u);
  EXPECT_EQ(table.in_memory(), 3u);
  EXPECT_EQ(table.remove(), 4u) << "the highest level is fetched first";
  EXPECT_EQ(table.remove(), 5u);
  EXPECT_EQ(table.remove(), 3u);
  EXPECT_EQ(table.on_chip(), 2u) << "each has the place of the one before";
  EXPECT_EQ(table.remove(), std::nullopt);
  EXPECT_EQ(table.remove(), std::nullopt);
  EXPECT_TRUE(table.empty());
}

BoundQueues::Rules rules(unsigned sms, bool adapts) {
  BoundQueues::Rules out;
  out.sms = sms;
  out.adapts = adapts;
  return out;
}
/// "entry of stage", "" for nothing.
std::string visit(BoundQueues& queues, unsigned sm) {
  const auto found = queues.visit(sm);
  if (!found) return "";
  constexpr const char* kStages[] = {" own", " host", " backup"};
  return std::to_string(found->entry) + kStages[static_cast<unsigned>(found->stage)];
}

TEST(BoundQueues, OwnLaunchesThenTheHostsThenNothing) {
  BoundQueues queues(rules(2, false));
  queues.insert(1, 0, 0);
  queues.insert(2, 1, 1);
  queues.insert(3, 1, 2);
  EXPECT_EQ(visit(queues, 0), "1 host");
  EXPECT_EQ(visit(queues, 1), "3 own") << "the deeper one first";
  queues.remove(3, 1, 2);
  EXPECT_EQ(visit(queues, 1), "2 own");
  queues.remove(2, 1, 1);
  EXPECT_EQ(visit(queues, 1), "1 host");
  queues.remove(1, 0, 0);
  EXPECT_EQ(visit(queues, 1), "");
}

TEST(BoundQueues, WithoutAdaptingAnSmIsIdleBesideALongQueue) {
  BoundQueues queues(rules(3, false));
  queues.insert(1, 2, 1);
  queues.insert(2, 2, 1);
  EXPECT_EQ(visit(queues, 0), "");
  EXPECT_EQ(visit(queues, 2), "1 own");
}

TEST(BoundQueues, TheBackupStaysUntilItsQueuesAreEmpty) {
  BoundQueues queues(rules(4, true));
  queues.insert(1, 3, 1);
  EXPECT_EQ(visit(queues, 1), "1 backup") << "2 has none, 3 is next";
  queues.insert(2, 2, 1);
  EXPECT_EQ(visit(queues, 1), "1 backup") << "2 would be nearer, 3 is not empty";
  EXPECT_EQ(visit(queues, 0), "2 backup") << "each SM has its own backup";
  queues.remove(1, 3, 1);
  EXPECT_EQ(visit(queues, 1), "2 backup");
  queues.insert(3, 1, 4);
  EXPECT_EQ(visit(queues, 1), "3 own") << "its own come first";
}

TEST(BoundQueues, TheBackupMayBeTheLongest) {
  BoundQueues::Rules of = rules(4, true);
  of.longest = true;
  BoundQueues queues(of);
  queues.insert(1, 1, 1);
  queues.insert(2, 2, 1);
  queues.insert(3, 2, 1);
  EXPECT_EQ(visit(queues, 0), "2 backup");
}

TEST(BoundQueues, AClusterSharesItsQueues) {
  BoundQueues::Rules of = rules(5, true);
  of.cluster = 2;
  BoundQueues queues(of);
  queues.insert(1, 3, 1);
  EXPECT_EQ(visit(queues, 2), "1 own");
  EXPECT_EQ(visit(queues, 3), "1 own");
  EXPECT_EQ(visit(queues, 4), "1 backup") << "the last cluster has one SM";
  EXPECT_EQ(queues.size(2), 1u);
}

TEST(BoundQueues, AnSmWhoseEntriesAreOnTheirWayWaitsForThem) {
  BoundQueues::Rules of = rules(2, true);
  of.places = 1;
  BoundQueues queues(of);
  queues.insert(9, 0, 0);
  EXPECT_TRUE(queues.insert(1, 0, 1));
  EXPECT_FALSE(queues.insert(2, 0, 1));
  EXPECT_EQ(queues.size(0), 2u);
  EXPECT_EQ(queues.remove(1, 0, 1), 2u) << "is to be fetched";
  EXPECT_EQ(visit(queues, 0), "") << "its queues are not empty, so none of the host's";
  EXPECT_EQ(visit(queues, 1), "9 host");
  queues.fetched(2, 0, 1);
  EXPECT_EQ(visit(queues, 0), "2 own");
  EXPECT_EQ(queues.remove(2, 0, 1), std::nullopt);
  EXPECT_EQ(visit(queues, 0), "9 host");
}

// Whatever comes and goes, every entry is named, in the order of its queue, and none twice.
TEST(BoundQueues, LoseNothingOnRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed, "queues");
    BoundQueues::Rules of = rules(1 + rng.below(6), rng.below(2) == 0);
    of.cluster = 1 + rng.below(3);
    of.places = 1 + rng.below(4);
    of.longest = rng.below(2) == 0;
    BoundQueues queues(of);
    struct Entry {
      unsigned sm, level;
    };
    std::vector<Entry> all;
    std::vector<std::uint32_t> under_way;
    std::size_t left = 0;
    for (unsigned step = 0; step < 400 || left != 0; ++step) {
      ASSERT_LT(step, 10'000u) << "seed " << seed << ": " << left << " are never named";
      if (step < 400 && rng.below(3) == 0) {
        const Entry entry{rng.below(of.sms), rng.below(of.top + 1)};
        queues.insert(static_cast<std::uint32_t>(all.size()), entry.sm, entry.level);
        all.push_back(entry);
        ++left;
      }
      if (!under_way.empty() && rng.below(2) == 0) {
        const std::uint32_t entry = under_way.front();
        under_way.erase(under_way.begin());
        queues.fetched(entry, all[entry].sm, all[entry].level);
      }
      const unsigned sm = rng.below(of.sms);
      const auto found = queues.visit(sm);
      if (!found) continue;
      Entry& entry = all.at(found->entry);
      ASSERT_NE(entry.level, ~0u) << "named again after it has left";
      ASSERT_EQ(found->stage == Stage::Host, entry.level == 0);
      const bool own = entry.level != 0 && entry.sm / of.cluster == sm / of.cluster;
      ASSERT_EQ(found->stage == Stage::Own, own);
      if (const auto next = queues.remove(found->entry, entry.sm, entry.level))
        under_way.push_back(*next);
      entry.level = ~0u;
      --left;
    }
  }
}

}  // namespace
}  // namespace raddle::policy::launch_queues_test

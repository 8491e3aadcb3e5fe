#include "raddle/timing/cache/l1d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "raddle/base/rng.h"

namespace raddle::l1d_test {
namespace {

using timing::L1d;
using Outcome = L1d::Outcome;
using stats::Refusal;

class L1dTest : public ::testing::Test {
 protected:
  L1dTest() {
    spec.size_kib = 1;
    spec.line_bytes = 128;
    spec.ways = 2;
    spec.mshr_entries = 4;

    spec.mshr_merges = 2;
  }  // 4 sets
  L1d::Answer load(L1d& c, std::uint32_t line, std::uint8_t sectors = 0xf, bool can_send = true) {
    return c.load(now, {line, sectors, 0, waiter++}, can_send, count);
  }
  std::vector<std::uint16_t> fill(L1d& c, const L1d::Answer& l) {
    std::vector<std::uint16_t> done;
    c.fill(now, l.mshr, l.ask, 0, count, [&](std::uint16_t w) { done.push_back(w); });
    return done;
  }
  Outcome store(L1d& c, std::uint32_t line, std::uint8_t sectors = 0xf) {
    return c.store(now, {line, sectors, 0, waiter++}, sectors, false, true, count).outcome;
  }
  static Refusal refusal(const L1d::Answer& a) {
    EXPECT_EQ(a.outcome, Outcome::Blocked);
    return a.why;
  }
  /// A line, present.
  void bring(L1d& c, std::uint32_t line) { fill(c, load(c, line)); }
  timing::L1dSpec spec;
  stats::SmCounters count;
  Cycle now = 0;
  std::uint16_t waiter = 0;
};

TEST_F(L1dTest, LeastRecentlyUsedLineOfTheSetGoes) {
  L1d c(spec);
  bring(c, 0);
  bring(c, 4);
  EXPECT_EQ(load(c, 0).outcome, Outcome::Hit);
  bring(c, 8);  // pushes out 4
  EXPECT_EQ(load(c, 0).outcome, Outcome::Hit);
  EXPECT_EQ(load(c, 8).outcome, Outcome::Hit);
  EXPECT_EQ(load(c, 4).outcome, Outcome::Miss);
  EXPECT_EQ(count.l1d_evictions, 1u);
}

// One memory for both: a kernel that shares nothing has more ways of the same sets.
TEST_F(L1dTest, WhatSharedMemoryLeavesIsMoreWays) {
  spec.unified_kib = 4;
  spec.shared_kib_choices = "0,1,3";
  spec.write_policy = spec.local_write_policy = timing::WritePolicy::WriteThrough;
  EXPECT_EQ(spec.ways_beside(0), 8u);
  EXPECT_EQ(spec.ways_beside(1), 6u);
  EXPECT_EQ(spec.ways_beside(1024), 6u);
  EXPECT_EQ(spec.ways_beside(1025), 2u);
  EXPECT_EQ(spec.max_ways(), 8u);
  L1d c(spec);
  for (std::uint32_t line = 0; line < 12; line += 4) bring(c, line);
  const L1d::Answer gone = load(c, 0);
  EXPECT_EQ(gone.outcome, Outcome::Miss) << "two ways at first";
  fill(c, gone);
  const L1d::Answer on_its_way = load(c, 101);
  c.flush(now, 0);
  c.resize(now, 8);
  for (std::uint32_t line = 0; line < 32; line += 4) bring(c, line);
  for (std::uint32_t line = 0; line < 32; line += 4)
    EXPECT_EQ(load(c, line).outcome, Outcome::Hit) << line;
  EXPECT_EQ(fill(c, on_its_way).size(), 1u) << "what was on its way still comes";
}

// The order is that of the loads, not of the data that comes back: a cache-only replay of the loads
// must find the same lines (CCWS section 4: within 0.1 %).
TEST_F(L1dTest, TheOrderOfUseOfReservedLinesIsThatOfTheirLoads) {
  for (const bool reserve : {true, false}) {
    spec.reserve_on_miss = reserve;
    L1d c(spec);
    const L1d::Answer a = load(c, 0), b = load(c, 4);
    fill(c, b);
    fill(c, a);
    bring(c, 8);
    EXPECT_EQ(load(c, reserve ? 4 : 0).outcome, Outcome::Hit);
    EXPECT_EQ(load(c, reserve ? 0 : 4).outcome, Outcome::Miss);
  }
}

TEST_F(L1dTest, KnowsTheMostMshrsTakenByTheLaunchThatMissedThen) {
  L1d c(spec);
  const auto miss = [&](std::uint32_t line, std::uint8_t kernel) {
    return c.load(now, {line, 0xf, kernel, waiter++}, true, count);
  };
  const L1d::Answer a = miss(0, 7);
  miss(1, 7);
  fill(c, a);
  miss(2, 9);
  miss(3, 9);
  miss(3, 7);  // waits for what is on its way: takes no other
  EXPECT_EQ(c.max_mshrs().take(7), 2u);
  EXPECT_EQ(c.max_mshrs().take(9), 3u);
  EXPECT_EQ(c.max_mshrs().take(9), 0u) << "since it was last asked";
  EXPECT_EQ(c.max_mshrs().take(8), 0u);
}

TEST_F(L1dTest, AnyNumberOfSetsIsByModulo) {
  spec.size_kib = 3;
  spec.ways = 8;  // 3 sets
  L1d c(spec);
  for (std::uint32_t i = 0; i < 8; ++i) bring(c, 3 * i);
  bring(c, 1);
  bring(c, 2);
  EXPECT_EQ(load(c, 0).outcome, Outcome::Hit) << "other sets are no rivals";
  bring(c, 24);
  EXPECT_EQ(count.l1d_evictions, 1u);
}

TEST_F(L1dTest, SectorsAreValidByThemselves) {
  L1d c(spec);
  L1d::Answer a = load(c, 0, 1);
  fill(c, a);
  EXPECT_EQ(load(c, 0, 1).outcome, Outcome::Hit);
  L1d::Answer b = load(c, 0, 3);
  EXPECT_EQ(b.outcome, Outcome::Miss);
  EXPECT_EQ(b.ask, 2) << "only what is missing";
  fill(c, b);
  EXPECT_EQ(load(c, 0, 3).outcome, Outcome::Hit);
}

TEST_F(L1dTest, MergedWaitersComeBackWhenTheirSectorsAreThere) {
  spec.mshr_merges = 4;
  L1d c(spec);
  L1d::Answer a = load(c, 0, 1), b = load(c, 0, 3), again = load(c, 0, 2);
  EXPECT_EQ(b.mshr, a.mshr);
  EXPECT_EQ(b.ask, 2);
  EXPECT_EQ(again.ask, 0);
  EXPECT_EQ(count.l1d_pending_hits, 1u);
  EXPECT_EQ(fill(c, a), (std::vector<std::uint16_t>{0}));
  EXPECT_EQ(fill(c, b), (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(c.missing_lines(), 0u);
}

TEST_F(L1dTest, BlockedChangesNothing) {
  L1d c(spec);
  EXPECT_EQ(refusal(load(c, 0, 1, false)), Refusal::MissQueue);
  for (std::uint32_t i = 0; i < 4; ++i) load(c, i);
  EXPECT_EQ(refusal(load(c, 9)), Refusal::Mshr);
  load(c, 0);
  stats::SmCounters before = count;
  EXPECT_EQ(refusal(load(c, 0)), Refusal::Merge);
  EXPECT_EQ(count.l1d_accesses, before.l1d_accesses);
  EXPECT_EQ(count.l1d_accesses, 5u);
}

TEST_F(L1dTest, APendingHitNeedsNoRoomInTheMissQueue) {
  L1d c(spec);
  load(c, 0);
  EXPECT_EQ(load(c, 0, 0xf, false).outcome, Outcome::Miss);
}

TEST_F(L1dTest, ReservedWaysStayUntilTheirDataHasCome) {
  spec.reserve_on_miss = true;
  L1d c(spec);
  bring(c, 0);
  bring(c, 4);
  L1d::Answer a = load(c, 8);
  EXPECT_EQ(count.l1d_evictions, 1u) << "at the miss";
  EXPECT_EQ(load(c, 0).outcome, Outcome::Miss) << "takes the other way";
  EXPECT_EQ(refusal(load(c, 12)), Refusal::Way);
  fill(c, a);
  EXPECT_EQ(load(c, 8).outcome, Outcome::Hit);
  EXPECT_EQ(load(c, 12).outcome, Outcome::Miss);
}

TEST_F(L1dTest, AMissingSectorOfAPresentLineReservesItsWay) {
  spec.reserve_on_miss = true;
  spec.ways = 1;
  spec.size_kib = 1;
  L1d c(spec);
  fill(c, load(c, 0, 1));
  L1d::Answer second = load(c, 0, 2);
  EXPECT_EQ(load(c, 8).outcome, Outcome::Blocked);
  fill(c, second);
  EXPECT_EQ(load(c, 0, 3).outcome, Outcome::Hit);
  EXPECT_EQ(load(c, 8).outcome, Outcome::Miss);
}

TEST_F(L1dTest, WriteThroughKeepsAndRefreshesTheLine) {
  L1d c(spec);
  bring(c, 0);
  bring(c, 4);
  store(c, 0);
  store(c, 8);  // absent: not allocated
  bring(c, 12);
  EXPECT_EQ(load(c, 0).outcome, Outcome::Hit) << "the store made it young";
  EXPECT_EQ(load(c, 4).outcome, Outcome::Miss);
}

TEST_F(L1dTest, WriteEvictAndInvalidateRemoveTheLineAndFreeItsWay) {
  spec.write_policy = timing::WritePolicy::WriteEvict;
  L1d c(spec);
  bring(c, 0);
  bring(c, 4);
  store(c, 4);
  bring(c, 8);
  EXPECT_EQ(load(c, 0).outcome, Outcome::Hit) << "the empty way was taken";
  EXPECT_FALSE(c.remove(now, 0, 0)) << "it was clean";
  EXPECT_EQ(load(c, 0).outcome, Outcome::Miss);
  EXPECT_EQ(count.l1d_evictions, 0u) << "only replacement counts";
}

TEST_F(L1dTest, FlushForgetsAllButWhatIsOnItsWay) {
  spec.reserve_on_miss = true;
  L1d c(spec);
  bring(c, 0);
  L1d::Answer a = load(c, 1);
  c.flush(now, 0);
  EXPECT_EQ(load(c, 0).outcome, Outcome::Miss);
  fill(c, a);
  EXPECT_EQ(load(c, 1).outcome, Outcome::Hit);
}

TEST_F(L1dTest, MissCyclesAreCountedPerRequest) {
  L1d c(spec);
  L1d::Answer a = load(c, 0, 1);
  now = 10;
  L1d::Answer b = load(c, 0, 2);
  now = 100;
  fill(c, a);
  now = 150;
  fill(c, b);
  EXPECT_EQ(count.l1d_miss_cycles, 100u + 140u);
}

// Against a plain model of sets as lists, oldest first.
TEST_F(L1dTest, HitsAgreeWithAListModel) {
  spec.size_kib = 3;
  spec.ways = 4;  // 6 sets
  L1d c(spec);
  std::map<std::uint32_t, std::vector<std::uint32_t>> model;
  Rng rng(11);
  for (unsigned i = 0; i < 20000; ++i) {
    std::uint32_t line = rng.below(60);
    auto& set = model[line % 6];
    auto at = std::find(set.begin(), set.end(), line);
    L1d::Answer l = load(c, line);
    ASSERT_EQ(l.outcome == Outcome::Hit, at != set.end()) << i;
    if (at != set.end()) set.erase(at);
    else if (set.size() == 4) set.erase(set.begin());
    set.push_back(line);
    if (l.outcome == Outcome::Miss) fill(c, l);
  }
  EXPECT_EQ(count.l1d_accesses, count.l1d_hits + count.l1d_misses);
}

}  // namespace
}  // namespace raddle::l1d_test

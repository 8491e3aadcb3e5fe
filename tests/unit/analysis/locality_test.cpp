// Classes of hits in a timing run, from hand-written events of an L1D.
#include "raddle/analysis/locality.h"

#include <gtest/gtest.h>

namespace raddle::analysis::locality_test {
namespace {

using policy::L1Kind;
using policy::L1Outcome;

class LocalityTest : public ::testing::Test {
 protected:
  LocalityTest() {
    start(0);
    start(1);
  }
  void start(std::uint8_t slot) { seen.warp_started({0, 0, 0, slot, slot, 0}); }
  void load(L1Outcome outcome, std::uint8_t slot, LaneMask lanes, std::uint32_t line = 5) {
    seen.access({.line = line,
                 .lanes = lanes,
                 .sectors = 1,
                 .warp = slot,
                 .kind = L1Kind::Load,
                 .outcome = outcome});
  }
  void store(L1Outcome outcome, std::uint8_t slot, std::uint8_t keeps, std::uint32_t line = 5) {
    seen.access({.line = line,
                 .lanes = 1,
                 .sectors = 1,
                 .keeps = keeps,
                 .warp = slot,
                 .kind = L1Kind::Store,
                 .outcome = outcome});
  }
  void fill(std::uint8_t slot, std::uint32_t line = 5) { seen.filled({0, line, 1, slot}); }
  void evict(std::uint32_t line = 5) {
    seen.evicted({0, line, 1, 0, 0, 0, policy::L1Eviction::Why::Replaced});
  }
  static std::string classes(const HitClasses& c) {
    return std::to_string(c.intra_thread) + " " + std::to_string(c.inter_thread) + " " +
           std::to_string(c.inter_warp);
  }
  LocalityObserver seen;
};

TEST_F(LocalityTest, HitsAreByWhoseMissBroughtTheLineAndByLanes) {
  load(L1Outcome::Miss, 0, 0b01);
  fill(0);
  load(L1Outcome::Hit, 0, 0b01);
  load(L1Outcome::Hit, 0, 0b10);
  load(L1Outcome::Hit, 0, 0b10);
  load(L1Outcome::Hit, 1, 0b01);
  const LocalityCounts c = seen.counts();
  EXPECT_EQ(classes(c.hits), "2 1 1");
  EXPECT_EQ(c.misses, 1u);
  EXPECT_EQ(c.accesses, 5u);
}

TEST_F(LocalityTest, PendingHitsAreApartAndTheirLanesCount) {
  load(L1Outcome::Miss, 0, 0b001);
  load(L1Outcome::PendingHit, 0, 0b010);
  load(L1Outcome::PendingHit, 1, 0b001);
  load(L1Outcome::PendingHit, 0, 0b010);
  fill(0);
  load(L1Outcome::Hit, 0, 0b010);
  const LocalityCounts c = seen.counts();
  EXPECT_EQ(classes(c.pending), "1 1 1");
  EXPECT_EQ(c.pending_hits, 3u);
  EXPECT_EQ(classes(c.hits), "1 0 0");
}

TEST_F(LocalityTest, AnEvictedLineIsWhoseMissBringsItAgain) {
  load(L1Outcome::Miss, 0, 1);
  fill(0);
  evict();
  load(L1Outcome::Miss, 1, 1);
  fill(1);
  load(L1Outcome::Hit, 1, 1);
  load(L1Outcome::Hit, 0, 1);
  EXPECT_EQ(classes(seen.counts().hits), "1 0 1");
}

// Evicted while another of its sectors is on its way: the request under way brings it back.
TEST_F(LocalityTest, ALineEvictedUnderARequestIsTheRequesters) {
  load(L1Outcome::Miss, 0, 1);
  fill(0);
  load(L1Outcome::Miss, 1, 1);  // another sector
  evict();
  fill(1);
  load(L1Outcome::Hit, 1, 1);
  EXPECT_EQ(classes(seen.counts().hits), "1 0 0");
}

TEST_F(LocalityTest, ALineWithSectorsStaysItsFirstOwners) {
  load(L1Outcome::Miss, 0, 1);
  load(L1Outcome::Miss, 1, 1);  // two requests for one line
  fill(0);
  fill(1);
  load(L1Outcome::Hit, 0, 1);
  load(L1Outcome::Hit, 1, 1);
  EXPECT_EQ(classes(seen.counts().hits), "1 0 1");
}

TEST_F(LocalityTest, StoresThatStayBringLines) {
  store(L1Outcome::Forwarded, 0, 0);  // does not stay
  load(L1Outcome::Miss, 1, 1);
  fill(1);
  load(L1Outcome::Hit, 1, 1);
  evict();
  store(L1Outcome::Hit, 0, 1);
  load(L1Outcome::Hit, 0, 1);
  load(L1Outcome::Hit, 1, 1);
  store(L1Outcome::Miss, 1, 1, 6);  // fetched for the store
  load(L1Outcome::PendingHit, 1, 1, 6);
  fill(1, 6);
  load(L1Outcome::Hit, 0, 1, 6);
  const LocalityCounts c = seen.counts();
  EXPECT_EQ(classes(c.hits), "2 0 2");
  EXPECT_EQ(classes(c.pending), "1 0 0");
  EXPECT_EQ(c.misses, 1u) << "of loads";
  EXPECT_EQ(c.accesses, 6u) << "loads";
}

TEST_F(LocalityTest, ASlotsNextWarpIsAnother) {
  load(L1Outcome::Miss, 0, 1);
  fill(0);
  start(0);
  load(L1Outcome::Hit, 0, 1);
  EXPECT_EQ(classes(seen.counts().hits), "0 0 1");
  EXPECT_EQ(seen.counts().warps, 3u);
}

TEST_F(LocalityTest, DistinctLinesOfAWarpAreCountedOnce) {
  for (unsigned round = 0; round < 2; ++round)
    for (std::uint32_t line = 10; line < 13; ++line) {
      load(L1Outcome::Miss, 0, 1, line);
      fill(0, line);
      evict(line);
    }
  start(0);
  load(L1Outcome::Miss, 0, 1, 10);
  EXPECT_EQ(seen.counts().warp_lines, 4u) << "three of the first warp, one of the next";
}

TEST_F(LocalityTest, WhatGoesPastTheCacheAndWhatIsRefusedDoesNotCount) {
  load(L1Outcome::Refused, 0, 1);
  seen.access({.line = 5,
               .lanes = 1,
               .kind = L1Kind::Load,
               .bypass = true,
               .outcome = L1Outcome::Forwarded});
  seen.access({.line = 5, .lanes = 1, .kind = L1Kind::Atomic, .outcome = L1Outcome::Forwarded});
  EXPECT_EQ(seen.counts().accesses, 0u);
  EXPECT_EQ(seen.counts().warp_lines, 0u);
}

}  // namespace
}  // namespace raddle::analysis::locality_test

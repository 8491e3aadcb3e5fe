// Accesses by hand: to whose row they go, by launch and by what is allocated when it is submitted.
#include "raddle/analysis/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace raddle::analysis::allocations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Row = AllocationTraffic::Row;

constexpr std::uint32_t kLine = 128;
constexpr std::uint32_t kLocalLine = 1 << 20, kConstLine = 1 << 21;

/// One SM, one slice; launches start in slots of their own.
class Traffic : public ::testing::Test {
 protected:
  void launch(const std::string& kernel, const std::vector<trace::PointerArgument>& pointers = {}) {
    traffic_.submitted(kernel, pointers);
    start(launches_++);
  }
  void start(std::uint64_t launch) {
    policy::WarpStart warp{};
    warp.launch = launch;
    warp.kernel = static_cast<std::uint8_t>(launch);
    traffic_.of_sm(0).warp_started(warp);
  }
  void l1d(unsigned launch, std::uint32_t line, policy::L1Kind kind, policy::L1Outcome outcome,
           bool local = false) {
    policy::L1Access a;
    a.line = line;
    a.kernel = static_cast<std::uint8_t>(launch);
    a.kind = kind;
    a.outcome = outcome;
    a.local = local;
    traffic_.of_sm(0).access(a);
  }
  void load(unsigned launch, std::uint32_t line, policy::L1Outcome outcome) {
    l1d(launch, line, policy::L1Kind::Load, outcome);
  }
  void l2(unsigned launch, std::uint32_t line, policy::L2Outcome outcome,
          std::uint8_t sectors = 1) {
    traffic_.of_slice(0).access(line, sectors, static_cast<std::uint8_t>(launch), outcome);
  }
  static AllocationCounters of(const Row& row, const std::string& kernel) {
    for (const AllocationTraffic::Kernel& one : row.kernels)
      if (one.name == kernel) return one.counters;
    return {};
  }
  std::vector<Row> rows() const { return traffic_.rows(); }

  AllocationTraffic traffic_{
      {1, 1, kLine, 32},
      {{"local memory", kLocalLine, kConstLine - 1}, {"constants", kConstLine, kConstLine + 100}}};
  unsigned launches_ = 0;
};

TEST_F(Traffic, GoesToTheAllocationOfItsLine) {
  traffic_.allocated(
      {{}, {{10 * kLine, 2 * kLine, "", 3}, {20 * kLine, 4, "counter"}, {30 * kLine, 1, "", 5}}});
  launch("k");
  load(0, 10, policy::L1Outcome::Hit);
  load(0, 11, policy::L1Outcome::Miss);
  load(0, 11, policy::L1Outcome::PendingHit);
  load(0, 11, policy::L1Outcome::Refused);    // will be told again
  load(0, 11, policy::L1Outcome::Forwarded);  // bypasses
  l1d(0, 20, policy::L1Kind::Atomic, policy::L1Outcome::Forwarded);
  l1d(0, 30, policy::L1Kind::Store, policy::L1Outcome::Hit);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].number, 3u);
  EXPECT_EQ(
      rows[0].counters,
      (AllocationCounters{.loads = 4, .l1d_hits = 1, .l1d_pending_hits = 1, .l1d_misses = 1}));
  EXPECT_EQ(rows[1].number, 5u);
  EXPECT_EQ(rows[1].counters, (AllocationCounters{.stores = 1}));
  EXPECT_EQ(rows[2].name, "counter");
  EXPECT_EQ(rows[2].counters, (AllocationCounters{.atomics = 1}));
}

TEST_F(Traffic, BesideEveryAllocationAreRegionsAndTheRest) {
  traffic_.allocated({{}, {{10 * kLine, kLine, "", 1}}});
  launch("k");
  for (const std::uint32_t line : {0u, 9u, 11u, ~0u}) load(0, line, policy::L1Outcome::Miss);
  l1d(0, 5, policy::L1Kind::Load, policy::L1Outcome::Hit, true);  // a window that wraps
  load(0, kLocalLine, policy::L1Outcome::Miss);
  l2(0, kLocalLine + 1, policy::L2Outcome::Hit);
  l2(0, kConstLine, policy::L2Outcome::Miss);
  l2(0, kConstLine + 101, policy::L2Outcome::Miss);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].number, 1u) << "also untouched";
  EXPECT_EQ(rows[0].counters, AllocationCounters{});
  EXPECT_EQ(rows[1].name, "constants");
  EXPECT_EQ(rows[1].counters, (AllocationCounters{.l2_misses = 1}));
  EXPECT_EQ(rows[2].name, "local memory");
  EXPECT_EQ(rows[2].counters,
            (AllocationCounters{.loads = 2, .l1d_hits = 1, .l1d_misses = 1, .l2_hits = 1}));
  EXPECT_EQ(rows[3].kind, Row::Kind::Rest);
  EXPECT_EQ(rows[3].counters, (AllocationCounters{.loads = 4, .l1d_misses = 4, .l2_misses = 1}));
}

TEST_F(Traffic, WithoutAnythingItHasNoRows) {
  EXPECT_TRUE(traffic_.known()) << "nothing was launched";
  EXPECT_TRUE(rows().empty());
}

TEST_F(Traffic, NobodyHasSaidWhatIsAllocated) {
  launch("k");
  EXPECT_FALSE(traffic_.known());
  load(0, 10, policy::L1Outcome::Hit);
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].kind, Row::Kind::Rest);
}

TEST_F(Traffic, MemoryIsAsTheLaunchFoundItWhenItWasSubmitted) {
  traffic_.allocated({{}, {{0, 4 * kLine, "", 1}}});
  launch("first");
  traffic_.allocated({{0}, {{0, kLine, "", 2}, {2 * kLine, kLine, "", 3}}});  // in its place
  launch("second");
  load(0, 2, policy::L1Outcome::Hit);
  load(1, 2, policy::L1Outcome::Hit);
  load(0, 2, policy::L1Outcome::Hit);
  load(1, 0, policy::L1Outcome::Hit);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 3u);
  ASSERT_EQ(rows[0].kernels.size(), 1u);
  EXPECT_EQ(of(rows[0], "first"), (AllocationCounters{.loads = 2, .l1d_hits = 2}));
  EXPECT_EQ(rows[0].bytes, 4 * kLine);
  EXPECT_EQ(rows[1].bytes, kLine);
  EXPECT_EQ(rows[1].at, 0u);
  EXPECT_EQ(rows[2].at, 2 * kLine);
}

TEST_F(Traffic, TheSamePlaceAndSizeIsOneRowThatSaysHowMany) {
  for (unsigned i = 0; i < 3; ++i) {
    traffic_.allocated({{kLine}, {{kLine, 100, "", 4 + i}, {9 * kLine, 4, "v", 0}}});
    launch("k");
    load(i, 1, policy::L1Outcome::Miss);
  }
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].counters.loads, 3u);
  EXPECT_EQ(rows[0].number, 4u) << "of the first one";
  EXPECT_EQ(rows[0].times, 3u);
  EXPECT_EQ(rows[1].times, 0u) << "there is one of each variable";
}

TEST_F(Traffic, PlacesThatOverlapInTimeAreToldApart) {
  traffic_.allocated({{}, {{0, 8 * kLine, "", 1}}});
  launch("a");
  traffic_.allocated(
      {{0}, {{0, kLine, "", 2}, {2 * kLine, kLine, "", 3}, {4 * kLine, kLine, "", 4}}});
  launch("b");
  traffic_.allocated({{0, 2 * kLine, 4 * kLine}, {{0, 8 * kLine, "", 5}}});
  launch("c");
  for (unsigned turn = 0; turn < 2; ++turn)
    for (const std::uint32_t line : {5u, 2u, 7u})
      for (unsigned of = 0; of < 3; ++of) load(of, line, policy::L1Outcome::Hit);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(of(rows[0], "a").loads, 6u);
  EXPECT_EQ(of(rows[0], "c").loads, 6u) << "the same place and size again";
  EXPECT_EQ(rows[0].times, 2u);
  EXPECT_EQ(rows[2].counters.loads, 2u) << "line 2 of launch b";
  EXPECT_EQ(rows[4].kind, Row::Kind::Rest);
  EXPECT_EQ(of(rows[4], "b").loads, 4u);
}

TEST_F(Traffic, OneLargeAmongManySmallIsFoundAndSoIsWhatIsBetween) {
  trace::AllocationChanges all;
  for (std::uint32_t i = 0; i < 5000; ++i)
    all.made.push_back({Address{2 * i} * kLine, 1, "", i + 1});
  all.made.push_back({Address{10'000} * kLine, Address{4096} * kLine, "", 5001});
  traffic_.allocated(all);
  launch("k");
  for (const std::uint32_t line : {0u, 9'998u, 10'000u, 14'095u})
    load(0, line, policy::L1Outcome::Hit);
  for (unsigned i = 0; i < 20'000; ++i)  // the rest: each is looked up
    load(0, i % 2 == 0 ? 1 : 14'096, policy::L1Outcome::Miss);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 5002u);
  EXPECT_EQ(rows[0].counters.loads, 1u);
  EXPECT_EQ(rows[4999].counters.loads, 1u);
  EXPECT_EQ(rows[5000].counters.loads, 2u);
  EXPECT_EQ(rows[5001].counters.loads, 20'000u);
}

TEST_F(Traffic, OtherSizesOfTheSameLinesAreOthers) {
  for (unsigned i = 0; i < 2; ++i) {
    traffic_.allocated({{kLine}, {{kLine, 100 + i, "", 1 + i}}});
    launch("k");
  }
  load(0, 1, policy::L1Outcome::Miss);
  load(1, 1, policy::L1Outcome::Hit);
  load(0, 1, policy::L1Outcome::Miss);
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_EQ(rows()[0].bytes, 100u);
  EXPECT_EQ(rows()[0].counters.loads, 2u);
  EXPECT_EQ(rows()[1].counters.loads, 1u);
}

TEST_F(Traffic, KernelsApartAndTogether) {
  traffic_.allocated({{}, {{0, kLine, "", 1}}});
  launch("b");
  launch("a");
  launch("b");
  load(0, 0, policy::L1Outcome::Hit);
  load(1, 0, policy::L1Outcome::Miss);
  load(2, 0, policy::L1Outcome::Miss);
  const Row row = rows().at(0);
  EXPECT_EQ(row.counters, (AllocationCounters{.loads = 3, .l1d_hits = 1, .l1d_misses = 2}));
  ASSERT_EQ(row.kernels.size(), 2u);
  EXPECT_EQ(row.kernels[0].name, "b") << "in order of launches";
  EXPECT_EQ(of(row, "b"), (AllocationCounters{.loads = 2, .l1d_hits = 1, .l1d_misses = 1}));
  EXPECT_EQ(of(row, "a"), (AllocationCounters{.loads = 1, .l1d_misses = 1}));
}

TEST_F(Traffic, OfTheL2AndOfDram) {
  traffic_.allocated({{}, {{0, 200 * kLine - 64, "", 1}}});
  launch("k");
  l2(0, 3, policy::L2Outcome::Miss, 0b0110);
  l2(0, 3, policy::L2Outcome::PendingHit, 0b0010);
  l2(0, 3, policy::L2Outcome::Hit, 0b1000);
  l2(0, 199, policy::L2Outcome::Hit, 0b1111);  // half of it is past the end
  traffic_.of_slice(0).fetched(3, 96, 0);
  traffic_.of_slice(0).written(4, 32, 0);
  const Row row = rows().at(0);
  EXPECT_EQ(row.counters, (AllocationCounters{.l2_hits = 2,
                                              .l2_pending_hits = 1,
                                              .l2_misses = 1,
                                              .dram_read_bytes = 96,
                                              .dram_written_bytes = 32}));
  EXPECT_EQ(row.sectors, 200u * 4 - 2);
  EXPECT_EQ(row.touched_sectors, 5u) << "what is written back has been touched before";
}

TEST_F(Traffic, SectorsFarApartAreToldApart) {
  constexpr std::uint32_t kLines = 1 << 19;  // of several leaves
  traffic_.allocated(
      {{}, {{0, Address{kLines} * kLine, "", 1}, {Address{kLines + 1} * kLine, 1, "v"}}});
  launch("k");
  for (unsigned turn = 0; turn < 2; ++turn)
    for (std::uint32_t line = 0; line < kLines; line += 1 << 10)
      l2(0, line, policy::L2Outcome::Hit, 0b0101);
  l2(0, kLines + 1, policy::L2Outcome::Hit, 0b1111);
  EXPECT_EQ(rows().at(0).touched_sectors, 2u * (kLines >> 10));
  EXPECT_EQ(rows().at(1).touched_sectors, 1u);
}

TEST_F(Traffic, WhatIsAllocatedAndNotTouchedCostsNothing) {
  for (unsigned i = 0; i < 2000; ++i)
    traffic_.allocated({{0}, {{0, (Address{1} << 38) + i, "", i + 1}}});
  launch("k");
  EXPECT_EQ(rows().size(), 2000u);
}

TEST_F(Traffic, ArgumentsNameWhatTheyPointInto) {
  traffic_.allocated({{}, {{0, 4 * kLine, "", 1}, {8 * kLine, kLine, "", 2}}});
  launch("k", {{0, 0}, {2, 3 * kLine + 5}, {3, 8 * kLine}, {4, 6 * kLine}});
  launch("k", {{0, 0}});
  launch("j", {{1, 0}});
  const std::vector<Row> rows = this->rows();
  EXPECT_THAT(rows.at(0).arguments,
              ElementsAre(Pair("k", ElementsAre(0, 2)), Pair("j", ElementsAre(1))));
  EXPECT_THAT(rows.at(1).arguments, ElementsAre(Pair("k", ElementsAre(3))));
}

}  // namespace
}  // namespace raddle::analysis::allocations_test

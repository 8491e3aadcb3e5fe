// Accesses by hand: to whose row they go, by launch and by what is allocated when it is submitted.
#include "raddle/analysis/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace raddle::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Row = AllocationTraffic::Row;

constexpr std::uint32_t kLine = 128;

/// One SM, one slice; launches start in slots of their own.
class Traffic : public ::testing::Test {
 protected:
  void launch(const std::string& kernel, const std::vector<trace::PointerArgument>& pointers = {}) {
    traffic_.submitted(kernel, pointers);
    start(launches_++);
  }
  void start(std::uint64_t launch) {
    policy::WarpStart warp{};
    warp.launch = launch, warp.kernel = static_cast<std::uint8_t>(launch);
    traffic_.of_sm(0).warp_started(warp);
  }
  void l1d(unsigned launch, std::uint32_t line, policy::L1Kind kind, policy::L1Outcome outcome,
           bool local = false) {
    policy::L1Access a;
    a.line = line, a.kernel = static_cast<std::uint8_t>(launch);
    a.kind = kind, a.outcome = outcome, a.local = local;
    traffic_.of_sm(0).access(a);
  }
  void load(unsigned launch, std::uint32_t line, policy::L1Outcome outcome) {
    l1d(launch, line, policy::L1Kind::Load, outcome);
  }
  void l2(unsigned launch, std::uint32_t line, policy::L2Outcome outcome) {
    traffic_.of_slice(0).access(line, 1, static_cast<std::uint8_t>(launch), outcome);
  }
  std::vector<Row> rows() const { return traffic_.rows(); }

  AllocationTraffic traffic_{1, 1, kLine};
  unsigned launches_ = 0;
};

TEST_F(Traffic, GoesToTheAllocationOfItsLine) {
  traffic_.allocated(
      {{10 * kLine, 2 * kLine, ""}, {20 * kLine, 4, "counter"}, {30 * kLine, 1, ""}});
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
  EXPECT_EQ(rows[0].number, 1u);
  EXPECT_EQ(
      rows[0].counters,
      (AllocationCounters{.loads = 4, .l1d_hits = 1, .l1d_pending_hits = 1, .l1d_misses = 1}));
  EXPECT_EQ(rows[1].number, 2u);
  EXPECT_EQ(rows[1].counters, (AllocationCounters{.stores = 1}));
  EXPECT_EQ(rows[2].variable, "counter");
  EXPECT_EQ(rows[2].counters, (AllocationCounters{.atomics = 1}));
}

TEST_F(Traffic, BesideEveryAllocationIsTheRest) {
  traffic_.allocated({{10 * kLine, kLine, ""}});
  launch("k");
  for (const std::uint32_t line : {0u, 9u, 11u, ~0u}) load(0, line, policy::L1Outcome::Miss);
  l1d(0, 10, policy::L1Kind::Load, policy::L1Outcome::Hit, true);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 2u) << "what nobody touches has no row";
  EXPECT_EQ(rows[0].kind, Row::Kind::Local);
  EXPECT_EQ(rows[0].counters.loads, 1u);
  EXPECT_EQ(rows[1].kind, Row::Kind::Rest);
  EXPECT_EQ(rows[1].counters.loads, 4u);
}

TEST_F(Traffic, NobodyHasSaidWhatIsAllocated) {
  EXPECT_FALSE(traffic_.known());
  launch("k");
  load(0, 10, policy::L1Outcome::Hit);
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].kind, Row::Kind::Rest);
}

TEST_F(Traffic, MemoryIsAsTheLaunchFoundItWhenItWasSubmitted) {
  traffic_.allocated({{0, 4 * kLine, ""}});
  launch("first");
  traffic_.allocated({{0, kLine, ""}, {2 * kLine, kLine, ""}});  // freed, and others in its place
  launch("second");
  load(0, 2, policy::L1Outcome::Hit);
  load(1, 2, policy::L1Outcome::Hit);
  load(0, 2, policy::L1Outcome::Hit);
  load(1, 0, policy::L1Outcome::Hit);
  const std::vector<Row> rows = this->rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].kernels,
              ElementsAre(Pair("first", AllocationCounters{.loads = 2, .l1d_hits = 2})));
  EXPECT_EQ(rows[0].bytes, 4 * kLine);
  EXPECT_EQ(rows[1].bytes, kLine);
  EXPECT_EQ(rows[1].at, 0u);
  EXPECT_EQ(rows[2].at, 2 * kLine);
}

TEST_F(Traffic, TheSamePlaceAndSizeIsOneAllocation) {
  for (int i = 0; i < 3; ++i) {
    traffic_.allocated({{kLine, 100, ""}});
    launch("k");
    load(static_cast<unsigned>(i), 1, policy::L1Outcome::Miss);
    traffic_.allocated({});
  }
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].counters.loads, 3u);
}

TEST_F(Traffic, KernelsApartAndTogether) {
  traffic_.allocated({{0, kLine, ""}});
  launch("a");
  launch("b");
  launch("a");
  load(0, 0, policy::L1Outcome::Hit);
  load(1, 0, policy::L1Outcome::Miss);
  load(2, 0, policy::L1Outcome::Miss);
  const Row row = rows().at(0);
  EXPECT_EQ(row.counters, (AllocationCounters{.loads = 3, .l1d_hits = 1, .l1d_misses = 2}));
  EXPECT_THAT(row.kernels,
              ElementsAre(Pair("a", AllocationCounters{.loads = 2, .l1d_hits = 1, .l1d_misses = 1}),
                          Pair("b", AllocationCounters{.loads = 1, .l1d_misses = 1})));
}

TEST_F(Traffic, OfTheL2AndOfDram) {
  traffic_.allocated({{0, 200 * kLine, ""}});
  launch("k");
  l2(0, 3, policy::L2Outcome::Miss);
  l2(0, 3, policy::L2Outcome::PendingHit);
  l2(0, 3, policy::L2Outcome::Hit);
  l2(0, 199, policy::L2Outcome::Hit);
  traffic_.of_slice(0).fetched(3, 0b1011, 0);
  traffic_.of_slice(0).written(4, 0b1, 0);
  const Row row = rows().at(0);
  EXPECT_EQ(row.counters, (AllocationCounters{.l2_hits = 2,
                                              .l2_pending_hits = 1,
                                              .l2_misses = 1,
                                              .dram_sectors_read = 3,
                                              .dram_sectors_written = 1}));
  EXPECT_EQ(row.lines_touched, 2u) << "a line that is written back has been touched before";
}

TEST_F(Traffic, ArgumentsNameWhatTheyPointInto) {
  traffic_.allocated({{0, 4 * kLine, ""}, {8 * kLine, kLine, ""}});
  launch("k", {{0, 0}, {2, 3 * kLine + 5}, {3, 8 * kLine}, {4, 6 * kLine}});
  launch("k", {{0, 0}});
  launch("j", {{1, 0}});
  load(0, 0, policy::L1Outcome::Hit);
  load(0, 8, policy::L1Outcome::Hit);
  const std::vector<Row> rows = this->rows();
  EXPECT_THAT(rows.at(0).arguments,
              UnorderedElementsAre(Pair("k", ElementsAre(0, 2)), Pair("j", ElementsAre(1))));
  EXPECT_THAT(rows.at(1).arguments, UnorderedElementsAre(Pair("k", ElementsAre(3))));
}

}  // namespace
}  // namespace raddle::analysis

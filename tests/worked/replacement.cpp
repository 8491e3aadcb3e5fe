// Replacement policies by hand: the order of first in first out, the figure of SRRIP's paper, and
// UCP's lookahead, quotas and victims.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/policy/replacement/utility.h"
#include "raddle/timing/cache/l1d.h"
#include "support/settings.h"

namespace raddle::replacement_test {
namespace {

using policy::CacheAccess;
using policy::SetView;
using policy::UtilityMonitor;
using policy::WayUser;

/// One set of four ways behind an L1D, whose lines come at once.
class OneSet {
 public:
  explicit OneSet(const char* name, const test::Settings& settings = {}) : cache_(spec()) {
    const auto choice = test::choose(policy::all_policies().replacement, name, settings);
    cache_.replace_by(choice->make({0, 2, 4, 1}), tenants_.data());
  }
  /// 'h' for each line that is there, 'm' for each that comes.
  std::string use(const std::vector<unsigned>& lines, std::uint8_t tenant = 0, Cycle now = 0) {
    std::string out;
    for (const unsigned line : lines) {
      const timing::L1d::Request r{2 * line, 0xf, tenant, 0};
      const timing::L1d::Answer a = cache_.load(now, r, true, count_);
      out += a.outcome == timing::L1d::Outcome::Hit ? 'h' : 'm';
      if (out.back() == 'm') cache_.fill(now, a.mshr, a.ask, tenant, count_, [](std::uint16_t) {});
    }
    return out;
  }

 private:
  static timing::L1dSpec spec() {
    timing::L1dSpec out;
    out.size_kib = 1;
    out.line_bytes = 128;
    out.ways = 4;  // two sets, of which lines take one
    return out;
  }
  timing::L1d cache_;
  std::vector<TenantId> tenants_ = {TenantId{0}, TenantId{1}, TenantId{2}};  // slots are tenants
  stats::SmCounters count_;
};

TEST(ReplacementFifo, UseDoesNotKeepALine) {
  OneSet fifo("fifo");
  EXPECT_EQ(fifo.use({1, 2, 3, 4, 1, 1, 5, 1, 2}), "mmmmhhmmm") << "5 takes 1's way, 1 takes 2's";
  EXPECT_EQ(fifo.use({5, 1, 2, 4}), "hhhh");
}

// Figure "behaviour of policies on a mixed access pattern" of the paper: a1 a2 a2 a1, a scan of
// four lines, a1 a2 again, with two bits.
TEST(ReplacementSrrip, KeepsWhatIsUsedAgainThroughAScan) {
  const std::vector<unsigned> mixed = {1, 2, 2, 1, 11, 12, 13, 14, 1, 2};
  EXPECT_EQ(OneSet("srrip").use(mixed), "mmhhmmmmhh");
  EXPECT_EQ(OneSet("lru").use(mixed), "mmhhmmmmmm") << "the scan pushes both out";
  EXPECT_EQ(OneSet("fifo").use(mixed), "mmhhmmmmmm");
}

TEST(ReplacementSrrip, AScanTakesTheWaysInOrderAndAgesTheOthers) {
  OneSet srrip("srrip");
  EXPECT_EQ(srrip.use({1, 2, 3, 4}), "mmmm");  // all predicted 2
  EXPECT_EQ(srrip.use({5, 6, 7}), "mmm");      // raised to 3 once; ways of 1, 2, 3 in turn
  EXPECT_EQ(srrip.use({5, 6, 7, 4}), "hhhh");
  EXPECT_EQ(srrip.use({8}), "m");  // all 0: raised three times, the first goes
  EXPECT_EQ(srrip.use({6, 7, 4, 8}), "hhhh");
}

TEST(ReplacementSrrip, WithOneBitItIsNotRecentlyUsed) {
  OneSet nru("srrip", {{"bits", "1"}});
  EXPECT_EQ(nru.use({1, 2, 3, 4, 5}), "mmmmm") << "all are near, so the first goes";
  EXPECT_EQ(nru.use({2, 3, 4}), "hhh");
}

// --- UCP ----------------------------------------------------------------------------------------

std::vector<unsigned> divided(const std::vector<std::vector<std::uint64_t>>& hits, unsigned ways) {
  std::vector<WayUser> users;
  for (const auto& of : hits) users.push_back({of});
  policy::divide_ways(users, ways);
  std::vector<unsigned> out;
  for (const WayUser& user : users) out.push_back(user.ways);
  return out;
}
using Ways = std::vector<unsigned>;

// The first needs four ways before it gains 90 hits: 30 for each of three more. One way at a time
// it would never get there.
TEST(Lookahead, SeesAGainBehindWaysThatBringNothing) {
  const std::vector<std::uint64_t> step = {10, 0, 0, 90, 5, 0, 0, 0},
                                   slope = {30, 25, 20, 15, 10, 5, 0, 0};
  // left 6: 90/3 against 25; left 3: 5 against 25, 20, 15.
  EXPECT_EQ(divided({step, slope}, 8), (Ways{4, 4}));
  EXPECT_EQ(divided({slope, step}, 8), (Ways{4, 4}));
  // 72 in four ways are less than the other's 25 and 20 and more than its 15; 56 are less than that
  // too, and then no four ways are left. The last way brings nobody a hit.
  EXPECT_EQ(divided({{10, 0, 0, 0, 72, 0, 0, 0}, slope}, 8), (Ways{5, 3}));
  EXPECT_EQ(divided({{10, 0, 0, 0, 56, 0, 0, 0}, slope}, 8), (Ways{2, 6}));
}

TEST(Lookahead, EachHasAWayAndNobodysGainsAreSharedOut) {
  EXPECT_EQ(divided({{0, 0, 0, 0}, {90, 80, 70, 60}}, 4), (Ways{1, 3}));
  EXPECT_EQ(divided({{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}}, 8), (Ways{4, 4}));
  const std::vector<std::uint64_t> none(8);
  EXPECT_EQ(divided({none, none, none}, 8), (Ways{3, 3, 2}));
  EXPECT_EQ(divided({{7, 7}}, 2), (Ways{2}));
}

TEST(UtilityMonitor, CountsHitsByPlaceInTheOrderOfUse) {
  UtilityMonitor m(2, 4);
  for (const std::uint32_t line : {1, 2, 3, 1, 1, 2}) m.access(0, line);
  // 1 is third when it comes again, then first; 2 is third behind 1 and 3.
  EXPECT_EQ(std::vector<std::uint64_t>(m.hits().begin(), m.hits().end()),
            (std::vector<std::uint64_t>{1, 0, 2, 0}));
  EXPECT_EQ(m.accesses(), 6u);
  for (const std::uint32_t line : {4, 5}) m.access(0, line);  // 3 goes
  m.access(0, 3);
  m.access(1, 1);
  EXPECT_EQ(m.hits()[3], 0u) << "another set, and a line that has gone";
  m.halve();
  EXPECT_EQ(m.hits()[2], 1u);
  m.flush();
  m.access(0, 3);
  EXPECT_EQ(m.hits()[0] + m.hits()[1] + m.hits()[2] + m.hits()[3], 1u) << "0 + 0 + 1 + 0";
}

// Tenant 0 uses one line, tenant 1 three in turn: a way and three.
TEST(Ucp, DividesByUtilityAndEnforcesIt) {
  const auto choice = test::choose(policy::all_policies().replacement, "ucp",
                                   {{"interval", "100"}, {"sample", "1"}});
  const auto ucp = choice->make({0, 1, 4, 1});
  const std::uint8_t order[4] = {3, 2, 1, 0};
  const TenantId two_each[4] = {TenantId{0}, TenantId{1}, TenantId{0}, TenantId{1}};
  const TenantId as_divided[4] = {TenantId{1}, TenantId{1}, TenantId{0}, TenantId{1}};
  const auto victim = [&](unsigned tenant, const TenantId* owner, std::uint64_t candidates = 0xf) {
    return ucp->victim(
        {0, 77, static_cast<TenantId>(tenant), candidates, 0xf, order, std::span(owner, 4)});
  };
  EXPECT_EQ(victim(0, two_each), 0u) << "nothing is divided yet: the oldest of all";
  for (unsigned i = 0; i < 30; ++i) {
    ucp->accessed({i, 0, 100, TenantId{0}, CacheAccess::kNoWay});
    ucp->accessed({i, 0, 200 + i % 3, TenantId{1}, CacheAccess::kNoWay});
  }
  ucp->accessed({100, 0, 100, TenantId{0}, CacheAccess::kNoWay});
  EXPECT_EQ(victim(1, two_each), 0u) << "two of three: the oldest of the others";
  EXPECT_EQ(victim(0, two_each), 0u) << "two of one: its own oldest";
  EXPECT_EQ(victim(1, as_divided), 0u) << "three of three: its own oldest";
  EXPECT_EQ(victim(0, as_divided), 2u) << "one of one: its own";
  EXPECT_EQ(victim(2, as_divided), 0u) << "a newcomer takes a way of the others";
  EXPECT_EQ(victim(0, as_divided, 0b1011), 0u) << "its own may not be given away: the oldest";
}

TEST(Ucp, AStreamDoesNotPushOutAWorkingSet) {
  const auto hits_after = [](const char* name, const test::Settings& settings) {
    OneSet set(name, settings);
    std::string last;
    for (unsigned round = 0; round < 60; ++round) {
      last = set.use({1, 2, 3}, 0, 20 * round);
      for (unsigned i = 0; i < 6; ++i) set.use({100 + 6 * round + i}, 1, 20 * round + i);
    }
    return last;
  };
  EXPECT_EQ(hits_after("ucp", {{"interval", "100"}, {"sample", "1"}}), "hhh");
  EXPECT_EQ(hits_after("lru", {}), "mmm");
  EXPECT_EQ(hits_after("ucp", {}), "mmm") << "until the first division the order of use decides";
}

}  // namespace
}  // namespace raddle::replacement_test

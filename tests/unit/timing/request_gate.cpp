#include "raddle/timing/sm/request_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::request_gate_test {
namespace {

using policy::Knobs;
using timing::ClockRatio;
using timing::Message;
using timing::RequestGate;

constexpr unsigned kInvalidId = RequestGate::kInvalidId;

/// A gate over a queue of its own; lines are different unless said otherwise.
class Gate {
 public:
  explicit Gate(const Knobs& knobs, ClockRatio clock = {1000, 1000}) : gate(clock, counts) {
    gate.obey(0, knobs);
  }
  void enter(unsigned tenant, std::uint8_t slot = 0, std::uint32_t line = 0) {
    Message m;
    m.tenant = TenantId{static_cast<std::uint8_t>(tenant)};
    m.kernel = slot;
    m.line = line != 0 ? line : ++lines_;
    gate.entered(m.tenant);
    queue.push_back(m);
  }
  /// The tenant whose request leaves in this cycle, or kNobody.
  unsigned leave(Cycle now) {
    const unsigned place = gate.next(now, static_cast<unsigned>(queue.size()),
                                     [&](unsigned i) -> const Message& { return queue[i]; });
    if (place == kInvalidId) return kInvalidId;
    const Message m = queue[place];
    gate.left(m);
    queue.erase(queue.begin() + place);
    return index(m.tenant);
  }
  std::vector<unsigned> leave_from(Cycle from, unsigned times) {
    std::vector<unsigned> out;
    for (Cycle now = from; now < from + times; ++now) out.push_back(leave(now));
    return out;
  }
  RequestGate::Counts counts{kKernelSlots};
  RequestGate gate;
  std::vector<Message> queue;

 private:
  std::uint32_t lines_ = 100;
};
using Tenants = std::vector<unsigned>;

Knobs tokens(double first, double second, std::uint32_t interval = 10) {
  Knobs knobs;
  knobs.tenant[0].request_tokens = first;
  knobs.tenant[1].request_tokens = second;
  knobs.token_interval = interval;
  return knobs;
}
const double kFree = policy::TenantKnobs{}.request_tokens;

TEST(RequestGate, IsNeededOnlyWhereSomebodyIsLimited) {
  EXPECT_FALSE(RequestGate::limits(Knobs{}));
  EXPECT_TRUE(RequestGate::limits(tokens(kFree, 3)));
  Knobs places;
  places.tenant[5].miss_queue = 16;
  EXPECT_TRUE(RequestGate::limits(places));
  Knobs others;
  others.tenant[0].priority = 2;
  others.tenant[0].active_blocks = 1;
  EXPECT_FALSE(RequestGate::limits(others));
}

TEST(RequestGate, TokensAreGivenAnewAndDoNotPileUp) {
  Gate g(tokens(2, kFree));
  g.enter(0);
  EXPECT_EQ(g.leave(0), 0u);
  for (int i = 0; i < 6; ++i) g.enter(0);
  EXPECT_EQ(g.leave_from(35, 4), (Tenants{0, 0, kInvalidId, kInvalidId}))
      << "two, however long ago";
  EXPECT_EQ(g.gate.tokens_at(), 40u);
  EXPECT_EQ(g.leave_from(40, 3), (Tenants{0, 0, kInvalidId}));
}

TEST(RequestGate, PartsOfATokenAreCarriedOver) {
  Gate g(tokens(1.5, 0.25));
  std::array<unsigned, 2> left{};
  for (Cycle interval = 0; interval < 40; ++interval)
    for (const unsigned t : {0u, 1u}) {
      for (int i = 0; i < 3; ++i) g.enter(t);
      for (Cycle now = 0; now < 5; ++now)
        if (const unsigned who = g.leave(10 * interval + now + 5 * t); who != kInvalidId)
          ++left[who];
    }
  EXPECT_EQ(left[0], 60u);
  EXPECT_EQ(left[1], 10u);
}

TEST(RequestGate, GrantsDoNotDependOnWhichIntervalsWereLookedAt) {
  Rng rng(4);
  Gate often(tokens(1.2, 0.7)), seldom(tokens(1.2, 0.7));
  for (Gate* g : {&often, &seldom})
    for (int i = 0; i < 400; ++i) g->enter(i % 2 == 0 ? 0 : 1);
  std::vector<std::pair<Cycle, unsigned>> a, b;
  for (Cycle now = 0; now < 1000; ++now)
    if (const unsigned who = often.leave(now); who != kInvalidId) a.emplace_back(now, who);
  for (Cycle now = 0; now < 1000;) {
    const unsigned who = seldom.leave(now);
    if (who != kInvalidId) b.emplace_back(now, who);
    now = who != kInvalidId ? now + 1 : std::max(now + 1, seldom.gate.tokens_at());
  }
  EXPECT_EQ(a, b);
  EXPECT_EQ(often.counts[0].token_wait_cycles, seldom.counts[0].token_wait_cycles);
}

TEST(RequestGate, TenantsTakeTurnsAndHigherPrioritiesGoFirst) {
  Knobs knobs = tokens(100, 100);
  Gate equal(knobs);
  for (const unsigned t : {0u, 0u, 0u, 1u, 1u}) equal.enter(t);
  EXPECT_EQ(equal.leave_from(0, 5), (Tenants{0, 1, 0, 1, 0}));
  knobs.tenant[1].priority = 1;
  Gate prior(knobs);
  for (const unsigned t : {0u, 0u, 0u, 1u, 1u}) prior.enter(t);
  EXPECT_EQ(prior.leave_from(0, 5), (Tenants{1, 1, 0, 0, 0}));
}

TEST(RequestGate, OneWithoutTokensDoesNotHoldUpOthers) {
  Gate g(tokens(1, kFree));
  for (const unsigned t : {0u, 0u, 1u, 1u}) g.enter(t);
  EXPECT_EQ(g.leave_from(0, 5), (Tenants{0, 1, 1, kInvalidId, kInvalidId}));
}

TEST(RequestGate, NothingOvertakesAnOlderRequestForItsLine) {
  Gate g(tokens(1, kFree));
  g.enter(0);
  g.enter(0, 0, 7);
  g.enter(1, 0, 7);
  g.enter(1, 0, 8);
  EXPECT_EQ(g.leave_from(0, 3), (Tenants{0, kInvalidId, kInvalidId})) << "and 8 is behind 7";
  EXPECT_EQ(g.leave_from(10, 3), (Tenants{0, 1, 1}));
}

TEST(RequestGate, PlacesAreCountedByTenant) {
  Knobs knobs;
  knobs.tenant[1].miss_queue = 2;
  Gate g(knobs);
  const TenantId first{0}, second{1};
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(g.gate.takes(second));
    g.enter(1);
  }
  EXPECT_FALSE(g.gate.takes(second));
  EXPECT_TRUE(g.gate.takes(first));
  EXPECT_EQ(g.leave(0), 1u);
  EXPECT_TRUE(g.gate.takes(second));
}

TEST(RequestGate, WaitsAreChargedToTheOldestRequestsLaunch) {
  Gate g(tokens(1, kFree));
  g.enter(0, 3);
  g.enter(0, 3);
  g.enter(0, 4);
  EXPECT_EQ(g.leave_from(0, 2), (Tenants{0, kInvalidId}));
  EXPECT_EQ(g.gate.waiting(6, 3), 5u) << "since cycle 1";
  EXPECT_EQ(g.gate.waiting(6, 4), 0u);
  EXPECT_EQ(g.leave_from(10, 2), (Tenants{0, kInvalidId}));
  EXPECT_EQ(g.counts[3].token_wait_cycles, 9u);
  g.gate.close(15);
  EXPECT_EQ(g.counts[4].token_wait_cycles, 4u);
  EXPECT_EQ(g.gate.waiting(20, 4), 0u);
}

TEST(RequestGate, TheLastSlotIsALaunchLikeAnyOther) {
  constexpr std::uint8_t kLast = kKernelSlots - 1;
  Gate g(tokens(1, 1));
  g.enter(0, kLast);
  g.enter(0, kLast);
  g.enter(1, 7);
  g.enter(1, 7);
  g.leave_from(0, 4);
  EXPECT_EQ(g.gate.waiting(9, kLast), 8u) << "since cycle 1";
  EXPECT_EQ(g.gate.waiting(9), g.gate.waiting(9, kLast) + g.gate.waiting(9, 7));
  g.gate.close(9);
  EXPECT_EQ(g.counts[kLast].token_wait_cycles, 8u);
  EXPECT_EQ(g.gate.waiting(20), 0u);
}

TEST(RequestGate, AnIntervalCountsCyclesOfTheNetwork) {
  Gate g(tokens(1, kFree), {500, 1000});
  for (int i = 0; i < 3; ++i) g.enter(0);
  EXPECT_EQ(g.leave_from(0, 2), (Tenants{0, kInvalidId}));
  EXPECT_EQ(g.gate.tokens_at(), 20u);
  EXPECT_EQ(g.leave(19), kInvalidId);
  EXPECT_EQ(g.leave(20), 0u);
}

TEST(RequestGate, AKnobThatStaysGivesNothingAnew) {
  Knobs knobs = tokens(1, 1);
  Gate g(knobs);
  for (const unsigned t : {0u, 0u, 1u, 1u}) g.enter(t);
  EXPECT_EQ(g.leave_from(0, 3), (Tenants{0, 1, kInvalidId}));
  knobs.tenant[1].request_tokens = 2;
  g.gate.obey(4, knobs);
  EXPECT_EQ(g.leave_from(4, 2), (Tenants{1, kInvalidId})) << "only who gets another grant";
  EXPECT_EQ(g.leave(10), 0u) << "whose intervals go on as they were";
}

// --- the examples of CCBP's paper ----------------------------------------------------------------

TEST(RequestGate, PriorityServesTheLatencySensitiveTenantOfFigure5First) {
  // Two requests of tenant 0 and six of tenant 1; five leave.
  const auto served = [](const Knobs& knobs) {
    Gate g(knobs);
    for (const unsigned tenant : {1u, 0u, 1u, 1u, 1u, 1u, 0u, 1u}) g.enter(tenant);
    std::array<unsigned, 2> out{};
    for (const unsigned tenant : g.leave_from(0, 5)) ++out[tenant];
    return out;
  };
  Knobs first = tokens(kFree, 100);
  first.tenant[0].priority = 1;
  EXPECT_EQ(served(first), (std::array{2u, 3u}));
  // One queue, in order of entry.
  const std::array order = {1u, 0u, 1u, 1u, 1u};
  EXPECT_EQ(std::ranges::count(order, 0u), 1) << "what a queue without tenants serves";
}

TEST(RequestGate, QuotasWithPartsAndAPriority) {
  Knobs knobs = tokens(3.5, 2);
  knobs.tenant[0].priority = 1;
  Gate g(knobs);
  for (int i = 0; i < 100; ++i) {
    g.enter(0);
    g.enter(1);
  }
  for (Cycle interval = 0; interval < 8; ++interval) {
    Tenants expected(interval % 2 == 0 ? 3 : 4, 0);
    expected.insert(expected.end(), {1, 1});
    expected.resize(10, kInvalidId);
    EXPECT_EQ(g.leave_from(10 * interval, 10), expected) << interval;
  }
}

TEST(RequestGate, CountsIntervalsInWhichARequestHasWaited) {
  Gate g(tokens(1, 0.5));
  for (int i = 0; i < 3; ++i) g.enter(0, 4);
  g.enter(1, 5);
  g.leave_from(0, 20);  // both wait in both, but for tenant 1 in the second
  EXPECT_EQ(g.counts[4].starved_intervals, 2u);
  EXPECT_EQ(g.counts[5].starved_intervals, 1u);
  g.leave_from(20, 10);
  EXPECT_EQ(g.counts[4].starved_intervals, 2u) << "the last one left at once";
}

}  // namespace
}  // namespace raddle::request_gate_test

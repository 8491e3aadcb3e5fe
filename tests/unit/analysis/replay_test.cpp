// Cache-only replay: the spec's vector U-C4, the rules for stores, flushes and sectors, and models
// that are slow but plain.
#include "raddle/analysis/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "raddle/base/rng.h"
#include "unit/analysis/trace.h"

namespace raddle::analysis::replay_test {
namespace {

constexpr Geometry kOneSetOfTwo{1, 2};

TEST(Replay, FollowsTheVectorsOfTheSpec) {  // docs/mechanisms/ccws.md, U-C4
  struct Vector {
    const char* trace;  // a capital letter is a store
    std::uint64_t belady, lru;
  };
  for (const Vector& v :
       {Vector{"abcabc", 4, 6}, Vector{"abcAabc", 5, 6}, Vector{"abAbab", 3, 3}}) {
    Trace t;
    t.letters(v.trace);
    EXPECT_EQ(t.replay(Replacement::Belady, kOneSetOfTwo).misses, v.belady) << v.trace;
    EXPECT_EQ(t.replay(Replacement::Lru, kOneSetOfTwo).misses, v.lru) << v.trace;
  }
}

TEST(Replay, StoresAreNeitherHitsNorMisses) {
  Trace t;
  t.letters("aABBa");
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
    const ReplayCounts c = t.replay(r, kOneSetOfTwo);
    EXPECT_EQ(c.accesses, 2u);
    EXPECT_EQ(c.hits + c.misses, 2u);
  }
}

TEST(Replay, AStoreDoesToALineWhatTheMachineDoes) {
  Trace evicted;
  evicted.letters("aAa");
  L1Rules through;
  through.store_evicts = false;
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
    EXPECT_EQ(evicted.replay(r, kOneSetOfTwo).hits, 0u);
    EXPECT_EQ(evicted.replay(r, kOneSetOfTwo, through).hits, 1u) << "write-through leaves it";
    Trace kept;
    kept.store(0, 1).load(0);
    EXPECT_EQ(kept.replay(r, kOneSetOfTwo, through).hits, 1u) << "a validating store brings it";
    Trace absent;
    absent.store(0, 0).load(0);
    EXPECT_EQ(absent.replay(r, kOneSetOfTwo, through).hits, 0u) << "a plain one does not";
  }
}

// An L1D that shares a memory with shared memory has another size from kernel to kernel.
TEST(Replay, FollowsAnL1dThatIsResizedOnlyWhenAskedTo) {
  for (const Replacement r : {Replacement::Lru, Replacement::Belady}) {
    Trace t;
    t.letters("abcdabcd").resize({1, 4}).letters("abcdabcd").resize({1, 1}).letters("aab");
    const std::uint64_t of_two_ways = t.replay(r, kOneSetOfTwo).hits - 1;
    EXPECT_EQ(t.replay(r, {1, 2, true}).hits, of_two_ways / 2 + 4 + 1) << "two ways, four, one";
    EXPECT_EQ(t.replay(Replacement::Unbounded, {1, 2, true}).hits, 4u + 4 + 1);
    const Accesses all(t.stream(), {});
    EXPECT_EQ(all.largest(kOneSetOfTwo).ways, 4u);
    EXPECT_EQ(all.largest({1, 8}).ways, 8u);
  }
}

// In the timing model the data of a miss come after the store that meets it, and stay.
TEST(Replay, AStoreThatMeetsItsLineOnItsWayEvictsNothing) {
  const policy::L1Access miss = {.line = 7,
                                 .lanes = 1,
                                 .sectors = 1,
                                 .kind = policy::L1Kind::Load,
                                 .outcome = policy::L1Outcome::Miss};
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
    Trace meets;
    meets.put(miss).store(7);
    meets.recorder().filled({.at = 50, .line = 7, .sectors = 1, .warp = 0});
    meets.load(7);
    EXPECT_EQ(meets.replay(r, kOneSetOfTwo).hits, 1u);
    Trace late;
    late.put(miss);
    late.recorder().filled({.at = 50, .line = 7, .sectors = 1, .warp = 0});
    late.store(7).load(7);
    EXPECT_EQ(late.replay(r, kOneSetOfTwo).hits, 0u) << "the line was there";
    Trace other;
    other.load(8).put(miss).store(8).load(8);
    EXPECT_EQ(other.replay(r, kOneSetOfTwo).hits, 0u) << "another line was on its way";
  }
}

TEST(Replay, ALineIsOnItsWayUntilAllItsSectorsHaveCome) {
  Trace t;
  for (const std::uint8_t sectors : {std::uint8_t{1}, std::uint8_t{2}})
    t.put({.line = 7,
           .lanes = 1,
           .sectors = sectors,
           .kind = policy::L1Kind::Load,
           .outcome = policy::L1Outcome::Miss});
  t.recorder().filled({.at = 50, .line = 7, .sectors = 1, .warp = 0});
  t.store(7).load(7);
  EXPECT_EQ(t.replay(Replacement::Lru, kOneSetOfTwo).hits, 1u);
}

TEST(Replay, LocalAndGlobalStoresHaveTheirOwnRule) {
  for (const bool local : {false, true}) {
    Trace t;
    t.load(0);
    t.put({.line = 0, .lanes = 1, .warp = 0, .kind = policy::L1Kind::Store, .local = local});
    t.load(0);
    L1Rules rules;
    rules.store_evicts = true;
    rules.local_store_evicts = false;
    EXPECT_EQ(t.replay(Replacement::Lru, kOneSetOfTwo, rules).hits, local ? 1u : 0u);
  }
}

TEST(Replay, AtomicsEvictAndBypassingLoadsWhereDataMayBeDirty) {
  const policy::L1Access atomic{.line = 0, .lanes = 1, .kind = policy::L1Kind::Atomic};
  const policy::L1Access bypass{
      .line = 0, .lanes = 1, .kind = policy::L1Kind::Load, .bypass = true};
  L1Rules rules;
  rules.store_evicts = false;
  Trace a;
  a.load(0).put(atomic).load(0);
  EXPECT_EQ(a.replay(Replacement::Lru, kOneSetOfTwo, rules).hits, 0u);
  Trace b;
  b.load(0).put(bypass).load(0);
  EXPECT_EQ(b.replay(Replacement::Lru, kOneSetOfTwo, rules).hits, 1u);
  EXPECT_EQ(b.replay(Replacement::Lru, kOneSetOfTwo, rules).accesses, 2u)
      << "a load that goes past the cache is none of its accesses";
  rules.bypassing_load_evicts = true;
  EXPECT_EQ(b.replay(Replacement::Lru, kOneSetOfTwo, rules).hits, 0u);
}

TEST(Replay, AFlushEmptiesTheCache) {
  Trace t;
  t.letters("ab").flush().letters("ab").flush().letters("abab");
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded})
    EXPECT_EQ(t.replay(r, kOneSetOfTwo).misses, 6u);
}

// b's next load is nearer than c's, but a flush stands before it and none before c's.
TEST(Replay, BeladySeesTheFlushComing) {
  Trace t;
  t.letters("abc").letters("a").flush().letters("b");
  Accesses accesses(t.stream(), {});
  EXPECT_EQ(accesses.next_loads()[0], 3u);
  EXPECT_EQ(accesses.next_loads()[1], Accesses::kNoNext);
  EXPECT_EQ(analysis::replay(accesses, Replacement::Belady, kOneSetOfTwo).misses, 4u);
}

TEST(Replay, SetsAreModulo) {
  Trace t;
  for (unsigned round = 0; round < 2; ++round)
    for (const std::uint32_t line : {0u, 3u, 6u, 1u, 4u}) t.load(line);
  EXPECT_EQ(t.replay(Replacement::Lru, {3, 2}).misses, 8u) << "0, 3 and 6 share a set of three";
  EXPECT_EQ(t.replay(Replacement::Lru, {3, 3}).misses, 5u);
  EXPECT_EQ(t.replay(Replacement::Belady, {3, 2}).misses, 6u) << "U-C4 in set 0, two in set 1";
}

TEST(Replay, ASectorThatIsNotThereIsAMissAndPushesNothingOut) {
  L1Rules rules;
  rules.line_sectors = 0xf;
  Trace t;
  t.load(0, 0, 1, 1).load(1, 0, 1, 1).load(0, 0, 1, 2).load(0, 0, 1, 3).load(1, 0, 1, 1);
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
    EXPECT_EQ(t.replay(r, kOneSetOfTwo, rules).misses, 3u);
    EXPECT_EQ(t.replay(r, kOneSetOfTwo, rules).hits, 2u);
  }
}

// --- classes ------------------------------------------------------------------------------------

TEST(ReplayClasses, AreByOwnerAndLanes) {
  Trace t;
  t.start(0).start(1);
  t.load(9, 0, 0b0011);  // warp 0 brings it
  t.load(9, 0, 0b0100);  // another lane of it
  t.load(9, 0, 0b0110);  // a lane that was there
  t.load(9, 1, 0b0001);  // another warp
  t.load(9, 1, 0b0001);  // its second touch is still on warp 0's line
  t.load(9, 0, 0b1000);
  t.load(9, 0, 0b1000);
  for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
    const HitClasses c = t.replay(r, kOneSetOfTwo).classes;
    EXPECT_EQ(c.intra_thread, 2u);
    EXPECT_EQ(c.inter_thread, 2u);
    EXPECT_EQ(c.inter_warp, 2u);
  }
}

TEST(ReplayClasses, ASlotsNextWarpIsAnother) {
  Trace t;
  t.start(0).load(9, 0).start(0).load(9, 0);
  EXPECT_EQ(t.replay(Replacement::Unbounded, {}).classes.inter_warp, 1u);
}

// a is pushed out and brought back by warp 1: bounded, it is warp 1's; unbounded, still warp 0's.
TEST(ReplayClasses, OwnerIsTheFillingWarpOrTheFirstToucher) {
  Trace t;
  t.start(0).start(1);
  t.load(0, 0).load(1, 0).load(2, 0).load(0, 1).load(0, 1);
  const ReplayCounts lru = t.replay(Replacement::Lru, kOneSetOfTwo);
  EXPECT_EQ(lru.misses, 4u);
  EXPECT_EQ(lru.classes.intra_thread, 1u);
  const ReplayCounts unbounded = t.replay(Replacement::Unbounded, kOneSetOfTwo);
  EXPECT_EQ(unbounded.misses, 3u);
  EXPECT_EQ(unbounded.classes.inter_warp, 2u);
}

TEST(ReplayClasses, StoresAndFlushesMakeANewOwner) {
  for (const bool flush : {false, true}) {
    Trace t;
    t.start(0).start(1).load(0, 0);
    if (flush) t.flush();
    else t.store(0);
    t.load(0, 1).load(0, 0);
    for (const Replacement r : {Replacement::Lru, Replacement::Belady, Replacement::Unbounded}) {
      const ReplayCounts c = t.replay(r, kOneSetOfTwo);
      EXPECT_EQ(c.misses, 2u);
      EXPECT_EQ(c.classes.inter_warp, 1u) << "the line is warp 1's now";
    }
  }
}

// --- against plain models -----------------------------------------------------------------------

struct Event {
  enum Kind { Load, Evict, Keep, Bring, Flush } kind;
  std::uint32_t line;
};

std::vector<Event> random_events(Rng& rng, unsigned n, unsigned lines) {
  std::vector<Event> out;
  for (unsigned i = 0; i < n; ++i) {
    const unsigned dice = rng.below(20);
    const auto kind = dice < 14   ? Event::Load
                      : dice < 16 ? Event::Evict
                      : dice < 17 ? Event::Keep
                      : dice < 19 ? Event::Bring
                                  : Event::Flush;
    out.push_back({kind, rng.below(lines)});
  }
  return out;
}

void notify(Trace& t, const std::vector<Event>& events) {
  for (const Event& e : events) {
    if (e.kind == Event::Flush) t.flush();
    else if (e.kind == Event::Load) t.load(e.line);
    else if (e.kind == Event::Evict) t.put({.line = e.line, .kind = policy::L1Kind::Atomic});
    else t.store(e.line, e.kind == Event::Bring ? 1 : 0);
  }
}

constexpr L1Rules kThrough = [] {
  L1Rules rules;
  rules.store_evicts = false;
  return rules;
}();

/// The fewest misses any choice of victims leads to, by trying them all. `held`: the lines that are
/// there, sorted.
class EveryChoice {
 public:
  EveryChoice(const std::vector<Event>& events, Geometry g) : events_(events), g_(g) {}
  unsigned misses(std::size_t i = 0, std::vector<std::uint32_t> held = {}) {
    if (i == events_.size()) return 0;
    const auto [known, fresh] = known_.try_emplace({i, held}, 0u);
    if (!fresh) return known->second;
    const Event& e = events_[i];
    const auto here = std::ranges::find(held, e.line);
    unsigned best = 0;
    if (e.kind == Event::Flush) {
      best = misses(i + 1, {});
    } else if (e.kind == Event::Evict) {
      if (here != held.end()) held.erase(here);
      best = misses(i + 1, held);
    } else if (here != held.end() || e.kind == Event::Keep) {
      best = misses(i + 1, held);
    } else {
      best = (e.kind == Event::Load ? 1u : 0u) + bring(i, held);
    }
    return known_[{i, known->first.second}] = best;
  }

 private:
  unsigned bring(std::size_t i, const std::vector<std::uint32_t>& held) {
    const std::uint32_t line = events_[i].line;
    auto with = [&](std::vector<std::uint32_t> lines) {
      lines.push_back(line);
      std::ranges::sort(lines);
      return misses(i + 1, lines);
    };
    const auto rivals =
        std::ranges::count_if(held, [&](std::uint32_t h) { return h % g_.sets == line % g_.sets; });
    if (rivals < static_cast<std::ptrdiff_t>(g_.ways)) return with(held);
    unsigned best = ~0u;
    for (std::size_t v = 0; v < held.size(); ++v) {
      if (held[v] % g_.sets != line % g_.sets) continue;
      std::vector<std::uint32_t> rest = held;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(v));
      best = std::min(best, with(rest));
    }
    return best;
  }
  const std::vector<Event>& events_;
  Geometry g_;
  std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, unsigned> known_;
};

TEST(Belady, IsTheBestOfAllChoices) {
  unsigned better_than_lru = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Rng rng(seed);
    const Geometry g{1 + rng.below(2), 1 + rng.below(3)};
    const auto events = random_events(rng, 6 + rng.below(16), 3 + rng.below(5));
    Trace t;
    notify(t, events);
    const std::uint64_t belady = t.replay(Replacement::Belady, g, kThrough).misses;
    ASSERT_EQ(belady, EveryChoice(events, g).misses()) << "seed " << seed;
    better_than_lru += belady < t.replay(Replacement::Lru, g, kThrough).misses;
  }
  EXPECT_GT(better_than_lru, 100u) << "else these traces do not ask anything";
}

/// LRU with lists.
ReplayCounts plain_lru(const std::vector<Event>& events, Geometry g) {
  std::vector<std::vector<std::uint32_t>> set(g.sets);  // the newest last
  ReplayCounts c;
  for (const Event& e : events) {
    if (e.kind == Event::Flush) {
      for (auto& lines : set) lines.clear();
      continue;
    }
    auto& lines = set[e.line % g.sets];
    const bool hit = std::erase(lines, e.line) != 0;
    if (e.kind == Event::Evict || (e.kind == Event::Keep && !hit)) continue;
    if (e.kind == Event::Load) {
      ++c.accesses;
      ++(hit ? c.hits : c.misses);
    }
    if (lines.size() == g.ways) lines.erase(lines.begin());
    lines.push_back(e.line);
  }
  return c;
}

TEST(Lru, IsThatOfLists) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Geometry g{1 + rng.below(5), 1 + rng.below(20)};
    const auto events = random_events(rng, 600, 1 + rng.below(3 * g.sets * g.ways));
    Trace t;
    notify(t, events);
    const ReplayCounts c = t.replay(Replacement::Lru, g, kThrough), plain = plain_lru(events, g);
    ASSERT_EQ(c.misses, plain.misses) << "seed " << seed;
    ASSERT_EQ(c.hits, plain.hits) << "seed " << seed;
  }
}

TEST(Replay, NoCacheIsBetterThanBeladyAndNoneThanUnbounded) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const auto events = random_events(rng, 2000, 200);
    Trace t;
    notify(t, events);
    std::uint64_t smaller = ~std::uint64_t{0};
    for (const std::uint32_t ways : {2u, 4u, 8u, 64u, 256u}) {
      const Geometry g{1, ways};
      const ReplayCounts lru = t.replay(Replacement::Lru, g, kThrough),
                         belady = t.replay(Replacement::Belady, g, kThrough),
                         unbounded = t.replay(Replacement::Unbounded, g, kThrough);
      EXPECT_LE(belady.misses, lru.misses);
      EXPECT_LE(unbounded.misses, belady.misses);
      EXPECT_LE(lru.misses, smaller) << "LRU of one set never loses by being larger";
      smaller = lru.misses;
      for (const ReplayCounts& c : {lru, belady, unbounded}) {
        EXPECT_EQ(c.hits + c.misses, c.accesses);
        EXPECT_EQ(c.classes.total(), c.hits);
      }
      if (ways == 256) {
        EXPECT_EQ(lru.misses, unbounded.misses) << "everything fits";
        EXPECT_EQ(lru.classes.inter_warp, unbounded.classes.inter_warp);
      }
    }
  }
}

}  // namespace
}  // namespace raddle::analysis::replay_test

// The pieces of which an L2 slice is made: tags, MSHRs, the queues that share a pool.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <map>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/mshr.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/wire/request_queue.h"

namespace raddle::test::l2_parts_test {
namespace {

using namespace raddle::timing;

TEST(Tags, FindSeesWhatWasFilled) {
  Tags tags(3, 2);
  EXPECT_EQ(tags.find(1, 0), Tags::kAbsent);  // line 0 is no special value
  EXPECT_EQ(tags.fill(1, 0, 0b01, 0).sectors, 0);
  ASSERT_NE(tags.find(1, 0), Tags::kAbsent);
  EXPECT_EQ(tags.find(0, 0), Tags::kAbsent);
  tags.fill(1, 0, 0b10, 0b10);
  EXPECT_EQ(tags.valid(tags.find(1, 0)), 0b11);
}

TEST(Tags, LeastRecentlyTouchedIsPushedOut) {
  Tags tags(1, 2);
  tags.fill(0, 10, 1, 0);
  tags.fill(0, 20, 0b11, 0b10);
  tags.touch(tags.find(0, 10));
  Tags::Victim out = tags.fill(0, 30, 1, 0);
  EXPECT_EQ(out.line, 20u);
  EXPECT_EQ(out.sectors, 0b11);
  EXPECT_EQ(out.dirty, 0b10);
  EXPECT_NE(tags.find(0, 10), Tags::kAbsent);
}

TEST(Tags, EmptyWaysAreUsedBeforeAnyLineGoes) {
  for (unsigned ways : {1u, 3u, 4u, 5u, 16u}) {  // also those that do not fill the last four
    Tags tags(2, ways);
    for (std::uint32_t line = 0; line < ways; ++line)
      EXPECT_EQ(tags.fill(1, line, 1, 0).sectors, 0) << ways << " ways";
    for (std::uint32_t line = 0; line < ways; ++line) EXPECT_NE(tags.find(1, line), Tags::kAbsent);
    EXPECT_EQ(tags.find(0, 0), Tags::kAbsent);
    Tags::Victim out = tags.fill(1, 100, 1, 0);
    EXPECT_EQ(out.line, 0u);
    EXPECT_EQ(out.sectors, 1);
  }
}

/// A set as a list, newest first: what Tags promises, written the slow way.
struct PlainSet {
  struct Line {
    std::uint32_t line;
    std::uint8_t sectors, dirty;
    bool locked;
  };
  std::list<Line> lines;
  std::list<Line>::iterator find(std::uint32_t line) {
    return std::find_if(lines.begin(), lines.end(), [&](auto& l) { return l.line == line; });
  }
  void use(std::list<Line>::iterator at) { lines.splice(lines.begin(), lines, at); }
};

TEST(Tags, AgreeWithAListOfLinesUnderRandomUse) {
  for (unsigned ways : {1u, 2u, 7u, 16u, 17u, 24u, 32u, 33u, 64u, 100u, 255u, 256u}) {
    constexpr unsigned kSets = 3;
    Tags tags(kSets, ways);
    PlainSet plain[kSets];
    Rng rng(ways);
    for (unsigned n = 0; n < 20'000; ++n) {
      const unsigned set = rng.below(kSets), line = set + kSets * rng.below(2 * ways + 2);
      PlainSet& model = plain[set];
      auto known = model.find(line);
      const unsigned at = tags.find(set, line);
      ASSERT_EQ(at != Tags::kAbsent, known != model.lines.end()) << ways << " ways, step " << n;
      if (rng.below(1000) == 0) {
        for (PlainSet& other : plain)
          for (auto& entry : other.lines) {
            if (entry.locked)
              tags.unlock(tags.find(static_cast<unsigned>(&other - plain), entry.line));
          }
        tags.invalidate_all();
        for (PlainSet& other : plain) other.lines.clear();
        continue;
      }
      switch (rng.below(8)) {
        case 0:
          if (at == Tags::kAbsent) break;
          tags.touch(at);
          model.use(known);
          break;
        case 1:
          if (at == Tags::kAbsent || known->locked) break;
          tags.invalidate(at);
          model.lines.erase(known);
          break;
        case 2:  // a lock, while a way is left for others
          if (at == Tags::kAbsent || (!known->locked && model.lines.size() < 2)) break;
          if (known->locked) {
            tags.unlock(at);
            known->locked = false;
          } else if (std::none_of(model.lines.begin(), model.lines.end(),
                                  [](auto& l) { return l.locked; })) {
            tags.lock(at);
            known->locked = true;
          }
          break;
        default: {
          const auto sectors = static_cast<std::uint8_t>(1 + rng.below(15));
          const auto dirty = static_cast<std::uint8_t>(rng.below(16) & sectors);
          Tags::Victim out = tags.fill(set, line, sectors, dirty);
          if (known == model.lines.end()) {
            if (model.lines.size() == ways) {
              auto oldest = std::prev(model.lines.end());
              while (oldest->locked) --oldest;
              ASSERT_EQ(out.line, oldest->line);
              ASSERT_EQ(out.sectors, oldest->sectors);
              ASSERT_EQ(out.dirty, oldest->dirty);
              model.lines.erase(oldest);
            } else {
              ASSERT_EQ(out.sectors, 0);
            }
            model.lines.push_front({line, sectors, dirty, false});
          } else {
            ASSERT_EQ(out.sectors, 0);
            known->sectors |= sectors;
            known->dirty |= dirty;
            model.use(known);
          }
        }
      }
    }
  }
}

TEST(Tags, WideSetsMayBeManyToo) {
  constexpr unsigned kSets = 2048, kWays = 128;  // 32 MiB of lines of 128 bytes
  Tags tags(kSets, kWays);
  for (std::uint32_t line = 0; line < kSets * kWays; ++line)
    ASSERT_EQ(tags.fill(line % kSets, line, 1, 0).sectors, 0);
  for (std::uint32_t line = 0; line < kSets * kWays; ++line)
    ASSERT_NE(tags.find(line % kSets, line), Tags::kAbsent) << line;
  EXPECT_EQ(tags.fill(kSets - 1, kSets * kWays + kSets - 1, 1, 0).line, kSets - 1);
}

TEST(Mshrs, AskerIsTheFirstWhoNeedsTheSectors) {
  Mshrs<int> mshrs(2, 4);
  unsigned e = mshrs.add(9, 0b0001, 1);
  mshrs.wait(e, 0b0011, 2);  // asks for the second sector
  mshrs.wait(e, 0b0010, 3);
  EXPECT_EQ(mshrs.asker(e, 0b0010), 2);
  EXPECT_EQ(mshrs.asker(e, 0b0001), 1);
  EXPECT_EQ(mshrs.waiting(), 3u);
  mshrs.arrive(e, 0b0001, [](int) {});
  EXPECT_EQ(mshrs.asker(e, 0b0010), 2);
  mshrs.arrive(e, 0b0010, [](int) {});
  EXPECT_EQ(mshrs.waiting(), 0u);
}

TEST(Mshrs, EntriesAreFoundUntilAllHasArrived) {
  Mshrs<int> mshrs(3, 2);
  std::vector<int> done;
  auto note = [&](int w) { done.push_back(w); };
  unsigned e = mshrs.add(77, 0b01, 1);
  EXPECT_EQ(mshrs.requested(e), 0b01);
  mshrs.wait(e, 0b11, 2);
  EXPECT_EQ(mshrs.requested(e), 0b11);
  EXPECT_FALSE(mshrs.can_merge(e));
  EXPECT_EQ(mshrs.find(77), e);
  EXPECT_FALSE(mshrs.arrive(e, 0b01, note));
  EXPECT_EQ(done, std::vector<int>{1});
  EXPECT_TRUE(mshrs.can_merge(e));
  EXPECT_TRUE(mshrs.arrive(e, 0b10, note));
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
  EXPECT_EQ(mshrs.find(77), mshrs.kNone);
  EXPECT_EQ(mshrs.used(), 0u);
}

TEST(Mshrs, WaitersLeaveInOrderAlsoAfterOthersLeftTheMiddle) {
  Mshrs<int> mshrs(1, 8);
  std::vector<int> done;
  auto note = [&](int w) { done.push_back(w); };
  unsigned e = mshrs.add(5, 0b001, 1);
  for (auto [need, who] : {std::pair{0b010, 2}, {0b100, 3}, {0b010, 4}})
    mshrs.wait(e, static_cast<std::uint8_t>(need), who);
  mshrs.arrive(e, 0b100, note);
  mshrs.wait(e, 0b011, 5);
  mshrs.arrive(e, 0b010, note);
  mshrs.wait(e, 0b001, 6);
  EXPECT_TRUE(mshrs.arrive(e, 0b001, note));
  EXPECT_EQ(done, (std::vector<int>{3, 2, 4, 1, 5, 6}));
}

TEST(Mshrs, FullMeansFullAndEveryCountOfEntriesWorks) {
  for (unsigned entries : {1u, 3u, 17u, 64u, 100u}) {
    Mshrs<int> mshrs(entries, 1);
    std::vector<unsigned> taken;
    for (unsigned i = 0; i < entries; ++i) {
      ASSERT_FALSE(mshrs.full());
      taken.push_back(mshrs.add(i * 64, 1, 0));  // same bucket for many
    }
    EXPECT_TRUE(mshrs.full());
    for (unsigned i = 0; i < entries; ++i) EXPECT_EQ(mshrs.find(i * 64), taken[i]);
    for (unsigned i = 0; i < entries; i += 2) EXPECT_TRUE(mshrs.arrive(taken[i], 1, [](int) {}));
    for (unsigned i = 0; i < entries; ++i) EXPECT_EQ(mshrs.find(i * 64) != mshrs.kNone, i % 2 == 1);
    EXPECT_FALSE(mshrs.full());
  }
}

/// A line's waiters in order of arrival: what Mshrs promise, written the slow way.
struct PlainMiss {
  std::uint8_t requested = 0, arrived = 0;
  std::deque<std::pair<std::uint8_t, int>> waiters;  // need, who
};

TEST(Mshrs, AgreeWithListsOfWaitersUnderRandomUse) {
  struct Case {
    unsigned entries, merges, lines;
  };
  for (const auto [entries, merges, lines] :
       {Case{1, 1, 2}, {3, 2, 8}, {16, 1, 40}, {17, 5, 40}, {64, 8, 70}}) {
    Mshrs<int> mshrs(entries, merges);
    std::map<std::uint32_t, PlainMiss> plain;
    Rng rng(entries);
    unsigned waiting = 0;
    for (int n = 0; n < 30'000; ++n) {
      const std::uint32_t line = rng.below(lines) * 0x10001u;
      const auto sectors = static_cast<std::uint8_t>(1 + rng.below(15));
      unsigned entry = mshrs.find(line);
      const auto known = plain.find(line);
      ASSERT_EQ(entry != mshrs.kNone, known != plain.end()) << entries << " entries, step " << n;
      if (rng.below(5) < 2) {  // some of the sectors that are on their way come
        if (known == plain.end()) continue;
        PlainMiss& miss = known->second;
        const auto come = static_cast<std::uint8_t>(sectors & miss.requested & ~miss.arrived);
        if (come == 0) continue;
        const auto first = std::find_if(miss.waiters.begin(), miss.waiters.end(),
                                        [&](auto& w) { return (w.first & come) != 0; });
        ASSERT_EQ(mshrs.asker(entry, come), first->second);
        ASSERT_EQ(mshrs.first(entry), miss.waiters.front().second);
        miss.arrived |= come;
        std::vector<int> expected, done;
        std::erase_if(miss.waiters, [&](auto& waiter) {
          const bool ready = (waiter.first & ~miss.arrived) == 0;
          if (ready) expected.push_back(waiter.second);
          return ready;
        });
        const bool over = miss.arrived == miss.requested;
        ASSERT_EQ(mshrs.arrive(entry, come, [&](int who) { done.push_back(who); }), over);
        ASSERT_EQ(done, expected) << entries << " entries, step " << n;
        waiting -= static_cast<unsigned>(done.size());
        if (over) plain.erase(known);
      } else {
        ASSERT_EQ(mshrs.full(), plain.size() == entries);
        const bool fresh = known == plain.end();
        if (fresh ? mshrs.full() : !mshrs.can_merge(entry)) continue;
        PlainMiss& miss = plain[line];
        const auto need = static_cast<std::uint8_t>(sectors & ~miss.arrived);
        if (need == 0) continue;  // of a line that is known, since a new one has none
        if (fresh) entry = mshrs.add(line, need, n);
        else mshrs.wait(entry, need, n);
        miss.waiters.push_back({need, n});
        miss.requested |= need;
        ++waiting;
        ASSERT_EQ(mshrs.requested(entry), miss.requested);
        ASSERT_EQ(mshrs.can_merge(entry), miss.waiters.size() < merges);
      }
      ASSERT_EQ(mshrs.used(), plain.size());
      ASSERT_EQ(mshrs.waiting(), waiting);
    }
  }
}

TEST(RequestQueue, KeepsItsOrderWhileItGrows) {
  for (const unsigned capacity : {1u, 20u, 33u, 200u, 768u}) {
    RequestQueue queue(capacity);
    std::deque<std::uint32_t> expected;
    Rng rng(capacity);
    for (std::uint32_t n = 0; n < 20'000; ++n) {
      const bool fills = n / 2000 % 2 == 0;  // to the brim, then to the ground, many turns each
      if (rng.below(8) < (fills ? 5u : 3u)) {
        if (expected.size() == capacity) continue;
        Message m;
        m.line = n;
        queue.push(2 * n, m, n % 3);
        expected.push_back(n);
      } else if (!expected.empty()) {
        ASSERT_EQ(queue.front_at(), 2 * expected.front()) << capacity;
        ASSERT_EQ(queue.front().line, expected.front());
        ASSERT_EQ(queue.front().dram_accesses, expected.front() % 3);
        queue.pop();
        expected.pop_front();
      }
      ASSERT_EQ(queue.size(), expected.size());
      ASSERT_EQ(queue.empty(), expected.empty());
    }
  }
}

}  // namespace
}  // namespace raddle::test::l2_parts_test

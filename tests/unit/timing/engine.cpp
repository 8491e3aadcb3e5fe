// The window engine on components that do nothing but write down when they were ticked.
#include "raddle/timing/wire/engine.h"

#include <gtest/gtest.h>

#include <set>

#include "raddle/timing/wire/link.h"

namespace raddle::engine_test {
namespace {

using timing::Engine;
using timing::Link;

/// Acts every `period` cycles, `times` times.
struct Ticker {
  Cycle period = 1;
  unsigned times = 1;
  std::vector<Cycle> acted;
  unsigned windows = 0;
  Cycle due = 0;
  void open_window() { ++windows; }
  Cycle next_arrival(Cycle) const { return kNever; }
  Cycle tick(Cycle now) {
    if (now != due || acted.size() == times) return acted.size() == times ? kNever : due;
    acted.push_back(now);
    due = now + period;
    return acted.size() == times ? kNever : due;
  }
};

/// Sends what it gets back over a wire.
struct Player {
  Link<int>*in = nullptr, *out = nullptr;
  Cycle wire = 0;
  std::vector<Cycle> got;
  int left = 0;
  void open_window() {}
  Cycle next_arrival(Cycle) const { return in->next_arrival(); }
  Cycle tick(Cycle now) {
    for (; in->next_arrival() <= now; in->pop()) {
      got.push_back(now);
      if (left-- > 0) out->push(now + wire, in->front() + 1);
    }
    return in->next_arrival();
  }
};

template <class Done>
bool run(Engine& e, Done done, unsigned threads = 1) {
  return e.run(threads, done, [](Cycle) {});
}

TEST(Link, CreditsKeepTheirTimesAndBytes) {
  timing::CreditLink link(4);
  const Cycle late = (Cycle{1} << 56) - 1;  // as long as 64 bits hold the time beside the byte
  link.push(7, 255);
  link.push(7, 0);
  link.push(late, 1);
  for (auto [at, flits] : {std::pair{Cycle{7}, 255}, {7, 0}, {late, 1}}) {
    EXPECT_EQ(link.next_arrival(), at);
    EXPECT_EQ(link.front(), flits);
    link.pop();
  }
  EXPECT_EQ(link.next_arrival(), kNever);
}

TEST(Link, EachVisitsWhatArrivesBeforeTheEndWithoutWhatIsSkipped) {
  Link<int> link(4);
  for (int i = 0; i < 6; ++i) {  // messages i, i + 1 and i + 2 are on their way, at 10 times that
    if (i == 0) {
      link.push(0, 0);
      link.push(10, 1);
    }
    link.push(10 * static_cast<Cycle>(i + 2), i + 2);
    auto visited = [&](std::uint32_t skipped, int end) {
      std::vector<int> out;
      link.each(skipped, static_cast<Cycle>(end), [&](int m) { out.push_back(m); });
      return out;
    };
    EXPECT_EQ(visited(0, 1000), (std::vector{i, i + 1, i + 2}));
    EXPECT_EQ(visited(1, 1000), (std::vector{i + 1, i + 2}));
    EXPECT_EQ(visited(1, 10 * (i + 2)), std::vector{i + 1});
    EXPECT_TRUE(visited(3, 1000).empty());
    link.pop();
  }
}

TEST(Engine, JumpsOverIdleWindowsAndStartsThemAtMultiples) {
  Engine e(10, true, false);
  Ticker slow;
  slow.period = 1003;
  slow.times = 4;
  e.add(slow);
  std::vector<Cycle> begins;
  e.run(
      1, [] { return false; }, [&](Cycle b) { begins.push_back(b); });
  EXPECT_EQ(begins, (std::vector<Cycle>{0, 1000, 2000, 3000}));
  EXPECT_EQ(slow.acted, (std::vector<Cycle>{0, 1003, 2006, 3009}));
  EXPECT_EQ(e.windows(), 4u);
  EXPECT_EQ(e.end(), 3010u);
}

TEST(Engine, SaysWhenNobodyCanEverActAgain) {
  Engine e(10, true, false);
  Ticker t;
  e.add(t);
  EXPECT_FALSE(run(e, [] { return false; }));
}

TEST(Engine, StopsAfterTheWindowInWhichItIsDone) {
  Engine e(10, true, false);
  Ticker t;
  t.times = 1000;
  e.add(t);
  EXPECT_TRUE(run(e, [&] { return t.acted.size() >= 25; }));
  EXPECT_EQ(t.acted.size(), 30u);
  EXPECT_TRUE(run(e, [&] { return t.acted.size() >= 45; })) << "and goes on from there";
  EXPECT_EQ(t.acted.back(), 49u);
}

TEST(Engine, WithoutSkippingEveryCycleIsTicked) {
  Engine e(10, false, false);
  Ticker t;
  t.period = 7;
  t.times = 3;
  e.add(t);
  EXPECT_TRUE(run(e, [&] { return e.end() >= 50; }));
  EXPECT_EQ(t.acted, (std::vector<Cycle>{0, 7, 14}));
  EXPECT_EQ(e.windows(), 5u);
}

TEST(Engine, MessagesArriveExactlyInEveryMode) {
  std::vector<Cycle> want;
  for (Cycle t = 3; want.size() < 20; t += 13) want.push_back(t);
  for (bool skip : {true, false})
    for (bool shuffle : {true, false})
      for (unsigned threads : {1u, 2u, 3u}) {
        Link<int> ab(64), ba(64);
        Player a, b;
        a.in = &ba;
        a.out = &ab;
        a.wire = 13;
        a.left = 100;
        b.in = &ab;
        b.out = &ba;
        b.wire = 13;
        b.left = 100;
        ba.push(3, 0);
        Engine e(13, skip, shuffle);
        e.add(a);
        e.add(b);
        EXPECT_TRUE(run(
            e, [&] { return a.got.size() + b.got.size() >= 20; }, threads));
        std::vector<Cycle> got(a.got);
        got.insert(got.end(), b.got.begin(), b.got.end());
        std::sort(got.begin(), got.end());
        got.resize(20);
        EXPECT_EQ(got, want);
      }
}

TEST(Engine, ShuffledOrderRunsEveryComponentInEveryWindow) {
  for (unsigned n : {1u, 2u, 37u, 74u}) {
    std::vector<Ticker> all(n);
    Engine e(10, true, true);
    for (Ticker& t : all) {
      t.times = 40;
      e.add(t);
    }
    EXPECT_FALSE(run(e, [] { return false; }));
    for (Ticker& t : all) EXPECT_EQ(t.acted.size(), 40u);
  }
}

/// Notes what it is told of the coming window; only one thread at a time may tell it.
struct Notified {
  mutable std::vector<Cycle> ends;
  std::vector<std::size_t> notified_at_tick;
  void open_window() {}
  void prefetch(Cycle end) const { ends.push_back(end); }
  Cycle next_arrival(Cycle) const { return kNever; }
  Cycle tick(Cycle now) {
    notified_at_tick.push_back(ends.size());
    return now + 10;
  }
};

TEST(Engine, EveryComponentIsToldOfAWindowOnceAndBeforeItRuns) {
  for (bool shuffle : {true, false})
    for (unsigned threads : {1u, 2u, 3u}) {
      std::vector<Notified> all(40);
      Engine e(10, true, shuffle);
      for (Notified& t : all) e.add(t);
      EXPECT_TRUE(run(
          e, [&] { return e.windows() == 20; }, threads));
      for (const Notified& t : all) {
        EXPECT_EQ(t.ends.size(), 20u);
        for (Cycle end : t.ends) EXPECT_EQ(end % 10, 0u);
        ASSERT_EQ(t.notified_at_tick.size(), 20u);
        for (std::size_t n = 0; n < 20; ++n) EXPECT_EQ(t.notified_at_tick[n], n + 1);
      }
    }
}

TEST(Engine, TheFirstComponentsExceptionComesOutWhateverTheThreads) {
  struct Thrower {
    std::string text;
    void open_window() {}
    Cycle next_arrival(Cycle) const { return kNever; }
    Cycle tick(Cycle now) {
      if (now == 5) throw std::runtime_error(text);
      return now + 1;
    }
  };
  for (unsigned threads : {1u, 2u, 4u}) {
    Thrower first{"first"}, second{"second"};
    Ticker t;
    t.times = 100;
    Engine e(10, true, false);
    e.add(t);
    e.add(first);
    e.add(second);
    try {
      run(
          e, [] { return false; }, threads);
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
  }
}

TEST(Engine, WhatIsThrownBeforeAWindowComesOut) {
  Engine e(10, true, false);
  Ticker t;
  t.times = 100;
  e.add(t);
  EXPECT_THROW(e.run(
                   3, [] { return false; },
                   [](Cycle b) {
                     if (b == 20) throw std::runtime_error("x");
                   }),
               std::runtime_error);
  EXPECT_EQ(t.acted.size(), 20u);
}

}  // namespace
}  // namespace raddle::engine_test

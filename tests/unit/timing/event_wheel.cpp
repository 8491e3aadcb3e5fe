#include "raddle/timing/sm/event_wheel.h"

#include <gtest/gtest.h>

#include <map>

#include "raddle/base/rng.h"

namespace raddle::event_wheel_test {
namespace {

using timing::Event;
using timing::EventWheel;

std::vector<Event> take(EventWheel& wheel, Cycle now, std::uint32_t* units = nullptr) {
  std::vector<Event> out;
  wheel.take(
      now,
      [&](std::uint32_t u) {
        if (units != nullptr) *units = u;
      },
      [&](Event e) { out.push_back(e); });
  return out;
}

TEST(Event, KeepsItsParts) {
  Event w = Event::write(63, 255), s = Event::write_multiple(63, 0xfffff),
        p = Event::transaction(4095), r = Event::resume(63), a = Event::acknowledge(63);
  EXPECT_EQ(a.kind(), Event::Kind::Acknowledge);
  EXPECT_EQ(a.warp(), 63u);
  EXPECT_EQ(w.kind(), Event::Kind::Write);
  EXPECT_EQ(w.warp(), 63u);
  EXPECT_EQ(w.reg(), 255u);
  EXPECT_EQ(s.kind(), Event::Kind::WriteMultiple);
  EXPECT_EQ(s.warp(), 63u);
  EXPECT_EQ(s.inst(), 0xfffffu);
  EXPECT_EQ(p.kind(), Event::Kind::Transaction);
  EXPECT_EQ(p.load(), 4095u);
  EXPECT_EQ(r.kind(), Event::Kind::Resume);
  EXPECT_EQ(r.warp(), 63u);
}

TEST(EventWheel, EmptyHasNoNext) {
  EventWheel wheel(4);
  for (Cycle t : {0, 63, 64, 1023, 5000}) {
    EXPECT_EQ(wheel.next(t), kNever);
    EXPECT_FALSE(wheel.due(t));
  }
}

TEST(EventWheel, FindsTheNextOverWordsAndTheSeam) {
  for (Cycle now : {0, 1, 62, 63, 64, 500, 1000, 1023, 1024, 99999})
    for (Cycle delay : {1, 2, 63, 64, 65, 500, 1000, 1023}) {
      EventWheel wheel(4);
      wheel.push(now + delay, Event::transaction(7));
      EXPECT_EQ(wheel.next(now + 1), now + delay) << now << " " << delay;
      EXPECT_TRUE(wheel.due(now + delay));
      EXPECT_EQ(take(wheel, now + delay).size(), 1u);
      EXPECT_EQ(wheel.next(now + delay), kNever);
    }
}

TEST(EventWheel, UnitsOfACycleComeTogether) {
  EventWheel wheel(1);
  wheel.push_unit(10, 3);
  wheel.push_unit(10, 27);
  std::uint32_t units = 0;
  EXPECT_TRUE(take(wheel, 10, &units).empty());
  EXPECT_EQ(units, 1u << 3 | 1u << 27);
  EXPECT_FALSE(wheel.due(10));
}

TEST(EventWheel, EventsMayBePushedWhileOthersAreTaken) {
  EventWheel wheel(2);
  wheel.push(5, Event::transaction(1));
  int seen = 0;
  wheel.take(
      5, [](std::uint32_t) {},
      [&](Event e) {
        ++seen;
        wheel.push(6, Event::transaction(e.load() + 1));
      });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(take(wheel, 6)[0].load(), 2u);
}

TEST(EventWheel, AgreesWithAMap) {
  Rng rng(3);
  EventWheel wheel(200);
  std::multimap<Cycle, unsigned> model;
  for (Cycle now = 0; now < 20000; ++now) {
    EXPECT_EQ(wheel.due(now), model.count(now) != 0);
    if (wheel.due(now)) {
      std::multiset<unsigned> got, want;
      for (Event e : take(wheel, now)) got.insert(e.load());
      for (auto [at, end] = model.equal_range(now); at != end; ++at) want.insert(at->second);
      EXPECT_EQ(got, want);
      model.erase(now);
    }
    for (unsigned n = rng.below(3); n > 0 && model.size() < 200; --n) {
      Cycle at = now + 1 + rng.below(rng.below(10) == 0 ? 1023 : 40);
      unsigned id = rng.below(1000);
      wheel.push(at, Event::transaction(id));
      model.emplace(at, id);
    }
    EXPECT_EQ(wheel.next(now + 1), model.empty() ? kNever : model.begin()->first);
  }
}

}  // namespace
}  // namespace raddle::event_wheel_test

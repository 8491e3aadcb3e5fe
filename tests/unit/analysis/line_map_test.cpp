#include "raddle/analysis/line_map.h"

#include <gtest/gtest.h>

#include <map>

#include "raddle/base/rng.h"

namespace raddle::analysis::line_map_test {
namespace {

TEST(LineMap, DoesWhatAMapDoes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    LineMap<std::uint32_t> map;
    std::map<std::uint32_t, std::uint32_t> plain;
    const unsigned lines = 1 + rng.below(400);
    const std::uint32_t apart = seed % 2 == 0 ? 1 : 0x01000000;  // the latter crowd together
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::uint32_t line = rng.below(lines) * apart, dice = rng.below(1000);
      if (dice == 0) {
        map.clear();
        plain.clear();
      } else if (dice < 400) {
        map.erase(line);
        plain.erase(line);
      } else if (dice < 700) {
        const auto [value, fresh] = map.try_emplace(line, i);
        const auto [at, was_fresh] = plain.try_emplace(line, i);
        ASSERT_EQ(fresh, was_fresh);
        ASSERT_EQ(*value, at->second);
      } else {
        const std::uint32_t* value = map.find(line);
        const auto at = plain.find(line);
        ASSERT_EQ(value != nullptr, at != plain.end());
        ASSERT_TRUE(value == nullptr || *value == at->second);
      }
      ASSERT_EQ(map.size(), plain.size());
    }
  }
}

TEST(LineMap, AnyLineIsAKey) {
  LineMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  map.erase(0);
  map.try_emplace(0, 1);
  map.try_emplace(~0u, 2);
  EXPECT_EQ(*map.find(0), 1);
  EXPECT_EQ(*map.find(~0u), 2);
}

TEST(LineMap, KeysMayHaveSixtyFourBits) {
  LineMap<int, std::uint64_t> map;
  const auto key = [](std::uint64_t k) { return k << 40 | 7; };  // they differ in high bits only
  for (int k = 0; k < 1000; ++k) *map.try_emplace(key(static_cast<std::uint64_t>(k))).first = k;
  EXPECT_EQ(map.size(), 1000u);
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(*map.find(key(static_cast<std::uint64_t>(k))), k);
  EXPECT_EQ(map.find(8), nullptr);
  map.erase(key(5));
  EXPECT_EQ(map.find(key(5)), nullptr);
  EXPECT_EQ(map.size(), 999u);
}

}  // namespace
}  // namespace raddle::analysis::line_map_test

// Which launch may go when, without a machine: jobs end when the test says so.
#include "raddle/timing/gpu/launch_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"

namespace raddle::timing::launch_trees_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

trace::DeviceOrigin child(std::uint32_t parent, std::uint32_t call,
                          std::vector<std::uint32_t> after = {}, bool tail = false) {
  trace::DeviceOrigin origin;
  origin.parent = parent;
  origin.call = call;
  origin.after = std::move(after);
  origin.tail = tail;
  return origin;
}

std::vector<std::pair<std::uint32_t, Cycle>> ready(LaunchTrees& trees) {
  std::vector<std::pair<std::uint32_t, Cycle>> out;
  for (const auto& r : trees.ready()) out.emplace_back(r.job, r.at);
  trees.ready().clear();
  return out;
}
std::vector<std::pair<std::uint32_t, Cycle>> complete(LaunchTrees& trees) {
  std::vector<std::pair<std::uint32_t, Cycle>> out;
  for (const auto& c : trees.complete()) out.emplace_back(c.job, c.at);
  trees.complete().clear();
  return out;
}

TEST(LaunchTrees, AChildGoesWhenItsLaunchHasIssued) {
  LaunchTrees trees;
  trees.add(10, std::vector{trace::DeviceOrigin{}, child(0, 0), child(0, 1)});
  EXPECT_TRUE(trees.has(12));
  EXPECT_FALSE(trees.has(13));
  EXPECT_THAT(ready(trees), IsEmpty());
  trees.launched({10, 0, 0, 2, 3, 100});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(11, 100), Pair(12, 100)));
  EXPECT_EQ(trees.parent(12).sm, 3u);
  EXPECT_EQ(trees.parent(12).job, 10u);
  trees.ended(10, 150);
  trees.ended(12, 400);
  EXPECT_THAT(complete(trees), IsEmpty());
  trees.ended(11, 300);
  EXPECT_THAT(complete(trees), ElementsAre(Pair(10, 400)));
  EXPECT_TRUE(trees.empty());
}

TEST(LaunchTrees, AWarpsChildrenGoInOrderOfItsCalls) {
  LaunchTrees trees;  // numbers in the tree differ from the calls: 1 was called last
  trees.add(0, std::vector{trace::DeviceOrigin{}, child(0, 2), child(0, 0), child(0, 1)});
  trees.launched({0, 0, 0, 1, 0, 5});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(2, 5)));
  trees.launched({0, 0, 0, 2, 0, 6});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(3, 6), Pair(1, 6)));
}

TEST(LaunchTrees, WhatComesAfterWaitsForDescendantsToo) {
  LaunchTrees trees;  // 0 -> 1 -> 2, and 3 after 1
  trees.add(0, std::vector{trace::DeviceOrigin{}, child(0, 0), child(1, 0), child(0, 1, {1})});
  trees.launched({0, 0, 0, 2, 0, 5});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(1, 5)));
  trees.launched({1, 0, 0, 1, 0, 20});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(2, 20)));
  trees.ended(1, 30);
  EXPECT_THAT(ready(trees), IsEmpty());
  trees.ended(2, 50);
  EXPECT_THAT(ready(trees), ElementsAre(Pair(3, 50)));
}

TEST(LaunchTrees, TailsWaitForTheGridAndAllElse) {
  LaunchTrees trees;  // 1 ordinary, 2 and 3 tails
  trees.add(0, std::vector{trace::DeviceOrigin{}, child(0, 1), child(0, 0, {}, true),
                           child(0, 2, {2}, true)});
  trees.launched({0, 0, 0, 3, 0, 5});
  EXPECT_THAT(ready(trees), ElementsAre(Pair(1, 5)));
  trees.ended(1, 40);
  EXPECT_THAT(ready(trees), IsEmpty());
  trees.ended(0, 30);
  EXPECT_THAT(ready(trees), ElementsAre(Pair(2, 40)));
  trees.ended(2, 60);
  EXPECT_THAT(ready(trees), ElementsAre(Pair(3, 60)));
  trees.ended(3, 70);
  EXPECT_THAT(complete(trees), ElementsAre(Pair(0, 70)));
}

TEST(LaunchTrees, ALongChainOfTailsNeedsNoStack) {
  LaunchTrees trees;
  constexpr std::uint32_t kLong = 20000;
  std::vector<trace::DeviceOrigin> origins(1);
  for (std::uint32_t i = 0; i < kLong; ++i) origins.push_back(child(i, 0, {}, true));
  trees.add(0, origins);
  for (std::uint32_t i = 0; i < kLong; ++i) {
    trees.launched({i, 0, 0, 1, 0, i});
    trees.ended(i, i + 1);
    ASSERT_EQ(ready(trees).size(), 1u);
  }
  trees.ended(kLong, kLong + 9);
  EXPECT_THAT(complete(trees), ElementsAre(Pair(0, kLong + 9)));
}

TEST(LaunchTrees, OpStreamsThatDoNotFitAreRefused) {
  LaunchTrees trees;
  trees.add(0, std::vector{trace::DeviceOrigin{}, child(0, 0)});
  EXPECT_THROW(trees.launched({0, 1, 0, 1, 0, 5}), RunError);  // another block
  EXPECT_THROW(trees.launched({0, 0, 0, 2, 0, 5}), RunError);  // too many
  EXPECT_THROW(trees.ended(0, 9), RunError);                   // too few
}

}  // namespace
}  // namespace raddle::timing::launch_trees_test

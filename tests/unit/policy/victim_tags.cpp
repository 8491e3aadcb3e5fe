// The victim tag array beyond the paper's example (tests/worked): replacement, refreshing, removal,
// and against a list of lists.
#include "raddle/policy/throttle/victim_tags.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <tuple>

#include "raddle/base/rng.h"

namespace raddle::policy::victim_tags_test {
namespace {

TEST(VictimTags, ATagThatIsInsertedAgainBecomesTheNewest) {
  VictimTags tags(1, 2, 2);
  tags.insert(0, 1);
  tags.insert(0, 2);
  tags.insert(0, 1);
  tags.insert(0, 3);
  EXPECT_TRUE(tags.holds(0, 1));
  EXPECT_FALSE(tags.holds(0, 2)) << "the oldest";
  EXPECT_TRUE(tags.holds(0, 3));
}

TEST(VictimTags, ATagThatIsFoundStaysAndGrowsNoYounger) {
  VictimTags tags(1, 2, 2);
  tags.insert(0, 1);
  tags.insert(0, 2);
  EXPECT_TRUE(tags.holds(0, 1));
  EXPECT_TRUE(tags.holds(0, 1)) << "kept after a hit";
  tags.insert(0, 3);
  EXPECT_FALSE(tags.holds(0, 1)) << "first in, first out";
}

TEST(VictimTags, AStoreRemovesTheTagOfEveryWarpAndNoOther) {
  VictimTags tags(4, 4, 4);
  for (unsigned w = 0; w < 4; ++w)
    for (std::uint32_t line : {7u, 8u, 9u}) tags.insert(w, line);
  tags.remove(8);
  tags.remove(100);
  for (unsigned w = 0; w < 4; ++w) {
    EXPECT_TRUE(tags.holds(w, 7) && tags.holds(w, 9)) << w;
    EXPECT_FALSE(tags.holds(w, 8)) << w;
  }
  tags.insert(2, 10);
  tags.insert(2, 11);
  EXPECT_TRUE(tags.holds(2, 7)) << "the place of 8 was free";
  tags.insert(2, 12);
  EXPECT_FALSE(tags.holds(2, 7)) << "order is kept around what was removed";
}

TEST(VictimTags, ClearForgetsEverything) {
  VictimTags tags(2, 8, 8);
  tags.insert(0, 0);
  tags.insert(1, 5);
  tags.clear();
  EXPECT_FALSE(tags.holds(0, 0) || tags.holds(1, 5));
}

TEST(VictimTags, EmptyPlacesHoldNoLine) {
  VictimTags tags(2, 16, 8);
  for (std::uint32_t line : {0u, 1u, ~0u}) EXPECT_FALSE(tags.holds(1, line)) << line;
}

/// (entries, ways)
class VictimTagShapes : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(OfFigure13, VictimTagShapes,
                         testing::Values(std::pair{1, 1}, std::pair{2, 2}, std::pair{4, 4},
                                         std::pair{8, 8}, std::pair{16, 8}, std::pair{32, 8},
                                         std::pair{512, 8}, std::pair{24, 8}, std::pair{12, 3}));

TEST_P(VictimTagShapes, DoAsQueuesWould) {
  constexpr unsigned kWarps = 5;
  const auto [entries, ways] = GetParam();
  VictimTags tags(kWarps, entries, ways);
  std::map<std::pair<unsigned, std::uint32_t>, std::deque<std::uint32_t>> queues;  // warp, set
  Rng rng(entries);
  for (unsigned i = 0; i < 20'000; ++i) {
    const unsigned w = rng.below(kWarps);
    const std::uint32_t line = rng.below(3 * entries + 2), set = line % (entries / ways);
    auto& queue = queues[{w, set}];
    ASSERT_EQ(tags.holds(w, line), std::ranges::find(queue, line) != queue.end()) << i;
    if (rng.below(8) == 0) {
      tags.remove(line);
      for (unsigned other = 0; other < kWarps; ++other) std::erase(queues[{other, set}], line);
    } else if (rng.below(3) != 0) {
      tags.insert(w, line);
      std::erase(queue, line);
      queue.push_back(line);
      if (queue.size() > ways) queue.pop_front();
    }
  }
}

}  // namespace
}  // namespace raddle::policy::victim_tags_test

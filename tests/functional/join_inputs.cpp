// join's keys, and the plan of which rows meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "join/relations.h"

namespace raddle::workloads::join_inputs_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

double share_of_most_frequent(const std::vector<std::uint32_t>& keys) {
  std::map<std::uint32_t, int> counts;
  for (const std::uint32_t key : keys) ++counts[key];
  int maximum = 0;
  for (const auto& [key, count] : counts) maximum = std::max(maximum, count);
  return maximum / static_cast<double>(keys.size());
}

TEST(Relations, UniformKeysAreAlikeAndGaussianOnesPeaked) {
  Rng rng(1, "test");
  const auto uniform = sorted_keys(KeyKind::Uniform, 65'536, 1024, rng);
  const auto gaussian = sorted_keys(KeyKind::Gaussian, 65'536, 1024, rng);
  for (const auto& keys : {uniform, gaussian}) {
    EXPECT_TRUE(std::ranges::is_sorted(keys));
    EXPECT_THAT(keys, Each(::testing::Lt(1024u)));
  }
  EXPECT_LT(share_of_most_frequent(uniform), 2.0 / 1024);
  // A deviation of an eighth: 0.4 / (1,024 / 8) in the middle.
  EXPECT_NEAR(share_of_most_frequent(gaussian), 0.4 / 128, 0.1 / 128);
}

TEST(Relations, ThePlanHasEveryPairOnce) {
  Rng rng(2, "test");
  const auto left = sorted_keys(KeyKind::Gaussian, 333, 7, rng);
  const auto right = sorted_keys(KeyKind::Uniform, 100, 7, rng);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  const JoinPlan plan = plan_join(left, right, 5, 32);
  for (const JoinMatch& match : plan.matches)
    for (std::uint32_t i = 0; i < match.count; ++i) {
      EXPECT_EQ(left[match.left_first + i], right[match.right]);
      EXPECT_TRUE(pairs.emplace(match.left_first + i, match.right).second);
    }
  std::uint64_t expected = 0;
  for (const std::uint32_t l : left) expected += std::ranges::count(right, l);
  EXPECT_EQ(plan.pairs, expected);
  EXPECT_THAT(plan.first_part, ElementsAre(0, 3, 6, 9, 12, 15));  // 66 or 67 rows are 32, 32, rest
  EXPECT_EQ(pairs.size(), expected);
}

std::uint64_t launches(std::uint32_t rows, std::uint32_t keys, std::uint32_t partitions,
                       std::uint32_t block, std::uint32_t threshold) {
  Rng rng(1, "join/keys");
  const auto left = sorted_keys(KeyKind::Uniform, rows, keys, rng);
  const auto right = sorted_keys(KeyKind::Uniform, rows, keys, rng);
  std::uint64_t sum = 0;
  for (const JoinMatch& match : plan_join(left, right, partitions, block).matches)
    sum += match.count >= threshold;
  return sum;
}

// What the public program's formulas give for its own input with the settings of a K40c, and for
// two smaller ones with those of a K20c.
TEST(Relations, LaunchAsOftenAsThePublicProgram) {
  EXPECT_NEAR(static_cast<double>(launches(204'800, 1024, 240, 128, 128)), 106'056, 0.02 * 106'056);
  EXPECT_NEAR(static_cast<double>(launches(65'536, 1024, 104, 256, 32)), 65'871, 0.02 * 65'871);
  EXPECT_NEAR(static_cast<double>(launches(16'384, 256, 104, 256, 32)), 16'539, 0.02 * 16'539);
}

}  // namespace
}  // namespace raddle::workloads::join_inputs_test

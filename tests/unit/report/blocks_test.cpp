#include "raddle/report/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace raddle::report::blocks_test {
namespace {

using timing::BlockSpan;

/// Neighbours in a lane, in order, never overlap.
void expect_no_overlap(const std::vector<Bar>& bars) {
  for (std::size_t i = 1; i < bars.size(); ++i) {
    if (bars[i].sm != bars[i - 1].sm || bars[i].lane != bars[i - 1].lane) continue;
    EXPECT_LE(bars[i - 1].end, bars[i].start) << "bar " << i;
  }
}

std::vector<BlockSpan> random_blocks(unsigned seed, std::uint32_t count) {
  std::mt19937 random(seed);
  std::vector<BlockSpan> blocks;
  for (std::uint32_t b = 0; b < count; ++b) {
    const Cycle start = random() % 10'000;
    blocks.push_back(
        {b % 3, b, static_cast<std::uint32_t>(random() % 5), start, start + random() % 900});
  }
  return blocks;
}

std::size_t max_at_once(const std::vector<BlockSpan>& blocks, std::uint32_t sm) {
  std::size_t maximum = 0;
  for (const BlockSpan& at : blocks) {
    if (at.sm != sm || at.start == at.end) continue;
    const auto holds = [&](const BlockSpan& b) {
      return b.sm == sm && b.start <= at.start && at.start < b.end;
    };
    maximum = std::max<std::size_t>(maximum, std::count_if(blocks.begin(), blocks.end(), holds));
  }
  return maximum;
}

TEST(Bars, BlocksAtOneTimeGetLanesAndLanesAreReused) {
  const std::vector<BlockSpan> blocks = {
      {0, 0, 0, 0, 10}, {0, 1, 0, 5, 20}, {0, 2, 0, 10, 30}, {0, 3, 1, 0, 50}};
  const std::vector<Bar> bars = bars_in_lanes(blocks);
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_EQ(bars[0].first_block, 0u);
  EXPECT_EQ(bars[1].first_block, 2u);
  EXPECT_EQ(bars[1].lane, 0u);
  EXPECT_EQ(bars[2].first_block, 1u);
  EXPECT_EQ(bars[2].lane, 1u);
  EXPECT_EQ(bars[3].sm, 1u);
  EXPECT_EQ(bars[3].lane, 0u);
}

TEST(Bars, NeverOverlapAndNeedNoMoreLanesThanBlocksAtOnce) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::vector<BlockSpan> blocks = random_blocks(seed, 400);
    std::erase_if(blocks, [](const BlockSpan& b) { return b.start == b.end; });
    const std::vector<Bar> bars = bars_in_lanes(blocks);
    ASSERT_EQ(bars.size(), blocks.size());
    expect_no_overlap(bars);
    std::map<std::uint32_t, std::size_t> lanes;
    for (const Bar& bar : bars) lanes[bar.sm] = std::max<std::size_t>(lanes[bar.sm], bar.lane + 1);
    for (const auto& [sm, n] : lanes) EXPECT_EQ(n, max_at_once(blocks, sm)) << "seed " << seed;
  }
}

TEST(Bars, OrderOfTheInputDoesNotMatter) {
  std::vector<BlockSpan> blocks = random_blocks(7, 300);
  const std::vector<Bar> once = bars_in_lanes(blocks);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  const std::vector<Bar> again = bars_in_lanes(blocks);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i)
    EXPECT_EQ(once[i].first_block, again[i].first_block);
}

TEST(BarChart, FewBlocksStayAsTheyAre) {
  const BarChart chart = bar_chart(random_blocks(1, 100), 100);
  EXPECT_EQ(chart.bars.size(), 100u);
  EXPECT_EQ(chart.merged, 1u);
  EXPECT_EQ(chart.until, kNever);
}

TEST(BarChart, NothingGivesNothing) {
  const BarChart chart = bar_chart({}, 10);
  EXPECT_TRUE(chart.bars.empty());
  EXPECT_EQ(chart.blocks, 0u);
  EXPECT_EQ(chart.until, kNever);
}

TEST(BarChart, MergingKeepsEveryBlockAndNeverCrossesLaunches) {
  std::vector<BlockSpan> blocks;
  for (std::uint32_t b = 0; b < 1'000; ++b)
    blocks.push_back({b / 500, b % 500, b % 2, 10 * (b / 2), 10 * (b / 2) + 10});
  const BarChart chart = bar_chart(blocks, 300);
  EXPECT_LE(chart.bars.size(), 300u);
  EXPECT_EQ(chart.merged, 4u);
  EXPECT_EQ(chart.until, kNever);
  expect_no_overlap(chart.bars);
  std::uint32_t count = 0;
  for (const Bar& bar : chart.bars) {
    count += bar.count;
    EXPECT_EQ(bar.end - bar.start, 10u * bar.count);
    EXPECT_EQ(bar.last_block, bar.first_block + 2 * (bar.count - 1));
  }
  EXPECT_EQ(count, 1'000u);
}

TEST(BarChart, WhereMergingDoesNotHelpTheBeginningIsKept) {
  std::vector<BlockSpan> blocks;
  for (std::uint32_t b = 0; b < 100; ++b) blocks.push_back({b, 0, 0, 10 * b, 10 * b + 10});
  const BarChart chart = bar_chart(blocks, 40);
  ASSERT_EQ(chart.bars.size(), 40u);
  EXPECT_EQ(chart.blocks, 100u);
  EXPECT_EQ(chart.until, 400u);
  EXPECT_EQ(chart.merged, 1u);
  for (const Bar& bar : chart.bars) EXPECT_LT(bar.start, chart.until);
}

}  // namespace
}  // namespace raddle::report::blocks_test

// When no block is on any SM, and what of two sets of intervals is common.
#include "raddle/timing/gpu/empty_times.h"

#include <gmock/gmock.h>

namespace raddle::timing::empty_times_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BlockSpan block(Cycle start) { return {0, 0, 0, start, kNever}; }

TEST(EmptyTimes, BeforeTheFirstBlockAllIsEmpty) {
  const EmptyTimes none;
  EXPECT_THAT(none.until({}, 0), IsEmpty());
  EXPECT_THAT(none.until({}, 50), ElementsAre(Interval{0, 50}));
  const std::vector<BlockSpan> blocks = {block(20)};
  EXPECT_THAT(none.until(blocks, 10), ElementsAre(Interval{0, 10}));
  EXPECT_THAT(none.until(blocks, 90), ElementsAre(Interval{0, 20}));
}

TEST(EmptyTimes, BlocksThatOverlapLeaveNothingEmptyBetweenThem) {
  EmptyTimes times;
  std::vector<BlockSpan> blocks = {block(10), block(15)};
  times.ended(blocks, 30);
  EXPECT_THAT(times.until(blocks, 40), ElementsAre(Interval{0, 10}));
  times.ended(blocks, 50);
  EXPECT_THAT(times.until(blocks, 60), ElementsAre(Interval{0, 10}, Interval{51, 60}));
  blocks.push_back(block(70));
  EXPECT_THAT(times.until(blocks, 80), ElementsAre(Interval{0, 10}, Interval{51, 70}));
}

// The dispatcher hears of an end late: meanwhile it has sent another block.
TEST(EmptyTimes, AnEndHeardOfLateIsAtItsTime) {
  EmptyTimes times;
  const std::vector<BlockSpan> blocks = {block(10), block(130)};
  times.ended(blocks, 100);
  EXPECT_THAT(times.until(blocks, 200), ElementsAre(Interval{0, 10}, Interval{101, 130}));
  EXPECT_THAT(times.until(blocks, 120), ElementsAre(Interval{0, 10}, Interval{101, 120}));
}

TEST(EmptyTimes, ABlockThatStartsWhereTheLastEndsLeavesNoGap) {
  EmptyTimes times;
  const std::vector<BlockSpan> blocks = {block(0), block(9), block(10)};
  times.ended(blocks, 9);
  times.ended(blocks, 9);
  times.ended(blocks, 12);
  EXPECT_THAT(times.until(blocks, 20), ElementsAre(Interval{13, 20}));
}

TEST(CommonTimes, HoldEachCycleOnce) {
  const std::vector<Interval> empty = {{0, 10}, {20, 30}, {50, 60}};
  EXPECT_THAT(common_times(empty, {}), IsEmpty());
  EXPECT_THAT(common_times({}, {{0, 10}}), IsEmpty());
  EXPECT_THAT(common_times(empty, {{5, 25}}), ElementsAre(Interval{5, 10}, Interval{20, 25}));
  EXPECT_THAT(common_times(empty, {{5, 25}, {8, 22}, {0, 6}}),
              ElementsAre(Interval{0, 6}, Interval{6, 10}, Interval{20, 25}));
  EXPECT_THAT(common_times(empty, {{55, 100}, {0, 100}}),
              ElementsAre(Interval{0, 10}, Interval{20, 30}, Interval{50, 60}))
      << "in any order";
  EXPECT_THAT(common_times(empty, {{10, 20}, {30, 50}}), IsEmpty());
  EXPECT_THAT(common_times(empty, {{5, 5}, {9, 3}}), IsEmpty()) << "nothing";
}

}  // namespace
}  // namespace raddle::timing::empty_times_test

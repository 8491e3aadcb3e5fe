// The map of blocks to SMs.
#include "raddle/report/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/report/report.h"
#include "samples.h"

namespace raddle::report::placement_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using timing::BlockSpan;

TEST(Placement, TellsSmOrderAndFinishOfEachLaunch) {
  // Launch 1 ran before launch 0's last block was over; its block 1 was stolen by SM 2.
  const std::vector<BlockSpan> blocks = {{0, 0, 0, 0, 10},        {0, 1, 1, 0, 30},
                                         {0, 2, 0, 5, 20},        {0, 3, 0, 12, 15},
                                         {1, 1, 2, 25, 40, true}, {1, 0, 0, 21, 33}};
  const auto all = placement(blocks, 100);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].launch, 0u);
  EXPECT_THAT(all[0].sm, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(all[0].order, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(all[0].stolen, IsEmpty());
  EXPECT_THAT(all[0].finish, ElementsAre(20, 30));
  EXPECT_THAT(all[1].sm, ElementsAre(0, 2));
  EXPECT_THAT(all[1].stolen, ElementsAre(1));
  EXPECT_THAT(all[1].finish, ElementsAre(33, kNever, 40));
}

TEST(Placement, OrderOfASmIsThatOfItsStartsAndThenOfBlocks) {
  const std::vector<BlockSpan> blocks = {
      {0, 2, 0, 7, 9}, {0, 1, 0, 3, 9}, {0, 0, 0, 7, 9}, {0, 3, 1, 0, 9}};
  EXPECT_THAT(placement(blocks, 100)[0].order, ElementsAre(1, 0, 2, 0));
}

TEST(Placement, BlocksThatWereNotSeenHaveNoSm) {
  const std::vector<BlockSpan> blocks = {{0, 2, 1, 0, 9}};
  EXPECT_THAT(placement(blocks, 100)[0].sm, ElementsAre(kNoSm, kNoSm, 1));
}

TEST(Placement, KeepsWholeLaunchesWithinTheLimit) {
  std::vector<BlockSpan> blocks;
  for (std::uint32_t launch = 0; launch < 5; ++launch)
    for (std::uint32_t b = 0; b < 10; ++b) blocks.push_back({launch, b, b % 2, 100 * launch, 100});
  EXPECT_EQ(placement(blocks, 1000).size(), 5u);
  EXPECT_EQ(placement(blocks, 36).size(), 3u) << "ten blocks and two SMs each";
  EXPECT_EQ(placement(blocks, 35).size(), 2u);
  EXPECT_THAT(placement(blocks, 11), IsEmpty());
  EXPECT_THAT(placement({}, 11), IsEmpty());
}

TEST(Placement, IsOnThePage) {
  const sim::Result result = small_result();
  const nlohmann::ordered_json page = data({"", "", {{"gto", &result}}});
  const auto& map = page["runs"][0]["placement"];
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map[0].dump(),
            R"({"launch":0,"sm":[0,0,1,1],"order":[0,1,0,1],"stolen":[],"finish":[140,140]})");
}

}  // namespace
}  // namespace raddle::report::placement_test

// The account of an SM's resources.
#include "raddle/timing/code/occupancy.h"

#include <gtest/gtest.h>

#include <vector>

#include "raddle/base/rng.h"

namespace raddle::timing::occupancy_test {
namespace {

SmSpec sm_of(std::uint32_t blocks) {
  SmSpec sm;
  sm.blocks = blocks;
  sm.threads = 1024;
  sm.warps = 32;
  sm.registers = 32768;
  sm.shared_kib = 48;
  return sm;
}
constexpr BlockNeeds kBlock = {256, 8, 4096, 12 * 1024};

TEST(Occupancy, EachResourceLimitsByItself) {
  auto fit = [](const SmSpec& sm, const BlockNeeds& needs) {
    Occupancy occupancy(sm);
    unsigned blocks = 0;
    for (; occupancy.fits(needs); ++blocks) occupancy.reserve(needs);
    return blocks;
  };
  EXPECT_EQ(fit(sm_of(3), kBlock), 3u) << "block slots";
  EXPECT_EQ(fit(sm_of(64), {512, 8, 4096, 0}), 2u) << "threads";
  EXPECT_EQ(fit(sm_of(64), {1, 11, 4096, 0}), 2u) << "warps";
  EXPECT_EQ(fit(sm_of(64), {1, 1, 10000, 0}), 3u) << "registers";
  EXPECT_EQ(fit(sm_of(64), {1, 1, 1, 10 * 1024}), 4u) << "shared memory";
  EXPECT_EQ(fit(sm_of(64), {}), 64u) << "a block takes a slot whatever else it needs";
}

TEST(Occupancy, TheLowestFreeSlotIsTaken) {
  Occupancy occupancy(sm_of(4));
  EXPECT_EQ(occupancy.reserve({}), 0u);
  EXPECT_EQ(occupancy.reserve({}), 1u);
  EXPECT_EQ(occupancy.reserve({}), 2u);
  occupancy.release(1);
  occupancy.release(0);
  EXPECT_FALSE(occupancy.holds(0));
  EXPECT_TRUE(occupancy.holds(2));
  EXPECT_FALSE(occupancy.holds(4)) << "no such slot";
  EXPECT_EQ(occupancy.free_blocks(), 3u);
  EXPECT_EQ(occupancy.reserve({}), 0u);
  EXPECT_EQ(occupancy.reserve({}), 1u);
}

TEST(Occupancy, WhatIsBesideTheBlocksTakesNoSlot) {
  Occupancy occupancy(sm_of(1));
  occupancy.reserve(kBlock);
  const BlockNeeds warp = {32, 1, 512, 0};
  EXPECT_FALSE(occupancy.fits(warp));
  ASSERT_TRUE(occupancy.fits_beside(warp));
  occupancy.reserve_beside(warp);
  EXPECT_EQ(occupancy.free(), (BlockNeeds{736, 23, 28160, 36 * 1024}));
  occupancy.release(0);
  occupancy.release_beside(warp);
  EXPECT_EQ(occupancy.free(), (BlockNeeds{1024, 32, 32768, 48 * 1024}));
}

TEST(Occupancy, WhateverComesAndGoesAllIsFreeInTheEnd) {
  Rng rng(5, "occupancy");
  Occupancy occupancy(sm_of(16));
  const BlockNeeds all = occupancy.free();
  std::vector<unsigned> resident;
  for (unsigned step = 0; step < 5000; ++step) {
    const BlockNeeds needs = {1 + rng.below(300), 1 + rng.below(9), rng.below(6000),
                              rng.below(16384)};
    if (occupancy.fits(needs)) {
      resident.push_back(occupancy.reserve(needs));
    } else if (!resident.empty()) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(resident.size()));
      occupancy.release(resident[at]);
      resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(at));
    }
    EXPECT_EQ(occupancy.free_blocks(), 16 - resident.size());
  }
  for (const unsigned slot : resident) occupancy.release(slot);
  EXPECT_EQ(occupancy.free(), all);
}

TEST(OccupancyDeath, WhatWasNotReservedCannotBeReleased) {
  Occupancy occupancy(sm_of(2));
  EXPECT_DEATH(occupancy.release(1), "holds");
  EXPECT_DEATH(occupancy.release_beside({1, 0, 0, 0}), "threads");
  occupancy.reserve(kBlock);
  EXPECT_DEATH(occupancy.reserve({1024, 32, 1, 1}), "fits");
}

}  // namespace
}  // namespace raddle::timing::occupancy_test

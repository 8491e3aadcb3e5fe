// bcs on examples worked out by hand from the rules that docs/mechanisms/more_schedulers.md states.
#include <gtest/gtest.h>

#include <vector>

#include "support/settings.h"

namespace raddle::policy::bcs_test {
namespace {

using Pairs = std::vector<std::pair<unsigned, std::uint32_t>>;  ///< (SM, block)

class Gpu {
 public:
  Gpu(unsigned sms, std::uint32_t fit, std::uint32_t blocks, const test::Settings& settings = {})
      : fit_(fit), resident_(sms) {
    policy_ = test::choose(all_policies().block, "bcs", settings)->make({sms, 1});
    policy_->on_launch({0, "kernel", {blocks}, blocks, 0, {}, fit});
  }
  /// One block a cycle, for as long as the policy gives one.
  Pairs fill() {
    Pairs out;
    for (;;) {
      SmSet room;
      for (unsigned sm = 0; sm < resident_.size(); ++sm)
        if (resident_[sm] < fit_) room.set(sm);
      if (!room.any()) return out;
      const auto choice = policy_->pick({room, ++now_});
      if (!choice) return out;
      EXPECT_TRUE(room.test(choice->sm));
      ++resident_[choice->sm];
      out.emplace_back(choice->sm, choice->block);
    }
  }
  /// `issued`: of the block; `others`: of those beside it.
  void done(unsigned sm, std::uint32_t block, std::uint64_t issued = 0, std::uint64_t others = 0) {
    if (policy_->wants_progress()) policy_->on_progress(sm, 0, {issued, others});
    policy_->on_block_done(sm, block, 0);
    --resident_[sm];
  }

 private:
  std::uint32_t fit_;
  std::vector<std::uint32_t> resident_;
  std::unique_ptr<BlockPolicy> policy_;
  Cycle now_ = 0;
};

TEST(Bcs, ConsecutiveBlocksGoToOneSm) {
  Gpu gpu(3, 4, 100);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 0},
                               {0, 1},
                               {1, 2},
                               {1, 3},
                               {2, 4},
                               {2, 5},
                               {0, 6},
                               {0, 7},
                               {1, 8},
                               {1, 9},
                               {2, 10},
                               {2, 11}}));
}

TEST(Bcs, WaitsForRoomForTwo) {
  Gpu gpu(2, 4, 100, {{"lazy", "false"}});
  gpu.fill();
  gpu.done(1, 2);
  EXPECT_EQ(gpu.fill(), Pairs{});
  gpu.done(0, 0);
  EXPECT_EQ(gpu.fill(), Pairs{}) << "each SM has room for one only";
  gpu.done(1, 7);
  EXPECT_EQ(gpu.fill(), (Pairs{{1, 8}, {1, 9}}));
}

TEST(Bcs, AnOddPlaceIsForASingleBlock) {
  Gpu gpu(1, 3, 100, {{"lazy", "false"}});
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 0}, {0, 1}, {0, 2}}));
  gpu.done(0, 1);
  EXPECT_EQ(gpu.fill(), Pairs{}) << "0's partner is gone, and 2 is in the odd place";
  gpu.done(0, 2);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 3}, {0, 4}}));
  gpu.done(0, 0);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 5}})) << "the odd place is free";
}

TEST(Bcs, TheLastBlockGoesAlone) {
  Gpu gpu(2, 4, 3);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 0}, {0, 1}, {1, 2}}));
}

// LCS: the first block has issued 100 instructions, the others 150 until then: 2.5 blocks' worth.
TEST(Bcs, AnSmHasNoMoreBlocksThanWereBusy) {
  Gpu gpu(1, 6, 100, {{"pairs", "false"}});
  EXPECT_EQ(gpu.fill().size(), 6u);
  gpu.done(0, 0, 100, 150);
  gpu.done(0, 1, 100, 0);
  gpu.done(0, 2, 100, 0);
  EXPECT_EQ(gpu.fill(), Pairs{}) << "three are left, the limit; later ends measure nothing";
  gpu.done(0, 3, 100, 0);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 6}}));
}

TEST(Bcs, OneBusyBlockLeavesOne) {
  Gpu gpu(1, 4, 100);
  gpu.fill();
  gpu.done(0, 0, 100, 0);
  for (std::uint32_t block : {1u, 2u}) gpu.done(0, block, 100, 0);
  EXPECT_EQ(gpu.fill(), Pairs{});
  gpu.done(0, 3, 100, 0);
  EXPECT_EQ(gpu.fill(), (Pairs{{0, 4}})) << "a limit of one takes single blocks";
}

TEST(Bcs, EachSmHasALimitOfItsOwn) {
  Gpu gpu(2, 4, 100);
  gpu.fill();
  gpu.done(0, 0, 100, 0);
  gpu.done(1, 2, 100, 300);
  gpu.done(0, 1);
  gpu.done(1, 3);
  EXPECT_EQ(gpu.fill(), (Pairs{{1, 8}, {1, 9}}));
}

}  // namespace
}  // namespace raddle::policy::bcs_test

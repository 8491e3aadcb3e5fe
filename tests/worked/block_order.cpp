// Block policies on examples: round robin and chunks by hand, U-I1 of docs/mechanisms/ikra.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "support/settings.h"

namespace raddle::policy::block_order_test {
namespace {

using Blocks = std::vector<std::uint32_t>;
using Pairs = std::vector<std::pair<unsigned, std::uint32_t>>;  ///< (SM, block)

struct Statistic final : test::NoFields {
  explicit Statistic(std::string_view wanted) : name(wanted) {}
  using NoFields::field;
  void field(std::string_view of, std::uint64_t& number, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    if (of == name) value = number;
  }
  std::string_view name;
  std::uint64_t value = ~std::uint64_t{0};
};

/// A GPU as far as block policies see it: who has room is what the test says.
class Gpu {
 public:
  Gpu(const std::string& policy, unsigned sms, const test::Settings& settings = {}) : sms_(sms) {
    BlockPolicy::Context context;
    context.sms = sms;
    policy_ = test::choose(all_policies().block, policy, settings)->make(context);
  }
  void launch(Dim3 grid) {
    policy_->on_launch({sequence_++, "kernel", grid, static_cast<std::uint32_t>(grid.count())});
  }
  /// One answer when these SMs have room; (~0, ~0) = nothing.
  std::pair<unsigned, std::uint32_t> pick(const std::vector<unsigned>& room) {
    SmSet set;
    for (unsigned sm : room) set.set(sm);
    const auto choice = policy_->pick({set, ++now_});
    return choice ? std::pair(choice->sm, choice->block) : std::pair(~0u, ~std::uint32_t{0});
  }
  /// Answers while these SMs have room for one block each and are then full.
  Pairs fill(std::vector<unsigned> room) {
    Pairs out;
    while (!room.empty()) {
      out.push_back(pick(room));
      std::erase(room, out.back().first);
    }
    return out;
  }
  /// All blocks an SM gets when it alone has room.
  Blocks drain(unsigned sm) {
    Blocks out;
    for (auto p = pick({sm}); p.first == sm; p = pick({sm})) out.push_back(p.second);
    return out;
  }
  void done(unsigned sm, std::uint32_t block) { policy_->on_block_done(sm, block, 0); }
  void end() { policy_->on_kernel_end(0); }
  std::uint64_t statistic(std::string_view name) {
    Statistic wanted(name);
    policy_->visit_statistics(wanted);
    return wanted.value;
  }
  unsigned blocks_per_cycle() const { return policy_->blocks_per_cycle(); }
  unsigned sms() const { return sms_; }

 private:
  unsigned sms_;
  std::unique_ptr<BlockPolicy> policy_;
  std::uint64_t sequence_ = 0;
  Cycle now_ = 0;
};

Blocks range(std::uint32_t from, std::uint32_t to) {
  Blocks out;
  for (; from <= to; ++from) out.push_back(from);
  return out;
}

TEST(RoundRobin, FillsCyclicallyOneBlockEach) {
  Gpu gpu("rr", 4);
  gpu.launch({12});
  EXPECT_EQ(gpu.fill({0, 1, 2, 3}), (Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(gpu.fill({0, 1, 2, 3}), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(gpu.blocks_per_cycle(), 1u);
}

TEST(RoundRobin, OnDemandInCyclicOrderFromTheTurn) {
  Gpu gpu("rr", 4);
  gpu.launch({12});
  EXPECT_EQ(gpu.pick({2}), std::pair(2u, 0u)) << "whoever has room gets the next block";
  EXPECT_EQ(gpu.fill({0, 1, 3}), (Pairs{{3, 1}, {0, 2}, {1, 3}})) << "the turn is after SM 2";
}

TEST(RoundRobin, TheTurnSurvivesTheLaunch) {
  Gpu gpu("rr", 4);
  gpu.launch({2});
  EXPECT_EQ(gpu.fill({0, 1}), (Pairs{{0, 0}, {1, 1}}));
  gpu.done(1, 1);
  gpu.done(0, 0);  // SM 0 finishes the last block
  gpu.end();
  gpu.launch({6});
  EXPECT_EQ(gpu.fill({0, 1, 2, 3}), (Pairs{{1, 0}, {2, 1}, {3, 2}, {0, 3}}));
  for (std::uint32_t block = 0; block < 3; ++block) gpu.done(block + 1, block);
  gpu.done(3, 5);
  gpu.end();
  gpu.launch({1});
  EXPECT_EQ(gpu.pick({0, 1, 2, 3}), std::pair(0u, 0u)) << "after SM 3 comes SM 0";
}

// U-I1: "6x4 grid, 4 CUs (T=24, 6 each)"
TEST(Chunk, UI1PieceByPiece) {
  Gpu gpu("chunk", 4);
  gpu.launch({6, 4});
  for (unsigned sm = 0; sm < 4; ++sm) EXPECT_EQ(gpu.drain(sm), range(6 * sm, 6 * sm + 5)) << sm;
  EXPECT_EQ(gpu.blocks_per_cycle(), 4u) << "decentralised: one per SM and cycle";
}

// U-I1: "25 TBs/4 CUs -> 0-6, 7-12, 13-18, 19-24"
TEST(Chunk, UI1TheFirstPiecesAreLonger) {
  Gpu gpu("chunk", 4);
  gpu.launch({25});
  EXPECT_EQ(gpu.drain(0), range(0, 6));
  EXPECT_EQ(gpu.drain(1), range(7, 12));
  EXPECT_EQ(gpu.drain(2), range(13, 18));
  EXPECT_EQ(gpu.drain(3), range(19, 24));
}

// U-I1: "66/15 -> six chunks of 5 then nine of 4", "391/15 -> 27 then 26s"
TEST(Chunk, UI1PaperGrids) {
  Gpu gpu("chunk", 15);
  gpu.launch({66});
  for (unsigned sm = 0; sm < 6; ++sm) EXPECT_EQ(gpu.drain(sm), range(5 * sm, 5 * sm + 4)) << sm;
  for (unsigned sm = 6; sm < 15; ++sm)
    EXPECT_EQ(gpu.drain(sm), range(30 + 4 * (sm - 6), 33 + 4 * (sm - 6))) << sm;
  Gpu other("chunk", 15);
  other.launch({391});
  EXPECT_EQ(other.drain(0), range(0, 26));
  for (unsigned sm = 1; sm < 15; ++sm) EXPECT_EQ(other.drain(sm).size(), 26u) << sm;
}

// U-I1: "3/4 -> 0, 1, 2, empty"
TEST(Chunk, UI1FewerBlocksThanSms) {
  Gpu gpu("chunk", 4);
  gpu.launch({3});
  EXPECT_EQ(gpu.drain(3), Blocks{});
  EXPECT_EQ(gpu.drain(0), Blocks{0});
  EXPECT_EQ(gpu.drain(1), Blocks{1});
  EXPECT_EQ(gpu.drain(2), Blocks{2});
}

// U-I1: "C with start CU 2 on 24/4: CU2 0-5, CU3 6-11, CU0 12-17, CU1 18-23"
TEST(Chunk, UI1StartsAfterTheSmThatFinishedLast) {
  Gpu gpu("chunk", 4);
  gpu.launch({1});
  gpu.drain(0);
  gpu.done(1, 0);  // as if SM 1 had run it
  gpu.end();
  gpu.launch({6, 4});
  EXPECT_EQ(gpu.drain(2), range(0, 5));
  EXPECT_EQ(gpu.drain(3), range(6, 11));
  EXPECT_EQ(gpu.drain(0), range(12, 17));
  EXPECT_EQ(gpu.drain(1), range(18, 23));
}

TEST(Chunk, AnSmThatIsDoneIdlesUntilTheKernelEnds) {
  Gpu gpu("chunk", 2);
  gpu.launch({4});
  EXPECT_EQ(gpu.drain(0), (Blocks{0, 1}));
  EXPECT_EQ(gpu.pick({0}).first, ~0u) << "blocks 2 and 3 are SM 1's";
  EXPECT_EQ(gpu.pick({0, 1}), std::pair(1u, 2u));
}

TEST(RoundRobin, ResetStartsAtTheFirstSm) {
  Gpu gpu("rr", 4, {{"reset", "true"}});
  for (int launch = 0; launch < 2; ++launch) {
    gpu.launch({2});
    EXPECT_EQ(gpu.fill({0, 1}), (Pairs{{0, 0}, {1, 1}}));
    gpu.done(0, 0);
    gpu.done(1, 1);
    gpu.end();
  }
}

// docs/mechanisms/ikra.md and 1.5: the vector of U-I1, in every launch at SM 0.
TEST(Reset, EveryLaunchGoesToTheSameSms) {
  Gpu gpu("reset", 4);
  for (int launch = 0; launch < 3; ++launch) {
    gpu.launch({6, 4});
    for (unsigned sm = 0; sm < 4; ++sm) EXPECT_EQ(gpu.drain(sm), range(6 * sm, 6 * sm + 5));
    gpu.done(1, 11);
    gpu.end();
  }
}

TEST(Flip, TheDirectionTurnsWithEveryLaunch) {
  Gpu gpu("flip", 4);
  for (const bool backwards : {false, true, false}) {
    gpu.launch({6, 4});
    Blocks expected = range(6, 11);
    if (backwards) std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(gpu.drain(1), expected);
    for (unsigned sm : {0u, 2u, 3u}) gpu.drain(sm);
    gpu.end();
  }
  gpu.launch({5, 4});
  EXPECT_EQ(gpu.drain(0), (Blocks{4, 3, 2, 1, 0})) << "also when the grid changes";
}

// docs/mechanisms/ikra.md: 12 blocks on 2 SMs in 3 chunks each are 0-1, 2-3, ... 10-11.
TEST(Chunk, SeveralPerSmAreTakenAsNeeded) {
  Gpu gpu("chunk", 2, {{"chunks_per_sm", "3"}});
  gpu.launch({12});
  EXPECT_EQ(gpu.pick({1}), std::pair(1u, 2u));
  EXPECT_EQ(gpu.drain(0), (Blocks{0, 1, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(gpu.drain(1), (Blocks{3}));
}

TEST(Reset, SeveralChunksGoWhereTheyWent) {
  Gpu gpu("reset", 2, {{"chunks_per_sm", "3"}});
  gpu.launch({12});
  gpu.pick({1});
  gpu.drain(0);
  gpu.drain(1);
  gpu.end();
  gpu.launch({12});
  EXPECT_EQ(gpu.drain(1), (Blocks{2, 3}));
  EXPECT_EQ(gpu.drain(0), (Blocks{0, 1, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Flip, SeveralChunksRunBackwardsFromTheLast) {
  Gpu gpu("flip", 2, {{"chunks_per_sm", "2"}});
  gpu.launch({8});
  gpu.drain(0);
  gpu.drain(1);
  gpu.end();
  gpu.launch({8});
  EXPECT_EQ(gpu.drain(0), (Blocks{7, 6, 5, 4, 1, 0})) << "it had taken 0-1, 4-5 and 6-7";
}

// U-I2 through the policy: SM 1 has begun 6, 7 and 8.
TEST(StealPolicy, AnSmWithoutWorkTakesTheEndOfANeighboursChunk) {
  Gpu gpu("steal", 4);
  EXPECT_EQ(gpu.blocks_per_cycle(), 4u);
  gpu.launch({6, 4});
  for (unsigned i = 0; i < 6; ++i) {
    gpu.pick({0});
    gpu.pick({3});
  }
  for (unsigned i = 0; i < 3; ++i) gpu.pick({1});
  EXPECT_EQ(gpu.pick({0}), std::pair(0u, 11u));
}

TEST(StealPolicy, AThiefWaitsForItsBlock) {
  Gpu gpu("steal", 2, {{"steal_cycles", "3"}});
  gpu.launch({4});
  EXPECT_EQ(gpu.pick({0}), std::pair(0u, 0u));
  EXPECT_EQ(gpu.pick({0}), std::pair(0u, 1u));
  EXPECT_EQ(gpu.pick({0}).first, ~0u) << "asks";
  EXPECT_EQ(gpu.pick({0}).first, ~0u);
  EXPECT_EQ(gpu.drain(1), (Blocks{2})) << "3 is gone";
  EXPECT_EQ(gpu.pick({0}), std::pair(0u, 3u));
}

TEST(StealPolicy, StatisticsCountTheftsAndWhatStayed) {
  Gpu gpu("steal", 2);
  gpu.launch({8});
  gpu.drain(0);  // its own four, then SM 1's from the end
  gpu.end();
  EXPECT_EQ(gpu.statistic("steals"), 4u);
  EXPECT_EQ(gpu.statistic("stayed"), 0u);
  EXPECT_EQ(gpu.statistic("imbalance"), 8u);
  gpu.launch({8});
  gpu.drain(0);
  gpu.end();
  EXPECT_EQ(gpu.statistic("steals"), 4u) << "they are its own now";
  EXPECT_EQ(gpu.statistic("stayed"), 8u);
}

}  // namespace
}  // namespace raddle::policy::block_order_test

// Reset, flip and steal (IKRA) on the examples U-I2 to U-I8 of docs/mechanisms/ikra.md, and the
// partition invariant under random loads.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "raddle/base/rng.h"
#include "raddle/policy/block/steal_board.h"

namespace raddle::policy::steal_test {
namespace {

using Blocks = std::vector<std::uint32_t>;
using Chunks = std::vector<Chunk>;
using WhenFull = StealBoard::WhenFull;

constexpr Grid kGrid{6, 4, 1};  // 24 blocks

Blocks range(std::uint32_t from, std::uint32_t to) {
  Blocks out(to - from + 1);
  std::iota(out.begin(), out.end(), from);
  return out;
}
Blocks queue(const StealBoard& board, unsigned sm) {
  return {board.queue(sm).begin(), board.queue(sm).end()};
}
Blocks drain(StealBoard& board, unsigned sm) {
  Blocks out;
  while (const auto block = board.own(sm)) out.push_back(*block);
  return out;
}
void drain_all(StealBoard& board, unsigned sms) {
  for (unsigned sm = 0; sm < sms; ++sm) drain(board, sm);
}

/// The state of figure 3: SM 0 has stolen block 11 of SM 1, everything has run.
StealBoard after_figure_3() {
  StealBoard board(4, 32, WhenFull::Reinitialise);
  board.launch(kGrid);
  drain(board, 0);
  drain(board, 3);
  for (unsigned i = 0; i < 3; ++i) board.own(1);
  board.steal(0);
  drain_all(board, 4);
  return board;
}

TEST(Steal, UI2TheRightNeighboursLastBlock) {
  StealBoard board(4, 32, WhenFull::Reinitialise);
  board.launch(kGrid);
  EXPECT_EQ(drain(board, 0), range(0, 5));
  drain(board, 3);
  for (std::uint32_t block = 6; block < 9; ++block) EXPECT_EQ(board.own(1), block);
  const auto theft = board.steal(0);
  ASSERT_TRUE(theft);
  EXPECT_EQ(theft->block, 11u);
  EXPECT_EQ(theft->victim, 1u);
  EXPECT_FALSE(theft->from_queue);
  EXPECT_EQ(board.chunks(1), Chunks({{6, 11}})) << "up to and with block 10";
  EXPECT_EQ(queue(board, 0), Blocks{11});
}

TEST(Steal, TheLeftNeighbourComesFirst) {
  StealBoard board(4, 32, WhenFull::Reinitialise);
  board.launch(kGrid);
  drain(board, 0);
  EXPECT_EQ(board.steal(0)->block, 23u) << "of SM 3";
}

TEST(Steal, UI3TheThiefKeepsTheBlock) {
  StealBoard board = after_figure_3();
  board.launch(kGrid);
  EXPECT_FALSE(board.dealt_anew());
  EXPECT_TRUE(board.descending());
  EXPECT_EQ(drain(board, 0), (Blocks{11, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(drain(board, 1), (Blocks{10, 9, 8, 7, 6}));
  drain_all(board, 4);
  EXPECT_EQ(board.left(), 0u);
  board.launch(kGrid);
  EXPECT_EQ(drain(board, 0), (Blocks{0, 1, 2, 3, 4, 5, 11}));
  EXPECT_EQ(drain(board, 1), range(6, 10));
}

TEST(Steal, UI4OfAVictimThatRunsBackwards) {
  StealBoard board(4, 32, WhenFull::Reinitialise);
  board.launch(kGrid);
  drain_all(board, 4);
  board.launch(kGrid);
  for (std::uint32_t block = 11; block > 8; --block) EXPECT_EQ(board.own(1), block);
  drain(board, 0);
  drain(board, 3);
  EXPECT_EQ(board.steal(0)->block, 6u);
  EXPECT_EQ(board.chunks(1), Chunks({{7, 12}}));
}

TEST(Steal, UI5QueuesBeforeChunks) {
  StealBoard board = after_figure_3();  // SM 0 has 11 in its queue
  board.launch(kGrid);
  drain(board, 2);
  const auto theft = board.steal(2);  // SM 1, its left neighbour, has its chunk
  ASSERT_TRUE(theft);
  EXPECT_EQ(theft->block, 11u);
  EXPECT_EQ(theft->victim, 0u);
  EXPECT_TRUE(theft->from_queue);
  EXPECT_EQ(queue(board, 0), Blocks{});
  EXPECT_EQ(queue(board, 2), Blocks{11});
}

TEST(Steal, OfAQueueTheOneItsOwnerWouldComeToLast) {
  for (const bool descending : {false, true}) {
    StealBoard board(2, 32, WhenFull::Reinitialise);
    board.launch({8, 1, 1});
    drain(board, 0);
    EXPECT_EQ(board.steal(0)->block, 7u);
    EXPECT_EQ(board.steal(0)->block, 6u);
    drain_all(board, 2);
    board.launch({8, 1, 1});
    if (!descending) {  // one more, so that it runs forwards
      drain_all(board, 2);
      board.launch({8, 1, 1});
    }
    ASSERT_EQ(board.descending(), descending);
    drain(board, 1);
    EXPECT_EQ(board.steal(1)->block, descending ? 7u : 6u);
  }
}

TEST(Steal, UI6AFullQueueDealsTheNextLaunchAnew) {
  StealBoard board(2, 32, WhenFull::Reinitialise);
  board.launch({100, 1, 1});
  drain(board, 0);
  for (int i = 0; i < 31; ++i) EXPECT_FALSE(board.steal(0)->filled);
  EXPECT_TRUE(board.steal(0)->filled);
  EXPECT_FALSE(board.steal(0)->filled) << "the 33rd runs, but is not recorded";
  EXPECT_EQ(board.queue(0).size(), 32u);
  drain_all(board, 2);
  board.launch({100, 1, 1});
  EXPECT_TRUE(board.dealt_anew());
  EXPECT_EQ(board.chunks(0), Chunks({{0, 50}}));
  EXPECT_EQ(board.chunks(1), Chunks({{50, 100}}));
  EXPECT_TRUE(board.queue(0).empty());
  EXPECT_TRUE(board.descending()) << "the direction turns all the same";
}

TEST(Steal, AFullQueueMayEndItsOwnersThefts) {
  StealBoard board(2, 2, WhenFull::Stop);
  board.launch({10, 1, 1});
  drain(board, 0);
  EXPECT_TRUE(board.steal(0) && board.steal(0));
  EXPECT_FALSE(board.may_steal(0));
  EXPECT_FALSE(board.steal(0));
  EXPECT_EQ(drain(board, 1), range(5, 7));
  board.launch({10, 1, 1});
  EXPECT_FALSE(board.dealt_anew());
  EXPECT_EQ(drain(board, 0), (Blocks{8, 9, 4, 3, 2, 1, 0}));
}

TEST(Steal, UI7AnotherGridIsDealtAnew) {
  StealBoard board = after_figure_3();
  board.launch({5, 4, 1});
  EXPECT_TRUE(board.dealt_anew());
  for (unsigned sm = 0; sm < 4; ++sm)
    EXPECT_EQ(board.chunks(sm), Chunks({{5 * sm, 5 * sm + 5}})) << sm;
  drain_all(board, 4);
  board.launch({4, 5, 1});
  EXPECT_TRUE(board.dealt_anew()) << "as many blocks, another shape";
}

TEST(Steal, WithoutQueuesNothingIsRemembered) {
  StealBoard board(2, 0, WhenFull::Reinitialise);
  for (int launch = 0; launch < 3; ++launch) {
    board.launch({6, 1, 1});
    EXPECT_TRUE(board.dealt_anew());
    drain(board, 0);
    EXPECT_TRUE(board.steal(0));
    EXPECT_TRUE(board.queue(0).empty());
    drain_all(board, 2);
  }
}

TEST(Steal, OneSmHasNobodyToStealFrom) {
  StealBoard board(1, 32, WhenFull::Reinitialise);
  board.launch({3, 1, 1});
  EXPECT_EQ(board.steal(0), std::nullopt);
  EXPECT_EQ(drain(board, 0), range(0, 2));
}

/// Each block of [0, blocks) belongs to one SM, to its chunk or its queue.
void expect_partition(const StealBoard& board, unsigned sms, std::uint32_t blocks) {
  std::vector<unsigned> owners(blocks);
  for (unsigned sm = 0; sm < sms; ++sm) {
    for (const Chunk& chunk : board.chunks(sm))
      for (std::uint32_t b = chunk.begin; b < chunk.end; ++b) ++owners[b];
    for (const std::uint32_t b : board.queue(sm)) ++owners[b];
  }
  EXPECT_EQ(std::ranges::count(owners, 1u), std::ptrdiff_t(blocks));
}

// U-I8: 10,000 launches of 345 blocks on 15 SMs of different speeds.
TEST(Steal, UI8OwnersPartitionTheGrid) {
  constexpr unsigned kSms = 15;
  constexpr std::uint32_t kBlocks = 345;
  StealBoard board(kSms, 32, WhenFull::Reinitialise);
  Rng rng(7, "steal");
  std::vector<unsigned> chance(kSms);
  std::uint64_t thefts = 0, overflows = 0;
  for (int launch = 0; launch < 10'000; ++launch) {
    if (launch % 16 == 0)
      for (unsigned& percent : chance) percent = 50 + rng.below(50);
    board.launch({kBlocks, 1, 1});
    expect_partition(board, kSms, kBlocks);
    std::vector<bool> run(kBlocks);
    bool overflow = false;
    while (board.left() != 0)
      for (unsigned sm = 0; sm < kSms; ++sm) {
        if (rng.below(100) >= chance[sm]) continue;  // still busy with its last block
        std::optional<std::uint32_t> block = board.own(sm);
        if (!block) {
          const auto theft = board.steal(sm);
          if (!theft) continue;
          block = theft->block;
          ++thefts;
          overflow |= theft->filled;
        }
        ASSERT_FALSE(run[*block]) << "block " << *block << " ran twice";
        run[*block] = true;
      }
    ASSERT_EQ(std::ranges::count(run, true), std::ptrdiff_t(kBlocks));
    if (overflow) ++overflows;
    else expect_partition(board, kSms, kBlocks);
  }
  EXPECT_GT(thefts, 10'000u) << "else nothing was tested";
  EXPECT_LT(overflows, 5'000u);
}

}  // namespace
}  // namespace raddle::policy::steal_test

// Extensions of IKRA's section 8 (docs/mechanisms/ikra.md): affine dependence between launches,
// history, nested kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/policy/all.h"
#include "raddle/policy/block/steal_board.h"
#include "raddle/policy/block_owners.h"
#include "support/settings.h"

namespace raddle::policy::relations_test {
namespace {

using Blocks = std::vector<std::uint32_t>;
using Chunks = std::vector<Chunk>;

Owners chunked(Grid grid, unsigned sms) {
  Owners out{grid, {}};
  for (unsigned i = 0; i < sms; ++i)
    out.sm.push_back({ChunkList(chunk_of(blocks_of(grid), sms, i)), {}});
  return out;
}
Chunks chunks(const Owners& owners, unsigned sm) { return owners.sm[sm].chunks.parts(); }
Relation relation(const char* text) { return read_relations(text).at(0); }

TEST(Relations, AreRead) {
  EXPECT_EQ(read_relations(""), std::vector<Relation>{});
  EXPECT_EQ(read_relations("inner 3 1 1 1;  row 2 -2 5 ;"),
            (std::vector<Relation>{{"inner", 3, 1, {1, 1, 0}}, {"row", 2, -2, {5, 0, 0}}}));
}

TEST(Relations, WrongOnesAreNamed) {
  const auto error = [](const char* text) {
    try {
      read_relations(text);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  using testing::HasSubstr;
  EXPECT_THAT(error("k 1 1"), HasSubstr("relation 'k 1 1': expected a whole number, found ''"));
  EXPECT_THAT(error("k one 1 0"), HasSubstr("found 'one'"));
  EXPECT_THAT(error("k 1 1 2x"), HasSubstr("found '2x'"));
  EXPECT_THAT(error("k 0 1 0"), HasSubstr("1 to 64 launches"));
  EXPECT_THAT(error("k 65 1 0"), HasSubstr("1 to 64 launches"));
  EXPECT_THAT(error("k 1 0 0"), HasSubstr("a must not be 0"));
  EXPECT_THAT(error("k 1 1 -1073741825"), HasSubstr("-1073741825 is beyond 2^30"));
  EXPECT_EQ(error("k 1 1073741824 -1073741824"), "no error");
  EXPECT_THAT(error("k 1 99999999999999999999 0"), HasSubstr("found '99999999999999999999'"));
  EXPECT_THAT(error("k 1 1 0 0 0 7"), HasSubstr("'7' is one too many"));
}

// The paper's example: block i depends on block i + 4. The SM that ran 6 to 11 of 24 owns 2 to 7.
TEST(Relations, ThePapersExample) {
  const auto owners = follow(chunked({24, 1, 1}, 4), relation("k 1 1 4"), {24, 1, 1});
  ASSERT_TRUE(owners);
  EXPECT_EQ(chunks(*owners, 0), Chunks({{0, 2}}));
  EXPECT_EQ(chunks(*owners, 1), Chunks({{2, 8}}));
  EXPECT_EQ(chunks(*owners, 2), Chunks({{8, 14}}));
  EXPECT_EQ(chunks(*owners, 3), Chunks({{14, 24}})) << "20 to 23 have no producer";
}

TEST(Relations, LowConsumersWithoutProducerGoToTheLowestMapped) {
  // Block i on i - 4: 0 to 3 have no producer, 4 has block 0.
  const auto owners = follow(chunked({24, 1, 1}, 4), relation("k 1 1 -4"), {24, 1, 1});
  ASSERT_TRUE(owners);
  EXPECT_EQ(chunks(*owners, 0), Chunks({{0, 10}}));
  EXPECT_EQ(chunks(*owners, 3), Chunks({{22, 24}}));
}

TEST(Relations, OfStepTwoAndBackwards) {
  // Consumers of [p, q] with i -> 2 i + 1: ceil((p - 1) / 2) to floor((q - 1) / 2).
  const auto twice = follow(chunked({24, 1, 1}, 4), relation("k 1 2 1"), {12, 1, 1});
  ASSERT_TRUE(twice);
  for (unsigned sm = 0; sm < 4; ++sm)
    EXPECT_EQ(chunks(*twice, sm), Chunks({{3 * sm, 3 * sm + 3}})) << sm;
  const auto back = follow(chunked({24, 1, 1}, 4), relation("k 1 -1 23"), {24, 1, 1});
  ASSERT_TRUE(back);
  for (unsigned sm = 0; sm < 4; ++sm)
    EXPECT_EQ(chunks(*back, sm), Chunks({{18 - 6 * sm, 24 - 6 * sm}})) << sm;
}

TEST(Relations, OfTwoDimensionsFollowTheGridsShape) {
  // LUD: block (x, y) of a grid of 3x3 on (x + 1, y + 1) of one of 4x4.
  const auto owners = follow(chunked({4, 4, 1}, 4), relation("k 3 1 1 1"), {3, 3, 1});
  ASSERT_TRUE(owners);
  EXPECT_EQ(chunks(*owners, 0), Chunks({}));
  for (unsigned sm = 1; sm < 4; ++sm)
    EXPECT_EQ(chunks(*owners, sm), Chunks({{3 * (sm - 1), 3 * sm}})) << sm;
}

TEST(Relations, StolenBlocksStayInTheThiefsQueueInOrder) {
  Owners owners = chunked({24, 1, 1}, 4);
  owners.sm[1].chunks = ChunkList({6, 10});
  owners.sm[0].queue = {11, 10, 2};
  owners.sm[0].chunks = ChunkList(std::vector<Chunk>{{0, 2}, {3, 6}});
  const auto mapped = follow(owners, relation("k 1 1 1"), {23, 1, 1});
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->sm[0].queue, (Blocks{10, 9, 1}));
  EXPECT_EQ(chunks(*mapped, 0), Chunks({{0, 1}, {2, 5}}));
  EXPECT_EQ(chunks(*mapped, 1), Chunks({{5, 9}}));
}

TEST(Relations, WithoutAnyProducerThereAreNoOwners) {
  EXPECT_FALSE(follow(chunked({8, 1, 1}, 4), relation("k 1 1 8"), {8, 1, 1}));
}

// 10,000 random cases: consumers are partitioned, and each is where its producer was.
TEST(Relations, OwnersPartitionTheConsumers) {
  Rng rng(3, "relations");
  unsigned followed = 0, queued = 0;
  for (int n = 0; n < 10'000; ++n) {
    const unsigned sms = 1 + rng.below(16);
    Owners owners = chunked({1 + rng.below(20), 1 + rng.below(6), 1 + rng.below(3)}, sms);
    for (unsigned steals = rng.below(10); steals != 0; --steals) {
      Holding& victim = owners.sm[rng.below(sms)];
      if (victim.chunks.empty()) continue;
      const bool first = rng.below(2) == 0;
      owners.sm[rng.below(sms)].queue.push_back(first ? victim.chunks.take_first()
                                                      : victim.chunks.take_last());
    }
    const auto small = [&] { return static_cast<std::int64_t>(rng.below(9)) - 4; };
    const std::int64_t factor = rng.below(2) == 0 ? 1 : small();
    const Relation relation{"k", 1, factor == 0 ? 1 : factor, {small(), small(), 0}};
    const Grid grid{1 + rng.below(20), 1 + rng.below(6), 1 + rng.below(3)};
    const auto mapped = follow(owners, relation, grid);
    std::vector<unsigned> owner_of(blocks_of(owners.grid)), seen(blocks_of(grid));
    for (unsigned sm = 0; sm < sms; ++sm) {
      for (const Chunk& chunk : chunks(owners, sm))
        for (std::uint32_t block = chunk.begin; block < chunk.end; ++block) owner_of[block] = sm;
      for (const std::uint32_t block : owners.sm[sm].queue) owner_of[block] = sm;
    }
    const auto check = [&](std::uint32_t block, unsigned sm) {
      ++seen[block];
      std::int64_t at[3] = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
      bool inside = true;
      for (unsigned i = 0; i < 3; ++i) {
        at[i] = relation.a * at[i] + relation.b[i];
        inside &= at[i] >= 0 && at[i] < owners.grid[i];
      }
      if (!inside) return;
      const std::int64_t id = at[0] + owners.grid[0] * (at[1] + owners.grid[1] * at[2]);
      EXPECT_EQ(owner_of[static_cast<std::size_t>(id)], sm);
    };
    if (!mapped) continue;
    ++followed;
    for (unsigned sm = 0; sm < sms; ++sm) {
      for (const Chunk& chunk : chunks(*mapped, sm))
        for (std::uint32_t block = chunk.begin; block < chunk.end; ++block) check(block, sm);
      for (const std::uint32_t block : mapped->sm[sm].queue) {
        check(block, sm);
        ++queued;
      }
    }
    ASSERT_EQ(std::ranges::count(seen, 1u), std::ptrdiff_t(seen.size()));
  }
  EXPECT_GT(followed, 2'000u) << "else nothing was tested";
  EXPECT_GT(queued, 2'000u);
}

/// A GPU that runs one block at a time, where the test says.
class Gpu {
 public:
  Gpu(const char* policy, unsigned sms, const test::Settings& settings) {
    BlockPolicy::Context context;
    context.sms = sms;
    policy_ = test::choose(all_policies().block, policy, settings)->make(context);
  }
  void launch(const char* kernel, Dim3 grid, unsigned slot = 0, DeviceParent parent = {}) {
    policy_->on_launch(
        {sequence_++, kernel, grid, static_cast<std::uint32_t>(grid.count()), slot, parent});
  }
  std::optional<std::uint32_t> pick(unsigned sm, unsigned slot = 0) {
    SmSet room;
    room.set(sm);
    const auto choice = policy_->pick({room, ++now_, slot});
    return choice ? std::optional(choice->block) : std::nullopt;
  }
  Blocks drain(unsigned sm, unsigned slot = 0) {
    Blocks out;
    while (const auto block = pick(sm, slot)) out.push_back(*block);
    return out;
  }
  void end(unsigned slot = 0) { policy_->on_kernel_end(slot); }

 private:
  std::unique_ptr<BlockPolicy> policy_;
  std::uint64_t sequence_ = 0;
  Cycle now_ = 0;
};

TEST(Relations, ResetAndFlipFollowThemOverAChangeOfTheGrid) {
  for (const bool flip : {false, true}) {
    Gpu gpu(flip ? "flip" : "reset", 2, {{"relations", "b 1 1 1"}});
    gpu.launch("a", {8});
    EXPECT_EQ(gpu.drain(0), (Blocks{0, 1, 2, 3}));
    gpu.drain(1);
    gpu.end();
    gpu.launch("b", {7});
    EXPECT_EQ(gpu.drain(0), flip ? (Blocks{2, 1, 0}) : (Blocks{0, 1, 2})) << "of 0 to 3";
    EXPECT_EQ(gpu.drain(1), flip ? (Blocks{6, 5, 4, 3}) : (Blocks{3, 4, 5, 6}));
  }
}

TEST(Relations, ReachBackOverOtherLaunches) {
  Gpu gpu("reset", 2, {{"relations", "a 2 1 2"}});
  gpu.launch("a", {8});
  gpu.drain(0);
  gpu.drain(1);
  gpu.end();
  gpu.launch("b", {100});
  gpu.drain(0);
  gpu.drain(1);
  gpu.end();
  gpu.launch("a", {6});
  EXPECT_EQ(gpu.drain(0), (Blocks{0, 1})) << "of 2 and 3";
  EXPECT_EQ(gpu.drain(1), (Blocks{2, 3, 4, 5}));
}

TEST(Relations, AFirstLaunchIsDealtOut) {
  Gpu gpu("steal", 2, {{"relations", "a 1 1 2"}});
  gpu.launch("a", {8});
  for (std::uint32_t block = 0; block < 4; ++block) EXPECT_EQ(gpu.pick(0), block);
}

TEST(Relations, StealFollowsThefts) {
  Gpu gpu("steal", 2, {{"relations", "a 1 1 1"}});
  gpu.launch("a", {8});
  EXPECT_EQ(gpu.drain(0), (Blocks{0, 1, 2, 3, 7, 6, 5, 4})) << "SM 1 does not come to run any";
  gpu.end();
  gpu.launch("a", {7});  // of 1 to 7: queue 7 6 5 4 becomes 6 5 4 3, chunk 1 to 3 becomes 0 to 2
  EXPECT_EQ(gpu.drain(0), (Blocks{3, 4, 5, 6, 2, 1, 0}));
}

constexpr DeviceParent child_of(std::uint32_t sm, std::uint32_t depth) { return {0, 0, sm, depth}; }

TEST(Nested, AKernelBelongsToItsParentsSmAndRunsBeforeOuterOnes) {
  Gpu gpu("steal", 3, {{"nested", "true"}});
  gpu.launch("outer", {6}, 0);
  EXPECT_EQ(gpu.pick(1, 0), 2u);
  gpu.launch("inner", {3}, 1, child_of(1, 1));
  EXPECT_EQ(gpu.pick(1, 0), std::nullopt) << "the deepest first";
  EXPECT_EQ(gpu.drain(1, 1), (Blocks{0, 1, 2}));
  EXPECT_EQ(gpu.pick(1, 0), 3u);
}

TEST(Nested, ThievesTakeOfTheOutermostFirst) {
  Gpu gpu("steal", 3, {{"nested", "true"}});
  gpu.launch("outer", {6}, 0);
  gpu.launch("inner", {3}, 1, child_of(1, 1));
  EXPECT_EQ(gpu.pick(0, 0), 0u);
  EXPECT_EQ(gpu.pick(0, 1), std::nullopt) << "it has a block of its own";
  EXPECT_EQ(gpu.pick(0, 0), 1u);
  EXPECT_EQ(gpu.pick(0, 1), std::nullopt) << "outer has blocks of others";
  EXPECT_EQ(gpu.drain(0, 0), (Blocks{5, 4, 3, 2}));
  EXPECT_EQ(gpu.pick(0, 1), 2u) << "the last of SM 1's";
}

TEST(Nested, KernelsOfOneDepthRunInOrder) {
  Gpu gpu("steal", 2, {{"nested", "true"}});
  gpu.launch("outer", {2}, 0);
  gpu.launch("one", {2}, 1, child_of(0, 1));
  gpu.launch("two", {2}, 2, child_of(0, 1));
  EXPECT_EQ(gpu.pick(0, 2), std::nullopt);
  EXPECT_EQ(gpu.drain(0, 1), (Blocks{0, 1}));
  EXPECT_EQ(gpu.drain(0, 2), (Blocks{0, 1}));
}

TEST(Nested, TheHostsKernelsKeepTheirOwners) {
  Gpu gpu("steal", 2, {{"nested", "true"}});
  gpu.launch("outer", {4}, 0);
  gpu.drain(0, 0);
  gpu.end(0);  // SM 0 has stolen 3 and 2
  gpu.launch("inner", {5}, 1, child_of(1, 1));
  gpu.drain(1, 1);
  gpu.end(1);
  gpu.launch("outer", {4}, 0);
  EXPECT_EQ(gpu.drain(0, 0), (Blocks{2, 3, 1, 0}));
}

}  // namespace
}  // namespace raddle::policy::relations_test

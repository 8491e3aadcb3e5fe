#include "raddle/trace/memory_trace.h"

#include <gtest/gtest.h>

#include "raddle/base/rng.h"

namespace raddle::memory_trace_test {
namespace {

using trace::LaunchShape;
using trace::MemoryTrace;
using trace::Record;
using trace::WarpCursor;

std::shared_ptr<const trace::KernelCode> code() { return std::make_shared<trace::KernelCode>(); }

/// Everything a warp's cursor gives.
std::vector<std::uint32_t> read(MemoryTrace& t, std::uint32_t block, unsigned warp) {
  std::vector<std::uint32_t> out;
  WarpCursor c = t.open(block, warp);
  do {
    EXPECT_NE(c.at, c.end);
    out.insert(out.end(), c.at, c.end);
    c.at = c.end;
  } while (t.refill(c));
  return out;
}

void write(MemoryTrace& t, std::uint32_t block, unsigned warp,
           const std::vector<std::uint32_t>& words) {
  auto room = t.grow(block, warp, static_cast<unsigned>(words.size()));
  ASSERT_GE(room.end - room.at, static_cast<std::ptrdiff_t>(words.size()));
  t.commit(block, warp, std::copy(words.begin(), words.end(), room.at));
}

TEST(Record, KeepsItsParts) {
  Record r = Record::make(0xfffff, 63, 63, 0x80000001);
  EXPECT_EQ(r.inst(), 0xfffffu);
  EXPECT_EQ(r.count(), 63u);
  EXPECT_EQ(r.transactions(), 63u);
  EXPECT_EQ(r.mask, 0x80000001u);
  EXPECT_EQ(Record::make(5, 1, 0, 0).transactions(), 0u);
}

TEST(LaunchShape, PartialWarpsCount) {
  EXPECT_EQ((LaunchShape{{1}, {33}, 0}).warps_per_block(), 2u);
  EXPECT_EQ((LaunchShape{{1}, {8, 8, 2}, 0}).warps_per_block(), 4u);
}

TEST(MemoryTrace, GivesBackWhatWasWritten) {
  MemoryTrace t(code(), {{2}, {64}, 0});
  write(t, 0, 0, {1, 2, 3, 4});
  write(t, 1, 1, {5, 6});
  EXPECT_EQ(read(t, 0, 0), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(read(t, 1, 1), (std::vector<std::uint32_t>{5, 6}));
}

TEST(MemoryTrace, RangesFollowEachOtherAndEmptyOnesAreSkipped) {
  MemoryTrace t(code(), {{1}, {32}, 0});
  write(t, 0, 0, {});
  write(t, 0, 0, {1, 2});
  write(t, 0, 0, {});
  write(t, 0, 0, {3, 4, 5, 6});
  write(t, 0, 0, {});
  EXPECT_EQ(read(t, 0, 0), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(MemoryTrace, MayBeReadAgain) {
  MemoryTrace t(code(), {{1}, {32}, 0});
  write(t, 0, 0, {1, 2});
  EXPECT_EQ(read(t, 0, 0), read(t, 0, 0));
}

TEST(MemoryTrace, RangesLongerThanASlabAreWhole) {
  MemoryTrace t(code(), {{1}, {32}, 0});
  std::vector<std::uint32_t> words(1'000'000);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i;
  write(t, 0, 0, {7, 7});
  write(t, 0, 0, words);
  words.insert(words.begin(), {7, 7});
  EXPECT_EQ(read(t, 0, 0), words);
  EXPECT_GE(t.bytes(), words.size() * 4);
}

TEST(MemoryTrace, WarpsWrittenInTurnsDoNotMix) {
  MemoryTrace t(code(), {{3, 2}, {96}, 0});
  std::vector<std::vector<std::uint32_t>> want(18);
  Rng rng(9);
  for (unsigned i = 0; i < 2000; ++i) {
    unsigned who = rng.below(18);
    std::vector<std::uint32_t> words(2 * rng.below(300));
    for (std::uint32_t& w : words) w = static_cast<std::uint32_t>(rng.next());
    write(t, who / 3, who % 3, words);
    want[who].insert(want[who].end(), words.begin(), words.end());
  }
  for (unsigned who = 0; who < 18; ++who) EXPECT_EQ(read(t, who / 3, who % 3), want[who]) << who;
  EXPECT_TRUE(t.concurrent());
}

TEST(TraceArena, ManySmallTracesShareASlab) {
  const auto arena = std::make_shared<trace::TraceArena>();
  std::vector<std::unique_ptr<MemoryTrace>> traces;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    traces.push_back(std::make_unique<MemoryTrace>(code(), LaunchShape{{1}, {32}, 0}, arena));
    write(*traces.back(), 0, 0, {i, i + 1});
  }
  EXPECT_EQ(arena->bytes(), std::size_t{2} << 20);  // a slab each would be 2 GB
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(read(*traces[i], 0, 0), (std::vector<std::uint32_t>{i, i + 1}));
  EXPECT_LT(traces.front()->bytes(), 2048u);
}

TEST(TraceArena, TracesWrittenInTurnsDoNotMix) {
  const auto arena = std::make_shared<trace::TraceArena>();
  MemoryTrace one(code(), {{1}, {32}, 0}, arena), other(code(), {{1}, {32}, 0}, arena);
  std::vector<std::uint32_t> first, second;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    write(one, 0, 0, {i});
    write(other, 0, 0, {~i, i});
    first.push_back(i);
    second.insert(second.end(), {~i, i});
  }
  EXPECT_EQ(read(one, 0, 0), first);
  EXPECT_EQ(read(other, 0, 0), second);
}

TEST(TraceArena, AnEndedBlockKeepsWhatItHasWritten) {
  const auto arena = std::make_shared<trace::TraceArena>();
  std::vector<std::unique_ptr<MemoryTrace>> traces;
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    traces.push_back(std::make_unique<MemoryTrace>(code(), LaunchShape{{1}, {32}, 0}, arena));
    write(*traces.back(), 0, 0, {i, i + 1, i + 2});
    traces.back()->finish(0);
  }
  EXPECT_EQ(arena->bytes(), std::size_t{2} << 20);  // 32 bytes each
  for (const std::uint32_t i : {0u, 1u, 33'333u, 49'999u})
    EXPECT_EQ(read(*traces[i], 0, 0), (std::vector<std::uint32_t>{i, i + 1, i + 2}));
}

TEST(TraceArena, OfABlockOfSeveralWarpsTheOthersStayWhole) {
  MemoryTrace t(code(), {{2}, {96}, 0});
  for (unsigned warp = 0; warp < 3; ++warp) write(t, 0, warp, {warp, warp});
  t.finish(0);
  for (unsigned warp = 0; warp < 3; ++warp) write(t, 1, warp, {warp, 7});
  t.finish(1);
  for (unsigned warp = 0; warp < 3; ++warp) {
    EXPECT_EQ(read(t, 0, warp), (std::vector<std::uint32_t>{warp, warp}));
    EXPECT_EQ(read(t, 1, warp), (std::vector<std::uint32_t>{warp, 7}));
  }
}

TEST(TraceArena, SlabsGoBackWithTheLastTrace) {
  const auto pool = std::make_shared<trace::SlabPool>();
  auto arena = std::make_shared<trace::TraceArena>(pool);
  auto kept = std::make_unique<MemoryTrace>(code(), LaunchShape{{1}, {32}, 0}, arena);
  write(*kept, 0, 0, {1, 2});
  const std::uint32_t* const slab = arena->take(2);
  arena.reset();
  const trace::SlabPool::Slab other = pool->take(2);  // the pool has nothing yet
  EXPECT_GT(std::abs(other.at.get() - slab), std::ptrdiff_t{1} << 18);
  EXPECT_EQ(read(*kept, 0, 0), (std::vector<std::uint32_t>{1, 2}));
  kept.reset();
  const trace::SlabPool::Slab again = pool->take(2);
  EXPECT_LT(slab - again.at.get(), std::ptrdiff_t{1} << 18);
  EXPECT_GE(slab - again.at.get(), 0);
}

TEST(TraceArenaDeathTest, OddSizesWouldMisalignTheNextChunk) {
  trace::TraceArena arena;
  EXPECT_DEATH(arena.take(3), "memory_trace.cpp");
}

TEST(MemoryTraceDeathTest, AWarpWithoutRecordsIsAnError) {
  MemoryTrace t(code(), {{1}, {64}, 0});
  EXPECT_DEATH(t.open(0, 1), "memory_trace.cpp");
}

}  // namespace
}  // namespace raddle::memory_trace_test

// Barriers of a cluster's blocks, played through without time.
#include "raddle/accelsim/rehearsal.h"

#include <gtest/gtest.h>

namespace raddle::accelsim::rehearsal_test {
namespace {

using Kind = BarrierEvent::Kind;

BarrierEvent init(std::uint32_t count, std::uint8_t rank = 0) {
  return {.kind = Kind::Init, .rank = rank, .object = 4, .count = count};
}
BarrierEvent arrive(std::uint32_t count = 1, std::uint32_t bytes = 0, std::uint8_t rank = 0) {
  return {.kind = Kind::Arrive, .rank = rank, .object = 4, .count = count, .bytes = bytes};
}
BarrierEvent come(std::uint32_t bytes, std::uint8_t rank = 0) {
  return {.kind = Kind::Come, .rank = rank, .object = 4, .bytes = bytes};
}
BarrierEvent sync(std::uint16_t id, std::uint32_t warps = 0, Kind kind = Kind::Sync) {
  return {.kind = kind, .object = id, .count = warps};
}

class Rehearsed : public testing::Test {
 protected:
  BarrierEvent wait(std::uint32_t parity, std::uint8_t rank = 0) {
    waits.emplace_back();
    return {.kind = Kind::Wait,
            .rank = rank,
            .object = 4,
            .count = parity,
            .bytes = static_cast<std::uint32_t>(waits.size() - 1)};
  }
  std::uint64_t run(std::vector<BlockBarriers> blocks) {
    return Rehearsal(std::move(blocks)).run(waits);
  }
  std::vector<std::uint32_t> values() const {
    std::vector<std::uint32_t> out;
    for (const BarrierWait& wait : waits) out.push_back(wait.value);
    return out;
  }
  std::vector<BarrierWait> waits;
};
using Values = std::vector<std::uint32_t>;

TEST_F(Rehearsed, WhoWaitsOnlyForEverySecondPhaseGetsIt) {
  // Two consumers take turns, as two warpgroups that each have every second tile.
  const std::vector<BarrierEvent> producer = {init(1),  arrive(),   sync(1, 3),
                                              arrive(), sync(2, 3), arrive()};
  const std::vector<BarrierEvent> first = {wait(0), sync(1, 3), sync(2, 3), wait(0)};
  const std::vector<BarrierEvent> second = {sync(1, 3), wait(1), sync(2, 3)};
  EXPECT_EQ(run({{0, {producer, first, second}}}), 0u);
  EXPECT_EQ(values(), (Values{1, 3, 2}));
}

TEST_F(Rehearsed, ARingHoldsItsProducerBack) {
  std::vector<BarrierEvent> producer = {init(1)}, consumer;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t parity = i & 1;
    BarrierEvent empty_wait = wait(parity ^ 1), full_wait = wait(parity), released = arrive();
    empty_wait.object = released.object = 8;
    producer.push_back(empty_wait);
    producer.push_back(arrive(1, 64));
    producer.push_back(come(64));
    consumer.push_back(full_wait);
    consumer.push_back(released);
  }
  BarrierEvent init_empty = init(1);
  init_empty.object = 8;
  producer.insert(producer.begin(), init_empty);
  EXPECT_EQ(run({{0, {consumer, producer}}}), 0u);
  EXPECT_EQ(values(), (Values{0, 1, 1, 2, 2, 3, 3, 4})) << "empty, full, empty, full ...";
}

TEST_F(Rehearsed, BytesMayComeBeforeTheyAreExpected) {
  EXPECT_EQ(run({{0, {{init(1), come(64), arrive(1, 64), wait(0)}}}}), 0u);
  EXPECT_EQ(values(), Values{1});
}

TEST_F(Rehearsed, ABarrierOfAllOpensForThoseThatAreLeft) {
  EXPECT_EQ(run({{0, {{init(1), sync(0), arrive()}, {sync(0), wait(0)}, {}}}}), 0u);
  EXPECT_EQ(values(), Values{1});
}

TEST_F(Rehearsed, WhoJoinsDoesNotWait) {
  EXPECT_EQ(run({{0, {{init(1), sync(1, 2), arrive()}, {sync(1, 2, Kind::Join), wait(0)}}}}), 0u);
  EXPECT_EQ(values(), Values{1});
}

TEST_F(Rehearsed, WhatNothingEndsIsNotWaitedFor) {
  EXPECT_EQ(run({{0, {{init(2), arrive(), wait(0), wait(0)}, {wait(0), arrive()}}}}), 2u);
  EXPECT_EQ(values(), (Values{0, 0, 0})) << "all waits for an object that was given up";
  waits.clear();
  EXPECT_EQ(run({{0, {{wait(0), arrive()}}}}), 1u) << "an object that nobody initialises";
  waits.clear();
  EXPECT_EQ(run({{0, {{init(1), sync(3, 5), arrive(), wait(0)}}}}), 0u)
      << "a barrier that never opens";
  EXPECT_EQ(values(), Values{1});
}

TEST_F(Rehearsed, InAClusterAWarpWaitsForWhatItsOwnBlockBrought) {
  const auto meet = [] {
    return std::vector<BarrierEvent>{{.kind = Kind::ClusterArrive}, {.kind = Kind::ClusterWait}};
  };
  std::vector<BlockBarriers> blocks;
  for (std::uint8_t rank = 0; rank < 2; ++rank) {
    std::vector<BarrierEvent> warp = {init(1, rank)};
    for (const BarrierEvent& event : meet()) warp.push_back(event);
    // Half of the bytes come from the other block.
    for (const BarrierEvent& event :
         {arrive(1, 64, rank), come(32, 0), come(32, 1), wait(0, rank), wait(0, rank ^ 1)})
      warp.push_back(event);
    blocks.push_back({rank, {warp}});
  }
  EXPECT_EQ(run(blocks), 0u);
  EXPECT_EQ(values(), (Values{33, 0, 33, 0})) << "of another block's object nothing is known";
  EXPECT_TRUE(waits[0].brought);
  EXPECT_FALSE(waits[1].brought);
}

}  // namespace
}  // namespace raddle::accelsim::rehearsal_test

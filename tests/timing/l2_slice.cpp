// An L2 slice with its DRAM channel between mocks: every cycle computed by hand from the
// specification.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_slice_test {
namespace {

constexpr std::uint8_t kAll = 0b1111;

class L2SliceTest : public testing::Test {
 protected:
  MachineSpec m = one_slice();
  std::uint64_t accesses(const stats::L2Counters& c) { return c.reads + c.writes + c.atomics; }
  void expect_conserved(const PartitionRig& rig) {
    stats::L2Counters c = rig.l2();
    EXPECT_EQ(accesses(c), c.hits + c.pending_hits + c.misses);
    EXPECT_EQ(accesses(c), rig.replies().size());
  }
  /// Distinct lines of one set of the slice.
  std::vector<std::uint32_t> lines_of_set(const AddressMap& map, unsigned set, unsigned count) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t line = 0; lines.size() < count; ++line)
      if (map.set(line) == set) lines.push_back(line);
    return lines;
  }
};

TEST_F(L2SliceTest, MissTakesHitLatencyAndDram) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 7, kAll));
  rig.run_until(400);
  ASSERT_EQ(rig.replies().size(), 1u);
  EXPECT_EQ(rig.replies()[0].sent, 100 + closed_read(m.dram, 4) + m.l2.hit_latency_cycles);
  EXPECT_EQ(rig.l2().miss_cycles, closed_read(m.dram, 4));
  EXPECT_EQ(rig.l2().misses, 1u);
  EXPECT_TRUE(rig.partition().idle());
}

TEST_F(L2SliceTest, HitTakesHitLatency) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 7, kAll));
  rig.run_until(400);
  rig.arrive(403, message(MessageKind::Read, 7, 0b10));
  rig.run_until(600);
  ASSERT_EQ(rig.replies().size(), 2u);
  EXPECT_EQ(rig.replies()[1].sent, 403 + m.l2.hit_latency_cycles);
  EXPECT_EQ(rig.l2().hits, 1u);
  EXPECT_EQ(rig.dram().reads, 1u);
}

TEST_F(L2SliceTest, RepliesSayWhoseTheyAreAndWhereTheyGo) {
  // A miss, one that waits for it, and a hit.
  PartitionRig rig(m);
  for (auto [at, tenant] : {std::pair{Cycle{100}, 7u}, {101, 0u}, {400, 3u}}) {
    Message read = message(MessageKind::Read, 7, kAll);
    read.sm = static_cast<std::uint16_t>(tenant / 2);
    read.tenant = static_cast<TenantId>(tenant);
    read.to = rig.map().home(7);
    rig.arrive(at, read);
  }
  rig.run_until(600);
  ASSERT_EQ(rig.replies().size(), 3u);
  const unsigned tenants[] = {7, 0, 3};
  for (unsigned i = 0; i < 3; ++i) {
    const Message& reply = rig.replies()[i].message;
    EXPECT_EQ(reply.tenant, static_cast<TenantId>(tenants[i]));
    EXPECT_EQ(reply.sm, tenants[i] / 2);
    EXPECT_EQ(reply.to, Endpoints::sm(reply.sm));
  }
  EXPECT_EQ(rig.l2().pending_hits, 1u);
  EXPECT_EQ(rig.l2().hits, 1u);
}

TEST_F(L2SliceTest, OnlyMissingSectorsAreFetched) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 7, 0b0001));
  rig.run_until(400);
  rig.arrive(400, message(MessageKind::Read, 7, 0b0111));
  rig.run_until(800);
  EXPECT_EQ(rig.l2().misses, 2u);
  EXPECT_EQ(rig.dram().bytes, 3u * 32);
  expect_conserved(rig);
}

TEST_F(L2SliceTest, SecondMissOfALineMerges) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 7, kAll, 1));
  rig.arrive(101, message(MessageKind::Read, 7, kAll, 2));
  rig.run_until(500);
  ASSERT_EQ(rig.replies().size(), 2u);
  EXPECT_EQ(rig.l2().misses, 1u);
  EXPECT_EQ(rig.l2().pending_hits, 1u);
  EXPECT_EQ(rig.dram().reads, 1u);
  Cycle first = 100 + closed_read(m.dram, 4) + m.l2.hit_latency_cycles;
  EXPECT_EQ(rig.replies()[0].sent, first);
  EXPECT_EQ(rig.replies()[1].sent, first + 5);  // behind the five flits of the first
  EXPECT_EQ(rig.replies()[0].message.tag, 1);
}

TEST_F(L2SliceTest, SectorsAskedForLaterJoinTheEntry) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 7, 0b0001, 1));
  rig.arrive(101, message(MessageKind::Read, 7, 0b0011, 2));  // asks for one more
  rig.arrive(102, message(MessageKind::Read, 7, 0b0001, 3));  // waits for the first only
  rig.run_until(500);
  ASSERT_EQ(rig.replies().size(), 3u);
  EXPECT_EQ(rig.l2().misses, 2u);
  EXPECT_EQ(rig.l2().pending_hits, 1u);
  EXPECT_EQ(rig.replies()[0].message.tag, 1);
  EXPECT_EQ(rig.replies()[1].message.tag, 3);
  EXPECT_EQ(rig.replies()[2].message.tag, 2);
}

TEST_F(L2SliceTest, FullMergeListBlocksTheHeadUntilTheFill) {
  m.l2.mshr_merges = 2;
  PartitionRig rig(m);
  for (std::uint16_t i = 0; i < 3; ++i) rig.arrive(100 + i, message(MessageKind::Read, 7, kAll, i));
  rig.arrive(103, message(MessageKind::Read, 8, kAll, 9));  // behind the blocked one
  rig.run_until(600);
  ASSERT_EQ(rig.replies().size(), 4u);
  Cycle fill = 100 + closed_read(m.dram, 4);
  EXPECT_EQ(rig.l2().hits, 1u);  // looked up in the cycle of the fill
  EXPECT_EQ(rig.replies()[2].sent, fill + m.l2.hit_latency_cycles + 10);
  EXPECT_GT(rig.replies()[3].sent, fill + 1 + m.l2.hit_latency_cycles);
  expect_conserved(rig);
}

TEST_F(L2SliceTest, NoFreeMshrBlocksTheHead) {
  m.l2.mshr_entries = 1;
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Read, 1));
  rig.arrive(101, message(MessageKind::Read, 2));
  rig.run_until(120);
  EXPECT_EQ(rig.l2().reads, 1u);
  std::string text;
  rig.partition().describe(text);
  EXPECT_NE(text.find("waits for an MSHR"), std::string::npos) << text;
  rig.run_until(600);
  EXPECT_EQ(rig.replies().size(), 2u);
}

TEST_F(L2SliceTest, LookUpsKeepTheirInterval) {
  m.l2.interval_cycles = 2;
  PartitionRig rig(m);
  for (unsigned i = 0; i < 4; ++i) rig.arrive(100, message(MessageKind::Write, i));
  rig.run_until(300);
  ASSERT_EQ(rig.replies().size(), 4u);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(rig.replies()[i].sent, 100 + 2 * i + m.l2.hit_latency_cycles);
}

TEST_F(L2SliceTest, WriteIsAcknowledgedAndFetchesNothing) {
  PartitionRig rig(m);
  rig.arrive(100, message(MessageKind::Write, 7, 0b0011));
  rig.run_until(200);
  ASSERT_EQ(rig.replies().size(), 1u);
  EXPECT_EQ(rig.replies()[0].sent, 100 + m.l2.hit_latency_cycles);
  EXPECT_EQ(rig.replies()[0].message.kind, MessageKind::Write);
  rig.arrive(300, message(MessageKind::Read, 7, 0b0011));
  rig.run_until(400);
  EXPECT_EQ(rig.dram().reads, 0u);
  EXPECT_EQ(rig.l2().misses, 1u);
  EXPECT_EQ(rig.l2().hits, 1u);
  EXPECT_EQ(rig.credits_returned(), 3u + 1u);
}

TEST_F(L2SliceTest, DirtyVictimIsWrittenBackAndTheLeastRecentlyUsedGoes) {
  PartitionRig rig(m);
  std::vector<std::uint32_t> line = lines_of_set(rig.map(), 3, 5);  // four ways
  rig.arrive(100, message(MessageKind::Write, line[0], 0b0101));
  for (unsigned i = 1; i < 4; ++i) rig.arrive(100 + i, message(MessageKind::Write, line[i]));
  rig.run_until(200);
  rig.arrive(200, message(MessageKind::Read, line[1]));  // line 0 is now the oldest
  rig.arrive(201, message(MessageKind::Write, line[4]));
  rig.run_until(500);
  EXPECT_EQ(rig.l2().evictions, 1u);
  EXPECT_EQ(rig.l2().write_backs, 1u);
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.dram().bytes, 64u);  // two dirty sectors
  rig.arrive(500, message(MessageKind::Read, line[1]));
  rig.run_until(700);
  EXPECT_EQ(rig.dram().reads, 0u);
}

TEST_F(L2SliceTest, CleanVictimIsDropped) {
  PartitionRig rig(m);
  std::vector<std::uint32_t> line = lines_of_set(rig.map(), 3, 5);
  for (unsigned i = 0; i < 5; ++i) rig.arrive(100 + 100 * i, message(MessageKind::Read, line[i]));
  rig.run_until(1000);
  EXPECT_EQ(rig.l2().evictions, 1u);
  EXPECT_EQ(rig.l2().write_backs, 0u);
  EXPECT_EQ(rig.dram().writes, 0u);
}

TEST_F(L2SliceTest, AtomicsOfALineTakeTheirIntervalAndMakeItDirty) {
  PartitionRig rig(m);
  std::vector<std::uint32_t> line = lines_of_set(rig.map(), 3, 5);
  rig.arrive(100, message(MessageKind::Read, line[0]));
  rig.run_until(300);
  for (unsigned i = 0; i < 6; ++i) rig.arrive(300 + i, message(MessageKind::Atomic, line[0]));
  rig.arrive(306, message(MessageKind::Read, line[0], 1, 77));
  rig.run_until(500);
  ASSERT_EQ(rig.replies().size(), 8u);
  std::vector<Cycle> sent;
  for (const auto& r : rig.replies())
    if (r.message.kind == MessageKind::Atomic) sent.push_back(r.sent);
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(sent[i], 300 + m.l2.atomic_interval_cycles * i + m.l2.hit_latency_cycles);
  // The read overtakes the atomics that wait for the unit; at most one packet of two flits is in
  // its way.
  EXPECT_LE(rig.replies()[3].sent, 306 + m.l2.hit_latency_cycles + 2);
  for (unsigned i = 1; i < 5; ++i) rig.arrive(500 + i, message(MessageKind::Write, line[i]));
  rig.run_until(900);
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.l2().atomics, 6u);
}

TEST_F(L2SliceTest, AtomicMissFetchesThenPerforms) {
  PartitionRig rig(m);
  std::vector<std::uint32_t> line = lines_of_set(rig.map(), 3, 5);
  rig.arrive(100, message(MessageKind::Reduce, line[0]));

  rig.arrive(101, message(MessageKind::Reduce, line[0]));
  rig.run_until(400);
  ASSERT_EQ(rig.replies().size(), 2u);
  Cycle fill = 100 + closed_read(m.dram, 1);
  EXPECT_EQ(rig.replies()[0].sent, fill + m.l2.hit_latency_cycles);
  EXPECT_EQ(rig.replies()[1].sent, fill + m.l2.atomic_interval_cycles + m.l2.hit_latency_cycles);
  for (unsigned i = 1; i < 5; ++i) rig.arrive(500 + i, message(MessageKind::Write, line[i]));
  rig.run_until(900);
  EXPECT_EQ(rig.dram().writes, 1u);
  expect_conserved(rig);
}

TEST_F(L2SliceTest, WithoutCreditsRepliesWaitAndTheInputStops) {
  m.noc.queue_flits = 10;
  PartitionRig rig(m);
  rig.return_credits(false);
  rig.arrive(100, message(MessageKind::Read, 7, kAll));
  rig.run_until(300);
  for (unsigned i = 0; i < 60; ++i) rig.arrive(300 + i, message(MessageKind::Read, 7, kAll));
  rig.run_until(2000);
  EXPECT_EQ(rig.replies().size(), 2u);  // ten flits
  std::uint64_t taken = rig.l2().reads;
  EXPECT_LT(taken, 60u);  // the pipeline is full
  std::string text;
  rig.partition().describe(text);
  EXPECT_NE(text.find("waits for room for its reply"), std::string::npos) << text;
  rig.give_credits(2020, 4);  // one too few
  rig.run_until(2100);
  EXPECT_EQ(rig.replies().size(), 2u);
  rig.give_credits(2110, 1);
  rig.run_until(2200);
  ASSERT_EQ(rig.replies().size(), 3u);
  EXPECT_EQ(rig.replies()[2].sent, 2110u);
  EXPECT_EQ(rig.l2().reads, taken + 1);
}

TEST_F(L2SliceTest, CountersOfAMixAddUp) {
  PartitionRig rig(m);
  Rng rng(5);
  for (Cycle t = 50; t < 20'000; t += 1 + rng.below(12)) {
    auto kind = static_cast<MessageKind>(rng.below(4));
    rig.run_until(t);
    rig.arrive(t, message(kind, rng.below(400), static_cast<std::uint8_t>(1 + rng.below(15))));
  }
  rig.run_until(40'000);
  EXPECT_TRUE(rig.partition().idle());
  expect_conserved(rig);
  stats::L2Counters c = rig.l2();
  EXPECT_GT(c.pending_hits, 0u);
  EXPECT_GT(c.write_backs, 0u);
  EXPECT_EQ(rig.dram().writes, c.write_backs);
  EXPECT_GE(c.evictions, c.write_backs);
}

}  // namespace
}  // namespace raddle::test::l2_slice_test

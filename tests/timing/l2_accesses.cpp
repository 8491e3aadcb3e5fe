// What an L2 slice tells of each request: the DRAM accesses it caused, the waits its life is made
// of, and the kernel all that is counted for; and the write policies, by what they send to DRAM.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_accesses_test {
namespace {

constexpr std::uint8_t kAll = 0b1111;

class L2AccessesTest : public testing::Test {
 protected:
  MachineSpec m = one_slice();  // four ways
  /// Distinct lines of one set of the slice.
  static std::vector<std::uint32_t> lines_of_set(const AddressMap& map, unsigned count) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t line = 0; lines.size() < count; ++line)
      if (map.set(line) == 3) lines.push_back(line);
    return lines;
  }
  /// Cycles from one atomic of these sectors, so many of whose lanes meet in a word, to the next.
  static Cycle between_atomics(const timing::MachineSpec& m, std::uint8_t sectors,
                               std::uint8_t meeting) {
    PartitionRig rig(m);
    rig.arrive(100, message(R, 7, 0b1111));
    rig.run_until(900);
    for (unsigned i = 0; i < 2; ++i) {
      Message atomic = message(MessageKind::Reduce, 7);  // whose answers are short
      atomic.sectors = sectors;
      atomic.meeting = meeting;
      rig.arrive(1000, atomic);
    }
    rig.run_until(1600);
    return rig.replies()[2].sent - rig.replies()[1].sent;
  }
  /// Sends one request, lets it end, and returns the DRAM accesses its reply tells.
  static unsigned accesses(PartitionRig& rig, MessageKind kind, std::uint32_t line,
                           std::uint8_t sectors = kAll, std::uint8_t kernel = 0) {
    Message request = message(kind, line, sectors);
    request.kernel = kernel;
    rig.arrive(rig.now() + 1, request);
    std::size_t before = rig.replies().size();
    rig.run_until(rig.now() + 400);
    EXPECT_EQ(rig.replies().size(), before + 1);
    EXPECT_TRUE(rig.partition().idle());
    expect_sound(rig);
    return rig.replies().back().message.dram_accesses;
  }
  static void expect_sound(PartitionRig& rig) {
    for (const std::string& law : rig.partition().audit()) ADD_FAILURE() << law;
  }
  static constexpr MessageKind R = MessageKind::Read, W = MessageKind::Write,
                               A = MessageKind::Atomic, D = MessageKind::Reduce;
};

TEST_F(L2AccessesTest, ReadsTellMissAndDirtyVictim) {
  PartitionRig rig(m);
  auto line = lines_of_set(rig.map(), 6);
  EXPECT_EQ(accesses(rig, R, line[0]), 1u);
  EXPECT_EQ(accesses(rig, R, line[0]), 0u);
  EXPECT_EQ(accesses(rig, W, line[1]), 0u);  // write_validate fetches nothing
  for (unsigned i = 2; i < 4; ++i) EXPECT_EQ(accesses(rig, R, line[i]), 1u);
  EXPECT_EQ(accesses(rig, R, line[4]), 1u);  // pushes out line 0, clean
  EXPECT_EQ(accesses(rig, R, line[5]), 2u);  // pushes out line 1, dirty
  stats::L2Counters c = rig.l2();
  EXPECT_EQ(c.replies, (std::array<std::uint64_t, 3>{2, 4, 1}));
  EXPECT_EQ(c.fetches, 5u);
  EXPECT_EQ(c.write_backs, 1u);
  EXPECT_EQ(rig.dram().writes, 1u);
}

TEST_F(L2AccessesTest, AWriteThatPushesOutADirtyLineTellsIt) {
  PartitionRig rig(m);
  auto line = lines_of_set(rig.map(), 5);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(accesses(rig, W, line[i]), 0u);
  EXPECT_EQ(accesses(rig, W, line[4]), 1u);
}

TEST_F(L2AccessesTest, WhoMergesWithAMissCausesNothing) {
  PartitionRig rig(m);
  for (std::uint16_t i = 0; i < 3; ++i) rig.arrive(100 + i, message(R, 7, kAll, i));
  rig.run_until(600);
  ASSERT_EQ(rig.replies().size(), 3u);
  for (const auto& r : rig.replies()) EXPECT_EQ(r.message.dram_accesses, r.message.tag == 0);
}

TEST_F(L2AccessesTest, TheVictimOfASecondFetchIsChargedToWhoAskedForIt) {
  PartitionRig rig(m);
  rig.arrive(100, message(R, 7, 0b0001, 1));
  rig.arrive(101, message(R, 7, 0b0011, 2));  // asks for the second sector, waits for both
  rig.arrive(102, message(A, 7, 0b0010, 3));
  rig.run_until(600);
  ASSERT_EQ(rig.replies().size(), 3u);
  for (const auto& r : rig.replies()) EXPECT_EQ(r.message.dram_accesses, r.message.tag != 3);
  expect_sound(rig);
}

TEST_F(L2AccessesTest, FetchOnWriteReadsWhatIsWritten) {
  m.l2.write_miss = L2WriteMiss::FetchOnWrite;
  PartitionRig rig(m);
  auto line = lines_of_set(rig.map(), 5);
  EXPECT_EQ(accesses(rig, W, line[0], 0b0011), 1u);
  EXPECT_EQ(rig.dram().bytes, 64u);
  EXPECT_EQ(accesses(rig, W, line[0], 0b0011), 0u);
  EXPECT_EQ(accesses(rig, W, line[0], 0b0111), 1u);  // one sector more
  EXPECT_EQ(rig.dram().bytes, 96u);
  for (unsigned i = 1; i < 4; ++i) accesses(rig, W, line[i]);
  EXPECT_EQ(accesses(rig, W, line[4]), 2u);
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.dram().bytes, 96u + 4 * 128 + 96);  // three dirty sectors went
}

TEST_F(L2AccessesTest, WriteAroundTakesNoWay) {
  m.l2.write_miss = L2WriteMiss::WriteAround;
  PartitionRig rig(m);
  EXPECT_EQ(accesses(rig, W, 7, 0b0011), 1u);
  EXPECT_EQ(accesses(rig, R, 7), 1u);
  EXPECT_EQ(accesses(rig, W, 7), 0u);  // the line is there now
  EXPECT_EQ(rig.l2().passed_on, 1u);
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.dram().reads, 1u);
}

TEST_F(L2AccessesTest, WriteThroughSendsEverythingOnAndLeavesNothingDirty) {
  m.l2.write_policy = L2WritePolicy::WriteThrough;
  PartitionRig rig(m);
  auto line = lines_of_set(rig.map(), 6);
  EXPECT_EQ(accesses(rig, W, line[0]), 1u);
  EXPECT_EQ(accesses(rig, W, line[0]), 1u);
  EXPECT_EQ(accesses(rig, D, line[1]), 2u);  // fetched, performed, sent on
  EXPECT_EQ(accesses(rig, A, line[1]), 1u);
  for (unsigned i = 2; i < 6; ++i) EXPECT_EQ(accesses(rig, R, line[i]), 1u);
  EXPECT_EQ(rig.l2().evictions, 2u);
  EXPECT_EQ(rig.l2().write_backs, 0u);
  EXPECT_EQ(rig.dram().writes, 4u);
}

TEST_F(L2AccessesTest, AWriteBackBelongsToTheKernelThatPushesTheLineOut) {
  PartitionRig rig(m);
  auto line = lines_of_set(rig.map(), 5);
  accesses(rig, W, line[0], kAll, 1);
  for (unsigned i = 1; i < 5; ++i) accesses(rig, R, line[i], kAll, 2);
  const stats::L2Counters first = rig.partition().l2_counters(1),
                          second = rig.partition().l2_counters(2);
  EXPECT_EQ(first.writes, 1u);
  EXPECT_EQ(first.write_backs, 0u);
  EXPECT_EQ(second.reads, 4u);
  EXPECT_EQ(second.write_backs, 1u);
  EXPECT_EQ(second.replies[2], 1u);
  stats::L2Counters both = first;
  EXPECT_EQ(words(stats::accumulate(both, second)), words(rig.partition().slice_counters(0)));
}

TEST_F(L2AccessesTest, WaitsOfAMissAndOfWhoWaitsForIt) {
  PartitionRig rig(m);
  const Cycle dram = closed_read(m.dram, 4), latency = m.l2.hit_latency_cycles;
  rig.arrive(100, message(R, 7, kAll, 1));
  rig.arrive(100, message(R, 7, kAll, 2));  // looked up a cycle later
  rig.run_until(600);
  stats::L2Counters c = rig.l2();
  EXPECT_EQ(c.queue_cycles, 1u);
  EXPECT_EQ(c.miss_cycles, dram);
  EXPECT_EQ(c.pending_cycles, dram - 1);
  EXPECT_EQ(c.pipeline_cycles, 2 * latency);
  EXPECT_EQ(c.reply_cycles, 5u);  // behind the five flits of the first
  EXPECT_EQ(c.blocked_cycles, 0u);
  expect_sound(rig);
}

TEST_F(L2AccessesTest, WaitsOfABlockedHeadAndOfAtomics) {
  m.l2.mshr_entries = 1;
  PartitionRig rig(m);
  const Cycle dram = closed_read(m.dram, 1);
  rig.arrive(100, message(R, 1));
  rig.arrive(101, message(R, 2));
  rig.run_until(600);
  EXPECT_EQ(rig.l2().blocked_cycles, dram - 1);
  EXPECT_EQ(rig.l2().queue_cycles, dram - 1);
  for (unsigned i = 0; i < 3; ++i) rig.arrive(700, message(A, 1));
  rig.run_until(1000);
  // Looked up at 700, 701, 702; performed at 700, 704, 708.
  EXPECT_EQ(rig.l2().queue_cycles, dram - 1 + 3);
  EXPECT_EQ(rig.l2().atomic_cycles, 3u + 6u);
  expect_sound(rig);
}

TEST_F(L2AccessesTest, SectorsBeyondTheUnitTakeAnotherTurn) {
  m.l2.atomic_sectors = 8;
  EXPECT_EQ(between_atomics(m, 0b1111, 1), m.l2.atomic_interval_cycles);
  m.l2.atomic_sectors = 3;
  EXPECT_EQ(between_atomics(m, 0b0111, 1), m.l2.atomic_interval_cycles);
  EXPECT_EQ(between_atomics(m, 0b1111, 1), 2u * m.l2.atomic_interval_cycles);
}

// What an H200 does: a sector every two cycles, and 1.45 for each lane in one word.
TEST_F(L2AccessesTest, LanesThatMeetInAWordGoOneAfterAnother) {
  m.l2.atomic_sectors = 1;
  m.l2.atomic_interval_cycles = 2;
  m.l2.atomic_word_cycles = 1.45;
  EXPECT_EQ(between_atomics(m, 0b0001, 1), 2u);
  EXPECT_EQ(between_atomics(m, 0b0001, 2), 3u) << "2.9";
  EXPECT_EQ(between_atomics(m, 0b0001, 32), 47u) << "46.4";
  EXPECT_EQ(between_atomics(m, 0b1111, 1), 8u);
  EXPECT_EQ(between_atomics(m, 0b0011, 4), 12u) << "two sectors of 5.8";
  m.l2.atomic_word_cycles = 0;
  EXPECT_EQ(between_atomics(m, 0b0001, 32), 2u);
}

/// Whatever the policies, the laws hold and sleeping changes nothing.
TEST_F(L2AccessesTest, EveryPolicyKeepsTheLawsUnderAMix) {
  m.l2.mshr_entries = 4;
  m.l2.write_back_queue = 2;
  m.dram.queue = 8;
  m.l2.out_queue = 1;
  m.noc.queue_flits = 24;
  for (auto policy : {L2WritePolicy::WriteBack, L2WritePolicy::WriteThrough})
    for (auto write_miss :
         {L2WriteMiss::WriteValidate, L2WriteMiss::FetchOnWrite, L2WriteMiss::WriteAround})
      for (auto index : {L2Index::Modulo, L2Index::Hash}) {
        m.l2.write_policy = policy;
        m.l2.write_miss = write_miss;
        m.l2.index = index;
        m.l2.fabric_sector_cycles = index == L2Index::Hash ? 12.5 : 0;
        std::vector<std::vector<std::uint64_t>> counted;
        std::vector<std::vector<PartitionRig::Reply>> replies;
        for (bool skip : {true, false}) {
          PartitionRig rig(m, skip);
          Rng rng(11);
          const FlitTable flits(packet_size(m), Direction::Request);
          unsigned sent = 0, flits_sent = 0;
          for (Cycle cycle = 50; cycle < 6'000; cycle += 1 + rng.below(14)) {
            rig.run_until(cycle);
            Message request = message(static_cast<MessageKind>(rng.below(4)), rng.below(700),
                                      static_cast<std::uint8_t>(1 + rng.below(15)));
            request.kernel = static_cast<std::uint8_t>(rng.below(3));
            request.sm = static_cast<std::uint16_t>(rng.below(m.sm.count));
            const unsigned size = flits.flits(request);
            if (flits_sent - rig.credits_returned() + size > m.noc.queue_flits) continue;
            rig.arrive(cycle, request);
            flits_sent += size;
            ++sent;
            if (sent % 16 == 0) expect_sound(rig);
          }
          rig.run_until(20'000);
          EXPECT_TRUE(rig.partition().idle());
          expect_sound(rig);
          EXPECT_GT(rig.l2().blocked_cycles, 0u);
          counted.push_back(words(rig.l2()));
          replies.push_back(rig.replies());
        }
        EXPECT_EQ(counted[0], counted[1]);
        EXPECT_TRUE(replies[0] == replies[1]);
      }
}

TEST_F(L2AccessesTest, ModuloDealsConsecutiveLinesToConsecutiveSets) {
  m.l2.size_kib = 12;  // 24 sets of 4 ways: no power of two
  m.l2.index = L2Index::Modulo;
  AddressMap map(m);
  for (std::uint32_t line = 0; line < 100; ++line) EXPECT_EQ(map.set(line), line % 24);
}

}  // namespace
}  // namespace raddle::test::l2_accesses_test

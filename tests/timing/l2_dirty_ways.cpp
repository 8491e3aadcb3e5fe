// l2.dirty_ways: how much of a set may be dirty, and what happens to one line more.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_dirty_ways_test {
namespace {

class DirtyWays : public testing::Test {
 protected:
  DirtyWays() { m.l2.dirty_ways = 2; }
  /// Distinct lines of one set of the slice.
  static std::vector<std::uint32_t> lines_of_set(const AddressMap& map, unsigned set,
                                                 unsigned count) {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t line = 0; lines.size() < count; ++line)
      if (map.set(line) == set) lines.push_back(line);
    return lines;
  }
  /// Requests far apart for lines of one set, each by its number there.
  void send(PartitionRig& rig, std::initializer_list<std::pair<MessageKind, unsigned>> requests) {
    const auto line = lines_of_set(rig.map(), 3, m.l2.ways);
    for (auto [kind, which] : requests) {
      rig.arrive(at, message(kind, line[which], 0b11));
      at += 500;
      rig.run_until(at - 1);
    }
  }
  static std::vector<unsigned> accesses_of(const PartitionRig& rig) {
    std::vector<unsigned> out;
    for (const auto& reply : rig.replies()) out.push_back(reply.message.dram_accesses);
    return out;
  }
  static constexpr MessageKind kRead = MessageKind::Read, kWrite = MessageKind::Write,
                               kAtomic = MessageKind::Atomic;
  MachineSpec m = one_slice();
  Cycle at = 100;
};

TEST_F(DirtyWays, OneMoreWritesBackTheLineUsedLongestAgoWhichStays) {
  PartitionRig rig(m);
  // Line 0 has been used again, so 1 is written back; a line that is dirty already costs nothing.
  send(rig, {{kWrite, 0}, {kWrite, 1}, {kRead, 0}, {kWrite, 2}, {kWrite, 2}});
  EXPECT_EQ(accesses_of(rig), (std::vector<unsigned>{0, 0, 0, 1, 0}));
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.dram().bytes, 2 * m.l2.sector_bytes);
  send(rig, {{kRead, 1}});
  EXPECT_EQ(rig.l2().fetches, 0u) << "it stays";
  // Dirty again, in place of line 0.
  send(rig, {{kWrite, 1}});
  EXPECT_EQ(rig.dram().writes, 2u);
}

TEST_F(DirtyWays, WithoutALimitNothingIsWrittenBack) {
  m.l2.dirty_ways = 256;
  PartitionRig rig(m);
  send(rig, {{kWrite, 0}, {kWrite, 1}, {kWrite, 2}, {kWrite, 3}});
  EXPECT_EQ(rig.dram().writes, 0u);
}

TEST_F(DirtyWays, ADirtyLineThatIsPushedOutMakesRoomEnough) {
  PartitionRig rig(m);
  send(rig, {{kWrite, 0}, {kWrite, 1}});
  for (unsigned w = 2; w < m.l2.ways; ++w) send(rig, {{kRead, w}});
  const auto line = lines_of_set(rig.map(), 3, m.l2.ways + 1);
  rig.arrive(at, message(kWrite, line.back(), 0b11));
  rig.run_until(at + 500);
  EXPECT_EQ(rig.dram().writes, 1u) << "line 0, which was the next to go";
  EXPECT_EQ(rig.l2().evictions, 1u);
}

TEST_F(DirtyWays, AtomicsObeyItWhereTheyHitAndWhereTheyMiss) {
  PartitionRig rig(m);
  send(rig, {{kAtomic, 0}, {kAtomic, 1}, {kRead, 2}, {kAtomic, 2}, {kAtomic, 3}});
  EXPECT_EQ(accesses_of(rig), (std::vector<unsigned>{1, 1, 1, 1, 2}));
  EXPECT_EQ(rig.dram().writes, 2u);
}

TEST_F(DirtyWays, AWriteThatMergesWithAReadMayBeOneTooManyUntilTheNext) {
  PartitionRig rig(m);
  send(rig, {{kWrite, 0}, {kWrite, 1}});
  const auto line = lines_of_set(rig.map(), 3, m.l2.ways);
  rig.arrive(at, message(kRead, line[2], 0b11));
  rig.arrive(at + 1, message(kAtomic, line[2], 0b11));  // waits for the read's data
  rig.run_until(at + 500);
  at += 500;
  EXPECT_EQ(rig.l2().pending_hits, 1u);
  EXPECT_EQ(rig.dram().writes, 0u) << "three are dirty";
  send(rig, {{kWrite, 3}});
  EXPECT_EQ(rig.dram().writes, 1u);
  send(rig, {{kWrite, 0}});
  EXPECT_EQ(accesses_of(rig).back(), 1u) << "line 0 was the one made clean";
}

TEST_F(DirtyWays, WriteThroughLeavesNothingDirty) {
  m.l2.write_policy = L2WritePolicy::WriteThrough;
  PartitionRig rig(m);
  send(rig, {{kWrite, 0}, {kWrite, 1}, {kWrite, 2}});
  EXPECT_EQ(accesses_of(rig), (std::vector<unsigned>{1, 1, 1}));
  EXPECT_EQ(rig.l2().write_backs, 0u);
}

}  // namespace
}  // namespace raddle::test::l2_dirty_ways_test

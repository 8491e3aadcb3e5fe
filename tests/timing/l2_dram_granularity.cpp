// l2.dram_granularity = "line": DRAM is accessed by lines, the networks carry sectors.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_dram_granularity_test {
namespace {

class LinesToDram : public testing::Test {
 protected:
  LinesToDram() {
    m.l2.write_miss = L2WriteMiss::FetchOnWrite;
    m.l2.dram_granularity = DramGranularity::Line;
  }
  void send(PartitionRig& rig, MessageKind kind, std::uint32_t line, std::uint8_t sectors) {
    rig.arrive(at, message(kind, line, sectors));
    at += 500;
    rig.run_until(at - 1);
  }
  MachineSpec m = one_slice();
  Cycle at = 100;
};

TEST_F(LinesToDram, AWriteOfOneSectorFetchesItsLine) {
  PartitionRig rig(m);
  send(rig, MessageKind::Write, 5, 0b0001);
  EXPECT_EQ(rig.dram().reads, 1u);
  EXPECT_EQ(rig.dram().bytes, m.l2.line_bytes);
  EXPECT_EQ(rig.replies().back().message.dram_accesses, 1u);
  send(rig, MessageKind::Read, 5, 0b1110);
  EXPECT_EQ(rig.l2().hits, 1u) << "sectors that nobody asked for are there";
  EXPECT_EQ(rig.dram().reads, 1u);
}

TEST_F(LinesToDram, ADirtySectorTakesItsLineBack) {
  m.l2.dirty_ways = 1;
  PartitionRig rig(m);
  std::vector<std::uint32_t> of_set;
  for (std::uint32_t line = 0; of_set.size() < 2; ++line)
    if (rig.map().set(line) == 3) of_set.push_back(line);
  send(rig, MessageKind::Write, of_set[0], 0b0010);
  send(rig, MessageKind::Write, of_set[1], 0b0100);
  EXPECT_EQ(rig.dram().writes, 1u);
  EXPECT_EQ(rig.dram().bytes, 3 * m.l2.line_bytes) << "two lines fetched, one written";
  EXPECT_EQ(rig.replies().back().message.dram_accesses, 2u);
}

TEST_F(LinesToDram, RequestsForPartsOfALineUnderWayWaitForTheOneFetch) {
  PartitionRig rig(m);
  rig.arrive(at, message(MessageKind::Write, 5, 0b0001));
  rig.arrive(at + 1, message(MessageKind::Write, 5, 0b1000));
  rig.arrive(at + 2, message(MessageKind::Atomic, 5, 0b0100));
  rig.run_until(at + 1000);
  EXPECT_EQ(rig.replies().size(), 3u);
  EXPECT_EQ(rig.l2().pending_hits, 2u);
  EXPECT_EQ(rig.dram().reads, 1u);
}

/// What the wires carry is what DRAM's granularity leaves alone.
TEST_F(LinesToDram, OnlyTheBytesOfDramDiffer) {
  auto run = [&](DramGranularity granularity) {
    m.l2.dram_granularity = granularity;
    PartitionRig rig(m);
    send(rig, MessageKind::Write, 5, 0b0011);
    send(rig, MessageKind::Read, 6, 0b0100);
    EXPECT_EQ(rig.replies().size(), 2u);
    EXPECT_EQ(rig.replies().back().message.sectors, 0b0100);
    at = 100;
    return std::pair(rig.dram().bytes, rig.credits_returned());
  };
  const auto lines = run(DramGranularity::Line), sectors = run(DramGranularity::Sector);
  EXPECT_EQ(lines.first, 2 * m.l2.line_bytes);
  EXPECT_EQ(sectors.first, 3 * m.l2.sector_bytes);
  EXPECT_EQ(lines.second, sectors.second);
}

}  // namespace
}  // namespace raddle::test::l2_dram_granularity_test

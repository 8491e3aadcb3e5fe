#include "raddle/timing/sm/line_access.h"

#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "support/machines.h"

namespace raddle::line_map_test {
namespace {

using timing::LineMap;

timing::MachineSpec machine(std::uint32_t line, std::uint32_t sector, std::uint32_t l1_sector) {
  timing::MachineSpec m = support::small_machine();
  m.sm.l1d.line_bytes = m.l2.line_bytes = line;
  m.l2.sector_bytes = sector;
  m.sm.l1d.sector_bytes = l1_sector;
  return m;
}

/// Word by word, as the definition says.
std::uint8_t sectors_of(std::uint32_t words, unsigned sector_bytes) {
  unsigned out = 0;
  for (unsigned w = 0; w < 32; ++w)
    if ((words >> w & 1) != 0) out |= 1u << (w * 4 / sector_bytes);
  return static_cast<std::uint8_t>(out);
}

TEST(LineMap, SectorsAgreeWithTheDefinition) {
  Rng rng(1);
  for (std::uint32_t sector : {16u, 32u, 64u, 128u}) {
    LineMap map(machine(128, sector, sector));
    for (unsigned i = 0; i < 3000; ++i) {
      auto words = static_cast<std::uint32_t>(rng.next() & rng.next() & rng.next());
      EXPECT_EQ(map.sectors(words), sectors_of(words, sector)) << words;
    }
    EXPECT_EQ(map.sectors(~0u), sectors_of(~0u, sector));
  }
}

TEST(LineMap, WholeLinesKeepTheirNumber) {
  LineMap map(machine(128, 32, 32));
  LineMap::Accesses out;
  ASSERT_EQ(map.convert({77, 0xff00, 0x3}, 1000, out), 1u);
  EXPECT_EQ(out[0].line, 1077u);
  EXPECT_EQ(out[0].sectors, 2);
  EXPECT_EQ(out[0].lanes, 2);
}

TEST(LineMap, HalfLinesSplitAndShareTheLanes) {
  LineMap map(machine(64, 32, 32));
  LineMap::Accesses out;
  ASSERT_EQ(map.convert({10, 0x00ff00ff, kFullMask}, 0, out), 2u);
  EXPECT_EQ(out[0].line, 20u);
  EXPECT_EQ(out[1].line, 21u);
  EXPECT_EQ(out[0].sectors, 1);
  EXPECT_EQ(out[1].sectors, 1);
  EXPECT_EQ(out[0].lanes + out[1].lanes, 32);
  ASSERT_EQ(map.convert({10, 1u << 31, 1}, 0, out), 1u);
  EXPECT_EQ(out[0].line, 21u);
  EXPECT_EQ(out[0].sectors, 2);
  EXPECT_EQ(out[0].lanes, 1);
  ASSERT_EQ(map.convert({10, 0x0001ffff, 1}, 0, out), 2u)
      << "one lane reading a long vector over the middle";
  EXPECT_EQ(out[0].lanes, 1);
  EXPECT_EQ(out[1].lanes, 1) << "at least one each";
}

TEST(LineMap, WideningFetchesWholeL1Sectors) {
  LineMap same(machine(128, 32, 32)), pairs(machine(128, 32, 64)), whole(machine(128, 32, 128));
  for (unsigned s = 1; s < 16; ++s) {
    auto mask = static_cast<std::uint8_t>(s);
    EXPECT_EQ(same.widened(mask), s);
    EXPECT_EQ(pairs.widened(mask), ((s & 3) != 0 ? 3 : 0) | ((s & 12) != 0 ? 12 : 0));
    EXPECT_EQ(whole.widened(mask), 15);
  }
}

}  // namespace
}  // namespace raddle::line_map_test

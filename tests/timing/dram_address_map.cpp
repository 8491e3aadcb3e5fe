// Where lines live: a bijection for any machine, evenly spread for every stride.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raddle/timing/spec/machine.h"
#include "raddle/timing/wire/address_map.h"

namespace raddle::test::dram_address_map_test {
namespace {

using namespace raddle::timing;

MachineSpec machine(unsigned channels, unsigned per_channel, unsigned banks = 16,
                    unsigned interleave = 256) {
  MachineSpec m;
  m.dram.channels = channels;
  m.l2.slices = channels * per_channel;
  m.dram.banks = banks;
  m.dram.interleave_bytes = interleave;
  return m;
}

TEST(AddressMap, NoTwoLinesShareAPlaceInDram) {
  for (auto [channels, per_channel, banks] : {std::array{1u, 1u, 16u},
                                              {6u, 2u, 16u},
                                              {8u, 4u, 8u},
                                              {5u, 3u, 11u},
                                              {32u, 2u, 16u},
                                              {24u, 1u, 48u}}) {
    AddressMap map(machine(channels, per_channel, banks));
    std::vector<std::uint64_t> places;
    for (std::uint32_t line = 0; line < 400'000; ++line) {
      AddressMap::DramPlace at = map.dram(line);
      ASSERT_LT(map.channel(line), channels);
      ASSERT_LT(at.bank, banks);
      ASSERT_LT(at.column, 2048u / 128);
      places.push_back(((std::uint64_t{map.channel(line)} * 64 + at.bank) << 40) |
                       std::uint64_t{at.row} << 8 | at.column);
    }
    std::sort(places.begin(), places.end());
    EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end())
        << channels << " channels";
  }
}

/// Every mapping the keys allow is a bijection inside a channel.
TEST(AddressMap, NoMappingPutsTwoLinesInOnePlace) {
  for (AddressHash hash : {AddressHash::None, AddressHash::Xor, AddressHash::Mix})
    for (unsigned near : {1u, 2u, 4u, 16u}) {
      MachineSpec m = machine(4, 2);
      m.dram.channel_hash = m.dram.bank_hash = hash;
      m.dram.interleave_banks = near;
      AddressMap map(m);
      std::vector<std::uint64_t> places;
      for (std::uint32_t line = 0; line < 100'000; ++line) {
        AddressMap::DramPlace at = map.dram(line);
        ASSERT_LT(at.bank, 16u);
        ASSERT_LT(at.column, 16u);
        places.push_back(((std::uint64_t{map.channel(line)} * 64 + at.bank) << 40) |
                         std::uint64_t{at.row} << 8 | at.column);
      }
      std::sort(places.begin(), places.end());
      EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end()) << near;
    }
}

TEST(AddressMap, InterleaveGoesRoundTheNearBanksBeforeItFillsARow) {
  MachineSpec m = machine(1, 1, 8);  // 256 B = 2 lines, 16 lines a row
  m.dram.channel_hash = m.dram.bank_hash = AddressHash::None;
  m.dram.interleave_banks = 2;
  AddressMap map(m);
  auto is = [&](std::uint32_t line, std::uint32_t bank, std::uint32_t row, std::uint32_t column) {
    AddressMap::DramPlace at = map.dram(line);
    return at.bank == bank && at.row == row && at.column == column;
  };
  EXPECT_TRUE(is(0, 0, 0, 0) && is(1, 0, 0, 1)) << "one interleave";
  EXPECT_TRUE(is(2, 1, 0, 0) && is(3, 1, 0, 1)) << "the next bank";
  EXPECT_TRUE(is(4, 0, 0, 2)) << "on along the row";
  EXPECT_TRUE(is(31, 1, 0, 15)) << "the end of both rows";
  EXPECT_TRUE(is(32, 2, 0, 0)) << "the next two banks";
  EXPECT_TRUE(is(128, 0, 1, 0)) << "the next row";
  m.dram.bank_hash = AddressHash::Xor;
  AddressMap turned(m);
  EXPECT_EQ(turned.dram(128).bank, 1u) << "bank 0 of row 1";
  EXPECT_EQ(turned.dram(32 + 128 * 3).bank, 2u ^ 3u);
}

TEST(AddressMap, WithoutAHashChannelsFollowTheAddress) {
  MachineSpec m = machine(6, 2);
  m.dram.channel_hash = AddressHash::None;
  AddressMap map(m);
  for (std::uint32_t line = 0; line < 1000; ++line) ASSERT_EQ(map.channel(line), line / 2 % 6);
}

TEST(AddressMap, WithoutHashesABankIsTheLineModuloTheBanks) {
  MachineSpec m = machine(4, 4, 16, 512);  // 4 lines of 128 B an interleave, 4 slices a channel
  m.dram.channel_hash = AddressHash::None;
  m.l2.slice_index = L2Index::Modulo;
  m.l2.index = L2Index::Modulo;
  AddressMap map(m);
  for (std::uint32_t line = 0; line < 100'000; ++line) {
    ASSERT_EQ(map.slice(line), line % 16);
    ASSERT_EQ(map.set(line), line / 16 % m.l2.sets());
  }
}

TEST(AddressMap, SliceBelongsToTheChannel) {
  AddressMap map(machine(6, 4));
  for (std::uint32_t line = 0; line < 100'000; line += 7)
    EXPECT_EQ(map.slice(line) / map.slices_per_channel(), map.channel(line));
}

TEST(AddressMap, InterleaveStaysInOneChannelAndSharesARow) {
  AddressMap map(machine(8, 2, 16, 1024));
  for (std::uint32_t line = 0; line < 100'000; line += 8)
    for (std::uint32_t i = 1; i < 8; ++i) {
      ASSERT_EQ(map.channel(line + i), map.channel(line));
      ASSERT_EQ(map.dram(line + i).row, map.dram(line).row);
      ASSERT_EQ(map.dram(line + i).bank, map.dram(line).bank);
    }
}

TEST(AddressMap, ConsecutiveChunksGoToDifferentChannels) {
  AddressMap map(machine(6, 2));
  for (std::uint32_t chunk = 0; chunk < 6000; chunk += 6) {
    unsigned seen = 0;
    for (std::uint32_t i = 0; i < 6; ++i) seen |= 1u << map.channel(2 * (chunk + i));
    ASSERT_EQ(seen, 0b111111u) << "chunk " << chunk;
  }
}

/// Largest share of one pile relative to the mean.
template <class F>
double worst_share(unsigned piles, std::uint32_t stride, F stack_of) {
  std::vector<unsigned> count(piles);
  const unsigned n = 256 * piles;
  for (std::uint32_t i = 0; i < n; ++i) ++count[stack_of(i * stride)];
  return *std::max_element(count.begin(), count.end()) / 256.0;
}

TEST(AddressMap, EveryStrideSpreadsOverSlicesAndChannels) {
  for (auto [channels, per_channel] : {std::array{32u, 2u}, {6u, 2u}, {8u, 4u}, {5u, 1u}}) {
    MachineSpec m = machine(channels, per_channel);
    AddressMap map(m);
    double worst = 0;
    for (std::uint32_t stride = 1; stride <= 4096; ++stride) {
      worst =
          std::max(worst, worst_share(channels, stride, [&](auto l) { return map.channel(l); }));
      worst =
          std::max(worst, worst_share(m.l2.slices, stride, [&](auto l) { return map.slice(l); }));
    }
    // 256 expected per pile: 1.4 is 6.4 sigma of a random spread.
    EXPECT_LT(worst, 1.4) << channels << " x " << per_channel;
  }
}

TEST(AddressMap, EveryStrideSpreadsOverTheBanksOfAChannel) {
  for (unsigned banks : {8u, 16u, 11u, 48u}) {
    AddressMap map(machine(1, 1, banks));
    double worst = 0;
    for (std::uint32_t stride = 16; stride <= 4096; ++stride)  // from row to row
      worst = std::max(worst, worst_share(banks, stride, [&](auto l) { return map.dram(l).bank; }));
    EXPECT_LT(worst, 1.4) << banks << " banks";
  }
}

TEST(AddressMap, SetsOfASliceFillEvenly) {
  MachineSpec m = machine(6, 2);
  AddressMap map(m);
  std::vector<unsigned> lines(m.l2.slices * m.l2.sets());
  unsigned n = static_cast<unsigned>(lines.size()) * m.l2.ways;
  for (std::uint32_t line = 0; line < n; ++line)
    ++lines[map.slice(line) * m.l2.sets() + map.set(line)];
  unsigned over =
      0;  // a working set of exactly the cache's size, consecutive: nearly all of it fits
  for (unsigned count : lines) over += count > m.l2.ways ? count - m.l2.ways : 0;
  EXPECT_LT(over, n / 50);
}

}  // namespace
}  // namespace raddle::test::dram_address_map_test

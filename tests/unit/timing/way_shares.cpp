// Caches whose ways a scheme deals out: whose misses fill which, and that everybody hits in all.
#include "raddle/timing/cache/way_shares.h"

#include <gtest/gtest.h>

#include <list>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/denovo_bank.h"
#include "raddle/timing/cache/denovo_l1.h"
#include "raddle/timing/cache/l1d.h"
#include "support/memory_mocks.h"

namespace raddle::test::way_shares_test {
namespace {

using stats::Refusal;
using timing::Tags;

TEST(WayShares, AreAnyWayUntilSomebodyIsConfined) {
  WayShares shares(4);
  EXPECT_FALSE(shares.any());
  shares.set(2, 0b11);
  EXPECT_TRUE(shares.any());
  EXPECT_EQ(shares.of(2), 0b11u);
  EXPECT_EQ(shares.of(1), Tags::kAnyWay);
  EXPECT_DEATH(shares.set(0, 0), "internal error.*ways != 0");
}

// Against a list in order of use.
TEST(MaskedTags, TheVictimIsTheLeastRecentlyUsedOfTheMask) {
  constexpr unsigned kWays = 12;
  Rng rng(7);
  Tags tags(1, kWays);
  std::list<unsigned> used;  // most recently first; empty ways are given out from the first
  for (unsigned w = 0; w < kWays; ++w) used.push_front(w);
  for (unsigned step = 0; step < 3000; ++step) {
    const Tags::WayMask mask = 1 + rng.below((1u << kWays) - 1);
    unsigned expected = Tags::kAbsent;
    for (const unsigned w : used)
      if ((mask >> w & 1) != 0) expected = w;
    ASSERT_EQ(tags.victim(0, mask), expected) << step;
    unsigned at = Tags::kAbsent;
    tags.fill(0, 100 + step, 1, 0, at, mask);
    ASSERT_EQ(at, expected);
    used.remove(at);
    used.push_front(at);
  }
}

TEST(MaskedTags, ALockedWayIsNobodysVictim) {
  Tags tags(1, 4);
  unsigned at = Tags::kAbsent;
  tags.fill(0, 9, 1, 0, at, 0b0100);
  EXPECT_EQ(at, 2u);
  tags.lock(at);
  EXPECT_EQ(tags.victim(0, 0b0100), Tags::kAbsent);
  EXPECT_EQ(tags.victim(0, 0b1100), 3u);
}

class SharedL1d : public ::testing::Test {
 protected:
  SharedL1d() {
    spec.size_kib = 1;
    spec.line_bytes = 128;
    spec.ways = 4;  // two sets
    shares.set(0, 0b0011);
    shares.set(1, 0b1100);
  }
  L1d::Answer load(L1d& c, std::uint32_t line, std::uint8_t slot) {
    return c.load(0, {line, 0xf, slot, 0}, true, count);
  }
  /// True if it was there.
  bool use(L1d& c, std::uint32_t line, std::uint8_t slot) {
    const L1d::Answer a = load(c, line, slot);
    if (a.outcome == L1d::Outcome::Hit) return true;
    c.fill(0, a.mshr, a.ask, slot, count, [](std::uint16_t) {});
    return false;
  }
  L1dSpec spec;
  WayShares shares{kKernelSlots};
  stats::SmCounters count;
};

TEST_F(SharedL1d, AStreamPushesOutOnlyWhatIsInItsOwnWays) {
  for (const bool reserve : {false, true}) {
    spec.reserve_on_miss = reserve;
    L1d c(spec);
    c.share_ways(&shares);
    EXPECT_FALSE(use(c, 0, 0));
    EXPECT_FALSE(use(c, 2, 0));
    for (std::uint32_t line = 100; line < 140; ++line) EXPECT_FALSE(use(c, line, 1));
    EXPECT_TRUE(use(c, 0, 0));
    EXPECT_TRUE(use(c, 2, 0));
    EXPECT_FALSE(use(c, 4, 0)) << "two lines of a set are all that it has";
    EXPECT_FALSE(use(c, 0, 0));
    EXPECT_TRUE(use(c, 138, 0)) << "it hits in the other's ways";
    c.share_ways(nullptr);
    for (std::uint32_t line = 200; line < 208; ++line) EXPECT_FALSE(use(c, line, 1));
    EXPECT_FALSE(use(c, 0, 0)) << "no shares, no walls";
  }
}

TEST_F(SharedL1d, AMissWaitsForAWayOfItsOwn) {
  spec.reserve_on_miss = true;
  L1d c(spec);
  c.share_ways(&shares);
  const L1d::Answer first = load(c, 0, 0);
  load(c, 2, 0);
  EXPECT_EQ(load(c, 4, 0).why, Refusal::Way);
  EXPECT_EQ(load(c, 4, 1).outcome, L1d::Outcome::Miss) << "the other has ways";
  c.fill(0, first.mshr, first.ask, 0, count, [](std::uint16_t) {});
  EXPECT_EQ(load(c, 6, 0).outcome, L1d::Outcome::Miss);
}

TEST_F(SharedL1d, StoresThatAllocateKeepToTheirWays) {
  for (const WritePolicy policy : {WritePolicy::WriteValidate, WritePolicy::WriteThroughValidate}) {
    spec.write_policy = policy;
    L1d c(spec);
    c.share_ways(&shares);
    EXPECT_FALSE(use(c, 0, 0));
    for (std::uint32_t line = 100; line < 120; line += 2)
      c.store(0, {line, 0xf, 1, 0}, 0xf, false, true, count);
    EXPECT_TRUE(use(c, 0, 0));
    EXPECT_TRUE(use(c, 118, 0));
    EXPECT_TRUE(use(c, 116, 0));
    EXPECT_FALSE(use(c, 114, 0));
  }
}

TEST(SharedDenovoL1, RegistrationsKeepToTheirWays) {
  L1dSpec spec;
  spec.size_kib = 1;
  spec.ways = 8;
  spec.line_bytes = spec.sector_bytes = 64;  // two sets
  spec.store_buffer = 16;
  DenovoL1 l1(spec, 0, 1, 1);
  WayShares shares{kKernelSlots};
  shares.set(0, 0x0f);
  shares.set(1, 0xf0);
  l1.share_ways(&shares);
  // Lines with a registration under way keep their way, so the fifth of a set waits for one.
  for (std::uint32_t line = 0; line < 8; line += 2)
    EXPECT_EQ(l1.store(0, {line, 1, 0, 0, 0}, true).outcome, DenovoL1::Outcome::Miss);
  EXPECT_EQ(l1.store(0, {8, 1, 0, 0, 0}, true).why, Refusal::Way);
  EXPECT_EQ(l1.store(0, {8, 1, 1, 0, 0}, true).outcome, DenovoL1::Outcome::Miss);
}

TEST(SharedDenovoBank, MissesKeepToTheirWays) {
  MachineSpec m = one_slice();
  m.l2.line_bytes = m.sm.l1d.line_bytes = m.l2.sector_bytes = 64;
  const AddressMap map(m);
  DenovoBank bank({m.l2.sets(), 4, 16, 2}, map);
  WayShares shares{kMaxTenants};
  shares.set(1, 0b0001);
  bank.share_ways(&shares);
  std::vector<std::uint32_t> lines;
  for (std::uint32_t line = 0; lines.size() < 3; ++line)
    if (map.set(line) == 0) lines.push_back(line);
  stats::L2Counters count;
  const auto read = [&](std::uint32_t line, unsigned tenant) {
    Message r = message(MessageKind::Read, line);
    r.words = 1;
    r.tenant = static_cast<TenantId>(tenant);
    return bank.take(r, {}, count);
  };
  EXPECT_EQ(read(lines[0], 1), DenovoBank::Wait::Nothing);
  EXPECT_EQ(read(lines[1], 1), DenovoBank::Wait::Way) << "its only way is being fetched";
  EXPECT_EQ(read(lines[2], 0), DenovoBank::Wait::Nothing);
  ASSERT_EQ(bank.fetches().size(), 2u);
  bank.filled(bank.fetches()[0].tag, [&](unsigned) -> stats::L2Counters& { return count; });
  EXPECT_EQ(read(lines[1], 1), DenovoBank::Wait::Nothing);
  EXPECT_FALSE(bank.words(lines[0]).present) << "pushed out";
  EXPECT_TRUE(bank.words(lines[2]).present);
}

}  // namespace
}  // namespace raddle::test::way_shares_test

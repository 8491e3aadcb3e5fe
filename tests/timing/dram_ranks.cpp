// A DRAM channel whose tenants have ranks: whatever they are and however they change, commands keep
// their distances, every request is served, and looking only when something can have changed gives
// the same cycles.
#include <gtest/gtest.h>

#include "support/dram_rig.h"

namespace raddle::test::dram_ranks_test {
namespace {

/// Random traffic of three tenants, whose ranks change now and then, from cores of any rank.
void ranked_traffic(ChannelRig& rig, std::uint64_t seed, Cycle cycles) {
  Rng rng(seed);
  std::uint32_t base = 0;
  policy::Knobs knobs;
  for (Cycle t = 1; t < cycles; t += 1 + rng.below(rng.below(8) == 0 ? 200 : 6)) {
    rig.run_until(t);
    if (rng.below(50) == 0) {
      for (unsigned i = 0; i < 3; ++i)
        knobs.tenant[i].dram_rank = static_cast<std::uint8_t>(rng.below(3));
      rig.channel.obey(t, knobs);
    }
    if (rng.below(4) == 0) base = rng.below(1u << 14);
    if (rig.channel.free_slots() == 0) continue;
    DramRequest request{
        base + rng.below(24), 0, 0, static_cast<std::uint8_t>(1 + rng.below(15)), 0, 0,
        rng.below(3) == 0};
    const auto tenant = static_cast<TenantId>(rng.below(3));
    rig.channel.push(t, request.of(tenant, static_cast<std::uint8_t>(rng.below(8))));
  }
  rig.run_until(cycles + 5'000);
}

class DramRanks : public testing::TestWithParam<std::string> {};

TEST_P(DramRanks, EveryRequestIsServedAndNoDistanceIsBroken) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const MachineSpec m = one_slice();
    ChannelRig skip(m, GetParam()), every(m, GetParam(), false);
    for (ChannelRig* rig : {&skip, &every}) {
      ranked_traffic(*rig, seed, 60'000);
      expect_sound(*rig, m.dram, GetParam());
    }
    EXPECT_EQ(skip.done, every.done) << "seed " << seed;
    EXPECT_EQ(words(skip.channel.counters()), words(every.channel.counters())) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, DramRanks,
                         testing::ValuesIn(policy::all_policies().dram.names()),
                         [](const auto& info) { return info.param; });

// A stream of row hits and a stranger: the stranger's rank decides, not its age or its row.
TEST(DramRank, ShortensTheWaitOfTheBetterTenant) {
  const MachineSpec m = one_slice();
  Cycle waits[2];
  for (const unsigned rank : {0u, 1u}) {
    ChannelRig rig(m);
    policy::Knobs knobs;
    knobs.tenant[1].dram_rank = static_cast<std::uint8_t>(rank);
    rig.channel.obey(0, knobs);
    rig.channel.push(0, DramRequest{rig.line_of(0, 1, 0), 0, 0, 15, 0, 0, false}.of(TenantId{1}));
    rig.run_until(20);
    for (std::uint32_t column = 1; column < 8; ++column)
      rig.channel.push(
          20, DramRequest{rig.line_of(0, 1, column), 0, 0, 15, 0, 0, false}.of(TenantId{1}));
    const std::uint32_t stranger = rig.line_of(0, 2, 0);
    rig.channel.push(20, DramRequest{stranger, 0, 0, 15, 0, 0, false}.of(TenantId{0}));
    rig.run_until(2'000);
    ASSERT_EQ(rig.done.size(), 9u);
    EXPECT_EQ(rig.checker.first_violation(), "");
    for (const ChannelRig::Done& done : rig.done)
      if (done.line == stranger) waits[rank] = done.at;
    EXPECT_EQ(rig.done.back().line == stranger, rank == 0) << "row hits first, unless ranked";
  }
  EXPECT_LT(waits[1], waits[0]);
}

}  // namespace
}  // namespace raddle::test::dram_ranks_test

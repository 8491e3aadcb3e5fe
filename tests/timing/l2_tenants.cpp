// Knobs of a scheme that a memory partition obeys, between two mocks.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_tenants_test {
namespace {

constexpr std::uint8_t kAll = 0b1111;

class PartitionTenants : public testing::TestWithParam<bool> {
 protected:
  MachineSpec m = one_slice();  // four ways
  policy::Knobs knobs;

  static Message read(std::uint32_t line, unsigned tenant) {
    Message out = message(MessageKind::Read, line, kAll);
    out.tenant = static_cast<TenantId>(tenant);
    return out;
  }
  /// Distinct lines of one set of the slice.
  std::vector<std::uint32_t> lines_of_set(const AddressMap& map, unsigned count) const {
    std::vector<std::uint32_t> lines;
    for (std::uint32_t line = 0; lines.size() < count; ++line)
      if (map.set(line) == 3) lines.push_back(line);
    return lines;
  }
};

TEST_P(PartitionTenants, MissesFillTheirTenantsWaysAndHitInAll) {
  PartitionRig rig(m, GetParam());
  knobs.tenant[1].l2_ways = 0b0001;
  knobs.tenant[2].l2_ways = 0b1110;
  rig.partition().obey(0, knobs);
  const std::vector<std::uint32_t> lines = lines_of_set(rig.map(), 6);
  Cycle at = 100;
  const auto send = [&](std::uint32_t line, unsigned tenant) {
    const std::uint64_t before = rig.l2().hits;
    rig.arrive(at, read(line, tenant));
    rig.run_until(at += 400);
    return rig.l2().hits != before;
  };
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(send(lines[i], 2));
  for (unsigned i = 3; i < 6; ++i) EXPECT_FALSE(send(lines[i], 1));
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(send(lines[i], 2)) << "a stream in one way";
  EXPECT_TRUE(send(lines[5], 2)) << "tenant 1's line";
  EXPECT_FALSE(send(lines[4], 1)) << "only the last of its stream is there";
  knobs = {};
  rig.partition().obey(rig.now(), knobs);
  EXPECT_FALSE(send(lines[3], 1));
  EXPECT_TRUE(send(lines[4], 1)) << "any way, and so the least recently used";
  EXPECT_EQ(rig.partition().audit(), std::vector<std::string>{});
}

/// The tenants of the reads in the order in which their data come.
std::vector<unsigned> order(const PartitionRig& rig) {
  std::vector<unsigned> out;
  for (const PartitionRig::Reply& reply : rig.replies()) out.push_back(index(reply.message.tenant));
  return out;
}

/// Six lines of one bank, each in another row than the one before.
std::vector<std::uint32_t> rows_of_a_bank(PartitionRig& rig) {
  std::vector<std::uint32_t> lines;
  for (std::uint32_t line = 0; lines.size() < 6; ++line)
    if (const auto at = rig.map().dram(line);
        at.bank == 0 && (lines.empty() || rig.map().dram(lines.back()).row != at.row))
      lines.push_back(line);
  return lines;
}

TEST_P(PartitionTenants, RequestsOfTheBestRankAreServedFirst) {
  knobs.tenant[2].dram_rank = 1;
  for (const bool ranked : {false, true}) {
    PartitionRig rig(m, GetParam());
    if (ranked) rig.partition().obey(0, knobs);
    // Rows of one bank: each has to be opened, so the queue fills while the first is served.
    const std::vector<std::uint32_t> lines = rows_of_a_bank(rig);
    for (unsigned i = 0; i < 6; ++i) rig.arrive(100 + i, read(lines[i], i % 2 == 0 ? 2 : 1));
    rig.run_until(3000);
    using Tenants = std::vector<unsigned>;
    EXPECT_EQ(order(rig), ranked ? (Tenants{1, 1, 1, 2, 2, 2}) : (Tenants{2, 1, 2, 1, 2, 1}))
        << "the bank is tenant 1's, also when the row of the first of tenant 2 is open";
    EXPECT_EQ(rig.partition().audit(), std::vector<std::string>{});
  }
}

TEST_P(PartitionTenants, RanksHoldForWhatWaitsAlready) {
  PartitionRig rig(m, GetParam());
  const std::vector<std::uint32_t> lines = rows_of_a_bank(rig);
  for (unsigned i = 0; i < 6; ++i) rig.arrive(100 + i, read(lines[i], i % 2 == 0 ? 2 : 1));
  rig.run_until(110);  // all are in the queue
  knobs.tenant[2].dram_rank = 1;
  rig.partition().obey(110, knobs);
  rig.run_until(3000);
  EXPECT_EQ(order(rig), (std::vector<unsigned>{1, 1, 1, 2, 2, 2}));
}

INSTANTIATE_TEST_SUITE_P(Skip, PartitionTenants, testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

}  // namespace
}  // namespace raddle::test::l2_tenants_test

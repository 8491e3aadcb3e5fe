// Knobs of a scheme that a memory partition obeys, between two mocks.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test {
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

INSTANTIATE_TEST_SUITE_P(Skip, PartitionTenants, testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

}  // namespace
}  // namespace raddle::test

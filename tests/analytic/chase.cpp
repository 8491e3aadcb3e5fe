// Pointer chases through the levels of the memory, for the verification page: latency.cpp asks the
// same of paths that loop; here every load of the path is chosen.
#include <gtest/gtest.h>

#include <cmath>

#include "analytic/page.h"
#include "analytic/probes.h"
#include "raddle/timing/mem/address_map.h"

namespace raddle::verification {
namespace {

/// Cycles that components may take to hand a packet on, beyond what the machine file says.
constexpr double kHandOver = 8;

class ChaseOf : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec m = spec_of(GetParam());
  test::RunSpec on{GetParam(), {}, {}, {}};
  std::vector<std::uint64_t> ring(std::uint64_t stride) const {
    std::vector<std::uint64_t> path;
    for (std::uint64_t i = 0; i < 16; ++i) path.push_back(i * stride);
    return path;
  }
  /// A load that bypasses the L1 and hits in the L2.
  double l2_path() const {
    const double reply_flits =
        std::ceil(static_cast<double>(m.l2.sector_bytes + m.noc.header_bytes) / m.noc.flit_bytes);
    return 4.0 * m.noc.latency_cycles + m.l2.hit_latency_cycles + reply_flits - 1;
  }
  void expect(const char* level, double expected, double measured) const {
    EXPECT_DOUBLE_EQ(measured, expected) << level;
    row("latency", {GetParam(), level, number(expected), number(measured)});
  }
  void expect_between(const char* level, double least, double most, double measured) const {
    EXPECT_GE(measured, least) << level;
    EXPECT_LE(measured, most) << level;
    row("latency", {GetParam(), level, number(least) + " to " + number(most), number(measured)});
  }
};
INSTANTIATE_TEST_SUITE_P(All, ChaseOf, testing::ValuesIn(machines()),
                         [](const auto& i) { return i.param; });

TEST_P(ChaseOf, L1) {
  // Each line but the first round's is there.
  const double measured = chase(on, ring(m.sm.l1d.line_bytes), 32, false, 6);
  expect("L1 hit", m.sm.l1d.hit_latency_cycles, measured);
}

TEST_P(ChaseOf, L2) {
  expect_between("L2 hit", l2_path(), l2_path() + kHandOver,
                 chase(on, ring(m.l2.line_bytes), 32, true, 6));
}

TEST_P(ChaseOf, Dram) {
  if (m.dram.model == timing::DramModel::Fixed) {
    const double expected = l2_path() + m.dram.fixed_latency_cycles;
    expect_between("DRAM, fixed", expected, expected + kHandOver,
                   chase(on, ring(4096 + m.l2.line_bytes), 2, true));
    return;
  }
  // Lines of the first 64 MiB by bank, picked by the machine's own map.
  const timing::AddressMap map(m);
  const std::uint64_t first = exec::DeviceMemory::kBase / m.l2.line_bytes;
  std::vector<std::uint64_t> same_row, new_banks, new_rows;
  std::vector<bool> bank_used(m.dram.banks);
  std::vector<std::uint32_t> rows_used;
  const auto origin = map.dram(static_cast<std::uint32_t>(first));
  const unsigned channel = map.channel(static_cast<std::uint32_t>(first));
  for (std::uint64_t i = 0; i < (64u << 20) / m.l2.line_bytes; ++i) {
    const auto line = static_cast<std::uint32_t>(first + i);
    if (map.channel(line) != channel) continue;
    const auto at = map.dram(line);
    if (at.bank == origin.bank && at.row == origin.row) same_row.push_back(i * m.l2.line_bytes);
    if (!bank_used[at.bank]) {
      bank_used[at.bank] = true;
      new_banks.push_back(i * m.l2.line_bytes);
    }
    if (at.bank == origin.bank && new_rows.size() < 16 &&
        std::ranges::find(rows_used, at.row) == rows_used.end()) {
      rows_used.push_back(at.row);
      new_rows.push_back(i * m.l2.line_bytes);
    }
  }
  on.set = {"dram.refresh=none"};
  const double ratio = static_cast<double>(m.core_clock_mhz) / m.dram.clock_mhz;
  const double burst =
      std::ceil(static_cast<double>(m.l2.sector_bytes) / m.dram.bus_bytes_per_cycle);
  const double least = l2_path() + m.dram.extra_latency_cycles;
  // The request waits for the next memory clock, the data for the next core cycle.
  const auto check = [&](const char* level, double clocks, const std::vector<std::uint64_t>& path) {
    ASSERT_GE(path.size(), 4u);
    const double expected = least + ratio * (clocks + burst);
    expect_between(level, expected - 1, expected + ratio + kHandOver, chase(on, path, 2, true));
  };
  check("DRAM, row open", m.dram.tCL, same_row);
  check("DRAM, row closed", m.dram.tRCD + m.dram.tCL, new_banks);
  check("DRAM, other row open", m.dram.tRP + m.dram.tRCD + m.dram.tCL, new_rows);
}

}  // namespace
}  // namespace raddle::verification

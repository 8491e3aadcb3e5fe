// Unloaded latencies of whole machines, by pointer chase, against closed forms made from the
// machine file's own numbers. Every load of a path is chosen, and so is where it goes.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analytic/page.h"
#include "analytic/probes.h"
#include "raddle/timing/mem/address_map.h"

namespace raddle::verification {
namespace {

class ChaseOf : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec m = spec_of(GetParam());
  test::RunSpec on{GetParam(), {}, {}, {}};
  std::vector<std::uint64_t> ring(std::uint64_t stride) const {
    std::vector<std::uint64_t> path;
    for (std::uint64_t i = 0; i < 16; ++i) path.push_back(i * stride);
    return path;
  }
  /// Core cycles per cycle of the network.
  double network_ratio() const {
    return m.noc.clock_mhz == 0 ? 1 : 1.0 * m.core_clock_mhz / m.noc.clock_mhz;
  }
  /// Where two clocks meet, a packet waits for the next cycle of the other one: twice each way.
  double crossing() const { return network_ratio() == 1 ? 0 : 2 * (network_ratio() + 1); }
  /// Routers and channels between the first SM and a line's slice, one way; none in a crossbar.
  double mesh_cycles(std::uint32_t line) const {
    if (m.noc.topology == timing::Topology::Crossbar) return 0;
    const timing::MeshSpec& mesh = m.noc.mesh;
    const unsigned nodes = mesh.columns * mesh.rows;
    const unsigned from = timing::read_nodes(mesh.sm_nodes, nodes, m.sm.count)->front();
    const unsigned to = timing::read_nodes(mesh.slice_nodes, nodes, m.l2.slices)
                            ->at(timing::AddressMap(m).slice(line));
    const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
    const unsigned hops = apart(from % mesh.columns, to % mesh.columns) +
                          apart(from / mesh.columns, to / mesh.columns);
    return (hops + 1) * mesh.router_cycles + hops * mesh.channel_cycles;
  }
  /// Loads that bypass the L1 and hit in the L2, on average: four wires, the slice, the networks
  /// there and back, and the flits of the reply after its first.
  double l2_path(const std::vector<std::uint64_t>& path, std::size_t from) const {
    double there_and_back = 0;
    for (std::size_t i = from; i < path.size(); ++i)
      there_and_back += 2 * mesh_cycles(line_of(path[i]));
    const double flits =
        std::ceil(static_cast<double>(m.l2.sector_bytes + m.noc.header_bytes) / m.noc.flit_bytes);
    const double network = there_and_back / static_cast<double>(path.size() - from) + flits - 1;
    return 4.0 * m.noc.latency_cycles + m.l2.hit_latency_cycles + network_ratio() * network;
  }
  std::uint32_t line_of(std::uint64_t offset) const {
    return static_cast<std::uint32_t>((exec::DeviceMemory::kBase + offset) / m.l2.line_bytes);
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
  const auto path = ring(m.l2.line_bytes);
  const double expected = l2_path(path, 0), measured = chase(on, path, 32, true, 6);
  if (crossing() == 0) expect("L2 hit", expected, measured);
  else expect_between("L2 hit", expected - 2, expected + crossing(), measured);
}

TEST_P(ChaseOf, Dram) {
  if (m.dram.model == timing::DramModel::Fixed) {
    const auto path = ring(4096 + m.l2.line_bytes);
    const double expected = l2_path(path, 2) + m.dram.fixed_latency_cycles;
    expect_between("DRAM, fixed", expected - 2, expected + crossing() + 1,
                   chase(on, path, 2, true));
    return;
  }
  // Lines of the first 64 MiB by bank, picked by the machine's own map.
  const timing::AddressMap map(m);
  std::vector<std::uint64_t> same_row, new_banks, new_rows;
  std::vector<bool> bank_used(m.dram.banks);
  std::vector<std::uint32_t> rows_used;
  const auto origin = map.dram(line_of(0));
  const unsigned channel = map.channel(line_of(0));
  for (std::uint64_t i = 0; i < (64u << 20) / m.l2.line_bytes; ++i) {
    const std::uint32_t line = line_of(i * m.l2.line_bytes);
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
  // The request waits for the next memory clock, the data for the next core cycle.
  const auto check = [&](const char* level, double clocks, const std::vector<std::uint64_t>& path) {
    ASSERT_GE(path.size(), 4u);
    const double expected =
        l2_path(path, 2) + m.dram.extra_latency_cycles + ratio * (clocks + burst);
    const double before = crossing() == 0 ? 1 : 3;
    expect_between(level, expected - before, expected + ratio + 1 + crossing(),
                   chase(on, path, 2, true));
  };
  check("DRAM, row open", m.dram.tCL, same_row);
  check("DRAM, row closed", m.dram.tRCD + m.dram.tCL, new_banks);
  check("DRAM, other row open", m.dram.tRP + m.dram.tRCD + m.dram.tCL, new_rows);
}

TEST(Ikra, L2HitsTake29To61CyclesByDistance) {
  // Published for that machine, with 0 to 6 hops each way. SM 0 is in a corner, every node has a
  // slice.
  const timing::MachineSpec m = spec_of("ikra");
  const timing::AddressMap map(m);
  std::set<unsigned> seen;
  for (std::uint64_t line = 0; line < 64; ++line) {
    const std::uint64_t offset = line * m.l2.line_bytes;
    const unsigned node = map.slice(
        static_cast<std::uint32_t>((exec::DeviceMemory::kBase + offset) / m.l2.line_bytes));
    if (!seen.insert(node).second) continue;
    const unsigned hops = node % 4 + node / 4;
    EXPECT_NEAR(chase({"ikra", {}, {}, {}}, {offset}, 32, true, 160), 29 + 32.0 * hops / 6, 1.0)
        << "node " << node;
  }
  EXPECT_GE(seen.size(), 12u);
}

}  // namespace
}  // namespace raddle::verification

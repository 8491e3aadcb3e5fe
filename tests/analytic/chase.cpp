// Unloaded latencies of whole machines, by pointer chase, against closed forms made from the
// machine file's own numbers. Every load of a path is chosen, and so is where it goes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "analytic/page.h"
#include "analytic/probes.h"
#include "raddle/timing/dram/controller_hops.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/flits.h"

namespace raddle::verification::chase_test {
namespace {

/// Core cycles per cycle of the network.
double network_ratio(const timing::MachineSpec& m) {
  return m.noc.clock_mhz == 0 ? 1 : 1.0 * m.core_clock_mhz / m.noc.clock_mhz;
}

class ChaseOf : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec m = spec_of(GetParam());
  test::RunSpec on{GetParam(), {}, {}, {}};
  std::vector<std::uint64_t> ring(std::uint64_t stride) const {
    std::vector<std::uint64_t> path;
    for (std::uint64_t i = 0; i < 16; ++i) path.push_back(i * stride);
    return path;
  }
  double network_ratio() const { return chase_test::network_ratio(m); }
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
    const unsigned hops = mesh.hops(from, to);
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
  /// Between slices and controllers, there and back, on average.
  double legs(const std::vector<std::uint64_t>& path, std::size_t from) const {
    double cycles = 0;
    for (std::size_t i = from; i < path.size(); ++i) {
      const unsigned slice = timing::AddressMap(m).slice(line_of(path[i]));
      const unsigned per_channel = m.l2.slices / m.dram.channels;
      cycles += static_cast<double>(
          timing::ControllerHops({m, slice / per_channel}).round_trip(slice % per_channel));
    }
    return cycles / static_cast<double>(path.size() - from);
  }
  std::uint32_t line_of(std::uint64_t offset) const {
    return static_cast<std::uint32_t>((exec::DeviceMemory::kBase + offset) / m.l2.line_bytes);
  }
  void expect(const char* level, double expected, double measured) const {
    EXPECT_DOUBLE_EQ(measured, expected) << level;
    row("latency", {GetParam(), level, number(expected), number(measured)});
  }
  void expect_between(const char* level, double minimum, double maximum, double measured) const {
    EXPECT_GE(measured, minimum) << level;
    EXPECT_LE(measured, maximum) << level;
    row("latency",
        {GetParam(), level, number(minimum) + " to " + number(maximum), number(measured)});
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
    const double expected = l2_path(path, 2) + m.dram.fixed_latency_cycles + legs(path, 2);
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
  const bool by_line = m.l2.dram_granularity == timing::DramGranularity::Line;
  const double fetched = by_line ? m.l2.line_bytes : m.l2.sector_bytes;
  const double burst = std::ceil(fetched / m.dram.bus_bytes_per_cycle);
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

/// Lines of that bank, from the start of the first allocation.
std::vector<std::uint64_t> lines_of_bank(const timing::MachineSpec& m, unsigned bank,
                                         std::size_t lines) {
  const timing::AddressMap map(m);
  const auto line = static_cast<std::uint32_t>(exec::DeviceMemory::kBase / m.l2.line_bytes);
  std::vector<std::uint64_t> path;
  for (std::uint32_t i = 0; path.size() < lines; ++i)
    if (map.slice(line + i) == bank) path.push_back(std::uint64_t{i} * m.l2.line_bytes);
  return path;
}

/// Table 2 of IKRA, on both its machines: latencies from `least` to `most` cycles over so many
/// hops, in steps of two, measured from SM 0 at several nodes to every bank.
class IkraTable2 : public testing::TestWithParam<const char*> {
 protected:
  struct Level {
    const char* name;
    double minimum, maximum;
    unsigned hops;
    bool dram;
  };
  void expect(const Level& level) const {
    std::map<unsigned, std::pair<double, double>> seen;  // least and most, by hops
    for (const unsigned node : {0u, 3u, 6u, 12u})
      for (unsigned bank = 0; bank < 16; ++bank) {
        const auto [hops, cycles] = measure(node, bank, level.dram);
        const auto [at, first] = seen.try_emplace(hops, cycles, cycles);
        at->second = {std::min(at->second.first, cycles), std::max(at->second.second, cycles)};
      }
    for (const auto& [hops, range] : seen) {
      const double expected = level.minimum + (level.maximum - level.minimum) * hops / level.hops;
      EXPECT_NEAR(range.first, expected, 1.0) << level.name << ", " << hops << " hops";
      EXPECT_NEAR(range.second, expected, 1.0) << level.name << ", " << hops << " hops";
      row("distance", {GetParam(), level.name, std::to_string(hops), number(expected),
                       number(range.first) + " to " + number(range.second)});
    }
    EXPECT_EQ(seen.begin()->first, 0u);
    EXPECT_EQ(seen.rbegin()->first, level.hops);
  }

 private:
  /// Hops and cycles of a load from an SM at `node` that finds its line in `bank`, or in DRAM.
  std::pair<unsigned, double> measure(unsigned node, unsigned bank, bool dram) const {
    test::RunSpec on{GetParam(), {}, {}, {}};
    const timing::MachineSpec m = spec_of(GetParam());
    std::string nodes = std::to_string(node);
    for (unsigned sm = 1; sm < m.sm.count; ++sm) nodes += "," + std::to_string((node + sm) % 16);
    on.set = {"noc.mesh.sm_nodes=" + nodes};
    const std::vector<std::uint64_t> path = lines_of_bank(m, bank, 16);
    EXPECT_EQ((path[1] - path[0]) / m.l2.line_bytes, 16u) << "bank = line mod 16";
    const unsigned there = m.noc.mesh.hops(node, bank);
    if (!dram) return {2 * there, chase(on, {path[0]}, 32, true, 160)};
    const unsigned leg = timing::ControllerHops({m, bank / 4}).hops(bank % 4);
    return {2 * (there + leg), chase(on, path, 2, true)};
  }
};
INSTANTIATE_TEST_SUITE_P(Both, IkraTable2, testing::Values("ikra", "ikra_micro"),
                         [](const auto& i) { return i.param; });

TEST_P(IkraTable2, L2) { expect({"L2 hit", 29, 61, 12, false}); }

TEST_P(IkraTable2, Memory) { expect({"memory", 197, 261, 24, true}); }

/// The range 35 to 83 is that of three legs of 0 to 6 hops each. Three nodes of a 4 x 4 mesh are at
/// most 12 hops apart in all, so that 67 is the longest there is without contention.
TEST_P(IkraTable2, RemoteL1) {
  const timing::MachineSpec machine = spec_of(GetParam());
  std::map<unsigned, std::pair<double, double>> seen;
  const unsigned reader = 0, writer = 1;
  for (const unsigned at : {0u, 3u, 5u})
    for (const unsigned from : {0u, 2u, 10u, 12u, 15u})
      for (const unsigned bank : {0u, 5u, 10u, 15u}) {
        std::string nodes = std::to_string(at) + "," + std::to_string(from);
        for (unsigned sm = 2; sm < machine.sm.count; ++sm) nodes += "," + std::to_string(sm);
        test::RunSpec on{GetParam(), {}, {}, {}};
        on.set = {"noc.mesh.sm_nodes=" + nodes};
        on.policy = {"block=rr:reset=true", "coherence=denovo"};
        const auto path = lines_of_bank(machine, bank, 16);
        const auto cycles = [&](std::size_t steps) {
          RemoteChase probe(path, steps, writer, reader, machine.sm.count);
          return static_cast<double>(test::run_on(probe, "chase", on).cycles);
        };
        const double measured = (cycles(16) - cycles(2)) / 14;
        const unsigned hops = machine.noc.mesh.hops(at, bank) + machine.noc.mesh.hops(bank, from) +
                              machine.noc.mesh.hops(from, at);
        const auto [range, first] = seen.try_emplace(hops, measured, measured);
        range->second = {std::min(range->second.first, measured),
                         std::max(range->second.second, measured)};
      }
  for (const auto& [hops, range] : seen) {
    // An owner sends the words that are asked for: two of them, not a line, in fewer flits.
    const timing::PacketSize size = timing::packet_size(machine);
    const double expected =
        35 + (83.0 - 35) * hops / 18 -
        (size.flits(machine.l2.line_bytes) - size.flits(8)) * network_ratio(machine);
    EXPECT_NEAR(range.first, expected, 1.0) << hops << " hops";
    EXPECT_NEAR(range.second, expected, 1.0) << hops << " hops";
    row("distance", {GetParam(), "remote L1 hit", std::to_string(hops), number(expected),
                     number(range.first) + " to " + number(range.second)});
  }
  EXPECT_EQ(seen.begin()->first, 0u);
  EXPECT_EQ(seen.rbegin()->first, 12u);
}

}  // namespace
}  // namespace raddle::verification::chase_test

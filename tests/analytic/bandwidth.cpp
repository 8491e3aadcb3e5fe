// Streaming bandwidth of full machines at each level.
#include <gtest/gtest.h>

#include "analytic/page.h"
#include "analytic/probes.h"

namespace raddle::verification::bandwidth_test {
namespace {

class Bandwidth : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec m = spec_of(GetParam());
  test::RunSpec on{GetParam(), {}, {}, {}};
  sim::Result run(Access access, std::uint32_t blocks, std::uint32_t transactions,
                  std::uint32_t rounds, bool bypass) const {
    Stream stream(access, blocks, transactions, rounds, bypass);
    return test::run_on(stream, "stream", on);
  }
  void expect(const char* level, Access access, double peak, double minimum,
              double measured) const {
    EXPECT_LE(measured, 1.01 * peak) << level << ": slopes are good to 1 %";
    EXPECT_GE(measured, minimum * peak) << level;
    row("bandwidth", {GetParam(), level, std::string(kAccessNames[static_cast<unsigned>(access)]),
                      number(peak), number(measured), percent(measured, peak)});
  }
  /// Data bytes a core cycle that the narrower side's ports carry in one direction.
  double port_peak() const {
    const std::uint32_t line = m.l2.line_bytes, packet = line + m.noc.header_bytes;
    const std::uint32_t flits = (packet + m.noc.flit_bytes - 1) / m.noc.flit_bytes;
    const std::uint32_t per_port = m.noc.sms_per_port;
    const std::uint32_t ports = std::min((m.sm.count + per_port - 1) / per_port, m.l2.slices);
    const double clock = m.noc.clock_mhz == 0 ? 1 : 1.0 * m.noc.clock_mhz / m.core_clock_mhz;
    return clock * ports * line / flits;
  }
  double dram_peak() const {
    return m.dram.channels *
           (m.dram.model == timing::DramModel::Fixed
                ? 1.0 * m.l2.line_bytes / m.dram.fixed_interval_cycles
                : 1.0 * m.dram.bus_bytes_per_cycle * m.dram.clock_mhz / m.core_clock_mhz);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Bandwidth, testing::ValuesIn(machines()),
                         [](const auto& i) { return i.param; });

TEST_P(Bandwidth, L1) {
  // Up to four blocks on one SM, whose 4 KiB each take half of the L1 at most.
  on.set = {"sm.count=1"};
  const std::uint32_t blocks =
      std::clamp(m.sm.l1d.size_kib / 8, 1u, std::min(4u, m.sm.threads / 256));
  const sim::Result few = run(Access::Read, blocks, 1, 8, false),
                    many = run(Access::Read, blocks, 1, 40, false);
  const double measured = 32.0 * blocks * 256 * 16 / static_cast<double>(many.cycles - few.cycles);
  expect("L1, per SM", Access::Read, m.sm.l1d.line_bytes, 0.05, measured);
}

TEST_P(Bandwidth, L2) {
  const std::uint32_t blocks = resident_blocks(m);
  // The rounds write the same lines, which a store buffer would combine before they leave the SM.
  on.set = {"sm.l1d.store_buffer=0"};
  on.policy = {"coherence=gpu"};  // where an L1 owns what it has written, nothing would leave it
  // The first rounds fetch what the rest finds; the short run has them behind it.
  for (const Access access : {Access::Read, Access::Write, Access::Copy}) {
    const sim::Result few = run(access, blocks, 1, 8, true),
                      many = run(access, blocks, 1, 16, true);
    const double ways = access == Access::Copy ? 2 : 1, one_way = 8.0 * blocks * 256 * 16;
    const double bytes = ways * one_way;
    expect("L2", access, ways * port_peak(), 0.2,
           bytes / static_cast<double>(many.cycles - few.cycles));
  }
}

TEST_P(Bandwidth, Dram) {
  const std::uint32_t blocks = resident_blocks(m);
  const std::uint32_t slice_kib = std::max(1u, 4 * m.l2.line_bytes * m.l2.ways / 1024);
  on.set = {fmt::format("l2.size_kib={}", slice_kib)};
  std::uint32_t transactions =
      8;  // more where little is resident beside what the L2 keeps of writes
  while (transactions * blocks * 256 * 16 < 10 * m.l2.slices * slice_kib * 1024) transactions *= 2;
  for (const Access access : {Access::Read, Access::Write, Access::Copy}) {
    const sim::Result r = run(access, blocks, transactions, 1, true);
    const auto bytes = static_cast<double>(r.totals.dram.bytes);
    const double asked = (access == Access::Copy ? 2.0 : 1.0) * transactions * blocks * 256 * 16;
    EXPECT_GE(bytes, 0.9 * asked) << "the L2 keeps next to nothing";
    expect("DRAM", access, dram_peak(), 0.2,
           bytes / static_cast<double>(r.cycles - m.launch_latency_cycles));
  }
}

}  // namespace
}  // namespace raddle::verification::bandwidth_test

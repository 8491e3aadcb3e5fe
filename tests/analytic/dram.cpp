// The memory of every shipped machine: one channel under random traffic breaks none of its table's
// constraints, and streams at the share of the peak that the table leaves.
#include "support/dram_rig.h"
#include "support/whole.h"

namespace raddle::dram_test {
namespace {

using test::ChannelRig;

class ShippedMemory : public testing::TestWithParam<std::string> {
 protected:
  /// One channel of the machine, behind one slice.
  timing::MachineSpec spec() const {
    timing::MachineSpec m = test::make_setup({GetParam()}).machine;
    m.dram.channels = m.l2.slices = 1;
    return m;
  }
  bool fixed() const { return spec().dram.model == timing::DramModel::Fixed; }
};
std::vector<std::string> machines() {
  std::vector<std::string> out;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) out.emplace_back(gpu.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ShippedMemory, testing::ValuesIn(machines()),
                         [](const auto& i) { return i.param; });

TEST_P(ShippedMemory, RandomTrafficBreaksNoConstraint) {
  if (fixed()) GTEST_SKIP() << "no commands";
  const timing::MachineSpec m = spec();
  for (std::uint64_t seed : {1u, 2u}) {
    ChannelRig sensible(m);
    ChannelRig random(m, std::make_unique<test::RandomPolicy>(seed), true);
    for (ChannelRig* rig : {&sensible, &random}) {
      test::random_traffic(*rig, seed, 60'000);
      test::expect_sound(*rig, m.dram, GetParam());
    }
  }
}

/// Share of the peak with the queue kept full of whole lines in order; each line but the first of
/// `period` is read, that one written (period 1: all are read).
double share(const timing::MachineSpec& m, unsigned period) {
  ChannelRig rig(m);
  const Cycle cycles = 60'000;
  const auto whole = static_cast<std::uint8_t>(low_bits(m.l2.line_bytes / m.l2.sector_bytes));
  std::uint32_t line = 0;
  for (Cycle t = 0; t < cycles; ++t) {
    rig.run_until(t);
    for (; rig.channel.free_slots() > 0; ++line)
      rig.push(t, line / period + (line % period << 22), line % period != 0, whole);
  }
  EXPECT_EQ(rig.checker.first_violation(), "");
  const timing::DramSpec& d = m.dram;
  const double peak = (d.model == timing::DramModel::Fixed)
                          ? 1.0 * m.l2.line_bytes / d.fixed_interval_cycles
                          : 1.0 * d.burst_bytes / d.step(false) * d.clock_mhz / m.core_clock_mhz;
  return static_cast<double>(rig.channel.counters().bytes) / static_cast<double>(cycles) / peak;
}

/// What a refresh of all banks takes: half a tRAS to close, tRP, tRFC, and the first row again. One
/// bank's refresh stops only that bank, and the queue has work for the others.
double left_by_refresh(const timing::DramSpec& d) {
  if (d.refresh != timing::Refresh::AllBank) return 1;
  return 1 - (d.tRAS / 2.0 + d.tRP + d.tRFC + d.tRCD) / d.tREFI;
}

/// Each drain writes drain_high - drain_low lines, and as many are read until the next; the bus
/// turns round twice.
double left_by_drains(const timing::MachineSpec& m) {
  const timing::DramSpec& d = m.dram;
  const double step = d.step(false), bursts = m.l2.line_bytes / d.burst_bytes;
  const double busy = 2 * (d.drain_high - d.drain_low) * bursts * step;
  const double to_write = d.read_to_write() - step;
  const double to_read = d.tCWL + d.burst_cycles() + d.tWTRS - step;
  return busy / (busy + to_write + to_read);
}

TEST_P(ShippedMemory, StreamsAtTheShareItsTableLeaves) {
  const timing::MachineSpec m = spec();
  if (fixed()) {
    EXPECT_NEAR(share(m, 2), 1, 0.01);
    return;
  }
  const double refreshed = left_by_refresh(m.dram);
  EXPECT_NEAR(share(m, 1), refreshed, 0.01);
  EXPECT_NEAR(share(m, 2), refreshed * left_by_drains(m), 0.025);
}

}  // namespace
}  // namespace raddle::dram_test

// A DRAM channel against closed forms of its own table: bank groups, tFAW, refresh, turnarounds,
// two command buses, the fixed model, bandwidths.
#include <gtest/gtest.h>

#include "support/dram_rig.h"

namespace raddle::test::dram_timing_test {
namespace {

/// Clocks 1:1; groups differ, reads and writes differ.
MachineSpec grouped() {
  MachineSpec m = one_slice();
  m.dram.bus_bytes_per_cycle = 16;
  m.dram.burst_bytes = 32;  // two data cycles
  m.dram.tCCDS = 2;
  m.dram.tCCDL = 4;
  m.dram.tRRDS = 3;
  m.dram.tRRDL = 7;
  m.dram.tFAW = 30;
  m.dram.tWTRS = 3;
  m.dram.tWTRL = 9;
  m.dram.tCWL = 5;
  return m;
}
constexpr std::uint32_t kBurst = 2;

/// Cycles at which the two requests' data arrive, after the rows of both have been opened.
std::pair<Cycle, Cycle> two_hits(const MachineSpec& m, unsigned bank_a, unsigned bank_b) {
  ChannelRig rig(m);
  rig.push(10, rig.line_of(bank_a, 0, 0));
  rig.push(10, rig.line_of(bank_b, 0, 0));
  rig.push(500, rig.line_of(bank_a, 0, 1));
  rig.push(500, rig.line_of(bank_b, 0, 1));
  rig.run_until(1000);
  EXPECT_EQ(rig.checker.first_violation(), "");
  return {rig.done[2].at - 500, rig.done[3].at - 500};
}

TEST(DramGroups, ColumnsOfOneGroupAreFurtherApart) {
  const MachineSpec m = grouped();
  const Cycle first = m.dram.tCL + kBurst;
  EXPECT_EQ(two_hits(m, 0, 1), std::pair(first, first + m.dram.tCCDS));
  EXPECT_EQ(two_hits(m, 0, 4), std::pair(first, first + m.dram.tCCDL));
}

/// The data of reads to closed banks that arrive together, in order.
std::vector<Cycle> misses(const MachineSpec& m, const std::vector<unsigned>& banks) {
  ChannelRig rig(m);
  for (unsigned bank : banks) rig.push(100, rig.line_of(bank, 0, 0));
  rig.run_until(1000);
  EXPECT_EQ(rig.checker.first_violation(), "");
  std::vector<Cycle> at;
  for (const auto& done : rig.done) at.push_back(done.at - 100 - m.dram.tRCD - m.dram.tCL - kBurst);
  return at;
}

TEST(DramGroups, ActivatesOfOneGroupAreFurtherApart) {
  EXPECT_EQ(misses(grouped(), {0, 1}), (std::vector<Cycle>{0, 3}));
  EXPECT_EQ(misses(grouped(), {0, 4}), (std::vector<Cycle>{0, 7}));
  // Bank 1 need not wait for bank 4.
  EXPECT_EQ(misses(grouped(), {0, 4, 1}), (std::vector<Cycle>{0, 3, 7}));
}

TEST(DramGroups, FiveActivatesTakeMoreThanTheWindow) {
  EXPECT_EQ(misses(grouped(), {0, 1, 2, 3, 5, 6}), (std::vector<Cycle>{0, 3, 6, 9, 30, 33}));
}

TEST(DramGroups, ReadAfterWriteWaitsLongerInItsGroup) {
  MachineSpec m = grouped();
  m.dram.drain_high = 1;
  m.dram.drain_low = 0;
  for (auto [bank, wtr] : {std::pair{1u, m.dram.tWTRS}, {4u, m.dram.tWTRL}}) {
    ChannelRig rig(m);
    rig.push(10, rig.line_of(0, 0, 0));
    rig.push(10, rig.line_of(bank, 0, 0));
    rig.push(500, rig.line_of(0, 0, 1), true);
    rig.push(500, rig.line_of(bank, 0, 1));
    rig.run_until(1000);
    EXPECT_EQ(rig.done[2].at, 500 + m.dram.tCWL + kBurst + wtr + m.dram.tCL + kBurst);
  }
}

TEST(DramGroups, WriteAfterReadLeavesTheBusIdleForTheTurnaround) {
  MachineSpec m = grouped();
  ChannelRig rig(m);
  rig.push(10, rig.line_of(0, 0, 0));
  rig.push(10, rig.line_of(1, 0, 0));
  rig.push(500, rig.line_of(0, 0, 1));
  rig.push(500, rig.line_of(1, 0, 1), true);
  rig.run_until(1000);
  // The write goes out tCL + burst + turnaround - tCWL after the read: its wait says when.
  const Cycle distance = m.dram.tCL + kBurst + m.dram.turnaround - m.dram.tCWL;
  const Cycle before = m.dram.tRCD + m.dram.tRCD + m.dram.tRRDS;  // the two that opened the rows
  EXPECT_EQ(rig.channel.counters().queue_cycles, before + distance);
}

TEST(DramGroups, LongRequestsOfTwoGroupsShareTheBus) {
  MachineSpec m = grouped();
  const auto last = [&](unsigned bank_a, unsigned bank_b) {
    ChannelRig rig(m);
    rig.push(10, rig.line_of(bank_a, 0, 0));
    rig.push(10, rig.line_of(bank_b, 0, 0));
    rig.push(500, rig.line_of(bank_a, 0, 1), false, 0b1111);
    rig.push(500, rig.line_of(bank_b, 0, 1), false, 0b1111);
    rig.run_until(1000);
    EXPECT_EQ(rig.checker.first_violation(), "");
    return rig.done[3].at - 500 - m.dram.tCL - kBurst;
  };
  EXPECT_EQ(last(0, 4), 7u * 4) << "one group: all eight tCCDL apart";
  EXPECT_EQ(last(0, 1), 7u * 2) << "two groups: the bus is never idle";
  m.dram.tCCDL = 3;
  EXPECT_EQ(last(0, 4), 7u * 3);
  EXPECT_EQ(last(0, 1), 7u * 2) << "bursts move apart for the other group";
}

TEST(DramChannel, TwoCommandBusesActivateDuringAColumn) {
  MachineSpec m = grouped();
  for (unsigned buses : {1u, 2u}) {
    m.dram.command_buses = buses;
    ChannelRig rig(m);
    const std::uint32_t hit = rig.line_of(0, 0, 1), miss = rig.line_of(1, 0, 0);
    rig.push(10, rig.line_of(0, 0, 0));
    rig.push(500, hit);
    rig.push(500, miss);
    rig.run_until(1000);
    EXPECT_EQ(rig.done[1].at, 500 + m.dram.tCL + kBurst);
    EXPECT_EQ(rig.done[2].at, 500 + 2 - buses + m.dram.tRCD + m.dram.tCL + kBurst);
    EXPECT_EQ(rig.checker.first_violation(), "");
  }
}

MachineSpec refreshed(Refresh refresh) {
  MachineSpec m = grouped();
  m.dram.refresh = refresh;
  m.dram.tREFI = 3200;
  m.dram.tRFC = 300;
  return m;
}

TEST(DramRefresh, AReadThatIsDueThenWaitsForAllOfIt) {
  const MachineSpec m = refreshed(Refresh::AllBank);
  const Cycle read = m.dram.tRCD + m.dram.tCL + kBurst, due = m.dram.tREFI;
  ChannelRig closed(m);
  closed.push(due, 0);
  closed.run_until(due + 1000);
  EXPECT_EQ(closed.done[0].at, due + m.dram.tRFC + read);
  ChannelRig open(m);
  open.push(100, 0);
  open.push(due, 1);
  open.run_until(due + 1000);
  EXPECT_EQ(open.done[1].at, due + m.dram.tRP + m.dram.tRFC + read);
  EXPECT_EQ(open.checker.first_violation(), "");
}

TEST(DramRefresh, OneBankAtATimeStopsOnlyItsOwn) {
  const MachineSpec m = refreshed(Refresh::PerBank);
  const Cycle read = m.dram.tRCD + m.dram.tCL + kBurst, due = m.dram.tREFI / m.dram.banks * 4;
  for (unsigned bank : {3u, 5u}) {  // bank 3 is the fourth
    ChannelRig rig(m);
    rig.push(due, rig.line_of(bank, 0, 0));
    rig.run_until(due + 1000);
    EXPECT_EQ(rig.done[0].at, due + (bank == 3 ? m.dram.tRFC : 0) + read + (bank == 3 ? 0 : 1))
        << "REF takes the command bus for a cycle";
    EXPECT_EQ(rig.checker.first_violation(), "");
  }
}

TEST(DramRefresh, ClosesTheRowsOfAnIdleChannelAndCountsEveryCommand) {
  for (Refresh kind : {Refresh::AllBank, Refresh::PerBank}) {
    const MachineSpec m = refreshed(kind);
    const Cycle read = m.dram.tRCD + m.dram.tCL + kBurst, later = 1'000'000'900;
    AddressMap map(m);
    std::uint32_t line = 0;
    while (map.dram(line).bank != 9) ++line;
    DramChannel channel({m, 0}, map, dram_policy());  // nobody observes: idle time is skipped
    auto run = [&](Cycle now) {
      channel.push(now, {line, 0, 0, 1, 0, 3, false});
      for (Cycle t = now; channel.replies().empty(); ++t) channel.tick(t);
      const Cycle at = channel.replies().front().at;
      channel.replies().pop();
      return at - now;
    };
    EXPECT_EQ(run(100), read);
    EXPECT_EQ(run(150), read - m.dram.tRCD);
    EXPECT_EQ(run(later), read) << "the row has been closed";
    EXPECT_EQ(channel.counters().activates, 2u);
    EXPECT_EQ(channel.counters().precharges, 1u);
    EXPECT_EQ(channel.counters().refreshes, later / m.dram.refresh_interval());
    EXPECT_EQ(channel.counters(3).refreshes, channel.counters().refreshes);
  }
}

TEST(DramRefresh, LongIdleTimesCountTheSameWhetherWatchedOrNot) {
  for (Refresh kind : {Refresh::AllBank, Refresh::PerBank})
    for (Cycle pause : {700u, 5'000u, 33'333u, 400'000u}) {
      const MachineSpec m = refreshed(kind);
      std::vector<std::uint64_t> first;
      for (bool watch : {true, false}) {
        ChannelRig rig(m);
        if (!watch) rig.channel.observe(nullptr);
        Rng rng(pause);
        for (Cycle t = 10, i = 0; i < 12; ++i, t += pause + rng.below(100))
          rig.push(t, rng.below(5000), i % 3 == 0);
        rig.run_until(12 * (pause + 100) + 1000);
        if (watch) first = words(rig.channel.counters());
        EXPECT_EQ(words(rig.channel.counters()), first);
        EXPECT_EQ(rig.checker.first_violation(), "");
      }
    }
}

TEST(DramFixed, ALinePerIntervalAfterAConstantTime) {
  MachineSpec m = one_slice();
  m.dram.model = DramModel::Fixed;
  m.dram.fixed_latency_cycles = 184;
  m.dram.fixed_interval_cycles = 6;
  m.dram.queue = 4;
  for (bool skip : {true, false}) {
    ChannelRig rig(m, "frfcfs", skip);
    for (std::uint32_t i = 0; i < 4; ++i) rig.push(100, 1000 * i, i == 1, 0b11);
    EXPECT_EQ(rig.channel.free_slots(), 0u);
    rig.run_until(102);
    EXPECT_EQ(rig.channel.free_slots(), 1u) << "the first is being served";
    rig.run_until(107);
    EXPECT_EQ(rig.channel.free_slots(), 2u);
    rig.push(500, 1);
    rig.push(503, 2);
    rig.run_until(1000);
    const std::vector<ChannelRig::Done> expected{
        {284, 0}, {296, 2000}, {302, 3000}, {684, 1}, {690, 2}};
    EXPECT_EQ(rig.done, expected);
    const stats::DramCounters c = rig.channel.counters();
    EXPECT_EQ(c.reads, 5u);
    EXPECT_EQ(c.writes, 1u);
    EXPECT_EQ(c.bytes, (4 * 2 + 2) * 32u);
    EXPECT_EQ(c.queue_cycles, 0u + 6 + 12 + 18 + 0 + 3);
    EXPECT_EQ(c.bus_busy_cycles, 6 * 6u);
    EXPECT_TRUE(rig.channel.idle());
  }
}

constexpr std::uint32_t kFar = 1u << 20;

/// Bytes a memory cycle over `cycles`, with the queue kept full of whole lines in order. Of each
/// `period` lines `writes` are written.
double streamed(const MachineSpec& m, unsigned period, unsigned writes, Cycle cycles) {
  ChannelRig rig(m);
  for (Cycle t = 0, line = 0; t < cycles; ++t) {
    rig.run_until(t);
    for (; rig.channel.free_slots() > 0; ++line) {
      const bool write = line % period < writes;
      const auto at = static_cast<std::uint32_t>(line / period);
      rig.push(t, write ? kFar + at : at, write, 0b1111);
    }
  }
  EXPECT_EQ(rig.checker.first_violation(), "");
  return static_cast<double>(rig.channel.counters().bytes) / static_cast<double>(cycles);
}

TEST(DramBandwidth, StreamsReachThePeakLessWhatTheTableTakes) {
  for (Refresh kind : {Refresh::None, Refresh::AllBank}) {
    MachineSpec m = refreshed(kind);
    m.dram.interleave_banks = m.dram.bank_groups;
    m.dram.tRRDL = 4;
    m.dram.tFAW = 16;
    const DramSpec& d = m.dram;
    const double peak = d.bus_bytes_per_cycle;
    // A refresh costs closing, tRP, tRFC, and opening the first row again.
    const double stopped =
        kind == Refresh::None ? 0.0 : 1.0 * (d.tRAS / 2.0 + d.tRP + d.tRFC + d.tRCD) / d.tREFI;
    EXPECT_NEAR(streamed(m, 1, 0, 40'000) / peak, 1 - stopped, 0.04);
    EXPECT_NEAR(streamed(m, 1, 1, 40'000) / peak, 1 - stopped, 0.04);
  }
}

TEST(DramBandwidth, CopyPaysTheTurnaroundsOfEachDrain) {
  MachineSpec m = grouped();
  m.dram.interleave_banks = m.dram.bank_groups;
  m.dram.tRRDL = 4;
  m.dram.tFAW = 16;
  for (unsigned low : {8u, 16u, 24u}) {
    m.dram.drain_high = 32;
    m.dram.drain_low = low;
    const DramSpec& d = m.dram;
    // A drain writes high - low lines of four bursts; as many are read until the next.
    const double lines = d.drain_high - low, busy = 2 * lines * 4 * kBurst;
    const double to_write = d.read_to_write() - kBurst,
                 to_read = d.tCWL + kBurst + d.tWTRS - kBurst;
    EXPECT_NEAR(streamed(m, 2, 1, 40'000) / d.bus_bytes_per_cycle,
                busy / (busy + to_write + to_read), 0.06)
        << low;
  }
}

}  // namespace
}  // namespace raddle::test::dram_timing_test

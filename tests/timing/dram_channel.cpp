// A DRAM channel between mocks: closed forms, order under each policy, drain, bandwidth, two
// clocks.
#include <gtest/gtest.h>

#include "support/dram_rig.h"

namespace raddle::test::dram_channel_test {
namespace {

TEST(DramClock, CyclesFollowTheExactRatio) {
  for (auto [memory, core] :
       {std::pair{850u, 1447u}, {1000u, 1000u}, {2600u, 700u}, {924u, 700u}, {1u, 3u}}) {
    ClockRatio clock(memory, core);
    for (Cycle now : {Cycle{0}, Cycle{1}, Cycle{17}, Cycle{1'000'000'007}, Cycle{1} << 38}) {
      EXPECT_EQ(clock.other_at(now), now * memory / core);
      std::uint64_t k = clock.first_from(now);
      EXPECT_GE(clock.core_at(k), now);
      EXPECT_TRUE(k == 0 || clock.core_at(k - 1) < now);
      EXPECT_LE(k, clock.other_at(clock.core_at(k)));
    }
  }
}

TEST(DramChannel, IsolatedReadTakesTheClosedForm) {
  for (unsigned sectors = 1; sectors <= 4; ++sectors) {
    MachineSpec m = one_slice();
    m.dram.extra_latency_cycles = 37;
    ChannelRig rig(m);
    rig.push(100, 0, false, static_cast<std::uint8_t>(low_bits(sectors)));
    rig.run_until(400);
    ASSERT_EQ(rig.done.size(), 1u);
    EXPECT_EQ(rig.done[0].at, 100 + closed_read(m.dram, sectors));
  }
}

TEST(DramChannel, IsolatedReadWithTwoClocks) {
  for (auto [memory, core] : {std::pair{850u, 1447u}, {924u, 700u}, {1750u, 607u}}) {
    MachineSpec m = one_slice();
    m.core_clock_mhz = core;
    m.dram.clock_mhz = memory;
    m.dram.extra_latency_cycles = 5;
    ChannelRig rig(m);
    rig.push(1001, 0, false, 0b1111);
    rig.run_until(2000);
    MachineSpec ideal = m;
    ideal.dram.extra_latency_cycles = 0;
    std::uint64_t start =
        (1000ull * memory) / core + 1;  // first memory cycle not before core cycle 1001
    std::uint64_t end = start + closed_read(ideal.dram, 4);
    ASSERT_EQ(rig.done.size(), 1u);
    EXPECT_EQ(rig.done[0].at, (end * core + memory - 1) / memory + 5);
  }
}

TEST(DramChannel, RowHitAndRowConflictTakeTheClosedForm) {
  MachineSpec m = one_slice();
  const DramSpec& d = m.dram;
  ChannelRig rig(m);
  std::uint32_t first = rig.line_of(3, 0, 0), same_row = rig.line_of(3, 0, 5),
                other = rig.line_of(3, 1, 0);
  rig.push(100, first);
  rig.push(500, same_row);
  rig.push(900, other);
  rig.run_until(1300);
  ASSERT_EQ(rig.done.size(), 3u);
  EXPECT_EQ(rig.done[1].at, 500 + d.tCL + 2);
  EXPECT_EQ(rig.done[2].at, 900 + d.tRP + d.tRCD + d.tCL + 2);
  EXPECT_EQ(rig.channel.counters().activates, 2u);
  EXPECT_EQ(rig.channel.counters().precharges, 1u);
  EXPECT_EQ(rig.channel.counters().row_hits, 1u);
}

TEST(DramChannel, ConflictRightAfterActivationWaitsForTheBankCycle) {
  MachineSpec m = one_slice();
  const DramSpec& d = m.dram;
  ChannelRig rig(m);
  rig.push(100, rig.line_of(3, 0, 0));
  rig.push(101, rig.line_of(3, 1, 0));
  rig.run_until(500);
  ASSERT_EQ(rig.done.size(), 2u);
  EXPECT_EQ(rig.done[1].at, 100 + std::max(d.tRC, d.tRAS + d.tRP) + d.tRCD + d.tCL + 2);
}

/// Worked example: bank 0 has row 0 open; then arrive bank 0 row 1, bank 0 row 0, bank 1 row 0.
std::vector<std::uint32_t> order_under(std::string_view policy) {
  ChannelRig rig(one_slice(), policy);
  std::uint32_t a = rig.line_of(0, 0, 0), b = rig.line_of(0, 1, 0), c = rig.line_of(0, 0, 7),
                e = rig.line_of(1, 0, 0);
  rig.push(100, a);
  rig.run_until(200);
  rig.push(200, b);
  rig.push(200, c);
  rig.push(200, e);
  rig.run_until(500);
  std::vector<std::uint32_t> order;
  for (const auto& done : rig.done)
    order.push_back(done.line == a ? 'a' : done.line == b ? 'b' : done.line == c ? 'c' : 'e');
  return order;
}

TEST(DramChannel, FirstComeFirstServedKeepsOrder) {
  EXPECT_EQ(order_under("fcfs"), (std::vector<std::uint32_t>{'a', 'b', 'c', 'e'}));
}

TEST(DramChannel, FirstReadyServesTheOpenRowFirst) {
  // c hits; b's bank then needs PRE + ACT while e's bank only needs ACT.
  EXPECT_EQ(order_under("frfcfs"), (std::vector<std::uint32_t>{'a', 'c', 'e', 'b'}));
}

TEST(DramChannel, WritesWaitForTheHighMarkAndDrainToTheLow) {
  MachineSpec m = one_slice();
  m.dram.drain_high = 8;
  m.dram.drain_low = 2;
  ChannelRig rig(m);
  for (std::uint32_t i = 0; i < 7; ++i) rig.push(100, i, true);
  for (std::uint32_t i = 100; i < 150; ++i) rig.push(100, i);
  rig.run_until(180);
  EXPECT_EQ(rig.channel.counters().writes, 0u);  // below the mark, reads go first
  rig.push(180, 7, true);
  rig.run_until(230);
  EXPECT_EQ(rig.channel.counters().writes, 6u);  // 8 down to 2
  EXPECT_GT(rig.channel.free_slots(), m.dram.queue - 50);
  std::uint64_t reads = rig.channel.counters().reads;
  rig.run_until(600);
  EXPECT_GT(rig.channel.counters().reads, reads);
  EXPECT_EQ(rig.channel.counters().writes, 8u);  // no read left: the rest as well
  EXPECT_TRUE(rig.channel.idle());
}

TEST(DramChannel, BurstsFollowSectorsAndBurstSize) {
  for (auto [burst, sectors, expect] : {std::array{32u, 0b1011u, 96u},
                                        {64u, 0b1011u, 128u},
                                        {64u, 0b0011u, 64u},
                                        {16u, 0b0001u, 32u}}) {
    MachineSpec m = one_slice();
    m.dram.burst_bytes = burst;
    ChannelRig rig(m);
    rig.push(1, 0, false, static_cast<std::uint8_t>(sectors));
    rig.run_until(100);
    EXPECT_EQ(rig.channel.counters().bytes, expect) << burst << " byte bursts";
    EXPECT_EQ(rig.channel.counters().written_bytes, 0u);
    ChannelRig writes(m);
    writes.push(1, 0, true, static_cast<std::uint8_t>(sectors));
    writes.run_until(200);
    EXPECT_EQ(writes.channel.counters().bytes, expect);
    EXPECT_EQ(writes.channel.counters().written_bytes, expect);
  }
}

TEST(DramChannel, StreamingReadsReachTheColumnBandwidth) {
  for (auto [memory, core] : {std::pair{1000u, 1000u}, {850u, 1447u}, {924u, 700u}}) {
    MachineSpec m = one_slice();
    m.core_clock_mhz = core;
    m.dram.clock_mhz = memory;
    ChannelRig rig(m);
    std::uint32_t line = 0;
    const Cycle cycles = 20'000;
    for (Cycle t = 0; t < cycles; ++t) {
      rig.run_until(t);
      while (rig.channel.free_slots() > 0) rig.push(t, line++, false, 0b1111);
    }
    double columns = static_cast<double>(rig.channel.counters().bytes) / m.dram.burst_bytes;
    double possible = static_cast<double>(cycles) * memory / core / m.dram.step(true);
    EXPECT_GT(columns / possible, 0.90) << memory << ":" << core;
    EXPECT_LE(columns / possible, 1.0);
    EXPECT_EQ(rig.checker.first_violation(), "");
  }
}

/// Machines whose constraints bind in different places.
MachineSpec machine_with(std::uint64_t variant) {
  MachineSpec machine = one_slice();
  machine.dram.drain_high = 16;
  machine.dram.drain_low = 4;
  if (variant == 2) {
    machine.dram.clock_mhz = 850;
    machine.core_clock_mhz = 1447;
  }
  if (variant == 3) {
    machine.dram.clock_mhz = 2600;
    machine.core_clock_mhz = 700;
    machine.dram.tRRDS = machine.dram.tRRDL = 11;
  }
  if (variant == 4) {
    machine.dram.tCCDS = machine.dram.tCCDL = 1;
    machine.dram.bus_bytes_per_cycle = 32;
    machine.dram.queue = 128;
  }
  if (variant == 5) {
    machine.dram.tRC = 90;
    machine.dram.tWR = 30;
    machine.dram.tWTRS = machine.dram.tWTRL = 20;
    machine.dram.bank_groups = 1;

    machine.dram.banks = 5;
  }
  if (variant >= 7) {  // bank groups that matter, writes faster than reads, activates scarce
    machine.dram.tCCDS = 2;
    machine.dram.tCCDL = 3;
    machine.dram.tRRDS = 2;
    machine.dram.tRRDL = 5;
    machine.dram.tFAW = 22;
    machine.dram.tWTRS = 3;
    machine.dram.tWTRL = 9;
    machine.dram.tCWL = 4;
    machine.dram.interleave_banks = 4;
  }
  if (variant == 8) {
    machine.dram.tCCDS = 1;
    machine.dram.tCCDL = 4;
    machine.dram.bus_bytes_per_cycle = 32;
  }
  if (variant >= 9) {
    machine.dram.command_buses = 2;
    machine.dram.tCCDL = 4;
  }
  if (variant == 10) {
    machine.dram.refresh = Refresh::AllBank;
    machine.dram.tREFI = 700;
    machine.dram.tRFC = 150;
  }
  if (variant == 11) {
    machine.dram.refresh = Refresh::PerBank;
    machine.dram.tREFI = 2500;
    machine.dram.tRFC = 150;
  }
  if (variant == 12) {
    machine.dram.refresh = Refresh::PerBank;
    machine.dram.tREFI = 2500;
    machine.dram.command_buses = 1;
  }
  if (variant == 6) {
    machine.dram.burst_bytes = 64;
    machine.dram.tCCDS = machine.dram.tCCDL = 7;
    machine.dram.queue = 3;
  }
  return machine;
}

TEST(DramChannel, NoRegisteredPolicyCanBreakATimingConstraint) {
  for (const std::string& policy : policy::all_policies().dram.names())
    for (std::uint64_t variant = 1; variant <= 12; ++variant) {
      MachineSpec m = machine_with(variant);
      ChannelRig rig(m, policy);
      random_traffic(rig, variant, 60'000);
      expect_sound(rig, m.dram, policy + " variant " + std::to_string(variant));
    }
}

TEST(DramChannel, NoOrderAtAllCanBreakATimingConstraint) {
  for (std::uint64_t variant = 1; variant <= 12; ++variant) {
    MachineSpec m = machine_with(variant);
    ChannelRig skip(m, std::make_unique<RandomPolicy>(variant), true);
    ChannelRig all(m, std::make_unique<RandomPolicy>(variant), false);
    random_traffic(skip, variant, 60'000);
    random_traffic(all, variant, 60'000);
    expect_sound(skip, m.dram, "random, variant " + std::to_string(variant));
    EXPECT_EQ(skip.done, all.done) << "variant " << variant;
    EXPECT_EQ(words(skip.channel.counters()), words(all.channel.counters()));
    // A policy is asked the same questions, so that its own statistics agree as well.
    EXPECT_EQ(static_cast<RandomPolicy&>(skip.channel.policy()).asked,
              static_cast<RandomPolicy&>(all.channel.policy()).asked);
  }
}

TEST(DramChannel, SkippingCyclesChangesNothing) {
  for (const std::string& policy : policy::all_policies().dram.names())
    for (auto [memory, core] : {std::pair{1000u, 1000u}, {850u, 1447u}, {924u, 700u}}) {
      MachineSpec m = one_slice();
      m.core_clock_mhz = core;
      m.dram.clock_mhz = memory;
      ChannelRig skip(m, policy, true), all(m, policy, false);
      random_traffic(skip, 9, 30'000);
      random_traffic(all, 9, 30'000);
      EXPECT_EQ(words(skip.channel.counters()), words(all.channel.counters())) << policy;
      EXPECT_EQ(skip.done, all.done) << policy;
    }
}

TEST(DramChannel, SaysWhatTheOldestRequestWaitsFor) {
  ChannelRig rig(one_slice());
  rig.push(10, 4);
  std::string text;
  rig.channel.describe(text);
  EXPECT_NE(text.find("dram queue 1/64"), std::string::npos) << text;
  EXPECT_NE(text.find("read of line 4"), std::string::npos) << text;
}

}  // namespace
}  // namespace raddle::test::dram_channel_test

// What crosses between the halves of an L2, and how it slows a slice down.
#include "raddle/timing/mem/l2_fabric.h"

#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_fabric_test {
namespace {

using timing::L2Fabric;
constexpr MessageKind R = MessageKind::Read, W = MessageKind::Write, A = MessageKind::Atomic;

/// A slice of the first half, of a machine with two SMs: 0 is near, 1 is far.
MachineSpec two_halves(double sector_cycles) {
  MachineSpec m = small_machine();
  m.sm.count = 2;
  m.l2.slices = m.dram.channels = 2;
  m.l2.fabric_sector_cycles = sector_cycles;
  return m;
}
Message from(unsigned sm, MessageKind kind, std::uint8_t sectors, std::uint32_t line = 0) {
  Message m = message(kind, line, sectors);
  m.sm = static_cast<std::uint16_t>(sm);
  return m;
}

TEST(L2Fabric, OnlyFarSmsCrossAndACopyOfWhatTheyReadStaysUntilSomebodyWrites) {
  L2Fabric fabric({two_halves(2), 0}, 0, 4);
  EXPECT_EQ(fabric.crossing(from(0, R, 0b1111), 2), 0u) << "near";
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0011), 2), 2u);
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 2), 1u) << "two are there";
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 2), 0u);
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 3), 3u) << "another line";
  EXPECT_EQ(fabric.crossing(from(0, W, 0b0001), 2), 0u) << "near, but the copy is old now";
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 2), 1u);
  EXPECT_EQ(fabric.crossing(from(1, W, 0b0110), 2), 2u);
  EXPECT_EQ(fabric.crossing(from(1, A, 0b0100), 2), 1u) << "each time";
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 2), 2u);
  fabric.replaced(2);
  EXPECT_EQ(fabric.crossing(from(1, R, 0b0111), 2), 3u);
  EXPECT_EQ(fabric.crossing(from(1, W, 0b1111), timing::Tags::kAbsent), 4u) << "to DRAM";
  EXPECT_EQ(fabric.crossing(from(0, W, 0b1111), timing::Tags::kAbsent), 0u);
}

TEST(L2Fabric, ASliceOfTheOtherHalfIsFarFromTheOtherSms) {
  L2Fabric fabric({two_halves(2), 1}, 1, 4);
  EXPECT_EQ(fabric.crossing(from(0, W, 0b1111), 0), 4u);
  EXPECT_EQ(fabric.crossing(from(1, W, 0b1111), 0), 0u);
}

TEST(L2Fabric, HasRoomForSomeWorkAndIsFreeLater) {
  L2Fabric fabric({two_halves(2.5), 0}, 0, 4);
  EXPECT_EQ(fabric.slot_at(1000, 20), 1000 + 50 - 64u) << "no wait yet";
  EXPECT_EQ(fabric.slot_at(1000, 8), 1000 + 70 - 64u);
  EXPECT_EQ(fabric.slot_at(1006, 1), 1000 + 72 - 64u) << "72.5";
  EXPECT_EQ(fabric.slot_at(2000, 4), 2000 + 10 - 64u);
}

/// When the replies of `n` writes of whole lines leave that arrive at once.
Cycle last_reply(const MachineSpec& m, unsigned sm, unsigned n, std::uint64_t* crossings) {
  PartitionRig rig(m);
  rig.give_credits(1, 200);
  std::uint32_t line = 0;
  for (unsigned i = 0; i < n; ++i) {
    while (rig.map().slice(line) != 0) ++line;
    rig.arrive(100, from(sm, W, 0b1111, line++));
  }
  rig.run_until(3000);
  for (const std::string& law : rig.partition().audit()) ADD_FAILURE() << law;
  EXPECT_EQ(rig.replies().size(), n);
  *crossings = rig.l2().crossings;
  return rig.replies().back().sent;
}

TEST(L2Fabric, ManyFarWritesGoAsFastAsItCarriesThem) {
  std::uint64_t near = 0, far = 0, none = 0;
  const Cycle quick = last_reply(two_halves(10), 0, 24, &near),
              slow = last_reply(two_halves(10), 1, 24, &far),
              whole = last_reply(two_halves(0), 1, 24, &none);
  EXPECT_EQ(near, 0u);
  EXPECT_EQ(far, 96u);
  EXPECT_EQ(none, 0u) << "no halves";
  EXPECT_EQ(quick, whole);
  // A line takes 40 cycles. Before the last of 24 is looked up the fabric has 23 lines to carry,
  // of which 64 cycles may be left.
  EXPECT_EQ(slow - last_reply(two_halves(10), 1, 1, &far), 23 * 40 - 64u);
}

TEST(L2Fabric, WhatAMissBringsCrossesWhenItIsThere) {
  const MachineSpec m = two_halves(2);
  PartitionRig rig(m);
  std::uint32_t line = 0;
  while (rig.map().slice(line) != 0) ++line;
  rig.arrive(100, from(1, R, 0b0110, line));
  rig.run_until(104);
  EXPECT_EQ(rig.l2().crossings, 0u);
  rig.run_until(1000);
  EXPECT_EQ(rig.l2().crossings, 2u);
  rig.arrive(1001, from(1, R, 0b0110, line));
  rig.run_until(2000);
  EXPECT_EQ(rig.l2().crossings, 2u) << "a copy";
  EXPECT_EQ(rig.l2().hits, 1u);
}

}  // namespace
}  // namespace raddle::test::l2_fabric_test

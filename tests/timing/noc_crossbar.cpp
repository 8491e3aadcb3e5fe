// The crossbar between mocks: exact cycles, arbitration, credits, shared ports, clocks, and the
// throughput that must emerge.
#include <gtest/gtest.h>

#include "support/network_rig.h"

namespace raddle::test::noc_crossbar_test {
namespace {

TEST(Crossbar, PacketTakesOneCyclePerFlitAndTheWire) {
  NetworkRig rig = crossbar(2, 2);
  rig.send(0, 20, 1, 4);  // 8 + 128 bytes = 5 flits
  rig.run(0, 40);
  EXPECT_EQ(rig.out[1]->next_arrival(), 20 + 5 - 1 + kWire);
  EXPECT_EQ(rig.credit[0]->next_arrival(), 20 + kWire);
  EXPECT_EQ(rig.credit[0]->front(), 5);
  EXPECT_EQ(rig->counters().packets, 1u);
  EXPECT_EQ(rig->counters().flits, 5u);
  EXPECT_EQ(rig->counters().flit_hops, 5u);
  EXPECT_EQ(rig->counters().bytes, 136u);
  EXPECT_TRUE(rig->idle());
}

TEST(Crossbar, PacketHoldsItsInputAndItsOutput) {
  NetworkRig rig = crossbar(2, 2);
  rig.send(0, 20, 1, 4);
  rig.send(0, 21, 0, 1);  // second waits for the input
  rig.send(1, 21, 1, 1);  // waits for the output
  rig.run(0, 60);
  EXPECT_EQ(rig.out[0]->next_arrival(), 25 + 1 + kWire);
  rig.out[1]->pop();
  EXPECT_EQ(rig.out[1]->next_arrival(), 25 + 1 + kWire);
}

TEST(Crossbar, HeadOfLineBlocksAnIdleOutput) {
  NetworkRig rig = crossbar(2, 2);
  rig.send(0, 20, 0, 4);
  rig.send(1, 20, 0, 4);  // loses to input 0
  rig.send(1, 21, 1, 1);  // output 1 is idle, but the head is in the way
  rig.run(0, 60);
  EXPECT_EQ(rig.out[1]->next_arrival(), 30 + 1 + kWire);
}

TEST(Crossbar, ArbitrationGoesRound) {
  NetworkRig rig = crossbar(3, 1);
  for (Cycle t = 20; t < 24; ++t)
    for (unsigned i = 0; i < 3; ++i) rig.send(i, t, 0, 0, static_cast<std::uint16_t>(i));
  rig.run(0, 60);
  for (unsigned k = 0; k < 12; ++k, rig.out[0]->pop()) {
    EXPECT_EQ(rig.out[0]->front().tag, k % 3);
    EXPECT_EQ(rig.out[0]->next_arrival(), 20 + k + kWire);
  }
}

TEST(Crossbar, StopsWithoutCreditsAndGoesOnWithThem) {
  NetworkRig rig = crossbar(1, 1, 7, true);  // 7 flits: one packet of 5, the next needs 5 free
  rig.send(0, 20, 0, 4);
  rig.send(0, 21, 0, 4);
  rig.run(0, 50);
  rig.out[0]->pop();
  EXPECT_EQ(rig.out[0]->next_arrival(), kNever);
  std::string text;
  rig->describe(text);
  EXPECT_NE(text.find("no credit: 2 flits"), std::string::npos) << text;
  rig.give_back(0, 55, 5);
  EXPECT_EQ(rig->next_arrival(50), 55u);
  rig.run(50, 70);
  EXPECT_EQ(rig.out[0]->next_arrival(), 55 + 4 + kWire);
}

TEST(Crossbar, CreditsWakeOnlyWhoWaitsForThem) {
  NetworkRig rig = crossbar(1, 1, 10, true);
  rig.send(0, 20, 0, 4);  // 5 flits
  rig.run(0, 50);
  rig.give_back(0, 55, 5);
  EXPECT_EQ(rig->next_arrival(50), kNever) << "five are left, enough for any packet";
  rig.send(0, 60, 0, 4);
  rig.send(0, 61, 0, 4);
  rig.run(50, 80, true);
  EXPECT_EQ(rig->counters().packets, 3u) << "those that came at 55 were there when wanted";
  EXPECT_TRUE(rig->audit().empty());
}

TEST(Crossbar, PortsTellWhatTheyMovedAndWhatTheyWaitedFor) {
  NetworkRig rig = crossbar(2, 1, 5, true);
  rig.send(0, 20, 0, 4);  // 20..24, takes all credits
  rig.send(1, 22, 0, 1);  // busy output until 25, then no credits until 40
  rig.give_back(0, 40, 5);
  rig.run(0, 60);
  auto ports = rig->ports();  // inputs 0, 1, output
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0].flits, 5u);
  EXPECT_EQ(ports[0].blocked_arbitration + ports[0].blocked_credit, 0u);
  EXPECT_EQ(ports[1].flits, 2u);
  EXPECT_EQ(ports[1].blocked_credit, 18u) << "shown at 22, when the last credits were gone";
  EXPECT_EQ(ports[1].blocked_arbitration, 0u);
  EXPECT_EQ(ports[2].packets, 2u);
  EXPECT_EQ(ports[2].flits, 7u);
  EXPECT_EQ(ports[2].blocked_credit, 18u);
  EXPECT_TRUE(rig->audit().empty());
}

TEST(Crossbar, LosersWaitForArbitration) {
  NetworkRig rig = crossbar(3, 1);
  for (unsigned i = 0; i < 3; ++i) rig.send(i, 20, 0, 1);
  rig.run(0, 40);
  auto ports = rig->ports();
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(ports[i].blocked_arbitration, 2 * i) << i;
}

TEST(Crossbar, SendersOfAPortShareItInOrderOfArrival) {
  NetworkRig rig = crossbar(6, 2, 64, false, {3, 1, 1});  // senders 0-2 and 3-5
  rig.send(0, 21, 0, 4, 10);
  rig.send(1, 20, 0, 4, 11);
  rig.send(2, 21, 0, 4, 12);
  rig.send(3, 20, 1, 4, 13);
  rig.run(0, 60);
  const unsigned tags[] = {11, 12, 10};  // of those at 21, the one after the last served is first
  for (unsigned n = 0; n < 3; ++n) {
    EXPECT_EQ(rig.out[0]->front().tag, tags[n]);
    EXPECT_EQ(rig.take(0), 20 + 5 * n + 4 + kWire);
  }
  EXPECT_EQ(rig.take(1), 20 + 4 + kWire) << "the other port is its own";
  EXPECT_EQ(rig.credit[2]->next_arrival(), 25 + kWire);
  EXPECT_EQ(rig->ports().size(), 2u + 2u);
}

TEST(Crossbar, ReceiversOfAPortShareIt) {
  NetworkRig rig = crossbar(2, 5, 64, false, {1, 3, 1});  // receivers 0-2 and 3-4
  rig.send(0, 20, 0, 4);
  rig.send(1, 20, 2, 4);
  rig.send(0, 21, 4, 4);
  rig.run(0, 60);
  EXPECT_EQ(rig.take(0), 24 + kWire);
  EXPECT_EQ(rig.take(2), 29 + kWire);
  EXPECT_EQ(rig.take(4), 29 + kWire);
}

TEST(Crossbar, SpeedupLetsSeveralPacketsLeaveAnInputAtOnce) {
  NetworkRig rig = crossbar(1, 3, 64, false, {1, 1, 2});
  for (unsigned o = 0; o < 3; ++o) rig.send(0, 20, o, 4);
  rig.run(0, 60);
  EXPECT_EQ(rig.take(0), 24 + kWire);
  EXPECT_EQ(rig.take(1), 24 + kWire);
  EXPECT_EQ(rig.take(2), 29 + kWire);
}

TEST(Crossbar, AFasterClockMovesMoreFlitsPerCoreCycle) {
  NetworkRig rig = crossbar(1, 1, 64, false, {}, {2, 1});  // network cycles 39 and 40 in cycle 20
  rig.send(0, 20, 0, 4);
  rig.send(0, 20, 0, 4);  // cycles 39..43 and 44..48
  rig.run(0, 60);
  EXPECT_EQ(rig.take(0), 22 + kWire);
  EXPECT_EQ(rig.take(0), 24 + kWire);
  EXPECT_EQ(rig.credit[0]->next_arrival(), 20 + kWire);
}

TEST(Crossbar, ASlowerClockMovesFewer) {
  for (bool skip : {false, true}) {
    NetworkRig rig =
        crossbar(1, 1, 64, false, {}, {1200, 1800});  // cycle k in core cycle ceil(1.5 k)
    rig.send(0, 22, 0, 4);
    rig.send(0, 22, 0, 0);  // 15 (23) .. 19 (29); 20 (30)
    rig.run(0, 60, skip);
    EXPECT_EQ(rig.take(0), 29 + kWire);
    EXPECT_EQ(rig.take(0), 30 + kWire);
    EXPECT_EQ(rig.credit[0]->next_arrival(), 23 + kWire);
  }
}

TEST(Crossbar, LongRunsOfAnOddClockDoNotDrift) {
  NetworkRig rig = crossbar(1, 1, 64, false, {}, {787, 700});
  unsigned sent = 0, came = 0;
  for (Cycle t = 0; t < 7000; ++t) {
    while (rig.in[0]->next_arrival() == kNever) {
      rig.send(0, t, 0, 0);
      ++sent;
    }
    for (unsigned n = 0; n < 2; ++n) {
      rig.send(0, t, 0, 0);
      ++sent;
    }
    rig->tick(t);
    while (rig.take(0) != kNever) ++came;
  }
  EXPECT_EQ(came, 1 + 6999u * 787 / 700);
}

/// Flits per cycle and port with destinations drawn at random: a FIFO-input switch. Packets of
/// several flits, all of one length, start together in the long run no more often than single ones.
double uniform(unsigned ports, unsigned sectors, unsigned cycles) {
  NetworkRig rig = crossbar(ports, ports);
  Rng rng(ports);
  return saturation(rig, ports, sectors, 500, cycles,
                    [&](unsigned) { return static_cast<unsigned>(rng.below(ports)); });
}

TEST(Crossbar, UniformTrafficSaturatesWhereTheoryPutsIt) {
  // Karol, Hluchyj, Morgan 1987, table I: exact up to 8 ports, 2 - sqrt(2) in the limit.
  const std::pair<unsigned, double> expected[] = {
      {2, 0.75}, {3, 0.6825}, {4, 0.6553}, {5, 0.6399}, {6, 0.6302}, {7, 0.6234}, {8, 0.6184}};
  for (auto [ports, throughput] : expected)
    EXPECT_NEAR(uniform(ports, 0, 200000 / ports), throughput, 0.006) << ports << " ports";
  EXPECT_NEAR(uniform(16, 0, 12000), 0.601, 0.008);
  for (unsigned ports : {64u, 256u}) EXPECT_NEAR(uniform(ports, 0, 4000), 0.586, 0.008) << ports;
}

TEST(Crossbar, PacketsOfSeveralFlitsSaturateBelowSynchronousOnes) {
  // Unslotted switching with fixed lengths: between 0.5 and the slotted figure.
  for (unsigned ports : {16u, 64u}) {
    double t = uniform(ports, 4, 20000);
    EXPECT_GT(t, 0.5) << ports;
    EXPECT_LT(t, 0.61) << ports;
  }
}

TEST(Crossbar, SpeedupLiftsTheCeiling) {
  auto with = [](unsigned speedup) {
    NetworkRig rig = crossbar(32, 32, 64, false, {1, 1, speedup});
    Rng rng(7);
    return saturation(rig, 32, 0, 500, 4000,
                      [&](unsigned) { return static_cast<unsigned>(rng.below(32)); });
  };
  double one = with(1), two = with(2), four = with(4);
  EXPECT_GT(two, one + 0.05);
  EXPECT_GT(four, two);
  EXPECT_LE(four, 1.0);
}

TEST(Crossbar, NobodyStarves) {
  NetworkRig rig = crossbar(9, 1);
  std::vector<unsigned> sent(9, 0);
  saturation(rig, 9, 2, 0, 2700, [&](unsigned i) {
    ++sent[i];
    return 0u;
  });
  auto ports = rig->ports();
  for (unsigned i = 0; i < 9; ++i) EXPECT_NEAR(static_cast<double>(ports[i].packets), 100, 1) << i;
}

TEST(Crossbar, KindsAndKernelsAreCountedApart) {
  NetworkRig rig = crossbar(1, 1);
  rig.send(0, 20, 0, 4);
  rig.send(0, 20, 0, 4, 0, MessageKind::Write);
  Message m = message(MessageKind::Atomic, 0);
  m.kernel = 3;
  rig.push(0, 20, m);
  rig.run(0, 60);
  stats::NocCounters all = rig->counters(), third = rig->counters(3);
  EXPECT_EQ(all.packets, 3u);
  EXPECT_EQ(all.kind[0].flits, 5u);
  EXPECT_EQ(all.kind[1].flits, 1u) << "an acknowledgement";
  EXPECT_EQ(all.bytes, 136u + 8u + 40u);
  EXPECT_EQ(third.packets, 1u);
  EXPECT_EQ(third.kind[2].bytes, 40u);
}

TEST(Crossbar, SizesFollowKindAndSectors) {
  FlitTable request({32, 8, 32}, Direction::Request), reply({32, 8, 32}, Direction::Reply);
  auto sized = [](MessageKind kind, unsigned sectors) {
    return message(kind, 0, static_cast<std::uint8_t>(sectors));
  };
  EXPECT_EQ(request.flits(sized(MessageKind::Read, 0b1111)), 1u);
  EXPECT_EQ(request.flits(sized(MessageKind::Write, 0b1111)), 5u);
  EXPECT_EQ(request.flits(sized(MessageKind::Atomic, 0b0101)), 3u);
  EXPECT_EQ(request.size(sized(MessageKind::Reduce, 0b0101)).bytes, 72u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Read, 0b0001)), 2u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Atomic, 0b1111)), 5u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Write, 0b1111)), 1u);
  EXPECT_EQ(reply.size(sized(MessageKind::Reduce, 0b1111)).bytes, 8u);
}

}  // namespace
}  // namespace raddle::test::noc_crossbar_test

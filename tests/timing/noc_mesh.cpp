// The mesh between mocks: closed forms for every distance and size, routing, channels and credits,
// throughput from theory, fairness, conservation.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/network_rig.h"

namespace raddle::test::noc_mesh_test {
namespace {

/// (H + 1) routers, H channels, the further flits and the wire.
Cycle unloaded(unsigned hops, unsigned flits, unsigned router, unsigned channel) {
  return (hops + 1) * router + hops * channel + flits - 1 + kWire;
}

unsigned distance(unsigned a, unsigned b, unsigned columns) {
  auto d = [](unsigned x, unsigned y) { return x > y ? x - y : y - x; };
  return d(a % columns, b % columns) + d(a / columns, b / columns);
}

TEST(Mesh, LatencyIsTheClosedFormForEveryPairAndSize) {
  for (auto [router, channel] : {std::pair{2u, 1u}, {4u, 1u}, {1u, 1u}, {3u, 5u}}) {
    NetworkRig rig = mesh(4, 3, router, channel, 2, 16);
    Cycle t = 20;
    for (unsigned from = 0; from < 12; ++from)
      for (unsigned to = 0; to < 12; ++to)
        for (unsigned sectors = 0; sectors <= 4; ++sectors, t += 200) {
          std::uint64_t hops = rig->counters().flit_hops;
          rig.send(from, t, to, sectors);
          rig.run(t, t + 200, true);
          unsigned h = distance(from, to, 4);
          ASSERT_EQ(rig.take(to), t + unloaded(h, 1 + sectors, router, channel))
              << from << " to " << to << ", " << sectors;
          ASSERT_EQ(rig->counters().flit_hops - hops, h * (1 + sectors));
          ASSERT_EQ(rig.credit[from]->next_arrival(), t + sectors + kWire);
          ASSERT_EQ(rig.credit[from]->front(), 1 + sectors);
          rig.credit[from]->pop();
        }
    EXPECT_TRUE(rig->idle());
    EXPECT_EQ(rig->audit(), std::vector<std::string>{});
  }
}

TEST(Mesh, ShallowBuffersStretchAPacketByTheCreditLoop) {
  // A place is free again R + 2 C cycles after its flit was sent: with one place and no other
  // channel to help, each further flit takes that long.
  for (auto [router, channel] : {std::pair{2u, 1u}, {4u, 1u}, {3u, 2u}}) {
    NetworkRig rig = mesh(3, 1, router, channel, 1, 1);
    rig.send(0, 20, 2, 4);
    rig.run(0, 200, true);
    EXPECT_EQ(rig.take(2), 20 + unloaded(2, 1, router, channel) + 4 * (router + 2 * channel));
    EXPECT_EQ(rig->audit(), std::vector<std::string>{});
  }
}

TEST(Mesh, RoutesAlongXThenY) {
  NetworkRig rig = mesh(3, 3);
  rig.send(0, 20, 8, 4);
  rig.run(0, 100, true);
  // Ports of a node are east, west, south, north (where there is a neighbour) and its receiver.
  std::vector<unsigned> moved;
  auto ports = rig->ports();
  for (unsigned p = 0; p < ports.size(); ++p)
    if (ports[p].flits == 5) moved.push_back(p);
  // Node 0 has ports 0-2 (E S L), 1: 3-6 (E W S L), 2: 7-9 (W S L), 5 starts at 18 (W S N L), 8 at
  // 30 (W N L).
  EXPECT_EQ(moved, (std::vector<unsigned>{0, 3, 8, 20, 32}));
}

TEST(Mesh, CountsTheFlitsOfEachLink) {
  NetworkRig rig = mesh(3, 3);
  rig.send(0, 20, 8, 4);
  rig.run(0, 100, true);
  const std::vector<timing::MeshLink> links = timing::mesh_links(3, 3);
  const std::vector<std::uint64_t> flits = rig->link_flits();
  ASSERT_EQ(links.size(), 24u);
  ASSERT_EQ(flits.size(), links.size());
  std::vector<std::pair<unsigned, unsigned>> moved;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (flits[i] == 5) moved.emplace_back(links[i].from, links[i].to);
    else EXPECT_EQ(flits[i], 0u);
  }
  EXPECT_EQ(moved, (std::vector<std::pair<unsigned, unsigned>>{{0, 1}, {1, 2}, {2, 5}, {5, 8}}));
}

TEST(Mesh, ALinkCarriesOneFlitPerCycle) {
  NetworkRig rig = mesh(2, 1);
  for (unsigned n = 0; n < 10; ++n) rig.send(0, 20, 1, 4);
  rig.run(0, 200, true);
  Cycle last = 0;
  while (rig.out[1]->next_arrival() != kNever) last = rig.take(1);
  EXPECT_EQ(last, 20 + unloaded(1, 50, 2, 1));
}

TEST(Mesh, AChannelIsOvertakenByOthersButNotWithin) {
  // Receiver 1 takes nothing after its first packet: packets to it block their channels, those to
  // node 2 go by on others.
  NetworkRig rig = mesh(3, 1, 2, 1, 2, 4, 5, true);
  rig.send(0, 20, 1, 4);
  rig.send(0, 21, 1, 4);
  rig.send(0, 22, 2, 0);
  rig.run(0, 100, true);
  EXPECT_EQ(rig.take(1), 20 + unloaded(1, 5, 2, 1));
  EXPECT_EQ(rig.take(1), kNever);
  EXPECT_NE(rig.take(2), kNever);
  std::string text;
  rig->describe(text);
  EXPECT_NE(text.find("node 1 input 1 channel 1 waits for a channel of output 4"),
            std::string::npos)
      << text;
  rig.give_back(1, 100, 5);
  rig.run(100, 200, true);
  EXPECT_EQ(rig.take(1), 100 + 4 + kWire);
  EXPECT_EQ(rig->audit(), std::vector<std::string>{});
}

TEST(Mesh, WithOneChannelABlockedHeadBlocksAllBehindIt) {
  NetworkRig rig = mesh(3, 1, 2, 1, 1, 4, 5, true);
  rig.send(0, 20, 1, 4);
  rig.send(0, 21, 1, 4);
  rig.send(0, 22, 2, 0);
  rig.run(0, 100, true);
  EXPECT_EQ(rig.take(1), 20 + unloaded(1, 5, 2, 1));
  EXPECT_EQ(rig.take(2), kNever);
  rig.give_back(1, 100, 5);
  rig.run(100, 200, true);
  EXPECT_NE(rig.take(2), kNever);
}

TEST(Mesh, MergingFlowsShareALinkFairly) {
  // Nodes 0, 1, 2 of a row all send to 3: each router gives half of its output to those behind it.
  NetworkRig rig = mesh(4, 1);
  std::map<unsigned, unsigned> came;
  auto send = [&](unsigned i, Cycle t) { rig.send(i, t, 3, 4, static_cast<std::uint16_t>(i)); };
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned n = 0; n < 8; ++n) send(i, n);
  for (Cycle t = 0; t < 4000; ++t) {
    rig->tick(t);
    for (; rig.out[3]->next_arrival() != kNever; rig.out[3]->pop()) ++came[rig.out[3]->front().tag];
    for (unsigned i = 0; i < 3; ++i)
      for (; rig.credit[i]->next_arrival() != kNever; rig.credit[i]->pop()) send(i, t + 4);
  }
  EXPECT_NEAR(came[2], 400, 12);
  EXPECT_NEAR(came[0], 200, 12);
  EXPECT_NEAR(came[1], 200, 12);
}

TEST(Mesh, EverySenderIsServedUnderAHotSpot) {
  NetworkRig rig = mesh(5, 5);
  std::vector<unsigned> opened(25, 0);
  saturation(rig, 25, 4, 0, 12000, [&](unsigned i) {
    ++opened[i];
    return 12u;
  });
  for (unsigned i = 0; i < 25; ++i) EXPECT_GT(opened[i], 8u + 10u) << i;
  EXPECT_EQ(rig->audit(), std::vector<std::string>{});
}

/// Saturation of uniform traffic over a k x k mesh, in flits per cycle and node.
double uniform(unsigned k, unsigned sectors, unsigned channels) {
  NetworkRig rig = mesh(k, k, 2, 1, channels, 8);
  Rng rng(k + sectors);
  double t = saturation(rig, k * k, sectors, 1000, 3000,
                        [&](unsigned) { return static_cast<unsigned>(rng.below(k * k)); });
  EXPECT_EQ(rig->audit(), std::vector<std::string>{});
  return t;
}

TEST(Mesh, UniformTrafficStaysBelowTheBisectionAndComesNearIt) {
  // Half of the traffic crosses the middle, over k links each way: N/2 senders x 1/2 <= k, so at
  // most 4 / k flits per node (Dally and Towles, section 3.3.1). Round-robin wormhole routers with
  // four channels are known to reach 60 to 90 % of that.
  for (unsigned k : {4u, 8u}) {
    double bound = 4.0 / k;
    for (unsigned sectors : {0u, 4u}) {
      double t = uniform(k, sectors, 4);
      EXPECT_LT(t, bound) << k << " " << sectors;
      EXPECT_GT(t, 0.55 * bound) << k << " " << sectors;
    }
  }
}

TEST(Mesh, MoreChannelsCarryMore) { EXPECT_GT(uniform(8, 4, 4), 1.1 * uniform(8, 4, 1)); }

TEST(Mesh, RandomTrafficArrivesOnceAndIsTheSameWhetherTickedOrWoken) {
  auto run = [](bool skip, unsigned channels, unsigned depth, ClockRatio clock) {
    NetworkRig rig = mesh(5, 3, 3, 2, channels, depth, 9, true, clock);
    Rng rng(11);
    std::uint64_t hash = 0, sent = 0, came = 0;
    std::vector<Cycle> last(15, 0);
    for (Cycle cycle = 0; cycle < 20000; cycle += 10) {
      if (cycle < 4000)
        for (unsigned n = rng.below(8); n-- > 0;) {
          auto from = static_cast<unsigned>(rng.below(15));
          last[from] = std::max(last[from], cycle + rng.below(10));
          rig.send(from, last[from], static_cast<unsigned>(rng.below(15)),
                   static_cast<unsigned>(rng.below(5)), static_cast<std::uint16_t>(sent++));
        }
      rig.run(cycle, cycle + 10, skip);
      for (unsigned port = 0; port < 15; ++port)
        while (rig.out[port]->next_arrival() != kNever) {
          Message message = rig.out[port]->front();
          EXPECT_EQ(static_cast<unsigned>(message.to), port);
          hash = (hash ^ (rig.take(port) * 31 + message.tag)) * 0xff51afd7ed558ccdull;
          ++came;
          rig.give_back(port, cycle + 10,
                        static_cast<std::uint8_t>(1 + std::popcount(message.sectors)));
        }
      EXPECT_EQ(rig->audit(), std::vector<std::string>{});
    }
    EXPECT_EQ(came, sent) << skip << channels << depth;
    EXPECT_TRUE(rig->idle());
    for (const stats::NocPort& port : rig->ports())
      for (std::uint64_t word : words(port)) hash = (hash ^ word) * 0xff51afd7ed558ccdull;
    return hash;
  };
  for (auto [channels, depth] : {std::pair{1u, 1u}, {2u, 3u}, {4u, 8u}})
    for (ClockRatio clock : {ClockRatio{1, 1}, {9, 8}, {2, 3}, {3, 1}})
      EXPECT_EQ(run(true, channels, depth, clock), run(false, channels, depth, clock))
          << channels << " channels of " << depth << " flits, 30 core cycles are "
          << clock.other_at(30) << " of the network's";
}

TEST(Mesh, WhatABankTellsAnL1StaysInOrderAndDataMayOvertake) {
  NetworkRig rig = mesh(3, 3);
  Rng rng(7);
  std::vector<unsigned> sender_of;
  for (Cycle cycle = 0; cycle < 4000; ++cycle) {
    const unsigned from = rng.below(9), to = rng.below(2);  // two hot spots
    const auto number = static_cast<std::uint16_t>(cycle);
    sender_of.push_back(from);
    if (rng.below(2) == 0) rig.send(from, cycle, to, 4, number);
    else
      rig.send(from, cycle, to, 0, number,
               rng.below(2) == 0 ? MessageKind::Forward : MessageKind::WroteBack);
    rig.run(cycle, cycle + 1);
  }
  rig.run(4000, 40000);
  unsigned arrived = 0, overtaken = 0;
  for (unsigned to = 0; to < 9; ++to) {
    std::map<unsigned, std::uint16_t> notified, last;  // by sender; numbers tell who has sent what
    for (; rig.out[to]->next_arrival() != kNever; rig.out[to]->pop(), ++arrived) {
      const Message& message = rig.out[to]->front();
      const unsigned from = sender_of[message.tag];
      if (in_order_from_bank(message.kind)) {
        EXPECT_LE(notified[from], message.tag) << "from " << from << " to " << to;
        notified[from] = message.tag;
      }
      overtaken += message.tag < last[from];
      last[from] = std::max(last[from], message.tag);
    }
  }
  EXPECT_EQ(arrived, 4000u);
  EXPECT_GT(overtaken, 0u);
}

TEST(Mesh, AFasterClockShortensHops) {
  // 9 network cycles in 8 core cycles: 12 hops of 3 cycles take 32 core cycles.
  NetworkRig slow = mesh(13, 1), fast = mesh(13, 1, 2, 1, 4, 8, 64, false, {9, 8});
  for (NetworkRig* rig : {&slow, &fast}) {
    rig->send(0, 16, 0, 0);
    rig->run(0, 80);
    rig->send(0, 96, 12, 0);
    rig->run(80, 200);
  }
  EXPECT_EQ(slow.take(12) - slow.take(0), 80 + 36u);
  EXPECT_EQ(fast.take(12) - fast.take(0), 80 + 32u);
}

TEST(Mesh, SleepsBetweenEvents) {
  NetworkRig rig = mesh(8, 8, 4, 1);
  rig.send(0, 20, 63, 0);
  rig.run(0, 500, true);
  EXPECT_EQ(rig.take(63), 20 + unloaded(14, 1, 4, 1));
  EXPECT_LE(rig.ticks, 2u + 15u) << "entry, its wire free again, and one tick per router";
}

TEST(Mesh, OneNodeWorks) {
  NetworkRig rig = mesh(1, 1);
  rig.send(0, 20, 0, 4);
  rig.run(0, 60, true);
  EXPECT_EQ(rig.take(0), 20 + unloaded(0, 5, 2, 1));
  EXPECT_EQ(rig->counters().flit_hops, 0u);
}

TEST(Mesh, SeveralEndpointsOfANodeHaveAPortEach) {
  const MeshShape shape{2, 1, 2, 1, 4, 8, {0, 0, 0, 1, 1, 0}};  // three senders, three receivers
  const Wiring wiring{node_row(0, 3), node_row(3, 3)};
  NetworkRig rig(std::make_unique<Mesh>(network_shape(wiring, 6), shape), wiring);
  rig.send(0, 20, 2, 0);
  rig.send(1, 20, 0, 0);
  rig.send(2, 20, 1, 0);
  rig.run(0, 100, true);
  EXPECT_EQ(rig.take(2), 20 + unloaded(0, 1, 2, 1));
  EXPECT_EQ(rig.take(0), 20 + unloaded(1, 1, 2, 1));
  EXPECT_EQ(rig.take(1), 21 + unloaded(1, 1, 2, 1)) << "the link is shared";
}

}  // namespace
}  // namespace raddle::test::noc_mesh_test

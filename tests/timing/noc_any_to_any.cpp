// Either network carries packets from any endpoint of the machine to any other, over a crossbar and
// over a mesh, in the time of the closed form.
#include <gtest/gtest.h>

#include "support/network_rig.h"

namespace raddle::test::noc_any_to_any_test {
namespace {

constexpr Endpoints kEndpoints{7, 4, 2};
constexpr unsigned kColumns = 4, kRows = 3, kRouter = 3, kChannel = 2;

/// SMs, slices and controllers at nodes of the mesh: some share one, some nodes have none.
const std::vector<std::uint16_t> kPlace = {0, 1, 2, 4, 5, 7, 11, 0, 3, 8, 10, 3, 10};

NetworkShape everybody(Direction direction) {
  const std::vector<NodeId> all = node_row(0, kEndpoints.count());
  NetworkShape shape = network_shape({all, all}, kEndpoints.count());
  shape.direction = direction;
  return shape;
}

NetworkRig rig_of(Topology topology, Direction direction) {
  const NetworkShape shape = everybody(direction);
  if (topology == Topology::Crossbar) return {make_crossbar(shape, CrossbarShape{}), shape.wiring};
  const MeshShape mesh{kColumns, kRows, kRouter, kChannel, 2, 8, kPlace};
  return {std::make_unique<Mesh>(shape, mesh), shape.wiring};
}

Cycle unloaded(Topology topology, unsigned from, unsigned to, unsigned flits) {
  if (topology == Topology::Crossbar) return flits - 1 + kWire;
  MeshSpec mesh;
  mesh.columns = kColumns;
  mesh.rows = kRows;
  const unsigned hops = mesh.hops(kPlace[from], kPlace[to]);
  return (hops + 1) * kRouter + hops * kChannel + flits - 1 + kWire;
}

class AnyToAny : public ::testing::TestWithParam<std::tuple<Topology, Direction>> {};

TEST_P(AnyToAny, TakesTheTimeOfTheClosedForm) {
  const auto [topology, direction] = GetParam();
  NetworkRig rig = rig_of(topology, direction);
  const MessageKind kind = direction == Direction::Request ? MessageKind::Write : MessageKind::Read;
  Cycle t = 20;
  unsigned packets = 0;
  for (unsigned from = 0; from < kEndpoints.count(); ++from)
    for (unsigned to = 0; to < kEndpoints.count(); ++to)
      for (unsigned sectors : {0u, 4u}) {
        rig.send(from, t, to, sectors, static_cast<std::uint16_t>(packets++), kind);
        rig.run(t, t + 200, true);
        ASSERT_EQ(rig.take(to), t + unloaded(topology, from, to, 1 + sectors))
            << from << " to " << to << ", " << sectors << " sectors";
        rig.credit[from]->pop();
        t += 200;
      }
  for (auto& out : rig.out) EXPECT_EQ(out->next_arrival(), kNever);
  EXPECT_EQ(rig->counters().packets, packets);
  EXPECT_TRUE(rig->idle());
  EXPECT_EQ(rig->audit(), std::vector<std::string>{});
}

TEST_P(AnyToAny, RandomTrafficReachesWhomItIsFor) {
  const auto [topology, direction] = GetParam();
  NetworkRig rig = rig_of(topology, direction);
  Rng rng(3);
  const unsigned nodes = kEndpoints.count();
  std::vector<unsigned> expected(nodes);
  std::vector<unsigned> came(nodes);
  for (Cycle t = 20; t < 2020; ++t) {
    const auto from = static_cast<unsigned>(rng.below(nodes));
    const auto to = static_cast<unsigned>(rng.below(nodes));
    rig.send(from, t, to, static_cast<unsigned>(rng.below(5)));
    ++expected[to];
    rig.run(t, t + 1);
  }
  rig.run(2020, 20000, true);
  for (unsigned to = 0; to < nodes; ++to)
    for (; rig.out[to]->next_arrival() != kNever; rig.out[to]->pop()) {
      EXPECT_EQ(static_cast<unsigned>(rig.out[to]->front().to), to);
      ++came[to];
    }
  EXPECT_EQ(came, expected);
  EXPECT_EQ(rig->audit(), std::vector<std::string>{});
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Topology, Direction>>& info) {
  const auto [topology, direction] = info.param;
  return std::string(direction == Direction::Request ? "Request" : "Reply") +
         (topology == Topology::Mesh ? "Mesh" : "Crossbar");
}

INSTANTIATE_TEST_SUITE_P(Networks, AnyToAny,
                         ::testing::Combine(::testing::Values(Topology::Crossbar, Topology::Mesh),
                                            ::testing::Values(Direction::Request,
                                                              Direction::Reply)),
                         name_of);

TEST(Wiring, NodesThatAreNotWiredTakeNoPort) {
  const Wiring some{{Endpoints::sm(1), kEndpoints.slice(3)}, {kEndpoints.controller(1)}};
  const NetworkShape shape = network_shape(some, kEndpoints.count());
  NetworkRig rig(make_crossbar(shape, CrossbarShape{}), some);
  EXPECT_EQ(rig->ports().size(), 2u + 1u);
  rig.send(0, 20, 0, 4);
  rig.send(1, 20, 0, 4);
  rig.run(20, 100, true);
  EXPECT_EQ(rig.take(0), 20 + 5 - 1 + kWire);
  EXPECT_EQ(rig.take(0), 20 + 10 - 1 + kWire);
}

TEST(WiringDeathTest, APacketForANodeThatIsNotWiredIsAFault) {
  const Wiring some{{Endpoints::sm(0)}, {kEndpoints.slice(0)}};
  const NetworkShape shape = network_shape(some, kEndpoints.count());
  NetworkRig rig(make_crossbar(shape, CrossbarShape{}), some);
  Message m = message(MessageKind::Read, 0);
  m.to = kEndpoints.controller(0);
  rig.push(0, 20, m);
  EXPECT_DEATH(rig.run(20, 40), "receiver != kNone");
}

TEST(Endpoints, AreNumberedSmsSlicesControllers) {
  EXPECT_EQ(kEndpoints.count(), 13u);
  for (unsigned i = 0; i < kEndpoints.sms; ++i) {
    EXPECT_EQ(static_cast<unsigned>(Endpoints::sm(i)), i);
    EXPECT_EQ(kEndpoints.kind(Endpoints::sm(i)), NodeKind::Sm);
    EXPECT_EQ(kEndpoints.number(Endpoints::sm(i)), i);
  }
  for (unsigned i = 0; i < kEndpoints.slices; ++i) {
    EXPECT_EQ(static_cast<unsigned>(kEndpoints.slice(i)), 7 + i);
    EXPECT_EQ(kEndpoints.kind(kEndpoints.slice(i)), NodeKind::Slice);
    EXPECT_EQ(kEndpoints.number(kEndpoints.slice(i)), i);
  }
  for (unsigned i = 0; i < kEndpoints.controllers; ++i) {
    EXPECT_EQ(static_cast<unsigned>(kEndpoints.controller(i)), 11 + i);
    EXPECT_EQ(kEndpoints.kind(kEndpoints.controller(i)), NodeKind::Controller);
    EXPECT_EQ(kEndpoints.number(kEndpoints.controller(i)), i);
  }
}

}  // namespace
}  // namespace raddle::test::noc_any_to_any_test

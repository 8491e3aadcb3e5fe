// The networks alone: what a crossbar carries of uniform traffic, what a mesh takes per hop.
#include <gtest/gtest.h>

#include "analytic/page.h"
#include "support/network_rig.h"

namespace raddle::verification::noc_test {
namespace {

TEST(Network, CrossbarSaturatesWhereHeadOfLineBlockingPutsIt) {
  // Karol, Hluchyj, Morgan 1987, table I; 2 - sqrt(2) in the limit.
  const std::pair<unsigned, double> theory[] = {{2, 0.75}, {4, 0.6553}, {8, 0.6184}, {64, 0.5858}};
  for (const auto& [ports, expected] : theory) {
    test::NetworkRig rig = test::crossbar(ports, ports);
    Rng rng(ports);
    const double measured = test::saturation(
        rig, ports, 0, 500, std::max(4000u, 100'000 / ports),
        [&rng, n = ports](unsigned) { return static_cast<unsigned>(rng.below(n)); });
    EXPECT_NEAR(measured, expected, 0.01) << ports;
    row("network", {fmt::format("crossbar {0} x {0}, flits per port and cycle", ports),
                    fmt::format("{:.3f}", expected), fmt::format("{:.3f}", measured)});
  }
}

TEST(Network, MeshTakesRouterAndChannelPerHop) {
  constexpr unsigned kRouter = 2, kChannel = 1, kFlits = 5;
  test::NetworkRig rig = test::mesh(6, 6, kRouter, kChannel);
  Cycle t = 20;
  for (const unsigned to : {0u, 1u, 5u, 35u}) {
    const unsigned hops = to % 6 + to / 6;
    rig.send(0, t, to, kFlits - 1);
    rig.run(t, t + 200, true);
    const auto measured = static_cast<double>(rig.take(to) - t);
    const double expected =
        (hops + 1) * kRouter + hops * kChannel + kFlits - 1 + static_cast<double>(test::kWire);
    EXPECT_EQ(measured, expected) << hops;
    row("network", {fmt::format("mesh 6 x 6, {} hops, packet of {} flits, cycles", hops, kFlits),
                    number(expected), number(measured)});
    t += 200;
  }
}

}  // namespace
}  // namespace raddle::verification::noc_test

// The network of ideal.noc between mocks: exact cycles, credits, order, conservation.
#include <gtest/gtest.h>

#include "raddle/timing/noc/free_path.h"
#include "support/network_rig.h"

namespace raddle::test::noc_free_path_test {
namespace {

NetworkRig free_path(unsigned senders, unsigned receivers, unsigned credits = 64,
                     bool limited = false) {
  return {std::make_unique<FreePath>(network_shape(senders, receivers, credits)), senders,
          receivers, limited};
}

TEST(FreePath, TakesTheWireWhoeverElseSends) {
  NetworkRig rig = free_path(3, 2);
  for (unsigned sender = 0; sender < 3; ++sender) rig.send(sender, 20, 1, 4);
  rig.send(0, 21, 0, 4);
  rig.run(0, 40);
  for (unsigned sender = 0; sender < 3; ++sender) EXPECT_EQ(rig.take(1), 20 + kWire);
  EXPECT_EQ(rig.take(1), kNever);
  EXPECT_EQ(rig.take(0), 21 + kWire);
  EXPECT_EQ(rig.credit[2]->next_arrival(), 20 + kWire);
  EXPECT_EQ(rig->counters().packets, 4u);
  EXPECT_TRUE(rig->idle());
  EXPECT_TRUE(rig->audit().empty());
}

TEST(FreePath, WaitsForCreditsAndKeepsASendersOrder) {
  NetworkRig rig = free_path(2, 2, 7, true);
  rig.send(0, 20, 0, 4);  // 5 flits of 7
  rig.send(0, 21, 0, 4);  // needs 5, has 2
  rig.send(0, 22, 1, 1);  // behind it
  rig.send(1, 22, 1, 1);  // another sender's way is free
  rig.run(0, 50);
  EXPECT_EQ(rig.take(0), 20 + kWire);
  EXPECT_EQ(rig.take(0), kNever);
  EXPECT_EQ(rig.take(1), 22 + kWire);
  EXPECT_EQ(rig.take(1), kNever);
  EXPECT_FALSE(rig->idle());
  std::string text;
  rig->describe(text);
  EXPECT_NE(text.find("1 senders wait for credits"), std::string::npos) << text;
  rig.give_back(0, 55, 5);
  rig.run(50, 70);
  EXPECT_EQ(rig.take(0), 55 + kWire);
  EXPECT_EQ(rig.take(1), 55 + kWire);
  EXPECT_EQ(rig->ports()[0].blocked_credit, 55u - 21u);
  EXPECT_TRUE(rig->idle());
  EXPECT_TRUE(rig->audit().empty());
}

TEST(FreePath, SleepsUntilSomethingArrives) {
  NetworkRig all = free_path(4, 4, 7, true), skipping = free_path(4, 4, 7, true);
  Rng random(7);
  for (NetworkRig* rig : {&all, &skipping}) {
    random = Rng(7);
    for (Cycle at = 20; at < 60; at += 1 + random.below(3))
      rig->send(random.below(4), at, random.below(4), 1 + random.below(4));
    for (Cycle at = 30; at < 90; at += 2) rig->give_back(random.below(4), at, 1);
  }
  all.run(0, 120);
  skipping.run(0, 120, true);
  EXPECT_LT(skipping.ticks, all.ticks);
  for (unsigned receiver = 0; receiver < 4; ++receiver)
    for (Cycle at = all.take(receiver); at != kNever; at = all.take(receiver))
      EXPECT_EQ(skipping.take(receiver), at);
}

}  // namespace
}  // namespace raddle::test::noc_free_path_test

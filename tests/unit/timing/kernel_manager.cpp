// Streams, marks and hardware queues by themselves.
#include "raddle/timing/gpu/kernel_manager.h"

#include <gtest/gtest.h>

namespace raddle::timing::kernel_manager_test {
namespace {

class Manager : public testing::Test {
 protected:
  KernelManager& make(std::uint32_t queues = 32, Cycle latency = 10) {
    KernelSpec spec;
    spec.queues = queues;
    manager = std::make_unique<KernelManager>(spec, latency);
    return *manager;
  }
  /// Jobs that have left their queues, with the cycle in which they did, "3@7 4@9".
  std::string taken() {
    manager->advance();
    std::string out;
    for (; !manager->pending().empty(); manager->take()) {
      const auto& p = manager->pending().front();
      EXPECT_EQ(p.arrival, p.left + 10);
      out += (out.empty() ? "" : " ") + std::to_string(p.job) + "@" + std::to_string(p.left);
    }
    return out;
  }
  std::unique_ptr<KernelManager> manager;
  StreamId zero{0}, one{1}, two{2};
};

// What comes from the host is late by its latency; what only waited for its stream, by the gap,
// unless the host has launched it a moment before.
TEST_F(Manager, LaunchesOfATrainFollowOneAnotherAfterTheGap) {
  KernelSpec spec;
  spec.gap_cycles = 30;
  KernelManager m(spec, 100);
  m.launch(one, 0, 5);
  m.launch(one, 1, 5);
  m.launch(one, 2, 390);
  std::vector<Cycle> arrivals;
  for (const Cycle end : {200, 400, 900}) {
    m.advance();
    ASSERT_EQ(m.pending().size(), 1u);
    arrivals.push_back(m.pending().front().arrival);
    m.take();
    m.ended(one, end);
  }
  EXPECT_EQ(arrivals, (std::vector<Cycle>{105, 230, 490}));
}

TEST_F(Manager, AStreamIsInOrder) {
  auto& m = make();
  m.launch(one, 0, 5);
  m.launch(one, 1, 5);
  m.launch(two, 2, 6);
  EXPECT_EQ(taken(), "0@5 2@6");
  m.ended(one, 70);
  EXPECT_EQ(taken(), "1@70");
  m.ended(one, 90);
  m.ended(two, 80);
  EXPECT_TRUE(m.idle());
}

TEST_F(Manager, TheLegacyStreamIsABarrierBothWays) {
  auto& m = make();
  m.launch(one, 0, 0);
  m.launch(two, 1, 0);
  m.launch(zero, 2, 0);
  m.launch(one, 3, 0);
  m.launch(zero, 4, 0);
  EXPECT_EQ(taken(), "0@0 1@0");
  m.ended(two, 50);
  EXPECT_EQ(taken(), "");
  m.ended(one, 40);
  EXPECT_EQ(taken(), "2@50");
  m.ended(zero, 60);
  EXPECT_EQ(taken(), "3@60");
  m.ended(one, 65);
  EXPECT_EQ(taken(), "4@65");
}

TEST_F(Manager, AMarkInTheLegacyStreamWaitsForEveryStream) {
  auto& m = make();
  m.launch(one, 0, 0);
  m.launch(two, 1, 0);
  const Milestone mark = m.record(zero, 3);
  m.launch(two, 2, 3);
  EXPECT_EQ(taken(), "0@0 1@0");
  m.ended(two, 20);
  taken();
  EXPECT_EQ(m.reached(mark), kNever);
  m.ended(one, 30);
  EXPECT_EQ(taken(), "2@30");
  EXPECT_EQ(m.reached(mark), 30u);
}

TEST_F(Manager, WaitsJoinStreams) {
  auto& m = make();
  m.launch(one, 0, 0);
  const Milestone a = m.record(one, 0);
  m.wait(two, a, 0);
  m.launch(two, 1, 0);
  EXPECT_EQ(taken(), "0@0");
  m.ended(one, 33);
  EXPECT_EQ(taken(), "1@33");
  m.wait(one, a, 90);  // long over
  m.launch(one, 2, 90);
  EXPECT_EQ(taken(), "2@90");
}

TEST_F(Manager, AMarkRecordedAgainIsAnotherMark) {
  auto& m = make();
  const Milestone a = m.record(one, 4), b = m.record(one, 9);
  taken();
  EXPECT_EQ(m.reached(a), 4u);
  EXPECT_EQ(m.reached(b), 9u);
}

TEST_F(Manager, InOneQueueNothingOvertakes) {
  auto& m = make(1);
  m.launch(one, 0, 0);
  m.launch(two, 1, 0);
  m.launch(two, 2, 0);
  m.launch(one, 3, 0);
  EXPECT_EQ(taken(), "0@0 1@0");
  m.ended(one, 20);
  EXPECT_EQ(taken(), "") << "launch 2 stands in the way of 3";
  m.ended(two, 50);
  EXPECT_EQ(taken(), "2@50 3@50");
}

TEST_F(Manager, KernelsAreInOrderOfArrival) {
  auto& m = make();
  m.launch(one, 0, 0);
  m.launch(one, 1, 0);
  m.launch(two, 2, 0);
  m.launch(two, 3, 0);
  EXPECT_EQ(taken(), "0@0 2@0");
  m.ended(one, 30);
  m.ended(two, 20);  // told of in one window
  EXPECT_EQ(taken(), "3@20 1@30");
}

TEST_F(Manager, TenantsHoldEachOtherUpNowhere) {
  const TenantId other{3};
  auto& m = make(1);
  m.launch(zero, 0, 0);
  m.launch(one, 1, 0);  // 1 waits for 0 and stands at the head of the queue
  m.launch(zero, 2, 4, other);
  m.launch(one, 3, 5, other);
  EXPECT_EQ(taken(), "0@0 2@4");
  m.ended(zero, 30, other);
  EXPECT_EQ(taken(), "3@30");
  EXPECT_FALSE(m.idle(other));
  m.ended(one, 50, other);
  EXPECT_TRUE(m.idle(other));
  EXPECT_FALSE(m.idle(TenantId{0}));
  EXPECT_FALSE(m.idle());
  m.ended(zero, 60);
  EXPECT_EQ(taken(), "1@60");
  m.ended(one, 70);
  EXPECT_TRUE(m.idle());
  EXPECT_TRUE(m.idle(TenantId{7})) << "has never submitted anything";
}

TEST_F(Manager, ATenantWaitsForAnothersMark) {
  auto& m = make();
  m.launch(one, 0, 0, TenantId{1});
  const Milestone mark = m.record(one, 0, TenantId{1});
  m.wait(one, mark, 0);
  m.launch(one, 1, 0);
  EXPECT_EQ(taken(), "0@0");
  m.ended(one, 25, TenantId{1});
  EXPECT_EQ(taken(), "1@25");
}

TEST_F(Manager, SaysWhatWaits) {
  auto& m = make();
  m.launch(one, 0, 0);
  m.launch(one, 1, 0);
  m.advance();
  std::string text;
  m.describe(text);
  EXPECT_EQ(text, "streams: 1 operations wait in queues\n");
}

}  // namespace
}  // namespace raddle::timing::kernel_manager_test

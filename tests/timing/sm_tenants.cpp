// Knobs of a scheme that an SM obeys, in exact cycles between two mocks: who may send requests, who
// may wait in the miss queue, and who may issue.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_tenants_test {
namespace {

using namespace raddle::support;
using stats::Refusal;
using Cycles = std::vector<Cycle>;

class SmTenants : public ::testing::TestWithParam<bool> {
 protected:
  timing::MachineSpec machine = small_machine();  // the network's clock is the core's
  policy::Knobs knobs;
  Code code;
  std::uint32_t load = code.load(1, 10), exit = code.exit();

  SmTenants() { knobs.token_interval = 50; }
  /// One warp loads so many lines at once.
  Recording lines(std::uint32_t first, unsigned count) {
    return one_block(code, 1, [&](WarpWriter& w) {
      std::vector<TransactionSpec> transactions;
      for (unsigned i = 0; i < count; ++i) transactions.push_back({first + i, 1});
      w.lines(load, transactions);
      w.op(exit);
    });
  }
  /// Blocks of tenants 0, 1, ... that come at once; the first warp goes first.
  std::unique_ptr<SmHarness> run(std::vector<Recording>& blocks, Cycle end) {
    auto sm = std::make_unique<SmHarness>(machine);
    sm->skip = GetParam();
    sm->sm().obey(0, knobs);
    for (unsigned i = 0; i < blocks.size(); ++i) {
      sm->tenant = TenantId{static_cast<std::uint8_t>(i)};
      sm->start_block(0, blocks[i], 0, i);
    }
    sm->run(end);
    return sm;
  }
  static Cycles sent_by(const SmHarness& sm, unsigned tenant) {
    Cycles out;
    for (const SmHarness::Sent& sent : sm.sent())
      if (index(sent.message.tenant) == tenant) out.push_back(sent.at);
    return out;
  }
};

TEST_P(SmTenants, RequestsWaitForTokens) {
  knobs.tenant[0].request_tokens = 2;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 5));
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sm->sent_times(), (Cycles{0, 1, 50, 51, 100}));
  EXPECT_EQ(sm->sm().sharing(1000).token_wait_cycles, 2u * 48) << "from 2 and from 52";
  EXPECT_EQ(sm->counters().load_queue_cycles, 100u - 4) << "the LSU was done in cycle 4";
  EXPECT_TRUE(sm->sm().audit().empty());
}

TEST_P(SmTenants, OneWithoutTokensHoldsUpNobodyElse) {
  knobs.tenant[0].request_tokens = 1;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 3));
  blocks.push_back(lines(200, 3));
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sent_by(*sm, 0), (Cycles{0, 50, 100}));
  EXPECT_EQ(sent_by(*sm, 1), (Cycles{3, 4, 5}));
  EXPECT_EQ(sm->sm().sharing(1000, 0).token_wait_cycles, 2u * 49);
  EXPECT_EQ(sm->sm().sharing(1000, 1).token_wait_cycles, 0u);
  EXPECT_EQ(sm->sm().sharing(1000).token_wait_cycles, 2u * 49);
}

TEST_P(SmTenants, WhereRequestsQueueUpThePriorityDecides) {
  machine.noc.clock_mhz = machine.core_clock_mhz / 4;  // a request takes four cycles
  knobs.tenant[0].request_tokens = knobs.tenant[1].request_tokens = 100;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 4));
  blocks.push_back(lines(200, 3));
  EXPECT_EQ(sent_by(*run(blocks, 1000), 1), (Cycles{4, 12, 20})) << "in turn";
  knobs.tenant[1].priority = 1;
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sent_by(*sm, 1), (Cycles{4, 8, 12}));
  EXPECT_EQ(sent_by(*sm, 0), (Cycles{0, 16, 20, 24}));
}

TEST_P(SmTenants, OnlyAFullShareOfTheMissQueueRefuses) {
  machine.noc.clock_mhz = machine.core_clock_mhz / 4;
  knobs.tenant[0].miss_queue = 2;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 4));
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sm->sent_times(), (Cycles{0, 4, 8, 12}));
  const stats::SmCounters c = sm->counters();
  // The fourth finds two waiting in cycle 3; one of them leaves in cycle 4.
  EXPECT_EQ(c.l1d_refused[static_cast<unsigned>(Refusal::MissQueue)], 2u);
  EXPECT_EQ(c.l1d_reservation_fails, 2u);
}

TEST_P(SmTenants, BehindAnAccessThatIsRefusedWaitsNobodyWithAQueueOfHisOwn) {
  knobs.tenant[0].request_tokens = 1;
  knobs.tenant[0].miss_queue = 1;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 4));
  blocks.push_back(lines(200, 3));
  const auto shared = run(blocks, 1000);
  EXPECT_EQ(sent_by(*shared, 0), (Cycles{0, 50, 100, 150}));
  // The last of tenant 0's lines is served in cycle 101, when the third has left.
  EXPECT_EQ(sent_by(*shared, 1), (Cycles{102, 103, 104}));
  knobs.tenant[0].lsu_queue = knobs.tenant[1].lsu_queue = 2;
  const auto own = run(blocks, 1000);
  EXPECT_EQ(sent_by(*own, 0), (Cycles{0, 50, 100, 150}));
  // In turn until tenant 0's third line is refused, in cycle 4.
  EXPECT_EQ(sent_by(*own, 1), (Cycles{1, 3, 4}));
  EXPECT_EQ(own->counters().l1d_refused[static_cast<unsigned>(Refusal::MissQueue)],
            (50u - 4) + (101 - 51));
  EXPECT_TRUE(own->sm().audit().empty());
}

TEST_P(SmTenants, QueuesOfTheirOwnAreServedInTurn) {
  knobs.tenant[0].lsu_queue = knobs.tenant[1].lsu_queue = 1;
  std::vector<Recording> blocks;
  blocks.push_back(lines(100, 4));
  blocks.push_back(lines(200, 2));
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sent_by(*sm, 0), (Cycles{0, 2, 4, 5}));
  EXPECT_EQ(sent_by(*sm, 1), (Cycles{1, 3}));
}

TEST_P(SmTenants, AFullQueueOfItsOwnKeepsOutItsTenantOnly) {
  knobs.tenant[0].request_tokens = 1;
  knobs.tenant[0].miss_queue = 1;
  knobs.tenant[0].lsu_queue = 1;
  std::vector<Recording> blocks;
  blocks.push_back(one_block(code, 3, [&](WarpWriter& w) {
    w.lines(load, {{100 + 2 * w.warp(), 1}, {101 + 2 * w.warp(), 1}});
    w.op(exit);
  }));
  blocks.push_back(lines(200, 3));
  const auto sm = run(blocks, 1000);
  EXPECT_EQ(sent_by(*sm, 0), (Cycles{0, 50, 100, 150, 200, 250}));
  EXPECT_EQ(sent_by(*sm, 1).back(), 4u) << "in the queue of all who have none";
}

TEST_P(SmTenants, WhatWaitsInAQueueIsServedThereWhenQueuesChange) {
  knobs.tenant[0].request_tokens = 1;
  knobs.tenant[0].miss_queue = 1;
  Recording first = lines(100, 4), second = lines(200, 2), third = lines(300, 2);
  SmHarness sm(machine);
  sm.skip = GetParam();
  sm.sm().obey(0, knobs);
  sm.start_block(0, first);
  sm.run(10);
  knobs.tenant[0].lsu_queue = 2;
  sm.sm().obey(10, knobs);
  sm.start_block(10, second, 0, 1);
  sm.run(20);
  knobs.tenant[0] = {};
  sm.sm().obey(20, knobs);
  sm.start_block(20, third, 0, 2);
  sm.run(1000);
  EXPECT_EQ(sm.sent().size(), 8u);
  EXPECT_TRUE(sm.sm().audit().empty());
  EXPECT_TRUE(sm.sm().idle());
}

TEST_P(SmTenants, LimitsCanBeLifted) {
  knobs.tenant[0].request_tokens = 1;
  Recording block = lines(100, 5);
  SmHarness sm(machine);
  sm.skip = GetParam();
  sm.sm().obey(0, knobs);
  sm.start_block(0, block);
  sm.run(60);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 50}));
  sm.sm().obey(60, policy::Knobs{});
  sm.run(1000);
  EXPECT_EQ(sm.sent_times(), (Cycles{0, 50, 60, 61, 62}));
  EXPECT_EQ(sm.sm().sharing(1000).token_wait_cycles, 49u + 9);
}

TEST_P(SmTenants, TheArbiterMakesEveryRequestLater) {
  knobs.arbiter_cycles = 3;
  Recording block = lines(100, 4);
  SmHarness sm(machine);
  sm.skip = GetParam();
  sm.sm().obey(0, knobs);
  sm.start_block(0, block);
  sm.run(2);
  sm.sm().obey(2, policy::Knobs{});
  sm.run(1000);
  // Nothing that leaves after the arbiter has gone overtakes what is still in it.
  EXPECT_EQ(sm.sent_times(), (Cycles{3, 4, 5, 6}));
}

/// Two tenants with one warp each; quotas of instructions, an epoch of 50 cycles.
class SmQuotas : public SmTenants {
 protected:
  Recording instructions(unsigned count) {
    return one_block(code, 1, [&](WarpWriter& w) {
      for (unsigned i = 0; i < count; ++i) w.op(alu);
      w.op(exit);
    });
  }
  /// Cycles in which the warps of the tenants issue.
  std::array<Cycles, 2> issues(unsigned first, unsigned second) {
    std::vector<Recording> blocks;
    blocks.push_back(instructions(first));
    blocks.push_back(instructions(second));
    const auto sm = run(blocks, 300);
    std::array<Cycles, 2> out;
    for (const Issue& issue : sm->issues()) out[issue.warp].push_back(issue.at);
    EXPECT_TRUE(sm->sm().audit().empty());
    throttled =
        sm->sm().scheduler_counters(300).stall[static_cast<unsigned>(stats::Stall::Throttled)];
    return out;
  }
  void SetUp() override {
    machine.sm.schedulers = 1;
    for (timing::OpCost& cost : machine.sm.cost) cost.latency = cost.interval = 1;
  }
  std::uint32_t alu = code.alu(2, {});
  std::uint64_t throttled = 0;
};

TEST_P(SmQuotas, WhoHasSpentItLetsTheOtherGoUntilBothHave) {
  knobs.tenant[0].issue_quota = 2;
  knobs.tenant[1].issue_quota = 3;
  knobs.issue_epoch = 50;
  // Oldest first: tenant 0 whenever it may.
  const auto [a, b] = issues(5, 6);
  EXPECT_EQ(a, (Cycles{0, 1, 5, 6, 10, 11}));
  EXPECT_EQ(b, (Cycles{2, 3, 4, 7, 8, 9, 12}));
  EXPECT_EQ(throttled, 0u) << "one of them may always";
}

TEST_P(SmQuotas, AnEpochThatEndsWhenAllHaveSpentItWaitsForThem) {
  knobs.tenant[0].issue_quota = 1;
  knobs.tenant[1].issue_quota = 100;
  knobs.issue_epoch = 50;
  knobs.issue_by_all = true;
  const auto [a, b] = issues(2, 3);
  EXPECT_EQ(a, (Cycles{0, 5, 6})) << "the other has ended in 4";
  EXPECT_EQ(b, (Cycles{1, 2, 3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Skip, SmQuotas, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });
INSTANTIATE_TEST_SUITE_P(Skip, SmTenants, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

}  // namespace
}  // namespace raddle::sm_tenants_test

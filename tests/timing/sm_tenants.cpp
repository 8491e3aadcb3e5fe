// Knobs of a scheme that an SM obeys towards the memory, in exact cycles between two mocks: who may
// send requests, and who may wait in the miss queue.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle {
namespace {

using namespace raddle::testing;
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
      std::vector<PieceSpec> pieces;
      for (unsigned i = 0; i < count; ++i) pieces.push_back({first + i, 1});
      w.lines(load, pieces);
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

INSTANTIATE_TEST_SUITE_P(Skip, SmTenants, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

}  // namespace
}  // namespace raddle

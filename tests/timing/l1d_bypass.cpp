// Level "bypass" in an SM: loads that go past the L1D, between two mocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "support/settings.h"
#include "support/sm_harness.h"

namespace raddle::l1d_bypass_test {
namespace {

using namespace raddle::support;
using Cycles = std::vector<Cycle>;

class L1dBypass : public ::testing::TestWithParam<bool> {
 protected:
  /// The recording on an SM with that policy; "" = none is named.
  SmHarness& run(Recording& r, const std::string& policy, const test::Settings& settings = {}) {
    if (!policy.empty()) choice = test::choose(policy::all_policies().bypass, policy, settings);
    sm.emplace(machine, "oldest", nullptr, 0, choice.get());
    sm->skip = GetParam();
    sm->start_block(0, r);
    sm->run(3000);
    EXPECT_EQ(sm->sm().audit(), std::vector<std::string>{});
    return *sm;
  }
  std::vector<std::uint32_t> lines_sent() const {
    std::vector<std::uint32_t> out;
    for (const SmHarness::Sent& sent : sm->sent()) out.push_back(sent.message.line);
    return out;
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load(1, 11), used = code.alu(3, {1}), exit = code.exit();
  std::unique_ptr<policy::Choice<policy::BypassPolicy>> choice;
  std::optional<SmHarness> sm;
};
INSTANTIATE_TEST_SUITE_P(Skip, L1dBypass, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Skip" : "EveryCycle"; });

using Lines = std::vector<std::uint32_t>;

TEST_P(L1dBypass, ALoadThatGoesPastLeavesNothingBehind) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}}).op(used).lines(load, {{100, 1}}).op(used).op(exit);
  });
  run(r, "all");
  EXPECT_EQ(lines_sent(), (Lines{100, 100}));
  const stats::SmCounters c = sm->counters();
  EXPECT_EQ(c.l1d_accesses, 0u);
  EXPECT_EQ(c.l1d_misses, 0u);
  EXPECT_EQ(c.loads, 2u);
}

TEST_P(L1dBypass, NoneIsAsIfThereWereNoSuchLevel) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}, {101 + w.warp(), 1}}).op(used).lines(load, {{100, 1}}).op(exit);
  });
  run(r, "");
  const Cycles times = sm->sent_times(), issues = sm->issue_times();
  run(r, "none");
  EXPECT_EQ(sm->sm().bypass(), nullptr);
  EXPECT_EQ(sm->sent_times(), times);
  EXPECT_EQ(sm->issue_times(), issues);
}

TEST_P(L1dBypass, OnlyWarpsWithATokenBringLinesAndAllHitThem) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 0)
      for (std::uint32_t line = 100; line < 106; ++line) w.lines(load, {{line, 1}}).op(used);
    else
      w.lines(load, {{200, 1}}).op(used).lines(load, {{200, 1}}).lines(load, {{100, 1}}).op(used);
    w.op(exit);
  });
  run(r, "tokens", {{"tokens", "1"}});
  const Lines sent = lines_sent();
  EXPECT_EQ(std::count(sent.begin(), sent.end(), 200u), 2) << "of the warp without a token";
  EXPECT_EQ(std::count(sent.begin(), sent.end(), 100u), 1);
  EXPECT_EQ(sm->counters().l1d_hits, 1u) << "line 100, of the other warp";
  EXPECT_EQ(sm->counters().l1d_misses, 6u);
}

TEST_P(L1dBypass, WhatFindsNoMshrGoesPastAtOnce) {
  machine.sm.l1d.mshr_entries = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 1}, {101, 1}, {102, 1}}).op(used).op(exit);
  });
  run(r, "");
  EXPECT_EQ(sm->sent_times(), (Cycles{0, 100, 200})) << "each waits for the one before";
  run(r, "stalled");
  EXPECT_EQ(sm->sent_times(), (Cycles{0, 1, 2}));
  EXPECT_EQ(sm->counters().l1d_misses, 1u);
  EXPECT_EQ(sm->counters().l1d_reservation_fails, 0u);
  run(r, "stalled", {{"ways_only", "true"}});
  EXPECT_EQ(sm->sent_times(), (Cycles{0, 100, 200})) << "ways are not what is short";
}

TEST_P(L1dBypass, WhatFindsNoWayGoesPastWhereMissesReserveThem) {
  machine.sm.l1d.reserve_on_miss = true;
  machine.sm.l1d.size_kib = 1;
  machine.sm.l1d.ways = 8;  // one set
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    std::vector<TransactionSpec> nine;
    for (std::uint32_t i = 0; i < 9; ++i) nine.push_back({100 + i, 1});
    w.lines(load, nine).op(used).op(exit);
  });
  run(r, "stalled", {{"ways_only", "true"}});
  EXPECT_EQ(sm->sent_times().back(), 8u);
  EXPECT_EQ(sm->counters().l1d_misses, 8u);
}

/// Counts how often it is asked.
class Counting final : public policy::BypassPolicy {
 public:
  using Params = policy::NoParams;
  Counting(const Params&, const Context&) {}
  static inline unsigned asked = 0;

 private:
  bool goes_past(const policy::BypassView&) override { return ++asked != 0; }
};

TEST_P(L1dBypass, ALineIsAskedAboutOnceHoweverLongItWaits) {
  policy::Registry<policy::BypassPolicy> registry;
  registry.add<Counting>("counting", "for this test");
  choice = registry.choose("counting");
  Counting::asked = 0;
  machine.sm.l1d.miss_queue = 1;
  machine.noc.queue_flits = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{99, 1}, {98, 1}, {97, 1}}).op(used).op(exit);
  });
  run(r, "");
  EXPECT_EQ(Counting::asked, 3u);
  EXPECT_GT(sm->counters().l1d_reservation_fails, 0u) << "they did wait, for the queue";
}

}  // namespace
}  // namespace raddle::l1d_bypass_test

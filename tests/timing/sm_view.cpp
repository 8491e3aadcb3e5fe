// What a policy sees of its SM (policy/sm_view.h), to the cycle; and what it is told when.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

#include "support/sm_harness.h"

namespace raddle::sm_view_test {
namespace {

using namespace raddle::support;
using policy::InstKind;
using policy::SmView;
using policy::StallReason;
using policy::WarpWait;
using Cycles = std::vector<Cycle>;

/// A throttle that lets everything go, watches, and keeps what was to be seen in some cycles.
class Watch final : public policy::Choice<policy::ThrottlePolicy> {
 public:
  using Look = std::function<void(Cycle, const SmView&)>;
  explicit Watch(Look look) : look_(std::move(look)) {}
  std::string_view name() const override { return "watch"; }
  std::string_view doc() const override { return ""; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::ThrottlePolicy> make(const Context&) const override {
    return std::make_unique<Instance>(*this);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }
  mutable Cycles notified;

 private:
  struct Instance final : policy::ThrottlePolicy, policy::SmObserver {
    explicit Instance(const Watch& of) : owner(of) {}
    policy::SmObserver* sm_observer() override { return this; }
    void attach(const SmView& view) override { sm = &view; }
    void waits_changed(Cycle now) override { owner.notified.push_back(now); }
    policy::Admission admit(const policy::ThrottleView& view) override {
      owner.look_(view.now, *sm);
      policy::Admission all;
      all.until = view.now + 1;
      return all;
    }
    const Watch& owner;
    const SmView* sm = nullptr;
  };
  Look look_;
};

class SmViewTest : public ::testing::TestWithParam<bool> {
 protected:
  SmViewTest() {
    machine.sm.schedulers = 1;
    machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
  }
  void run(const Watch& watch, Recording& r, Cycle end) {
    SmHarness sm(machine, "oldest", &watch);
    sm.skip = GetParam();
    sm.start_block(0, r, 0, 3);
    sm.run(end);
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t a = code.alu(1, {9}), dep = code.alu(2, {1}), load = code.load(4, 9),
                use = code.alu(5, {4}), bar = code.barrier(), exit = code.exit();
};
INSTANTIATE_TEST_SUITE_P(Skip, SmViewTest, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Skip" : "EveryCycle"; });

// Alone: a at 0, the load at 1, its use when data are there, the end.
TEST_P(SmViewTest, AWarpsWaitsAddUpToItsTime) {
  auto r = one_block(code, 1,
                     [&](WarpWriter& w) { w.op(a).op(dep).lines(load, {{7}}).op(use).op(exit); });
  Cycles issues;
  std::map<Cycle, std::array<Cycle, policy::kWarpWaits>> waited;
  const Watch watch([&](Cycle now, const SmView& sm) {
    const bool runs = (sm.waiting(WarpWait::Nothing) | sm.waiting(WarpWait::Dependence) |
                       sm.waiting(WarpWait::Memory)) != 0;
    if (!runs) return;
    for (unsigned i = 0; i < policy::kWarpWaits; ++i)
      waited[now][i] = sm.waited(0, static_cast<WarpWait>(i), now);
    const policy::WarpFacts warp = sm.warp(0);
    if (warp.issued > issues.size()) issues.push_back(warp.last_issue);
  });
  run(watch, r, 500);
  ASSERT_GE(issues.size(), 4u);
  const Cycle use_at = issues[3], load_at = issues[2], dep_at = issues[1];
  EXPECT_EQ(issues[0], 0u);
  for (const auto& [now, by] : waited) {
    Cycle sum = 0;
    for (const Cycle cycles : by) sum += cycles;
    EXPECT_EQ(sum, now) << "since it came, in cycle 0";
  }
  const auto& at_use = waited.at(use_at);
  EXPECT_EQ(at_use[static_cast<unsigned>(WarpWait::Dependence)], dep_at - 1);
  EXPECT_EQ(at_use[static_cast<unsigned>(WarpWait::Memory)], use_at - load_at - 1);
  EXPECT_EQ(at_use[static_cast<unsigned>(WarpWait::Nothing)], 3u) << "the cycles of its issues";
}

TEST_P(SmViewTest, ItIsToldOnlyWhenSomethingIsAnother) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(a).lines(load, {{7}}).op(use); });
  Cycle use_at = 0;
  const Watch watch([&](Cycle, const SmView& sm) {
    if ((sm.waiting(WarpWait::Nothing) & 1) != 0 && sm.warp(0).next == use) {
      if (use_at == 0) use_at = ~Cycle{0};  // seen
    }
  });
  run(watch, r, 500);
  // It comes, waits for the first result no longer than that takes, for memory, goes on, ends.
  EXPECT_EQ(watch.notified.front(), 0u);
  EXPECT_LE(watch.notified.size(), 7u);
  EXPECT_NE(use_at, 0u);
}

TEST_P(SmViewTest, WhatIsNextWhoseItIsAndHowFarItHasCome) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 1) w.op(a);
    w.lines(load, {{100 * w.warp()}}).op(exit);
  });
  std::vector<InstKind> kinds;
  std::uint64_t of_block = 0;
  const Watch watch([&](Cycle now, const SmView& sm) {
    if (now > 3) return;
    const policy::WarpFacts warp = sm.warp(1);
    kinds.push_back(warp.kind);
    EXPECT_EQ(warp.index, 1u);
    EXPECT_EQ(warp.block, 0u);
    EXPECT_EQ(warp.block_slot, 3u);
    EXPECT_EQ(warp.code_size, 6u);
    EXPECT_EQ(warp.started, 0u);
    of_block = sm.block_issued(3);
    EXPECT_EQ(of_block, now) << "one a cycle";
    EXPECT_EQ(sm.stalled(StallReason::Memory, now), 0u);
    const policy::LsuFacts lsu = sm.lsu();
    EXPECT_EQ(lsu.last_user, now == 0 ? policy::LsuFacts::kInvalidId : now < 4 ? 0u : 1u);
    EXPECT_EQ(lsu.loads_taken, now == 0 ? 0u : 1u);
    EXPECT_TRUE(lsu.accepts);
  });
  run(watch, r, 300);
  EXPECT_EQ(kinds, (std::vector<InstKind>{InstKind::Arithmetic, InstKind::Arithmetic,
                                          InstKind::Arithmetic, InstKind::Load}));
}

TEST_P(SmViewTest, StallsOfSchedulersAreTheSms) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(load, {{7}}).op(use).op(exit); });
  Cycle seen = 0;
  const Watch watch([&](Cycle now, const SmView& sm) {
    if (now == 60) seen = sm.stalled(StallReason::Memory, now);
  });
  run(watch, r, 500);
  EXPECT_EQ(seen, 59u) << "cycles 1 to 59";
}

TEST_P(SmViewTest, ASlotsNextWarpBeginsAnew) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(exit); });
  std::optional<policy::WarpFacts> second;
  const Watch watch([&](Cycle now, const SmView& sm) {
    if (now == 50) {
      second = sm.warp(0);
      EXPECT_EQ(sm.waited(0, WarpWait::Nothing, now), 0u);
      EXPECT_EQ(sm.block_issued(0), 0u);
    }
  });
  SmHarness sm(machine, "oldest", &watch);
  sm.skip = GetParam();
  sm.start_block(0, r, 0, 0);
  sm.start_block(50, r, 0, 0);
  sm.run(100);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->issued, 0u);
  EXPECT_EQ(second->started, 50u);
}

}  // namespace
}  // namespace raddle::sm_view_test

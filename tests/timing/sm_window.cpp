// A window of an SM's warps: each in one state in each cycle, what it issues and what it waits for.
#include <gtest/gtest.h>

#include "support/sm_harness.h"

namespace raddle::sm_window_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using timing::WarpWindow;

class SmWindow : public ::testing::TestWithParam<bool> {
 protected:
  SmWindow() { machine.sm.schedulers = 1; }
  const WarpWindow& run(Recording& r, Cycle begin, Cycle end) {
    sm.emplace(machine);
    sm->skip = GetParam();
    sm->sm().keep_window(begin, end);
    sm->start_block(0, r, 0, 3);
    sm->run(1000);
    EXPECT_EQ(sm->ended().size(), 1u);
    return *sm->sm().window(sm->now());
  }
  Cycle issued(std::size_t n, unsigned warp = 0) const { return sm->issue_times(warp).at(n); }
  static Cycle cycles(const WarpWindow& window, Stall state) {
    Cycle sum = 0;
    for (const WarpWindow::Run& one : window.runs())
      if (one.state == static_cast<unsigned>(state)) sum += one.to - one.from;
    return sum;
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::optional<SmHarness> sm;
};
INSTANTIATE_TEST_SUITE_P(Skip, SmWindow, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Skip" : "EveryCycle"; });

TEST_P(SmWindow, AWaitForMemoryNamesItsAccessWhichHasItsLines) {
  const std::uint32_t a = code.alu(1, {9}), load = code.load(4, 9), use = code.alu(5, {4}),
                      exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.op(a).lines(load, {{7}, {8}}).op(use).lines(load, {{7}}).op(use).op(exit);
  });
  const WarpWindow& window = run(r, 0, 1000);
  ASSERT_EQ(window.issues().size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(window.issues()[i].at, issued(i));
  EXPECT_EQ(window.issues()[1].inst, load);
  ASSERT_EQ(window.accesses().size(), 2u);
  const WarpWindow::Access& first = window.accesses()[0];
  const WarpWindow::Access& second = window.accesses()[1];
  EXPECT_EQ(first.issue, 1u);
  ASSERT_EQ(first.lines.size(), 2u);
  EXPECT_EQ(first.lines[0].outcome, policy::L1Outcome::Miss);
  EXPECT_NE(first.lines[1].filled, kNever);
  EXPECT_LE(first.lines[1].filled, issued(2));
  EXPECT_GT(first.lines[1].filled, first.lines[1].at);
  ASSERT_EQ(second.lines.size(), 1u);
  EXPECT_EQ(second.lines[0].outcome, policy::L1Outcome::Hit);
  EXPECT_EQ(second.lines[0].filled, kNever) << "it was there";
  EXPECT_EQ(cycles(window, Stall::Memory), issued(2) - issued(1) + issued(4) - issued(3));
  for (const WarpWindow::Run& one : window.runs()) {
    if (one.state != static_cast<unsigned>(Stall::Memory)) continue;
    EXPECT_EQ(one.access, one.from < issued(2) ? 0u : 1u);
  }
}

TEST_P(SmWindow, EveryWarpIsInOneStateInEachCycleOfTheWindow) {
  const std::uint32_t load = code.load(4, 9), use = code.alu(5, {4}), bar = code.barrier(),
                      exit = code.exit();
  auto recording = one_block(code, 6, [&](WarpWriter& to) {
    for (unsigned line = 0; line <= to.warp(); ++line)
      to.lines(load, {{to.warp() * 8 + line}}).op(use);
    to.op(use).barrier(bar).op(use).op(exit);
  });
  constexpr Cycle kBegin = 20, kEnd = 150;
  const WarpWindow& window = run(recording, kBegin, kEnd);
  ASSERT_GT(sm->issue_times(0).back(), kBegin);
  for (Cycle now = kBegin; now < kEnd; ++now) {
    std::uint64_t slots = 0;
    for (const WarpWindow::Run& one : window.runs()) {
      if (now < one.from || one.to <= now) continue;
      EXPECT_EQ(slots >> one.slot & 1, 0u) << "slot " << unsigned{one.slot} << ", cycle " << now;
      slots |= std::uint64_t{1} << one.slot;
    }
    for (unsigned slot = 0; slot < 6; ++slot) {
      if (sm->issue_times(slot).back() <= now) continue;
      EXPECT_NE(slots >> slot & 1, 0u) << slot << " at " << now;
    }
  }
  std::size_t in_window = 0;
  for (const Issue& one : sm->issues()) in_window += one.at >= kBegin && one.at < kEnd;
  EXPECT_EQ(window.issues().size(), in_window);
  for (const WarpWindow::Run& one : window.runs()) {
    EXPECT_LT(one.from, one.to);
    EXPECT_GE(one.from, kBegin);
    EXPECT_LE(one.to, kEnd);
  }
  ASSERT_EQ(window.lives().size(), 6u);
  EXPECT_EQ(window.lives()[4].index, 4u);
}

TEST_P(SmWindow, TheDataOfASectorComeWithThatSector) {
  machine.sm.l1d.sector_bytes = 32;
  const std::uint32_t load = code.load(4, 9), other = code.load(5, 9), use = code.alu(6, {4}),
                      exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{7, 0x1}}).lines(other, {{7, 0x80000000}}).op(use).op(exit);
  });
  const WarpWindow& window = run(r, 0, 1000);
  ASSERT_EQ(window.accesses().size(), 2u);
  const auto line = [&](std::size_t n) { return window.accesses().at(n).lines.at(0); };
  EXPECT_EQ(line(1).outcome, policy::L1Outcome::Miss) << "another sector of a line that is asked";
  ASSERT_NE(line(0).filled, kNever);
  ASSERT_NE(line(1).filled, kNever);
  EXPECT_GT(line(1).at, line(0).at);
  EXPECT_GT(line(1).filled, line(0).filled);
}

TEST_P(SmWindow, BehindTheEndNothingIsKept) {
  const std::uint32_t a = code.alu(1, {9}), exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.op(a).op(a).op(exit); });
  const WarpWindow& window = run(r, 900, 901);
  EXPECT_TRUE(window.issues().empty());
  EXPECT_TRUE(window.runs().empty());
}

}  // namespace
}  // namespace raddle::sm_window_test

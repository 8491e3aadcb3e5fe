// What a throttle does to an SM: which warps issue when, what their schedulers' cycles are charged
// to, what the throttle is told; swl and ccws to the cycle.
#include <gtest/gtest.h>

#include "support/settings.h"
#include "support/sm_harness.h"
#include "support/throttles.h"

namespace raddle::sm_throttle_test {
namespace {

using namespace raddle::support;
using policy::Admission;
using policy::ThrottleView;
using stats::Stall;
using Cycles = std::vector<Cycle>;

class SmThrottle : public ::testing::TestWithParam<bool> {
 protected:
  SmThrottle() {
    machine.sm.schedulers = 1;
    machine.sm.cost[static_cast<unsigned>(OpClass::Int)].interval = 1;
  }
  std::unique_ptr<SmHarness> start(const policy::Choice<policy::ThrottlePolicy>* throttle,
                                   Recording& r) {
    auto sm = std::make_unique<SmHarness>(machine, "oldest", throttle);
    sm->skip = GetParam();
    sm->start_block(0, r);
    return sm;
  }
  static std::unique_ptr<policy::Choice<policy::ThrottlePolicy>> choose(
      const char* name, const test::Settings& settings) {
    return test::choose(policy::all_policies().throttle, name, settings);
  }
  static void expect_every_cycle_accounted(const SmHarness& sm) {
    const stats::SchedulerCounters c = sm.scheduler_counters();
    std::uint64_t sum = sm.counters().issued;
    for (std::uint64_t n : c.stall) sum += n;
    EXPECT_EQ(sum, sm.now());
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t a = code.alu(1, {9}), b = code.alu(2, {9}), load = code.load(4, 9),
                use = code.alu(5, {4}), store = code.store(6, 9), shared = code.load_shared(7, 9),
                constant = code.load_const(8), bar = code.barrier(), exit = code.exit();
};
INSTANTIATE_TEST_SUITE_P(Skip, SmThrottle, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Skip" : "EveryCycle"; });

/// Denies slot 1 what `what` says until cycle 50.
ScriptedThrottle deny_slot_1(bool loads_only) {
  return ScriptedThrottle([loads_only](const ThrottleView& v) -> Admission {
    if (v.now >= 50) return {};
    return {loads_only ? ~0ull : ~2ull, ~2ull, 50};
  });
}

TEST_P(SmThrottle, ALoadWaitsUntilItIsAdmitted) {
  auto r = one_block(
      code, 2, [&](WarpWriter& w) { w.op(a).lines(load, {{100 * w.warp()}}).op(b).op(exit); });
  const ScriptedThrottle throttle = deny_slot_1(true);
  auto sm = start(&throttle, r);
  sm->run(300);
  EXPECT_EQ(sm->issue_times(0), (Cycles{0, 1, 2, 3}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{4, 50, 51, 52})) << "arithmetic goes on, the load waits";
  EXPECT_EQ(sm->stalls(Stall::Throttled), 45u) << "cycles 5 to 49";
  EXPECT_EQ(sm->scheduler_counters().throttled_warp_cycles, 50u);
  EXPECT_EQ(sm->scheduler_counters().warp_cycles, 3u + 52);
  expect_every_cycle_accounted(*sm);
}

TEST_P(SmThrottle, OnlyLoadsOfGlobalAndLocalMemoryAreLoads) {
  auto local = code.memory(OpKind::LoadLocal, {10}, {9}, "ld.local.f32");
  code.raw().local_bytes_per_thread = 16;
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 1)
      w.lines(store, {{7}}).passes(shared, 1).passes(constant, 1).op(a).lines(local, {{0}});
    w.op(exit);
  });
  const ScriptedThrottle throttle = deny_slot_1(true);
  auto sm = start(&throttle, r);
  sm->run(300);
  EXPECT_EQ(sm->issue_times(1), (Cycles{1, 2, 3, 4, 50, 51}));
}

TEST_P(SmThrottle, AWarpThatMayNotIssueIssuesNothing) {
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.op(a).op(b).op(exit); });
  const ScriptedThrottle throttle = deny_slot_1(false);
  auto sm = start(&throttle, r);
  sm->run(100);
  EXPECT_EQ(sm->issue_times(1), (Cycles{50, 51, 52}));
  EXPECT_EQ(sm->issue_times(2), (Cycles{3, 4, 5}));
  EXPECT_EQ(sm->stalls(Stall::Throttled), 44u);
}

TEST_P(SmThrottle, AThrottledWarpThatCouldNotIssueAnywayIsChargedToWhatItWaitsFor) {
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    if (w.warp() == 1) w.lines(load, {{100}}).op(use).lines(load, {{200}});
    w.op(exit);
  });
  ScriptedThrottle throttle([](const ThrottleView& v) -> Admission {
    if (v.now < 3) return {~0ull, ~0ull, 3};
    if (v.now < 400) return {~0ull, ~2ull, 400};
    return {};
  });
  auto sm = start(&throttle, r);
  sm->run(600);
  EXPECT_EQ(sm->issue_times(1), (Cycles{1, 101, 400, 401}));
  EXPECT_EQ(sm->stalls(Stall::Memory), 99u + 98) << "throttled, but the data is not there either";
  EXPECT_EQ(sm->stalls(Stall::Throttled), 298u);
  expect_every_cycle_accounted(*sm);
}

TEST_P(SmThrottle, OneThrottleStandsBeforeAllSchedulers) {
  machine.sm.schedulers = 2;  // warps 0 and 2 in slots 0 and 1, warps 1 and 3 in slots 8 and 9
  auto r = one_block(code, 4, [&](WarpWriter& w) { w.op(a).op(exit); });
  ScriptedThrottle throttle([](const ThrottleView& v) -> Admission {
    EXPECT_EQ(v.running & ~0x303ull, 0u);
    if (v.now < 20) return {~0x101ull, ~0x101ull, 20};
    return {};
  });
  auto sm = start(&throttle, r);
  sm->run(100);
  EXPECT_EQ(sm->issue_times(0), (Cycles{20, 21}));
  EXPECT_EQ(sm->issue_times(8), (Cycles{20, 21}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{0, 1}));
  EXPECT_EQ(sm->issue_times(9), (Cycles{0, 1}));
  EXPECT_EQ(sm->stalls(Stall::Throttled), 2 * 18u);
}

TEST_P(SmThrottle, IsToldOfWarpsIssuesBarriersAndKernels) {
  auto r = one_block(code, 2, [&](WarpWriter& w) { w.barrier(bar).op(exit); });
  ScriptedThrottle throttle([](const ThrottleView& v) -> Admission {
    EXPECT_EQ(v.at_barrier & ~v.running, 0u);
    return {};
  });
  auto sm = start(&throttle, r);
  sm->run(100);
  using enum Notified::What;
  const std::vector<Notified> expected = {
      {Kernel, 0, 0}, {Start, 0, 0},   {Start, 0, 1},   {Issue, 0, 0},   {Barrier, 0, 0},
      {Issue, 0, 1},  {Barrier, 1, 0}, {Barrier, 9, 0}, {Barrier, 9, 0},  // opens at 1 + 8
      {Issue, 0, 0},  {End, 9, 0},     {Issue, 0, 1},   {End, 10, 1}};
  EXPECT_EQ(throttle.notified, expected);
  if (GetParam()) {
    EXPECT_EQ(throttle.asked, (Cycles{0, 1, 2, 9, 10, 11}))
        << "after what it was told, and not once more";
  }
}

TEST_P(SmThrottle, IsToldOfLoadsAsLongAsTheyAreUnderWay) {
  const std::uint32_t add = code.memory(OpKind::AtomicGlobal, {6}, {9}, "atom.global.add.u32");
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{5}}).lines(store, {{7}}).passes(shared, 1).passes(constant, 1);
    w.op(use).lines(load, {{5}}).lines(add, {{9}}).op(exit);
  });
  ScriptedThrottle throttle([](const ThrottleView&) -> Admission { return {}; });
  auto sm = start(&throttle, r);
  sm->run(400);
  using enum Notified::What;
  std::vector<Notified> loads;
  for (const Notified& notified : throttle.notified)
    if (notified.what == Load || notified.what == LoadDone) loads.push_back(notified);
  const Cycle hit = 101 + machine.sm.l1d.hit_latency_cycles;
  const std::vector<Notified> expected = {{Load, 0, 0},   {LoadDone, 100, 0}, {Load, 101, 0},
                                          {Load, 102, 0}, {LoadDone, hit, 0}, {LoadDone, 202, 0}};
  EXPECT_EQ(loads, expected);
}

TEST_P(SmThrottle, ABlockOfTheNextLaunchStartsAKernel) {
  Recording one(code, {{2}, {32}, 0}), two(code, {{1}, {32}, 0});
  for (Recording* r : {&one, &two}) r->each_warp([&](WarpWriter& w) { w.op(a).op(exit); });
  ScriptedThrottle throttle([](const ThrottleView&) -> Admission { return {}; });
  auto sm = start(&throttle, one);
  sm->start_block(10, one, 1, 1);
  sm->start_block(20, two, 0, 2);
  sm->run(100);
  Cycles kernels;
  for (const Notified& t : throttle.notified)
    if (t.what == Notified::What::Kernel) kernels.push_back(t.at);
  EXPECT_EQ(kernels, (Cycles{0, 20}));
}

// --- swl ---------------------------------------------------------------------------------------

TEST_P(SmThrottle, SwlLetsTheNextWarpInWhenOneHasIssuedItsLast) {
  auto r = one_block(code, 3,
                     [&](WarpWriter& w) { w.lines(load, {{100 + w.warp()}}).op(use).op(exit); });
  auto throttle = choose("swl", {{"limit", "1"}});
  auto sm = start(throttle.get(), r);
  sm->run(1000);
  const Cycle trip = sm->issue_times(0)[1];
  EXPECT_EQ(sm->issue_times(0), (Cycles{0, trip, trip + 1}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{trip + 2, 2 * trip + 2, 2 * trip + 3}));
  EXPECT_EQ(sm->issue_times(2), (Cycles{2 * trip + 4, 3 * trip + 4, 3 * trip + 5}));
  EXPECT_EQ(sm->stalls(Stall::Throttled), 2 * (trip - 1)) << "while another warp was ready";
  EXPECT_EQ(sm->stalls(Stall::Memory), trip - 2) << "of the last, which keeps nobody waiting";
  expect_every_cycle_accounted(*sm);
}

TEST_P(SmThrottle, SwlOpensABarrierAndLimitsAgain) {
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.op(a).barrier(bar).op(b).op(a).op(exit); });
  auto throttle = choose("swl", {{"limit", "1"}});
  auto sm = start(throttle.get(), r);
  sm->run(100);
  // Warp 0 waits from cycle 1 on; then the others are let in to come, last at 5. Open at 13.
  EXPECT_EQ(sm->issue_times(0), (Cycles{0, 1, 13, 14, 15}));
  EXPECT_EQ(sm->issue_times(1), (Cycles{2, 3, 16, 17, 18})) << "again one after another";
  EXPECT_EQ(sm->issue_times(2), (Cycles{4, 5, 19, 20, 21}));
  EXPECT_EQ(sm->stalls(Stall::Barrier), 7u);
}

// --- ccws --------------------------------------------------------------------------------------

/// Warp 0 loads A, warp 1 loads B, which has no other way to go, warp 0 loads A again; then warp 1
/// something else. Data takes 100 cycles. A's way is B's from 100 on, when A has come; then it is
/// A's again, from 200 on: at that miss A is found among what warp 0 has lost.
class SmCcws : public SmThrottle {
 protected:
  SmCcws() {
    machine.sm.l1d.size_kib = 1;
    machine.sm.l1d.ways = 1;
    machine.sm.l1d.reserve_on_miss = true;
    machine.sm.l1d.line_bytes = machine.sm.l1d.sector_bytes = 128;
  }
  Recording loads() {
    const std::uint32_t line_a = 5, line_b = 5 + machine.sm.l1d.sets();
    return one_block(code, 2, [&, line_a, line_b](WarpWriter& w) {
      if (w.warp() == 0) w.lines(load, {{line_a}}).op(use).lines(load, {{line_a}}).op(use);
      else w.op(a).lines(load, {{line_b}}).op(use).lines(load, {{line_b + 1}}).op(use);
      w.op(exit);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Skip, SmCcws, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "Skip" : "EveryCycle"; });

TEST_P(SmCcws, AWarpThatLosesItsLineKeepsTheOtherFromLoading) {
  auto r = loads();
  auto free = start(nullptr, r);
  free->run(2000);
  EXPECT_EQ(free->issue_times(0), (Cycles{0, 100, 101, 300, 301}));
  EXPECT_EQ(free->issue_times(1), (Cycles{1, 2, 200, 201, 302, 303}));
  auto throttle = choose("ccws", {{"k", "8"}, {"vta_entries", "1"}});
  auto sm = start(throttle.get(), r);
  sm->run(2000);
  EXPECT_EQ(sm->issue_times(0), free->issue_times(0)) << "the loser goes on as it did";
  // By 200 each warp has issued three instructions: 1/6 x 8 x 200 = 266 points for warp 0. Warp 1
  // may load when they have fallen below the cutoff of 200, at 267.
  EXPECT_EQ(sm->issue_times(1), (Cycles{1, 2, 200, 267, 367, 368}));
}

TEST_P(SmCcws, StatisticsTellWhatHappened) {
  auto r = loads();
  auto throttle = choose("ccws", {{"k", "8"}, {"vta_entries", "1"}});
  auto sm = start(throttle.get(), r);
  sm->run(2000);
  class Numbers final : public test::NoFields {
   public:
    std::map<std::string, std::uint64_t> of;
    void field(std::string_view n, std::uint64_t& v, Range<std::uint64_t>, std::string_view,
               std::string_view) override {
      of[std::string(n)] = v;
    }
  } numbers;
  sm->sm().throttle()->visit_statistics(numbers);
  EXPECT_EQ(numbers.of["vta_probes"], 4u) << "every load misses";
  EXPECT_EQ(numbers.of["vta_hits"], 1u);
  EXPECT_EQ(numbers.of["vta_insertions"], 2u) << "A by B, B by A";
  EXPECT_EQ(numbers.of["score_sum"], 266u);
  EXPECT_EQ(numbers.of["up_to_4x"], 66u) << "from 266 to 201 points";
  EXPECT_EQ(numbers.of["up_to_2x"], 35u) << "from 200 to 166, when the warp ends";
  EXPECT_EQ(sm->scheduler_counters().throttled_warp_cycles, 66u) << "201 to 266";
}

TEST_P(SmCcws, NothingIsThrottledWhereNothingIsLost) {
  machine.sm.l1d.ways = 2;
  auto r = loads();
  auto free = start(nullptr, r);
  free->run(2000);
  auto throttle = choose("ccws", {{"k", "1024"}});
  auto sm = start(throttle.get(), r);
  sm->run(2000);
  EXPECT_EQ(sm->issues(), free->issues());
  EXPECT_EQ(sm->scheduler_counters().throttled_warp_cycles, 0u);
}

}  // namespace
}  // namespace raddle::sm_throttle_test

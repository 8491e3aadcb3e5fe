// Tenants that run again and again up to a horizon: the clock stops exactly there, and where it has
// stopped before makes no difference.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "support/errors.h"
#include "support/gpu_harness.h"
#include "support/random_kernel.h"

namespace raddle::gpu_horizon_test {
namespace {

using namespace raddle::support;

TenantId tenant_of(std::size_t number) { return TenantId{static_cast<std::uint8_t>(number)}; }

/// Tenants that launch one kernel each, at once when it has ended.
class Loops {
 public:
  Loops(const timing::MachineSpec& machine, const timing::GpuOptions& options,
        std::vector<Recording*> kernels)
      : gpu_(machine, options, "gto", "rr", "frfcfs", "rr"), kernels_(std::move(kernels)) {
    for (std::size_t t = 0; t < kernels_.size(); ++t) launch(t, 0);
  }
  void run_to(Cycle horizon) {
    while (gpu_->run_to(horizon))
      for (const timing::Completion& c : gpu_->take_completions()) {
        ends_.resize(kernels_.size());
        ends_[index(c.tenant)].push_back(c.at);
        launch(index(c.tenant), c.at);
      }
  }
  timing::Gpu& gpu() { return *gpu_; }
  const std::vector<Cycle>& ends(std::size_t tenant) {
    ends_.resize(kernels_.size());
    return ends_[tenant];
  }

 private:
  void launch(std::size_t tenant, Cycle now) {
    Recording& kernel = *kernels_[tenant];
    auto& code = codes_[&kernel];
    if (code == nullptr)
      code = std::make_shared<const trace::LoweredCode>(trace::as_it_is(kernel.code()));
    std::vector<timing::Submission> tree(1);
    tree.front() = {{std::shared_ptr<void>(), &kernel.stream()}, code, {}, {}};
    tree.front().info.name = kernel.code().name;
    tree.front().info.sequence = launches_++;
    gpu_->enqueue({tenant_of(tenant), now}, std::move(tree));
  }
  GpuHarness gpu_;
  std::vector<Recording*> kernels_;
  std::map<Recording*, std::shared_ptr<const trace::LoweredCode>> codes_;
  std::vector<std::vector<Cycle>> ends_;
  std::uint64_t launches_ = 0;
};

class GpuHorizon : public ::testing::TestWithParam<unsigned> {
 protected:
  GpuHorizon() {
    if (GetParam() % 2 == 1) machine.noc.topology = timing::Topology::Mesh;
    if (GetParam() % 3 == 1) machine.launch_latency_cycles = 333;
    if (GetParam() % 3 == 2) machine.dram.clock_mhz = 1217;
    machine.noc.mesh.columns = 3;
    machine.noc.mesh.rows = 2;
    machine.noc.mesh.vc_flits = 2;
    for (unsigned t = 0; t < 3; ++t) kept.push_back(random_kernel(10 * GetParam() + t));
  }
  std::vector<Recording*> kernels() const {
    std::vector<Recording*> out;
    for (const auto& one : kept) out.push_back(one.get());
    return out;
  }
  struct Outcome {
    std::uint64_t hash;
    std::array<stats::GpuCounters, 3> tenants;
    bool operator==(const Outcome& other) const {
      return std::memcmp(this, &other, sizeof other) == 0;
    }
  };
  /// After having stopped at these cycles.
  Outcome after(const std::vector<Cycle>& stops, const timing::GpuOptions& options = {}) const {
    Loops loops(machine, options, kernels());
    Outcome out{};
    for (const Cycle stop : stops) {
      loops.run_to(stop);
      EXPECT_EQ(loops.gpu().now(), stop);
      EXPECT_EQ(loops.gpu().audit(), std::vector<std::string>{});
    }
    out.hash = loops.gpu().hash();
    for (std::size_t t = 0; t < 3; ++t) out.tenants[t] = loops.gpu().tenant_counters(tenant_of(t));
    return out;
  }
  timing::MachineSpec machine = busy_machine();
  std::vector<std::unique_ptr<Recording>> kept;
};

TEST_P(GpuHorizon, WhatTheHostDoesChangesNothing) {
  constexpr Cycle kHorizon = 20'011;  // in the middle of a window
  const Outcome straight = after({kHorizon});
  for (const stats::GpuCounters& tenant : straight.tenants) EXPECT_GT(tenant.sm.issued, 0u);
  timing::GpuOptions slow, shuffled, threaded;
  slow.skip = false;
  shuffled.shuffle = true;
  threaded.threads = 3;
  EXPECT_TRUE(straight == after({kHorizon}, slow));
  EXPECT_TRUE(straight == after({kHorizon}, shuffled));
  EXPECT_TRUE(straight == after({kHorizon}, threaded));
  const std::vector<Cycle> stops = {1, 2, 333, 4'000, 4'019, 19'999, kHorizon};
  EXPECT_TRUE(straight == after(stops));
  EXPECT_TRUE(straight == after(stops, slow));
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuHorizon, ::testing::Range(0u, 6u));

class GpuHorizonExact : public ::testing::Test {
 protected:
  timing::MachineSpec machine = busy_machine();
  Code code;
  std::uint32_t op = code.alu(1, {1}), exit = code.exit();
  /// A chain of additions on one warp.
  std::unique_ptr<Recording> chain(unsigned length) {
    auto r = std::make_unique<Recording>(code, trace::LaunchShape{{1}, {32}, 0});
    r->each_warp([&](WarpWriter& w) {
      for (unsigned i = 0; i < length; ++i) w.op(op);
      w.op(exit);
    });
    return r;
  }
};

/// Every round takes the same time, so rounds and instructions follow from one. The launch latency
/// is longer than a window, so that no round waits for the next window.
TEST_F(GpuHorizonExact, RestartsFollowAClosedForm) {
  machine.launch_latency_cycles = 100;
  auto kernel = chain(200);
  Loops once(machine, {}, {kernel.get()});
  once.run_to(10'000);
  const Cycle round = once.ends(0).front();
  Loops loops(machine, {}, {kernel.get()});
  constexpr Cycle kHorizon = 99'990;
  loops.run_to(kHorizon);
  const std::vector<Cycle>& ends = loops.ends(0);
  ASSERT_EQ(ends.size(), kHorizon / round);
  for (std::size_t n = 0; n < ends.size(); ++n) EXPECT_EQ(ends[n], (n + 1) * round) << n;
  const std::uint64_t issued = loops.gpu().tenant_counters(TenantId{0}).sm.issued;
  EXPECT_GE(issued, ends.size() * 201);
  EXPECT_LE(issued, (ends.size() + 1) * 201);
}

TEST_F(GpuHorizonExact, TenantsThatDoNotMeetDoNotDisturbEachOther) {
  machine.launch_latency_cycles = 100;
  auto kernel = chain(200), longer = chain(900);
  Loops alone(machine, {}, {kernel.get()}), both(machine, {}, {kernel.get(), longer.get()});
  alone.run_to(30'000);
  both.run_to(30'000);
  // Blocks go to different SMs; only the dispatcher may send a block one cycle later.
  ASSERT_EQ(both.ends(0).size(), alone.ends(0).size());
  EXPECT_NEAR(static_cast<double>(both.ends(0).back()), static_cast<double>(alone.ends(0).back()),
              static_cast<double>(alone.ends(0).size()));
  EXPECT_GT(both.ends(1).size(), 1u);
}

TEST_F(GpuHorizonExact, TheEndOfAnOrdinaryRunIsAHorizonLikeAnyOther) {
  auto kernel = random_kernel(5);
  GpuHarness whole(machine);
  whole.run(*kernel);
  const Cycle end = whole->now();
  GpuHarness stops(machine);
  stops.submit(*kernel, 1);
  while (stops->run_to(end)) {
  }
  const stats::GpuCounters a = whole->counters(), b = stops->counters();
  EXPECT_EQ(std::memcmp(&a.sm, &b.sm, sizeof a.sm), 0);
  EXPECT_EQ(std::memcmp(&a.scheduler, &b.scheduler, sizeof a.scheduler), 0);
  stops->run_until_idle();
  EXPECT_EQ(stops->hash(), whole->hash());
}

TEST_F(GpuHorizonExact, AnIdleGpuIdlesToItsHorizon) {
  GpuHarness gpu(machine);
  EXPECT_FALSE(gpu->run_to(5'000'007));  // longer than the watchdog sleeps
  EXPECT_EQ(gpu->now(), 5'000'007u);
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
  auto kernel = chain(10);
  gpu.submit(*kernel, 1);
  gpu->run_until_idle();
  EXPECT_GT(gpu->kernels().front().begin, 5'000'000u);
}

TEST_F(GpuHorizonExact, MaxCyclesStaysAnError) {
  timing::GpuOptions options;
  options.max_cycles = 1'000;
  auto kernel = chain(2'000);
  GpuHarness gpu(machine, options);
  gpu.submit(*kernel, 1);
  EXPECT_THROW(while (gpu->run_to(100'000)){}, RunError);
}

TEST_F(GpuHorizonExact, TheHostOfATenantWaitsForItsMark) {
  auto shorter = chain(100), longer = chain(1'000);
  GpuHarness gpu(machine);
  gpu.submit(*shorter, 1, tenant(0));
  gpu.submit(*longer, 1, tenant(1));
  const timing::Milestone mark = gpu->record({TenantId{0}, 0}, StreamId{1});
  while (gpu->reached(mark) == kNever) ASSERT_TRUE(gpu->run_to(100'000));
  EXPECT_TRUE(gpu->idle(TenantId{0}));
  EXPECT_FALSE(gpu->idle(TenantId{1}));
  const auto over = gpu->take_completions();
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(over.front().tenant, TenantId{0});
  EXPECT_EQ(over.front().at, gpu->reached(mark));
  EXPECT_TRUE(gpu->take_completions().empty());
}

}  // namespace
}  // namespace raddle::gpu_horizon_test

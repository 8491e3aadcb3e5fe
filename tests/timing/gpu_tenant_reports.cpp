// DRAM policies that learn what tenants have done: when, that it is the whole GPU's, the same for
// all channels and whatever the host does; and TCM in a GPU of tenants.
#include <gtest/gtest.h>

#include "raddle/policy/dram/first_ready.h"
#include "raddle/timing/gpu/tenant_reports.h"
#include "support/dram_rig.h"
#include "support/gpu_harness.h"
#include "support/random_kernel.h"
#include "support/settings.h"

namespace raddle::gpu_tenant_reports_test {
namespace {

using namespace raddle::support;
using policy::DramPolicy;
using policy::TenantCounts;
using timing::GpuOptions;

TEST(TenantReports, ComeAtTheFirstWindowAfterEachPeriodAndTellDifferences) {
  timing::TenantReports reports(90, 20);
  EXPECT_FALSE(reports.due(80));
  EXPECT_TRUE(reports.due(100));
  EXPECT_EQ(reports.next_arrival(0), 100u);
  std::array<stats::GpuCounters, kMaxTenants> totals{};
  totals[1].sm.issued = 500;
  totals[1].dram.reads = 7;
  auto counts = reports.take(100, totals);
  EXPECT_EQ(counts[1].instructions, 500u);
  EXPECT_EQ(counts[1].dram_reads, 7u);
  EXPECT_EQ(counts[0].instructions, 0u);
  EXPECT_EQ(reports.next_arrival(100), 200u) << "190, rounded up";
  totals[1].sm.issued = 620;
  totals[0].sm.issued = 3;
  counts = reports.take(240, totals);
  EXPECT_EQ(counts[1].instructions, 120u);
  EXPECT_EQ(counts[1].dram_reads, 0u);
  EXPECT_EQ(counts[0].instructions, 3u);
  EXPECT_EQ(reports.next_arrival(240), 340u) << "from when it was taken";
}

/// First ready, and what it learns written down, by channel.
class Listener final : public DramPolicy {
 public:
  using Params = policy::NoParams;
  struct Lesson {
    std::uint64_t instructions[3], reads[3];
    bool operator==(const Lesson&) const = default;
  };
  Listener(const Params&, const Context& context) : channel_(context.channel) {}
  Cycle wants_tenants_every() const override { return 150; }
  void learn(std::span<const TenantCounts, kMaxTenants> counts) override {
    Lesson lesson{};
    for (unsigned t = 0; t < 3; ++t) {
      lesson.instructions[t] = counts[t].instructions;
      lesson.reads[t] = counts[t].dram_reads;
    }
    learnt[channel_].push_back(lesson);
  }
  std::optional<unsigned> pick(const policy::DramView& view) override {
    const auto chosen = policy::first_ready(view);
    return chosen ? std::optional(chosen->slot) : std::nullopt;
  }
  static std::vector<Lesson> learnt[2];

 private:
  unsigned channel_;
};
std::vector<Listener::Lesson> Listener::learnt[2];

struct Outcome {
  std::uint64_t hash;
  Cycle cycles;
  bool operator==(const Outcome&) const = default;
};

/// Three tenants' launches side by side.
Outcome shared(std::unique_ptr<policy::Choice<DramPolicy>> dram, const GpuOptions& options,
               stats::GpuCounters* total = nullptr) {
  GpuHarness gpu(busy_machine(), options, std::move(dram));
  std::vector<std::unique_ptr<Recording>> kept;
  for (unsigned launch = 0; launch < 12; ++launch) {
    kept.push_back(random_kernel(launch % 7));
    gpu.submit(*kept.back(), 1 + launch % 3, tenant(launch % 3));
  }
  gpu->run_until_idle();
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
  if (total != nullptr) *total = gpu->counters();
  return {gpu->hash(), gpu->now()};
}

class Listening : public ::testing::Test {
 protected:
  static std::unique_ptr<policy::Choice<DramPolicy>> listener() {
    policy::Registry<DramPolicy> registry;
    registry.add<Listener>("listener", "writes down what it learns");
    return registry.choose("listener");
  }
  void SetUp() override {
    for (auto& lessons : Listener::learnt) lessons.clear();
  }
  void TearDown() override { SetUp(); }
};

TEST_F(Listening, EveryChannelLearnsTheSameAndTheSumsAreTheGpus) {
  stats::GpuCounters total;
  const Outcome outcome = shared(listener(), {}, &total);
  const auto& lessons = Listener::learnt[0];
  EXPECT_EQ(lessons, Listener::learnt[1]);
  // A window has 20 cycles: a report each 160.
  EXPECT_GE(lessons.size(), outcome.cycles / 160 - 1);
  EXPECT_LE(lessons.size(), outcome.cycles / 160 + 1);
  std::uint64_t instructions = 0, reads = 0;
  for (const Listener::Lesson& lesson : lessons)
    for (unsigned t = 0; t < 3; ++t) {
      instructions += lesson.instructions[t];
      reads += lesson.reads[t];
    }
  EXPECT_LE(instructions, total.sm.issued);
  EXPECT_GT(instructions, total.sm.issued * 9 / 10);
  EXPECT_LE(reads, total.dram.reads);
  EXPECT_GT(reads, total.dram.reads * 9 / 10);
}

TEST_F(Listening, WhatTheHostDoesChangesNothingAndListeningItselfNeither) {
  const Outcome usual = shared(listener(), {});
  const auto lessons = Listener::learnt[0];
  GpuOptions slow, shuffled, threads;
  slow.skip = false;
  shuffled.shuffle = true;
  threads.threads = 2;
  for (const GpuOptions& options : {slow, shuffled, threads}) {
    SetUp();
    EXPECT_EQ(shared(listener(), options), usual);
    EXPECT_EQ(Listener::learnt[0], lessons);
  }
  EXPECT_EQ(shared(policy::all_policies().dram.choose("frfcfs"), {}), usual);
}

TEST(TcmOfTenants, WhatTheHostDoesChangesNothing) {
  const test::Settings settings = {{"quantum", "200"}, {"shuffle", "37"}, {"latency_share", "30"}};
  const auto of = [&](const GpuOptions& options) {
    return shared(test::choose(policy::all_policies().dram, "tcm", settings), options);
  };
  GpuOptions slow, shuffled, threads;
  slow.skip = false;
  shuffled.shuffle = true;
  threads.threads = 2;
  const Outcome usual = of({});
  EXPECT_EQ(usual, of(slow));
  EXPECT_EQ(usual, of(shuffled));
  EXPECT_EQ(usual, of(threads));
  EXPECT_NE(usual.hash, shared(policy::all_policies().dram.choose("frfcfs"), {}).hash);
}

// --- in a channel -------------------------------------------------------------------------------

std::array<TenantCounts, kMaxTenants> counts(std::uint64_t reads_0, std::uint64_t reads_1) {
  std::array<TenantCounts, kMaxTenants> out;
  for (unsigned t = 0; t < 2; ++t) out[t].instructions = 10'000;
  out[0].dram_reads = reads_0;
  out[0].dram_bytes = 32 * reads_0;
  out[1].dram_reads = reads_1;
  out[1].dram_bytes = 32 * reads_1;
  return out;
}

timing::DramRequest read(std::uint32_t line, unsigned tenant) {
  timing::DramRequest request{line, 0, 0, 15, 0, 0, false};
  return request.of(support::tenant(tenant));
}

/// A stream of row hits of tenant 0 and a stranger of tenant 1 in the same bank: when it is served.
std::size_t place_of_stranger(const std::array<TenantCounts, kMaxTenants>* lesson) {
  const timing::MachineSpec m = test::one_slice();
  test::ChannelRig rig(m, "tcm");
  if (lesson != nullptr) rig.channel.learn(0, *lesson);
  rig.channel.push(0, read(rig.line_of(0, 1, 0), 0));
  rig.run_until(20);
  for (std::uint32_t column = 1; column < 8; ++column)
    rig.channel.push(20, read(rig.line_of(0, 1, column), 0));
  const std::uint32_t stranger = rig.line_of(0, 2, 0);
  rig.channel.push(20, read(stranger, 1));
  rig.run_until(2'000);
  EXPECT_EQ(rig.done.size(), 9u);
  EXPECT_EQ(rig.checker.first_violation(), "");
  for (std::size_t i = 0; i < rig.done.size(); ++i)
    if (rig.done[i].line == stranger) return i;
  return ~std::size_t{0};
}

TEST(TcmChannel, TheLatencyClusterDoesNotWaitForRowHits) {
  const auto seldom = counts(900, 10), often = counts(10, 900);
  EXPECT_EQ(place_of_stranger(nullptr), 8u) << "as frfcfs";
  EXPECT_EQ(place_of_stranger(&seldom), 1u);
  EXPECT_EQ(place_of_stranger(&often), 8u);
}

/// Random traffic of two tenants of the bandwidth cluster, and lessons now and then.
TEST(TcmChannel, LookingOnlyWhenSomethingCanHaveChangedGivesTheSameCycles) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const timing::MachineSpec m = test::one_slice();
    const auto traffic = [&](bool skip) {
      policy::DramPolicy::Context context;
      auto policy = test::choose(policy::all_policies().dram, "tcm", {{"shuffle", "23"}});
      test::ChannelRig rig(m, policy->make(context), skip);
      Rng rng(seed);
      for (Cycle t = 1; t < 40'000; t += 1 + rng.below(rng.below(8) == 0 ? 100 : 6)) {
        rig.run_until(t);
        if (rng.below(50) == 0) rig.channel.learn(t, counts(rng.below(100), rng.below(100)));
        if (rig.channel.free_slots() == 0) continue;
        timing::DramRequest request{
            rng.below(1u << 10), 0, 0, static_cast<std::uint8_t>(1 + rng.below(15)), 0, 0,
            rng.below(3) == 0};
        rig.channel.push(t, request.of(static_cast<TenantId>(rng.below(2))));
      }
      rig.run_until(50'000);
      EXPECT_EQ(rig.checker.first_violation(), "");
      return rig.done;
    };
    EXPECT_EQ(traffic(true), traffic(false)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace raddle::gpu_tenant_reports_test

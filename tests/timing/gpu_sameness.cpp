// The same result whatever the host does: skipping, order of components, threads, sampling; and the
// conservation laws.
#include <gtest/gtest.h>

#include "support/allocation_counter.h"
#include "support/gpu_harness.h"
#include "support/random_kernel.h"
#include "support/settings.h"

namespace raddle::gpu_sameness_test {
namespace {

using namespace raddle::support;
using timing::GpuOptions;

struct Outcome {
  std::uint64_t hash;
  Cycle cycles;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const timing::MachineSpec& m, std::uint64_t seed, const GpuOptions& o,
                std::string_view warp = "gto", std::string_view block = "rr") {
  GpuHarness gpu(m, o, warp, block);
  for (std::uint64_t launch = 0; launch < 2; ++launch)
    gpu.run(*random_kernel(seed + 1000 * launch));
  return {gpu->hash(), gpu->now()};
}

class GpuSameness : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  /// Machines of different kinds, by seed.
  timing::MachineSpec machine() const {
    timing::MachineSpec spec = busy_machine();
    std::uint64_t seed = GetParam();
    if (seed % 2 == 1) {
      spec.sm.l1d.reserve_on_miss = true;
      spec.sm.l1d.write_policy = timing::WritePolicy::WriteEvict;
    }
    if (seed % 3 == 1) spec.sm.l1d.line_bytes = spec.l2.line_bytes = 64;
    if (seed % 3 == 2) spec.sm.l1d.sector_bytes = spec.sm.l1d.line_bytes;
    if (seed % 4 == 1) {
      spec.noc.latency_cycles = 5;
      spec.dispatch_latency_cycles = 7;
      spec.sm.l1d.hit_latency_cycles = 1;
    }
    if (seed % 4 == 2) {
      spec.sm.schedulers = 4;
      spec.launch_latency_cycles = 333;
    }
    if (seed % 5 == 3) spec.dram.clock_mhz = 1217;
    if (seed % 3 == 2) {
      spec.noc.topology = timing::Topology::Mesh;
      spec.noc.mesh.columns = 3;
      spec.noc.mesh.rows = 2;

      spec.noc.mesh.vc_flits = static_cast<std::uint32_t>(1 + seed / 3);
    } else if (seed % 2 == 0) {
      spec.noc.sms_per_port = 3;
      spec.noc.input_speedup = 2;
    }
    if (seed % 4 == 3) spec.noc.clock_mhz = spec.core_clock_mhz * 2 / 3;
    if (seed % 4 == 2) spec.noc.clock_mhz = spec.core_clock_mhz * 9 / 8;
    if (seed % 3 != 0) {
      spec.sm.fetch.cycles = 2 + seed % 2;
      spec.sm.fetch.buffer = 1 + seed % 4;
    }
    if (seed % 3 == 2) {
      spec.sm.fetch.cache_kib = 1;
      spec.sm.fetch.cache_per_scheduler = seed % 2 == 0;
    }
    if (seed % 4 == 1) {
      spec.sm.fetch.l1_kib = 2;
      spec.sm.fetch.stream_lines = 4;
      spec.sm.fetch.stream_interval_cycles = 9;

      spec.sm.fetch.launch_kib = 1;
    }
    if (seed % 4 == 3) spec.l2.fabric_sector_cycles = 2.32;
    if (seed % 2 == 0)
      spec.sm.operands = {
          .collectors = 1 + static_cast<std::uint32_t>(seed % 3), .banks = 2, .cycles = 1};
    if (seed % 4 != 1) spec.sm.shared_unit[seed % timing::kUnits] = spec.sm.shared_unit[3] = true;
    return spec;
  }
};

TEST_P(GpuSameness, SkippingChangesNothing) {
  GpuOptions slow;
  slow.skip = false;
  EXPECT_EQ(outcome(machine(), GetParam(), {}), outcome(machine(), GetParam(), slow));
}

TEST_P(GpuSameness, OrderOfComponentsChangesNothing) {
  GpuOptions shuffled;
  shuffled.shuffle = true;
  EXPECT_EQ(outcome(machine(), GetParam(), {}), outcome(machine(), GetParam(), shuffled));
}

TEST_P(GpuSameness, ThreadsChangeNothing) {
  Outcome one = outcome(machine(), GetParam(), {});
  for (unsigned threads : {2u, 3u}) {
    GpuOptions o;
    o.threads = threads;
    EXPECT_EQ(one, outcome(machine(), GetParam(), o)) << threads;
  }
}

TEST_P(GpuSameness, SamplingChangesNothingAndAddsUp) {
  GpuOptions sampled;
  sampled.sample_interval = 33;
  GpuHarness gpu(machine(), sampled);
  gpu.run(*random_kernel(GetParam()));
  Cycle first_end = gpu->now();
  gpu.run(*random_kernel(GetParam() + 1000));
  EXPECT_EQ(outcome(machine(), GetParam(), {}), (Outcome{gpu->hash(), gpu->now()}));
  std::uint64_t issued = 0, bytes = 0;
  std::array<std::uint64_t, stats::kStalls> stall{};
  const auto samples = gpu->samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    issued += samples[i].issued;
    bytes += samples[i].dram_bytes;
    std::uint64_t cycles = samples[i].issued;
    for (unsigned why = 0; why < stats::kStalls; ++why) {
      stall[why] += samples[i].stall[why];
      cycles += samples[i].stall[why];
    }
    const Cycle end = i + 1 < samples.size() ? samples[i + 1].start : gpu->now();
    EXPECT_EQ(cycles, (end - samples[i].start) * machine().sm.count * machine().sm.schedulers) << i;
    if (i > 0) {
      EXPECT_EQ(samples[i].start - samples[i - 1].start, samples[1].start);
    }
  }
  EXPECT_GT(samples.size(), gpu->now() / 60);
  EXPECT_LT(samples.back().start, gpu->now());
  EXPECT_GT(first_end, 0u);
  EXPECT_EQ(issued, gpu->counters().sm.issued);
  EXPECT_EQ(bytes, gpu->counters().dram.bytes);
  EXPECT_EQ(stall, gpu->counters().scheduler.stall);
  EXPECT_GT(stall[static_cast<unsigned>(stats::Stall::Memory)], 0u);
  EXPECT_GT(stall[static_cast<unsigned>(stats::Stall::Launch)], 0u);
}

TEST_P(GpuSameness, EveryWarpPolicyIsIndifferentToSkipping) {
  GpuOptions slow;
  slow.skip = false;
  for (const std::string& name : policy::all_policies().warp.names())
    EXPECT_EQ(outcome(machine(), GetParam(), {}, name), outcome(machine(), GetParam(), slow, name))
        << name;
}

TEST_P(GpuSameness, EveryDramPolicyIsIndifferentToWhatTheHostDoes) {
  for (const std::string& name : policy::all_policies().dram.names()) {
    auto of = [&](const GpuOptions& o) {
      GpuHarness gpu(machine(), o, "gto", "rr", name);
      for (std::uint64_t launch = 0; launch < 2; ++launch)
        gpu.run(*random_kernel(GetParam() + 1000 * launch));
      EXPECT_EQ(gpu->audit(), std::vector<std::string>{}) << name;
      return Outcome{gpu->hash(), gpu->now()};
    };
    GpuOptions slow, shuffled, threads;
    slow.skip = false;
    shuffled.shuffle = true;
    threads.threads = 2;
    const Outcome usual = of({});
    EXPECT_EQ(usual, of(slow)) << name << ": no skip";
    EXPECT_EQ(usual, of(shuffled)) << name << ": shuffled";
    EXPECT_EQ(usual, of(threads)) << name << ": threads";
  }
}

TEST_P(GpuSameness, EveryThrottleWithEveryWarpPolicyIsIndifferentToWhatTheHostDoes) {
  const auto all = policy::all_policies();
  const std::vector<std::pair<const char*, test::Settings>> throttles = {
      {"none", {}},
      {"swl", {{"limit", "2"}}},
      {"ccws", {{"k", "64"}}},
      {"ccws", {{"k", "512"}, {"eval_period", "7"}, {"totals", "run"}}}};
  std::uint64_t throttled = 0;
  for (const auto& [name, settings] : throttles) {
    const auto throttle = test::choose(all.throttle, name, settings);
    auto of = [&](const GpuOptions& options, const std::string& warp) {
      GpuHarness gpu(machine(), options, warp, "rr", "frfcfs", "fcfs", throttle.get());
      for (std::uint64_t launch = 0; launch < 2; ++launch)
        gpu.run(*random_kernel(GetParam() + 1000 * launch));
      EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
      throttled += gpu->counters().scheduler.throttled_warp_cycles;
      return Outcome{gpu->hash(), gpu->now()};
    };
    for (const std::string& warp : all.warp.names()) {
      GpuOptions slow, shuffled, threads;
      slow.skip = false;
      shuffled.shuffle = true;
      threads.threads = 2;
      const Outcome usual = of({}, warp);
      EXPECT_EQ(usual, of(slow, warp)) << name << " " << warp << ": no skip";
      if (warp != "gto") continue;
      EXPECT_EQ(usual, of(shuffled, warp)) << name << " " << warp << ": shuffled";
      if (settings.size() == 1) {
        EXPECT_EQ(usual, of(threads, warp)) << name << " " << warp << ": threads";
      }
    }
    if (std::string_view(name) == "none") {
      EXPECT_EQ(throttled, 0u);
      EXPECT_EQ(of({}, "gto"), outcome(machine(), GetParam(), {})) << "as without a throttle";
    } else {
      EXPECT_GT(std::exchange(throttled, 0), 0u) << name << ": nobody is throttled";
    }
  }
}

TEST_P(GpuSameness, CountsAreConserved) {
  timing::MachineSpec m = machine();
  GpuHarness gpu(m);
  for (std::uint64_t launch = 0; launch < 3; ++launch) {
    gpu.run(*random_kernel(GetParam() + launch));
    stats::GpuCounters c = gpu->counters();
    std::uint64_t slots = c.sm.issued;
    for (std::uint64_t n : c.scheduler.stall) slots += n;
    EXPECT_EQ(slots, gpu->now() * m.sm.schedulers * m.sm.count);
    EXPECT_EQ(c.sm.l1d_accesses, c.sm.l1d_hits + c.sm.l1d_pending_hits + c.sm.l1d_misses);
    EXPECT_EQ(c.sm.l1d_fills, c.sm.l1d_misses);
    EXPECT_EQ(c.request.packets, c.reply.packets)
        << "every request is answered when the kernel ends";
    EXPECT_EQ(c.request.packets, c.l2.reads + c.l2.writes + c.l2.atomics);
    EXPECT_EQ(c.l2.writes, c.sm.l1d_stores);
    EXPECT_EQ(c.l2.atomics, c.sm.atomics);
    EXPECT_EQ(c.sm.blocks, 12 * (launch + 1));
    EXPECT_EQ(gpu->block_spans().size(), 12 * (launch + 1));
    EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuSameness, ::testing::Range<std::uint64_t>(0, 12));

TEST(GpuMemory, RunningAllocatesNothingPerCycle) {
  // One block more or a hundred: the same allocations, but for what a launch needs once.
  auto allocated = [](std::uint32_t blocks) {
    GpuHarness gpu(busy_machine());
    auto warm = random_kernel(5, blocks), again = random_kernel(5, blocks);
    gpu.run(*warm);
    std::uint64_t before = allocations_so_far();
    gpu.run(*again);
    return allocations_so_far() - before;
  };
  std::uint64_t few = allocated(8);
  EXPECT_EQ(allocated(400), few);
  EXPECT_LE(few, 200u) << "the lowered code's copy, decoded kernel, block table";
}

}  // namespace
}  // namespace raddle::gpu_sameness_test

// Several kernels at once: streams, marks, hardware queues, the distributor's entries, kernels that
// share SMs, and whose counts are whose.
#include <gtest/gtest.h>

#include "support/gpu_harness.h"
#include "support/random_kernel.h"

namespace raddle::gpu_streams_test {
namespace {

using namespace raddle::support;
using timing::GpuOptions;
using timing::KernelRun;

class GpuStreams : public ::testing::Test {
 protected:
  timing::MachineSpec machine = busy_machine();  // 4 SMs, window and dispatch latency 20
  Code code;
  std::uint32_t long_op = code.sfu(3, {3}), exit = code.exit();
  Recording grid(std::uint32_t blocks, unsigned length = 50, std::uint32_t threads = 32) {
    Recording r(code, {{blocks}, {threads}, 0});
    r.each_warp([&](WarpWriter& w) {
      for (unsigned i = 0; i < length; ++i) w.op(long_op);
      w.op(exit);
    });
    return r;
  }
  static bool overlap(const KernelRun& a, const KernelRun& b) {
    return a.begin < b.end && b.begin < a.end;
  }
};

TEST_F(GpuStreams, KernelsOfDifferentStreamsOverlapThoseOfOneFollow) {
  auto a = grid(2), b = grid(2), c = grid(2);
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  gpu.submit(b, 2);
  gpu.submit(c, 1);
  gpu->run_until_idle();
  const auto& k = gpu->kernels();
  EXPECT_EQ(k[0].begin, 0u);
  EXPECT_EQ(k[1].begin, 0u);
  EXPECT_EQ(k[0].end, k[1].end - 2) << "the second kernel's blocks leave two cycles later";
  EXPECT_EQ(k[2].start, k[0].end);
  EXPECT_EQ(k[2].begin, (k[0].end / 20 + 1) * 20) << "the next window";
}

/// No SM has blocks of two launches in one cycle.
bool one_launch_on_sm(const std::vector<timing::BlockSpan>& spans) {
  for (const auto& x : spans)
    for (const auto& y : spans)
      if (x.sm == y.sm && x.launch != y.launch && x.start < y.end && y.start < x.end) return false;
  return true;
}

TEST_F(GpuStreams, WithoutConcurrencyOnAnSmItHoldsBlocksOfOneKernelAtATime) {
  auto a = grid(5, 200), b = grid(6, 50), c = grid(3, 90);
  for (const bool concurrent : {true, false}) {
    machine.kernels.concurrent_on_sm = concurrent;
    GpuHarness gpu(machine);
    gpu.submit(a, 1);
    gpu.submit(b, 2);
    gpu.submit(c, 3);
    gpu->run_until_idle();
    EXPECT_EQ(gpu->block_spans().size(), 14u);
    EXPECT_EQ(one_launch_on_sm(gpu->block_spans()), !concurrent);
  }
  // Kernels that leave SMs to each other still run at once.
  machine.kernels.concurrent_on_sm = false;
  auto two = grid(2), others = grid(2);
  GpuHarness gpu(machine);
  gpu.submit(two, 1);
  gpu.submit(others, 2);
  gpu->run_until_idle();
  EXPECT_TRUE(overlap(gpu->kernels()[0], gpu->kernels()[1]));
}

TEST_F(GpuStreams, TheLegacyStreamWaitsForAllAndAllWaitForIt) {
  auto a = grid(1), b = grid(1, 80), c = grid(1), d = grid(1);
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  gpu.submit(b, 2);
  gpu.submit(c, 0);
  gpu.submit(d, 1);
  gpu->run_until_idle();
  const auto& k = gpu->kernels();
  EXPECT_LT(k[0].end, k[1].end);
  EXPECT_EQ(k[2].start, k[1].end);
  EXPECT_EQ(k[3].start, k[2].end);
}

TEST_F(GpuStreams, TheDefaultStreamAloneIsTheSameWithAndWithoutWaiting) {
  for (std::uint32_t latency : {0u, 7u, 333u}) {
    machine.launch_latency_cycles = latency;
    GpuHarness waits(machine), goes_on(machine);
    for (unsigned i = 0; i < 4; ++i) {
      auto r = random_kernel(i);
      waits.submit(*r, 0);
      waits->run_until_idle();
      goes_on.submit(*r, 0);
    }
    goes_on->run_until_idle();
    EXPECT_EQ(waits->hash(), goes_on->hash()) << latency;
  }
}

TEST_F(GpuStreams, OneStreamIsTheSameWithAndWithoutWaiting) {
  GpuHarness waits(machine), goes_on(machine);
  std::vector<std::unique_ptr<Recording>> kept;
  for (unsigned i = 0; i < 4; ++i) {
    kept.push_back(random_kernel(i));
    waits.submit(*kept.back(), 3);
    waits->run_until_idle();
  }
  kept.clear();
  for (unsigned i = 0; i < 4; ++i) {
    kept.push_back(random_kernel(i));
    goes_on.submit(*kept.back(), 3);
  }
  goes_on->run_until_idle();
  EXPECT_EQ(waits->hash(), goes_on->hash());
}

TEST_F(GpuStreams, MarksAreReachedAndWaitedFor) {
  auto a = grid(1), b = grid(1), c = grid(1);
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  timing::Milestone after_a = gpu->record(StreamId{1}), at_once = gpu->record(StreamId{5});
  gpu->wait(StreamId{2}, after_a);
  gpu.submit(b, 2);
  gpu.submit(c, 3);
  EXPECT_EQ(gpu->run_until(at_once), 0u);
  Cycle reached = gpu->run_until(after_a);
  gpu->run_until_idle();
  const auto& k = gpu->kernels();
  EXPECT_EQ(reached, k[0].end);
  EXPECT_EQ(k[1].start, k[0].end);
  EXPECT_TRUE(overlap(k[0], k[2]));
}

TEST_F(GpuStreams, TheHostsTimeIsThatOfWhatItWaitedFor) {
  auto a = grid(1, 10), b = grid(1, 100), c = grid(1, 10);
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  gpu.submit(b, 2);
  Cycle reached = gpu->run_until(gpu->record(StreamId{1}));
  gpu.submit(c, 3);
  gpu->run_until_idle();
  const auto& k = gpu->kernels();
  EXPECT_EQ(k[2].start, reached);
  EXPECT_TRUE(overlap(k[1], k[2]));
}

TEST_F(GpuStreams, OneHardwareQueueMakesFalseDependences) {
  auto a = grid(1, 100), a2 = grid(1), b = grid(1);
  for (std::uint32_t queues : {1u, 32u}) {
    machine.kernels.queues = queues;
    GpuHarness gpu(machine);
    gpu.submit(a, 1);
    gpu.submit(a2, 1);
    gpu.submit(b, 2);
    gpu->run_until_idle();
    const auto& k = gpu->kernels();
    EXPECT_EQ(overlap(k[0], k[2]), queues == 32u);
    EXPECT_EQ(k[2].start, queues == 32u ? 0u : k[1].start);
  }
}

TEST_F(GpuStreams, LaunchLatenciesOverlapAndEntriesLimit) {
  machine.launch_latency_cycles = 500;
  machine.kernels.entry_latency_cycles = 40;
  auto a = grid(1), b = grid(1), c = grid(1);
  {
    GpuHarness gpu(machine);
    gpu.submit(a, 1);
    gpu.submit(b, 2);
    gpu->run_until_idle();
    EXPECT_EQ(gpu->kernels()[0].begin, 540u);
    EXPECT_EQ(gpu->kernels()[1].begin, 540u);
  }
  machine.kernels.entries = 1;
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  gpu.submit(b, 2);
  gpu.submit(c, 3);
  gpu->run_until_idle();
  const auto& k = gpu->kernels();
  EXPECT_EQ(k[1].start, 0u) << "it waits with the management unit, its launch latency is over";
  EXPECT_EQ(k[1].begin, k[0].end + 40);
  EXPECT_EQ(k[2].begin, k[1].end + 40);
}

TEST_F(GpuStreams, TheHostWaitsWhenTooManyArePending) {
  machine.kernels.pending = machine.kernels.entries = 2;
  auto a = grid(1, 20), b = grid(1, 100), c = grid(1, 20);
  GpuHarness gpu(machine);
  gpu.submit(a, 1);
  gpu.submit(b, 2);
  gpu.submit(c, 3);
  gpu->run_until_idle();
  EXPECT_EQ(gpu->kernels()[2].start, gpu->kernels()[0].end);
}

TEST_F(GpuStreams, BlocksOfTwoKernelsShareAnSm) {
  machine.sm.count = 1;
  machine.sm.blocks = 8;
  machine.sm.shared_kib = 48;
  auto big = grid(4, 50, 64);
  code.raw().static_shared_bytes = 12 * 1024;
  code.raw().name = "shared";
  auto small = grid(6, 50, 32);
  GpuHarness gpu(machine);
  gpu.submit(small, 1);
  gpu.submit(big, 2);
  gpu->run_until_idle();
  unsigned max_small = 0, maximum = 0;
  for (const auto& x : gpu->block_spans()) {
    unsigned together = 0, small_ones = 0;
    for (const auto& y : gpu->block_spans())
      if (y.start <= x.start && x.start < y.end) {
        ++together;
        small_ones += y.launch == 0;
      }
    maximum = std::max(maximum, together);
    max_small = std::max(max_small, small_ones);
  }
  EXPECT_EQ(max_small, 4u) << "shared memory";
  EXPECT_EQ(maximum, 6u) << "the last two of the first kernel and four of the second";
}

TEST_F(GpuStreams, KernelPoliciesShareTheMachineDifferently) {
  machine.sm.count = 1;
  machine.sm.blocks = 2;
  auto order = [&](const char* policy) {
    auto a = grid(4), b = grid(4);
    GpuHarness gpu(machine, {}, "gto", "rr", "frfcfs", policy);
    gpu.submit(a, 1);
    gpu.submit(b, 2);
    gpu->run_until_idle();
    std::string launches;
    for (const auto& s : gpu->block_spans()) launches += std::to_string(s.launch);
    return launches;
  };
  EXPECT_EQ(order("fcfs"), "00001111");
  EXPECT_EQ(order("rr"), "01010101");
}

TEST_F(GpuStreams, BlocksLeaveAtTheMachinesRate) {
  machine.kernels.block_interval_millicycles = 1250;
  auto r = grid(9, 500);
  GpuHarness gpu(machine);
  gpu.run(r);
  const auto& s = gpu->block_spans();
  std::vector<Cycle> at;
  for (const auto& span : s) at.push_back(span.start - 20);
  EXPECT_EQ(at, (std::vector<Cycle>{0, 2, 3, 4, 5, 7, 8, 9, 10}))
      << "multiples of 1.25, rounded up";
}

TEST_F(GpuStreams, ManyKernelsReuseSlotsAndCountsAddUp) {
  GpuHarness gpu(machine);
  std::vector<std::unique_ptr<Recording>> kernels;
  for (unsigned i = 0; i < 80; ++i) {
    kernels.push_back(random_kernel(i, 3));
    gpu.submit(*kernels.back(), 1 + i % 7);
  }
  gpu->run_until_idle();
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
  std::uint64_t issued = 0;
  for (const KernelRun& k : gpu->kernels()) {
    EXPECT_EQ(k.counters.sm.blocks, 3u);
    EXPECT_GT(k.counters.sm.issued, 0u);
    issued += k.counters.sm.issued;
  }
  EXPECT_EQ(issued, gpu->counters().sm.issued);
}

TEST_F(GpuStreams, EveryKernelsInstructionsAreItsOwnWhoeverRunsBeside) {
  auto a = random_kernel(1), b = random_kernel(2);
  GpuHarness together(machine), alone(machine);
  alone.submit(*a, 1);
  alone->run_until_idle();
  auto a2 = random_kernel(1);
  together.submit(*a2, 1);
  together.submit(*b, 2);
  together->run_until_idle();
  const auto &x = alone->kernels()[0].counters.sm, &y = together->kernels()[0].counters.sm;
  EXPECT_EQ(x.issued, y.issued);
  EXPECT_EQ(x.thread_instructions, y.thread_instructions);
  EXPECT_EQ(x.l1d_accesses, y.l1d_accesses);
  EXPECT_EQ(x.l1d_stores, y.l1d_stores);
  EXPECT_EQ(x.shared_passes, y.shared_passes);
}

TEST_F(GpuStreams, TheSameWhateverTheHostDoes) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    auto outcome = [&](const GpuOptions& options) {
      timing::MachineSpec spec = machine;
      if (seed % 2 == 1) {
        spec.launch_latency_cycles = 217;
        spec.kernels.entry_latency_cycles = 31;
      }
      if (seed % 3 == 1) spec.kernels.entries = 2;
      if (seed % 3 == 2) {
        spec.kernels.queues = 1;
        spec.kernels.block_interval_millicycles = 1370;
      }
      GpuHarness gpu(spec, options, "gto", seed < 3 ? "rr" : "chunk", "frfcfs",
                     seed % 2 == 0 ? "fcfs" : "rr");
      std::vector<std::unique_ptr<Recording>> kernels;
      timing::Milestone mark = 0;
      for (unsigned i = 0; i < 12; ++i) {
        kernels.push_back(random_kernel(seed * 100 + i, 2 + i % 5));
        gpu.submit(*kernels.back(), 1 + i % 4);
        if (i == 3) mark = gpu->record(StreamId{1});
        if (i == 5) gpu->wait(StreamId{2}, mark);
        if (i == 8) gpu->run_until(mark);
      }
      gpu->run_until_idle();
      EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
      std::vector<std::uint64_t> out = {gpu->hash()};
      for (const KernelRun& k : gpu->kernels())
        out.insert(out.end(), {k.start, k.begin, k.end, k.counters.sm.issued});
      return out;
    };
    const auto first = outcome({});
    GpuOptions options;
    options.skip = false;
    EXPECT_EQ(first, outcome(options)) << "no skip " << seed;
    options.skip = true;
    options.shuffle = true;
    EXPECT_EQ(first, outcome(options)) << "shuffled " << seed;
    options.shuffle = false;
    options.sample_interval = 50;
    EXPECT_EQ(first, outcome(options)) << "sampled " << seed;
    if (seed > 1) continue;
    options.threads = 2;
    EXPECT_EQ(first, outcome(options)) << "threads " << seed;
  }
}

TEST_F(GpuStreams, WhatHangsIsToldByName) {
  auto bar = code.barrier();
  code.raw().name = "stuck";
  Recording stuck(code, {{1}, {64}, 0});
  stuck.each_warp([&](WarpWriter& w) { w.barrier(bar, 2, trace::BarrierKind::Sync, 3).op(exit); });
  code.raw().name = "fine";
  auto fine = grid(1), later = grid(1);
  GpuHarness gpu(machine);
  gpu.submit(stuck, 1);
  gpu.submit(fine, 2);
  gpu.submit(later, 1);
  try {
    gpu->run_until_idle();
    FAIL();
  } catch (const RunError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("0 of 1 blocks of 'stuck' (launch 0, stream 1) have ended"), text.npos)
        << text;
    EXPECT_NE(text.find("1 operations wait in queues"), text.npos) << text;
    EXPECT_EQ(text.find("'fine'"), text.npos) << text;
  }
  EXPECT_THROW(gpu->run_until_idle(), RunError);
}

// Beside a tenant that is always under way, the L1D is emptied for a kernel as it is alone.
TEST_F(GpuStreams, WhoIsIdleIsAskedOfEachTenant) {
  auto load = code.load(4, 5);
  machine.sm.count = 1;
  machine.kernels.flush_only_when_idle = true;
  for (const bool beside : {false, true}) {
    Recording first(code, {{1}, {32}, 0}), second(code, {{1}, {32}, 0});
    for (Recording* r : {&first, &second})
      r->each_warp([&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
    auto other = grid(1, 400);
    GpuHarness gpu(machine);
    if (beside) gpu.submit(other, 1, TenantId{1});
    gpu.submit(first, 2, TenantId{0});
    gpu.submit(second, 2, TenantId{0});
    gpu->run_until_idle();
    EXPECT_EQ(gpu->counters().sm.l1d_hits, 0u) << beside;
  }
}

TEST_F(GpuStreams, L1IsFlushedPerKernelOrOnlyWhenIdle) {
  auto load = code.load(4, 5);
  auto reader = [&] {
    Recording r(code, {{1}, {32}, 0});
    r.each_warp([&](WarpWriter& w) { w.lines(load, {{100}}).op(exit); });
    return r;
  };
  machine.sm.count = 1;
  for (bool idle_only : {false, true}) {
    machine.kernels.flush_only_when_idle = idle_only;
    auto long_one = grid(1, 400), first = reader(), second = reader(), third = reader();
    GpuHarness gpu(machine);
    gpu.submit(long_one, 1);
    gpu.submit(first, 2);
    gpu.submit(second, 2);
    gpu->run_until_idle();
    EXPECT_EQ(gpu->counters().sm.l1d_hits, idle_only ? 1u : 0u);
    gpu.submit(third, 2);
    gpu->run_until_idle();
    EXPECT_EQ(gpu->counters().sm.l1d_hits, idle_only ? 1u : 0u) << "the GPU was idle before";
  }
}

}  // namespace
}  // namespace raddle::gpu_streams_test

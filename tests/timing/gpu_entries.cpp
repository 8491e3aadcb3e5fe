// Machines of few and of many entries of the kernel distributor: how many kernels are under way at
// once, that each one's counts are its own whatever its slot, and that it is one run however it is
// simulated.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/at_once.h"
#include "support/gpu_harness.h"
#include "support/random_kernel.h"

namespace raddle::gpu_entries_test {
namespace {

using namespace raddle::support;
using timing::GpuOptions;
using timing::KernelRun;

timing::MachineSpec with_entries(std::uint32_t entries) {
  timing::MachineSpec machine = busy_machine();
  machine.kernels.entries = entries;
  machine.kernels.queues = 128;
  return machine;
}

// A kernel of every stream, each of one warp that works for long.
TEST(GpuEntries, AsManyKernelsAreUnderWayAsThereAreEntries) {
  constexpr unsigned kKernels = 300;
  Code code;
  const std::uint32_t long_op = code.sfu(3, {3}), exit = code.exit();
  std::vector<std::unique_ptr<Recording>> recordings;
  for (unsigned length = 100; length < 107; ++length) {
    recordings.push_back(std::make_unique<Recording>(code, trace::LaunchShape{{1}, {32}, 0}));
    recordings.back()->each_warp([&](WarpWriter& w) {
      for (unsigned n = 0; n < length; ++n) w.op(long_op);
      w.op(exit);
    });
  }
  for (const std::uint32_t entries : {1u, 32u, 33u, 128u, 256u}) {
    GpuHarness gpu(with_entries(entries));
    for (unsigned i = 0; i < kKernels; ++i) gpu.submit(*recordings[i % 7], 1 + i);
    gpu->run_until_idle();
    const std::vector<KernelRun>& kernels = gpu->kernels();
    EXPECT_EQ(std::ranges::count(kernels, Cycle{0}, &KernelRun::begin), entries);
    EXPECT_EQ(max_at_once(kernels), entries);
    for (unsigned i = 0; i < kKernels; ++i) {
      EXPECT_EQ(kernels[i].counters.sm.issued, 101 + i % 7) << i;
      EXPECT_EQ(kernels[i].counters.sm.blocks, 1u) << i;
    }
    EXPECT_EQ(gpu->audit(), std::vector<std::string>{}) << entries;
  }
}

// With memory: requests, write-backs and DRAM accesses are counted by slot all the way, so that
// sums over launches are those of the machine (audit), and the run is one.
TEST(GpuEntries, ManyKernelsAreOneRunHoweverItIsSimulated) {
  for (const char* kernel_policy : {"fcfs", "rr"}) {
    const auto outcome = [&](const GpuOptions& options) {
      GpuHarness gpu(with_entries(256), options, "gto", "rr", "frfcfs", kernel_policy);
      std::vector<std::unique_ptr<Recording>> kept;
      for (unsigned i = 0; i < 80; ++i) {
        kept.push_back(random_kernel(i % 9, 2 + i % 4));
        gpu.submit(*kept.back(), 1 + i);
      }
      gpu->run_until_idle();
      EXPECT_GT(max_at_once(gpu->kernels()), 64);
      EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
      std::vector<std::uint64_t> out = {gpu->hash()};
      for (const KernelRun& k : gpu->kernels())
        out.insert(out.end(), {k.begin, k.end, k.counters.sm.requests, k.counters.dram.reads});
      return out;
    };
    const auto first = outcome({});
    GpuOptions options;
    options.skip = false;
    EXPECT_EQ(first, outcome(options)) << "no skip, " << kernel_policy;
    options.skip = true;
    options.shuffle = true;
    EXPECT_EQ(first, outcome(options)) << "shuffled, " << kernel_policy;
    options.shuffle = false;
    options.threads = 2;
    EXPECT_EQ(first, outcome(options)) << "two threads, " << kernel_policy;
    options.threads = 1;
    options.sample_interval = 50;
    EXPECT_EQ(first, outcome(options)) << "sampled, " << kernel_policy;
  }
}

// Where nobody waits for an entry it makes no difference how many there are, or how many numbers.
TEST(GpuEntries, EntriesThatNobodyNeedsChangeNothing) {
  const auto outcome = [](std::uint32_t entries) {
    std::vector<std::unique_ptr<Recording>> kept;
    GpuHarness gpu(with_entries(entries));
    for (unsigned i = 0; i < 50; ++i) {
      kept.push_back(random_kernel(i % 9, 2));
      gpu.submit(*kept.back(), 1 + i % 3);
      if (i % 3 == 2) gpu->run_until_idle();
    }
    gpu->run_until_idle();
    return gpu->hash();
  };
  const std::uint64_t few = outcome(4);
  EXPECT_EQ(few, outcome(32));
  EXPECT_EQ(few, outcome(64));
  EXPECT_EQ(few, outcome(256));
}

}  // namespace
}  // namespace raddle::gpu_entries_test

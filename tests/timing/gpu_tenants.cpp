// Tenants that share the GPU: whose counts are whose.
#include <gtest/gtest.h>

#include <cstring>

#include "support/gpu_harness.h"
#include "support/random_kernel.h"

namespace raddle::gpu_tenants_test {
namespace {

using namespace raddle::support;

bool same(const stats::GpuCounters& a, const stats::GpuCounters& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class GpuTenants : public ::testing::Test {
 protected:
  timing::MachineSpec machine = busy_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), store = code.store(2, 10), exit = code.exit();
  /// Loads and stores lines of its own, so that dirty lines leave the L2 long after their launch.
  std::unique_ptr<Recording> writer(std::uint32_t first, std::uint32_t lines) {
    auto r = std::make_unique<Recording>(code, trace::LaunchShape{{4}, {64}, 0});
    r->each_warp([&](WarpWriter& w) {
      const std::uint32_t at = first + (w.block() * 2 + w.warp()) * lines;
      for (std::uint32_t i = 0; i < lines; ++i) {
        w.lines(load, {{at + i}});
        w.lines(store, {{at + i}});
      }
      w.op(exit);
    });
    return r;
  }
  static std::string broken(timing::Gpu& gpu) {
    std::string out;
    for (const std::string& law : gpu.audit()) out += law + "\n";
    return out;
  }
  static stats::GpuCounters of(timing::Gpu& gpu, unsigned number) {
    return gpu.tenant_counters(tenant(number));
  }
};

TEST_F(GpuTenants, OneTenantHasAllThatTheGpuHas) {
  auto a = writer(0, 40);
  GpuHarness gpu(machine);
  gpu.run(*a);
  gpu.run(*a);
  stats::GpuCounters all = gpu->counters();
  all.scheduler = {};
  EXPECT_TRUE(same(of(*gpu, 0), all));
  EXPECT_TRUE(same(of(*gpu, 1), {}));
}

TEST_F(GpuTenants, AccountsAddUpToTheGpusAndEachIsItsOwnLaunches) {
  std::vector<std::unique_ptr<Recording>> kept;
  GpuHarness gpu(machine);
  for (unsigned launch = 0; launch < 60; ++launch) {
    kept.push_back(random_kernel(launch % 7));
    gpu.submit(*kept.back(), 1 + launch % 3, tenant(launch % 3));
  }
  gpu->run_until_idle();
  EXPECT_EQ(broken(*gpu), "");
  stats::GpuCounters sum;
  std::array<std::uint64_t, 3> issued{};
  for (unsigned launch = 0; launch < 60; ++launch)
    issued[launch % 3] += gpu->kernels()[launch].counters.sm.issued;
  for (unsigned tenant = 0; tenant < 3; ++tenant) {
    EXPECT_EQ(of(*gpu, tenant).sm.issued, issued[tenant]);
    EXPECT_GT(issued[tenant], 0u);
    stats::accumulate(sum, of(*gpu, tenant));
  }
  stats::GpuCounters all = gpu->counters();
  all.scheduler = {};
  EXPECT_TRUE(same(sum, all));
}

/// A request pays for all accesses to DRAM that it causes, so whoever makes a dirty line leave the
/// L2 is charged with its write, whoever wrote the line. Only tenant 0 writes.
TEST_F(GpuTenants, WhoMakesADirtyLineLeavePaysForItsWrite) {
  auto writes = writer(0, 16);
  Recording reads(code, {{4}, {64}, 0});
  reads.each_warp([&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 200; ++i)
      w.lines(load, {{100'000 + (w.block() * 2 + w.warp()) * 200 + i}});
    w.op(exit);
  });
  GpuHarness gpu(machine);
  gpu.submit(*writes, 1, tenant(0));
  gpu->run_until_idle();
  EXPECT_EQ(gpu->counters().dram.writes, 0u);
  gpu.submit(reads, 2, tenant(1));
  gpu->run_until_idle();
  EXPECT_EQ(of(*gpu, 0).dram.writes, 0u);
  EXPECT_EQ(of(*gpu, 0).dram.reads, gpu->kernels().front().counters.dram.reads);
  EXPECT_EQ(of(*gpu, 1).dram.writes, 4u * 2 * 16) << "every line that tenant 0 wrote";
  EXPECT_EQ(of(*gpu, 1).dram.writes, gpu->counters().dram.writes);
  EXPECT_EQ(of(*gpu, 1).sm.l1d_stores, 0u);
}

TEST_F(GpuTenants, ATenantsNameChangesNothing) {
  GpuHarness one(machine), two(machine);
  std::vector<std::unique_ptr<Recording>> kept;
  for (unsigned launch = 0; launch < 8; ++launch) {
    kept.push_back(random_kernel(launch));
    one.submit(*kept.back(), 1 + launch % 2, tenant(0));
    two.submit(*kept.back(), 1 + launch % 2, tenant(launch % 2));
  }
  one->run_until_idle();
  two->run_until_idle();
  EXPECT_EQ(one->hash(), two->hash());
}

}  // namespace
}  // namespace raddle::gpu_tenants_test

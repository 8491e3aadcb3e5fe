// What a result says of the warps that an SM holds of each kernel.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::resident_test {
namespace {

sim::Resident resident(const std::string& workload, std::vector<std::string> set) {
  const sim::Result result = test::run(workload, {"ccws", std::move(set)});
  EXPECT_FALSE(result.kernels.empty());
  EXPECT_TRUE(result.kernels[0].resident.has_value());
  return result.kernels[0].resident.value_or(sim::Resident{});
}

// Table 1 of CCWS: 1,024 threads and 16,384 registers, 16 for each thread.
TEST(Resident, SaysWhatRunsOutFirst) {
  const sim::Resident all = resident("kmn", {});
  EXPECT_LE(all.registers_per_thread, 16u);
  EXPECT_EQ(all.warps, 32u);
  EXPECT_EQ(all.blocks, 4u);
  const sim::Resident few = resident("kmn", {"sm.registers=8192"});
  EXPECT_EQ(few.limited_by, "registers");
  EXPECT_LT(few.warps, 32u);
  EXPECT_EQ(few.registers_per_thread, all.registers_per_thread);
}

TEST(Resident, RegistersOfThePtxTextAreMore) {
  EXPECT_GT(resident("kmn", {"isa.registers=ptx"}).registers_per_thread,
            resident("kmn", {}).registers_per_thread);
}

// workloads/registers.csv, on machines of today.
TEST(Resident, RegistersAreThoseOfPtxasWhereTheyAreKnown) {
  const std::map<std::string, ptx::RegistersByGpu> known = runtime::registers_of("sgemm");
  for (const auto& [gpu, capability] :
       std::map<std::string, std::uint32_t>{{"v100", 80}, {"t4", 75}, {"h100", 90}}) {
    const sim::Result result = test::run("sgemm", {gpu});
    const sim::KernelResult& kernel = result.kernels.at(0);
    ASSERT_TRUE(kernel.resident.has_value());
    EXPECT_EQ(kernel.resident->registers_per_thread, known.at(kernel.name).at(capability)) << gpu;
  }
  EXPECT_EQ(runtime::registers_of("nobody").size(), 0u);
  for (const std::string& workload : runtime::all_workloads().names())
    EXPECT_FALSE(runtime::registers_of(workload).empty()) << workload;
}

}  // namespace
}  // namespace raddle::resident_test

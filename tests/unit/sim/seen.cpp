// What programs can see of a set-up: whatever a program is told makes an execution of its own, and
// nothing else does.
#include "raddle/sim/setup/seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/sim/setup/gpus.h"

namespace raddle::sim::seen_test {
namespace {

Setup machine(const std::vector<std::string>& settings) {
  config::Tree tree = load_gpu("v100");
  tree.set_option("sm.threads=1536", "so that there may be fewer warps");
  for (const std::string& text : settings) tree.set_option(text, "--set " + text);
  return read_setup(tree, policy::all_policies());
}

bool same_for_workloads(const std::vector<std::string>& settings) {
  return seen_by_workload(machine(settings)).json() == seen_by_workload(machine({})).json();
}
bool same_for_programs(const std::vector<std::string>& settings) {
  return seen_by_program(machine(settings)).json() == seen_by_program(machine({})).json();
}

TEST(Seen, WhatWorkloadsAreToldMakesAnExecutionOfItsOwn) {
  for (const char* text : {"run.seed=2", "run.live=true", "sm.count=79", "sm.schedulers=2",
                           "sm.warps=48", "sm.max_threads_per_block=512", "device.memory_gib=8",
                           "core_clock_mhz=1000", "sm.shared_unit_bytes=512"}) {
    EXPECT_FALSE(same_for_workloads({text})) << text;
    EXPECT_NE(seen_by_workload(machine({text})), seen_by_workload(machine({}))) << text;
  }
}

TEST(Seen, WhatTheRuntimeLibraryTellsMakesAnExecutionOfItsOwn) {
  for (const char* text : {"sm.count=79",
                           "sm.schedulers=2",
                           "sm.warps=48",
                           "sm.max_threads_per_block=512",
                           "sm.registers=32768",
                           "sm.register_unit=512",
                           "sm.threads=1024",
                           "sm.blocks=16",
                           "sm.shared_kib=64",
                           "sm.shared_unit_bytes=512",
                           "sm.shared_reserved_bytes=1024",
                           "sm.l1d.size_kib=0",
                           "l2.size_kib=48",
                           "dram.clock_mhz=800",
                           "device.memory_gib=8",
                           "device.compute_capability=80",
                           "core_clock_mhz=1000",
                           "isa.lowering=ptx",
                           "isa.registers=ptx",
                           "run.live=true",
                           "name=other"})
    EXPECT_FALSE(same_for_programs({text})) << text;
}

TEST(Seen, WhatOnlyTimingUsesDoesNot) {
  for (const char* text :
       {"sm.lsu_queue=16", "sm.l1d.mshr_entries=16", "l2.hit_latency_cycles=10", "run.cold_l2=true",
        "run.sampling_error=0.05", "policy.warp.name=gto", "launch_latency_cycles=6000"}) {
    EXPECT_TRUE(same_for_workloads({text})) << text;
    EXPECT_TRUE(same_for_programs({text})) << text;
  }
  EXPECT_TRUE(same_for_programs({"run.seed=2"})) << "programs make their own inputs";
  EXPECT_TRUE(same_for_programs({"sm.l1d.size_kib=64"})) << "a program asks whether there is one";
}

}  // namespace
}  // namespace raddle::sim::seen_test

// Whole runs of lowered code, and energy: every workload is right, the same however it is computed,
// and adds up.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/whole.h"

namespace raddle::machine_code_test {
namespace {

using test::RunSpec;

RunSpec machine_code(const std::string& gpu = "v100") { return {gpu, {"isa.lowering='machine'"}}; }

class MachineCode : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, MachineCode, testing::ValuesIn(test::workloads_of_all_machines()),
                         [](const auto& i) { return i.param; });

TEST_P(MachineCode, IsCorrectAndTheSameUnderEveryHostChoice) {
  RunSpec spec = machine_code();
  const sim::Result first = test::run(GetParam(), spec);
  EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
  const std::string hash = test::state_hash(first);
  spec.options.skip = false;
  EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << "no skip";
  spec.options.skip = true;
  spec.options.shuffle = true;
  EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << "shuffled components";
  spec.options.shuffle = false;
  spec.options.threads = 2;
  EXPECT_EQ(hash, test::state_hash(test::run(GetParam(), spec))) << "two threads";
}

TEST_P(MachineCode, TouchesTheSameMemory) {
  const sim::Result ptx = test::run(GetParam(), {"v100", {"isa.lowering='ptx'"}}),
                    made = test::run(GetParam(), machine_code());
  EXPECT_NE(ptx.cycles, made.cycles);
  EXPECT_EQ(ptx.totals.sm.l1d_accesses, made.totals.sm.l1d_accesses);
  EXPECT_EQ(ptx.totals.sm.l1d_stores, made.totals.sm.l1d_stores);
  EXPECT_EQ(ptx.totals.sm.shared_passes, made.totals.sm.shared_passes);
}

TEST_P(MachineCode, EverySchedulerCycleIsAccountedFor) {
  for (const char* gpu : {"gtx480", "h200", "laperm"}) {
    const sim::Result r = test::run(GetParam(), machine_code(gpu));
    std::uint64_t sum = r.totals.sm.issued;
    for (std::uint64_t stall : r.totals.scheduler.stall) sum += stall;
    EXPECT_EQ(sum, r.cycles * r.schedulers) << gpu;
  }
}

TEST(MachineCodeFile, ReplayEqualsTheDirectRun) {
  const std::string path = testing::TempDir() + "raddle_machine_code.rdl";
  const auto workload = runtime::all_workloads().make("spmv");
  workload->set_size(runtime::Size::Tiny);
  sim::Setup setup = test::make_setup(machine_code());
  sim::record(*workload, {"spmv", {}}, setup, {}, path);
  const trace::FileReader file(path);
  std::vector<sim::Setup> setups;
  setups.push_back(test::make_setup(machine_code()));
  const auto replayed = sim::replay(file, setups, {});
  EXPECT_EQ(test::state_hash(replayed.front()),
            test::state_hash(test::run("spmv", machine_code())));
  std::remove(path.c_str());
}

class EnergyOfRuns : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, EnergyOfRuns, testing::ValuesIn(test::workloads_of_all_machines()),
                         [](const auto& i) { return i.param; });

TEST_P(EnergyOfRuns, KernelsAddUpToTheDynamicTotal) {
  for (const char* gpu : {"gtx480", "v100", "ikra"}) {
    const sim::Result r = test::run(GetParam(), {gpu});
    energy::Energy sum;
    for (const sim::KernelResult& k : r.kernels)
      for (unsigned c = 0; c < energy::kComponents; ++c)
        sum.femtojoule[c] += k.energy.femtojoule[c];
    for (unsigned c = 0; c < energy::kDynamicComponents; ++c)
      EXPECT_EQ(sum.femtojoule[c], r.energy.femtojoule[c])
          << gpu << ": " << energy::kComponentNames[c];
    EXPECT_GT(r.energy.of(energy::Component::Lanes), 0u);
    EXPECT_GT(r.energy.of(energy::Component::RegisterFile), 0u);
    EXPECT_GT(r.energy.of(energy::Component::StaticCores), 0u);
  }
}

TEST_P(EnergyOfRuns, ResultNamesEveryComponent) {
  const auto json = sim::to_json(test::run(GetParam(), {"v100"}));
  double sum = 0;
  for (const auto& [name, value] : json["energy_pj"].items()) sum += value.get<double>();
  EXPECT_EQ(json["energy_pj"].size(), energy::kComponents);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace raddle::machine_code_test

// Names in the result are API: scripts rely on them. A change shows up here and must be made in
// result_names.txt on purpose.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle_paths.h"
#include "support/whole.h"

namespace raddle {
namespace {

using Json = nlohmann::ordered_json;

void collect(const Json& value, const std::string& path, std::set<std::string>& out) {
  if (value.is_array()) {
    for (const Json& item : value) collect(item, path + "[]", out);
  } else if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) {
      const std::string name = path.empty() ? key : path + "." + key;
      if (key == "meaning") out.insert(name);  // of names that stand beside it
      else collect(member, name, out);
    }
    return;
  }
  if (!path.empty()) out.insert(path);
}

TEST(Golden, NamesOfTheResult) {
  std::set<std::string> names, golden;
  for (const char* policy : {"throttle=none", "throttle=swl", "throttle=ccws", "throttle=dyncta",
                             "warp=cawa", "warp=mascar", "block=bcs"})
    collect(sim::to_json(test::run("vecadd", {"gtx480", {}, {policy}})), "", names);
  test::RunSpec spec{"gtx480"};
  for (const char* analysis : {"locality", "cache"})
    spec.options.analyses.push_back(sim::read_analysis(analysis, "test"));
  collect(sim::to_json(test::run("vecadd", spec)), "", names);
  collect(sim::to_json(test::run("vecadd"), 0), "", names);  // launches summed by kernel
  // Told only where they are used.
  const test::RunSpec all{
      "gtx480",
      {"run.cold_l2=true", "isa.lowering=machine", "isa.order=assembler",
       "launch_latency_cycles=10", "kernels.gap_cycles=5", "sm.l1d.unified_kib=64",
       "sm.l1d.shared_kib_choices=16,48", "sm.l1d.reserve_on_miss=false",
       "sm.l1d.write_policy=write_through", "sm.l1d.local_write_policy=write_through",
       "sm.l1d.flush_at_kernel_start=true", "sm.lsu_sector_banks=true"},
      {},
      {}};
  collect(sim::to_json(test::run("vecadd", all)), "", names);
  config::Tree steps;
  steps.set_option("size=tiny", "test"), steps.set_option("steps=20", "test");
  const auto hotspot = sim::make_workload(runtime::all_workloads(), "hotspot", steps);
  const test::RunSpec sampled{"gtx480", {"run.sampling_error=0.03"}, {}, {}};
  collect(sim::to_json(test::run_on(*hotspot.workload, "hotspot", sampled)), "", names);
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/golden/result_names.txt");
  for (std::string line; std::getline(file, line);) golden.insert(line);
  for (const std::string& name : names) EXPECT_TRUE(golden.contains(name)) << "new: " << name;
  for (const std::string& name : golden) EXPECT_TRUE(names.contains(name)) << "gone: " << name;
}

}  // namespace
}  // namespace raddle

// Names in the result are API: scripts rely on them. Those of metrics come from the catalogue
// (stats/metrics.def), so that a new one is known here at once. What has been there stays in two
// lists, so that a name that goes or changes shows up and must be changed there on purpose:
// metric_names.txt has the metrics and of what each is shown, result_names.txt all other names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/result/catalogue.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle_paths.h"
#include "support/whole.h"

namespace raddle::names_test {
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

/// Where the numbers stand that are shown of a launch, a kernel or a stream.
const std::map<stats::Shown, std::string> kPlaces = {{stats::kLaunch, "kernels[]."},
                                                     {stats::kGroup, "kernels_by_name[]."},
                                                     {stats::kStream, "streams[]."}};

/// Paths of the metrics in results of one workload; policies' depend on the policy.
std::set<std::string> names_of_metrics() {
  std::set<std::string> out;
  for (const sim::CatalogueEntry& entry : sim::catalogue(policy::all_policies())) {
    if (entry.name.starts_with("policies.")) continue;
    const bool of_totals = std::ranges::any_of(stats::metrics(), [&](const stats::Metric& metric) {
      return metric.part == stats::Part::Totals && metric.name == entry.name;
    });
    if ((entry.shown & stats::kRun) != 0) out.insert((of_totals ? "totals." : "") + entry.name);
    if (of_totals) out.insert("sampling.timed_totals." + entry.name);
    for (const auto& [place, prefix] : kPlaces)
      if ((entry.shown & place) != 0) out.insert(prefix + entry.name);
  }
  return out;
}

std::set<std::string> lines_of(const std::string& name) {
  std::set<std::string> out;
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/golden/" + name);
  for (std::string line; std::getline(file, line);) out.insert(line);
  return out;
}

TEST(Golden, MetricsThatWereShownStillAre) {
  std::map<std::string, stats::Shown> shown;
  for (const sim::CatalogueEntry& entry : sim::catalogue(policy::all_policies()))
    shown[entry.name] |= entry.shown;
  const std::set<std::string> kept = lines_of("metric_names.txt");
  EXPECT_GT(kept.size(), 150u);
  for (const std::string& line : kept) {
    const std::string name = line.substr(0, line.find(": "));
    ASSERT_TRUE(shown.contains(name)) << "gone: " << line;
    const std::string now = stats::shown_text(shown.at(name)) + ",";
    std::istringstream places(line.substr(name.size() + 2) + ",");
    for (std::string place; std::getline(places >> std::ws, place, ',');)
      EXPECT_NE((" " + now).find(" " + place + ","), std::string::npos) << line << "; now " << now;
  }
}

TEST(Golden, NamesOfTheResult) {
  std::set<std::string> names;
  for (const char* policy : {"throttle=none", "throttle=swl", "throttle=ccws", "throttle=dyncta",
                             "warp=cawa", "warp=mascar", "block=bcs"})
    collect(sim::to_json(test::run("vecadd", {"gtx480", {}, {policy}})), "", names);
  test::RunSpec spec{"gtx480"};
  for (const char* analysis : {"locality", "cache", "warps"})
    spec.options.analyses.push_back(sim::read_analysis(analysis, "test"));
  collect(sim::to_json(test::run("vecadd", spec)), "", names);
  collect(sim::to_json(test::run("vecadd"), 0), "", names);  // launches summed by kernel
  auto refused = test::run("vecadd");
  refused.launches_refused = 1;  // told only then
  collect(sim::to_json(refused), "", names);
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
  steps.set_option("size=tiny", "test");
  steps.set_option("steps=20", "test");
  const auto hotspot = sim::make_workload(runtime::all_workloads(), "hotspot", steps);
  const test::RunSpec sampled{"gtx480", {"run.sampling_error=0.03"}, {}, {}};
  collect(sim::to_json(test::run_on(*hotspot.workload, "hotspot", sampled)), "", names);
  const std::set<std::string> golden = lines_of("result_names.txt"), metrics = names_of_metrics();
  for (const std::string& name : names)
    EXPECT_TRUE(golden.contains(name) != metrics.contains(name)) << "new, or in both: " << name;
  for (const std::string& name : golden) EXPECT_TRUE(names.contains(name)) << "gone: " << name;
  for (const std::string& name : metrics) EXPECT_TRUE(names.contains(name)) << "gone: " << name;
}

}  // namespace
}  // namespace raddle::names_test

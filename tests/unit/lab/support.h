// Experiments from text, for tests of the laboratory.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "raddle/lab/evaluate/evaluator.h"
#include "raddle/lab/file/experiment_reader.h"
#include "raddle/lab/plan/plan.h"
#include "support/errors.h"
#include "support/process.h"

namespace raddle::lab::test {

using raddle::test::Folder;
using raddle::test::input_error_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

inline Catalogue catalogue() {
  return {runtime::all_workloads(), policy::all_policies(),
          [](std::string_view workload) { return std::string(runtime::embedded_ptx(workload)); }};
}

/// A file that stands alone, as "box/x.toml".
inline Paper read(const std::string& text, Scale scale = Scale::Quick) {
  return read_paper(std::nullopt, {{"x.toml", text}}, "box", scale);
}
inline Experiment experiment(const std::string& text, Scale scale = Scale::Quick) {
  return read(text, scale).experiments.at(0);
}

/// Workloads, one of them a co-run of others, two plain variants, one that is swept, a selection,
/// an axis of numbers, one of several things at once. Sound, but without runs, figures and
/// statements.
inline const std::string kHead = R"(id = "fig1"
title = "A figure"
kind = "performance"
gpu = "gtx480"
set = { "sm.count" = 2 }
[workloads.vecadd]
quick = { size = "tiny" }
[workloads.red]
workload = "reduction"
quick = { size = "tiny" }
[workloads.both]
workload = "scan"
quick = { size = "tiny" }
[workloads.together]
members = ["vecadd", "red"]
[groups]
pair = ["vecadd", "red"]
[variants.lrr]
policies = ["warp=lrr"]
[variants.gto]
title = "GTO"
policies = ["warp=gto"]
[variants.swept]
policies = ["warp=two_level"]
[variants.best]
best_of = "swept"
over = ["group"]
maximise = "ipc"
[axes.group]
path = "policy.warp.group_size"
values = [2, 4, 8, 16]
[axes.l1]
points = [
  { value = 16, set = { "sm.l1d.size_kib" = 16 } },
  { value = 64, set = { "sm.l1d.size_kib" = 64 } },
]
[measures]
ipc = "totals.ipc"
speedup = { value = "ipc / ipc[lrr]", title = "Speed-up", unit = "x" }
)";
inline const std::string kRuns = R"([[runs]]
workloads = ["pair", "both"]
variants = ["lrr", "gto"]
[[runs]]
workloads = ["pair"]
variants = ["swept"]
axes = ["group"]
)";
inline const std::string kShape = "[[shapes]]\ncheck = \"1 < 2\"\n";
inline const std::string kWhole = kHead + kRuns + kShape;

/// Metrics by "workload/variant" or "workload/variant/axis=value/...", then by path.
class TableSource final : public MetricSource {
 public:
  TableSource(const Experiment& e, const Grid& grid) : e_(e), grid_(grid) {}
  std::map<std::string, std::map<std::string, double>> table;

  Number metric(std::size_t cell, const std::string& path) const override {
    const Cell& at = grid_.cells()[cell];
    std::string key = e_.workloads[at.workload].name + "/" + e_.variants[at.variant].name;
    for (std::size_t a = 0; a < at.points.size(); ++a)
      if (at.points[a] != kUnset)
        key += "/" + e_.axes[a].name + "=" +
               shown(e_.axes[a].points[static_cast<std::size_t>(at.points[a])].value);
    const auto row = table.find(key);
    if (row == table.end()) return std::nullopt;
    const auto value = row->second.find(path);
    return value == row->second.end() ? std::nullopt : Number(value->second);
  }

 private:
  const Experiment& e_;
  const Grid& grid_;
};

}  // namespace raddle::lab::test

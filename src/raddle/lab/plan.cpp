#include "raddle/lab/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "raddle/lab/checks.h"
#include "raddle/lab/program.h"
#include "raddle/lab/section.h"
#include "raddle/sim/analysis.h"

namespace raddle::lab {

namespace {

/// Everything of a cell that is known without the machine.
CellSpec spec_of(const Experiment& e, const Cell& cell) {
  const Workload& workload = e.workloads[cell.workload];
  const Variant& variant = e.variants[cell.variant];
  CellSpec out;
  out.workload = workload.workload;
  out.parameters = workload.parameters;
  out.gpu = found_gpu(variant.gpu.value_or(e.gpu));
  out.policies = variant.policies;
  out.set = e.set;
  out.set.insert(out.set.end(), workload.set.begin(), workload.set.end());
  out.set.insert(out.set.end(), variant.set.begin(), variant.set.end());
  out.seed = e.seed;
  out.max_cycles = e.max_cycles;
  for (std::size_t a = 0; a < cell.points.size(); ++a) {
    if (cell.points[a] == kNowhere) continue;
    const AxisPoint& point = e.axes[a].points[static_cast<std::size_t>(cell.points[a])];
    out.set.insert(out.set.end(), point.set.begin(), point.set.end());
    out.parameters.insert(out.parameters.end(), point.parameters.begin(), point.parameters.end());
  }
  // A seed that is swept stands in `set`, where the one of the file would undo it.
  std::erase_if(out.set, [&](const Setting& s) {
    if (s.path == "run.seed" && s.value.is_number_unsigned()) out.seed = s.value;
    return s.path == "run.seed";
  });
  for (const std::string& name : cell.analyses) out.analyses[name] = e.analyses.at(name);
  return out;
}

std::string label_of(const Experiment& e, const Cell& cell) {
  std::string out =
      fmt::format("{} {} {}", e.id, e.workloads[cell.workload].name, e.variants[cell.variant].name);
  for (std::size_t a = 0; a < cell.points.size(); ++a)
    if (cell.points[a] != kNowhere)
      out += fmt::format(" {}={}", e.axes[a].name,
                         shown(e.axes[a].points[static_cast<std::size_t>(cell.points[a])].value));
  return out;
}

/// Can one run serve both? Analyses of one name must be the same.
bool compatible(const std::map<std::string, PlacedText>& a,
                const std::map<std::string, PlacedText>& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto other = b.find(entry.first);
    return other == b.end() || other->second.text == entry.second.text;
  });
}

class Planner {
 public:
  Planner(Plan& plan, const Catalogue& catalogue, Problems& problems)
      : plan_(plan), catalogue_(catalogue), problems_(problems) {}

  void add(const Experiment& e) {
    PlannedExperiment planned{&e, Grid(e), {}};
    for (const Cell& cell : planned.grid.cells()) planned.runs.push_back(run(e, cell));
    plan_.experiments.push_back(std::move(planned));
  }

 private:
  /// The run that the cell needs; any number when it cannot be.
  std::size_t run(const Experiment& e, const Cell& cell) {
    CellSpec spec = spec_of(e, cell);
    try {
      ResolvedCell resolved = resolve(spec, catalogue_);
      spec.configuration = resolved.configuration;
      return merged(e, cell, std::move(spec), resolved);
    } catch (const InputError& error) {
      for (Diagnostic d : error.diagnostics()) {
        if (d.place.file.empty()) d.place = e.variants[cell.variant].place;
        problems_.add(d.place, d.message);
      }
      return 0;
    }
  }

  std::size_t merged(const Experiment& e, const Cell& cell, CellSpec spec, ResolvedCell& resolved) {
    std::vector<std::size_t>& same = by_configuration_[spec.configuration];
    for (const std::size_t r : same) {
      PlannedRun& run = plan_.runs[r];
      if (!compatible(run.spec.analyses, spec.analyses)) continue;
      run.spec.analyses.insert(spec.analyses.begin(), spec.analyses.end());
      run.timeout_seconds = std::max(run.timeout_seconds, e.timeout_minutes * 60);
      return r;
    }
    same.push_back(plan_.runs.size());
    PlannedRun run;
    run.spec = std::move(spec);
    run.recording = resolved.recording;
    run.timeout_seconds = e.timeout_minutes * 60;
    run.label = label_of(e, cell);
    run.parameters = resolved.named.info.parameters;
    run.gpu = resolved.setup.machine.name;
    plan_.runs.push_back(std::move(run));
    return same.back();
  }

  Plan& plan_;
  const Catalogue& catalogue_;
  Problems& problems_;
  std::map<std::string, std::vector<std::size_t>> by_configuration_;
};

}  // namespace

PlacedText found_gpu(PlacedText gpu) {
  namespace fs = std::filesystem;
  if (gpu.text.ends_with(".toml") || gpu.text.ends_with(".json"))
    gpu.text = fs::absolute(fs::path(gpu.place.file).parent_path() / gpu.text).lexically_normal();
  return gpu;
}

std::string run_key(const std::string& configuration,
                    const std::map<std::string, PlacedText>& analyses) {
  Json texts = Json::object();
  for (const auto& [label, text] : analyses) texts[label] = text.text;
  return hash_text(configuration + texts.dump() + program_name());
}

Json point_json(const Experiment& e, const Cell& cell) {
  std::map<std::string, Json> sorted;
  for (std::size_t a = 0; a < cell.points.size(); ++a) {
    if (cell.points[a] == kNowhere) continue;
    const AxisValue& value = e.axes[a].points[static_cast<std::size_t>(cell.points[a])].value;
    std::visit([&](const auto& v) { sorted[e.axes[a].name] = v; }, value);
  }
  Json out = Json::object();
  for (const auto& [axis, value] : sorted) out[axis] = value;
  return out;
}

namespace {
/// A replay executes nothing, so an analysis of the execution cannot look at one.
bool needs_workload(const std::map<std::string, PlacedText>& analyses) {
  return std::ranges::any_of(analyses, [](const auto& named) {
    const auto request = sim::read_analysis(named.second.text, named.second.place.file);
    return std::holds_alternative<analysis::DependenciesOptions>(request.what);
  });
}
}  // namespace

Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue) {
  Plan plan;
  Problems problems;
  Planner planner(plan, catalogue, problems);
  for (const Experiment* e : experiments) planner.add(*e);
  problems.finish();
  for (PlannedRun& run : plan.runs)
    if (needs_workload(run.spec.analyses)) run.recording.clear();
  for (PlannedRun& run : plan.runs) run.key = run_key(run.spec.configuration, run.spec.analyses);
  check_expressions(plan, catalogue, problems);
  problems.finish();
  return plan;
}

}  // namespace raddle::lab

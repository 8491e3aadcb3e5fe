#include "raddle/lab/plan/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "raddle/base/json.h"
#include "raddle/config/spelling.h"
#include "raddle/lab/evaluate/evaluation.h"
#include "raddle/lab/host/apart.h"
#include "raddle/lab/plan/result_numbers.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::lab {

namespace {

constexpr const char* kProbe = "vecadd";
/// Cycles in which each of some tenants executes something.
constexpr Cycle kProbeHorizon = 100'000;
/// A hundred times what it takes where nothing is wrong.
constexpr std::chrono::seconds kProbeLimit{60};

/// The run that a cell would be, of a workload that takes no time. A co-run goes no further than it
/// needs to, or to its own horizon if its scheme refuses one so short.
Json probe(CellSpec spec, const Catalogue& catalogue) {
  spec.programs.assign(spec.programs.size(), {kProbe, {{"size", "tiny", {}}}});
  spec.configuration.clear();
  spec.max_cycles = 0;
  if (!spec.corun) return run_cell({"cell", spec}, catalogue);
  spec.corun->warmup = 0;
  CellSpec brief = spec;
  brief.corun->horizon = std::min(spec.corun->horizon, kProbeHorizon);
  brief.corun->sample = std::min(spec.corun->sample, brief.corun->horizon);
  try {
    return run_cell({"cell", brief}, catalogue);
  } catch (const InputError&) {
    return run_cell({"cell", spec}, catalogue);
  }
}

/// Metrics by what decides which there are: machine, policies and analyses. Points of axes are
/// taken to change numbers only.
class MetricNames {
 public:
  explicit MetricNames(const Catalogue& catalogue) : catalogue_(catalogue) {}

  /// Null: they are not known, since such a run fails. Then so will the cell's own, which is kept
  /// with its reason and must not keep the others from running.
  const std::vector<std::string>* of(const CellSpec& spec) {
    std::string key = fmt::format("{} {} {}", spec.gpu.text, spec.programs.size(),
                                  spec.corun ? spec.corun->ipc_alone.size() + 1 : 0);
    if (spec.corun && spec.corun->sample != 0) key += " sampled";
    for (const PlacedText& policy : spec.policies) key += "\n" + policy.text;
    for (const Setting& s : spec.set)
      if (!s.value.is_number()) key += "\n" + s.path + "=" + json_dump(s.value);
    for (const auto& [label, text] : spec.analyses) key += "\n" + text.text;
    auto at = known_.find(key);
    if (at == known_.end()) at = known_.emplace(key, names_in(spec)).first;
    return at->second ? &*at->second : nullptr;
  }

 private:
  /// Apart, since a policy of the user's may crash or never come back.
  std::optional<std::vector<std::string>> names_in(const CellSpec& spec) const {
    const std::optional<std::string> lines = run_apart(
        [&] {
          std::string out;
          const Json result = probe(spec, catalogue_);
          for (const auto& [path, value] : numbers_of(result)) out += path + '\n';
          return out;
        },
        kProbeLimit);
    if (!lines) return std::nullopt;
    std::vector<std::string> names;
    std::istringstream in(*lines);
    for (std::string name; std::getline(in, name);) names.push_back(name);
    return names;
  }

  const Catalogue& catalogue_;
  std::map<std::string, std::optional<std::vector<std::string>>> known_;
};

/// Answers 1 to every metric that exists.
class CheckSource final : public MetricSource {
 public:
  CheckSource(const Plan& plan, const PlannedExperiment& planned, MetricNames& names)
      : plan_(plan), planned_(planned), names_(names) {}

  Number metric(std::size_t cell, const std::string& path) const override {
    RADDLE_ASSERT(planned_.runs[cell] != kNoRun);  // every cell has a run in this plan
    const PlannedRun& run = plan_.runs[planned_.runs[cell]];
    const std::vector<std::string>* const known = names_.of(run.spec);
    if (known == nullptr || std::ranges::binary_search(*known, path)) return 1;
    const Cell& at = planned_.grid.cells()[cell];
    const std::string near = config::nearest(path, *known);
    std::string hint;
    if (!near.empty()) hint = "; did you mean '" + near + "'?";
    else if (path.starts_with("analysis.")) hint = "; [[runs]] must ask for the analysis";
    throw UnknownMetric(fmt::format("there is no metric '{}' in runs of variant '{}'{}", path,
                                    planned_.experiment->variants[at.variant].name, hint));
  }

 private:
  const Plan& plan_;
  const PlannedExperiment& planned_;
  MetricNames& names_;
};

}  // namespace

void check_expressions(const Plan& plan, const Catalogue& catalogue, Problems& problems) {
  MetricNames names(catalogue);
  for (const PlannedExperiment& planned : plan.experiments) {
    try {
      for (std::size_t cell = 0; cell < planned.runs.size(); ++cell)
        if (planned.runs[cell] != kNoRun) names.of(plan.runs[planned.runs[cell]].spec);
    } catch (const std::exception& error) {
      problems.add(
          planned.experiment->place,
          fmt::format("a run of {} to find the names of metrics failed: {}", kProbe, error.what()));
      continue;
    }
    const CheckSource source(plan, planned, names);
    // A mistake in a measure shows at each of its many places; three tell enough.
    std::map<std::pair<std::string, unsigned>, std::set<std::string>> notified;
    evaluate(*planned.experiment, planned.grid, source,
             [&](const Place& place, const std::string& message) {
               std::set<std::string>& here = notified[{place.file, place.line}];
               if (here.size() < 3 && here.insert(message).second) problems.add(place, message);
             });
  }
}

}  // namespace raddle::lab

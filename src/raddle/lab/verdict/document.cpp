#include "raddle/lab/verdict/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/lab/evaluate/evaluation.h"
#include "raddle/lab/file/external_program.h"
#include "raddle/lab/verdict/settings.h"
#include "raddle/sim/result/commit.h"
#include "raddle/sim/result/version.h"

namespace raddle::lab {

namespace {

/// Metrics of runs that are done. A path that is not there is missing: the check before the runs
/// has seen to it that it is meant so.
class RunSource final : public MetricSource {
 public:
  RunSource(const PlannedExperiment& planned, const std::vector<RunState>& states)
      : planned_(planned), states_(states) {}
  Number metric(std::size_t cell, const std::string& path) const override {
    if (planned_.runs[cell] == kNoRun) return std::nullopt;
    const RunState& state = states_[planned_.runs[cell]];
    const auto at = state.metrics.find(path);
    return state.kind == RunState::Kind::Done && at != state.metrics.end() ? Number(at->second)
                                                                           : std::nullopt;
  }
  bool left_out(std::size_t cell) const override { return planned_.left_out.contains(cell); }

 private:
  const PlannedExperiment& planned_;
  const std::vector<RunState>& states_;
};

Json runs_json(const PlannedExperiment& planned, const Plan& plan,
               const std::vector<RunState>& states, double& seconds) {
  std::vector<std::size_t> runs = planned.runs;
  std::erase(runs, kNoRun);
  std::ranges::sort(runs);
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  std::size_t done = 0;
  std::size_t failed = 0;
  Json failures = Json::array();
  for (const std::size_t r : runs) {
    done += states[r].kind == RunState::Kind::Done ? 1 : 0;
    seconds += states[r].wall_seconds;
    if (states[r].kind != RunState::Kind::Failed) continue;
    ++failed;
    failures.push_back({{"cell", plan.runs[r].label}, {"error", states[r].error}});
  }
  for (const UnplannedCell& cell : planned.unplanned) {
    failed += cell.why.empty() ? 0 : 1;
    failures.push_back(
        {{"cell", cell.label},
         {"error",
          cell.why.empty() ? "what it needs of other runs could not be computed" : cell.why}});
  }
  return {{"total", runs.size() + planned.unplanned.size()},
          {"done", done},
          {"failed", failed},
          {"failures", failures}};
}

/// {"FILE: Suite.Test": "passed"}; empty when none was run.
Json tests_json(const Experiment& e, const TestOutcomes& outcomes) {
  Json out = Json::object();
  for (const std::string& test : e.tested_by)
    if (const auto at = outcomes.find(test); at != outcomes.end())
      out[test] = at->second == TestOutcome::Passed   ? "passed"
                  : at->second == TestOutcome::Failed ? "failed"
                                                      : "not_built";
  return out;
}

/// What ran in the place of the paper's workloads.
Json replaced_json(const Experiment& e) {
  Json out = Json::object();
  for (const std::string& name : e.replaced)
    out[name] = to_json(*e.workloads[*e.find(name, NameKind::Workload)].external);
  return out;
}

/// A row fails with a test that it names, and passes with them when it has nothing else.
void judge_tests(Json& out, const Json& tests) {
  const auto has = [&](const char* outcome) {
    return std::ranges::any_of(tests, [&](const Json& test) { return test == outcome; });
  };
  if (has("failed")) out["status"] = "fail";
  else if (out["status"] == "tested_elsewhere" && !tests.empty() && !has("not_built"))
    out["status"] = "pass";
}

}  // namespace

Json document(const Paper& paper, const Plan& plan, const std::vector<RunState>& states,
              const DocumentHead& head) {
  RADDLE_ASSERT(states.size() == plan.runs.size());
  Json experiments = Json::array();
  for (const PlannedExperiment& planned : plan.experiments) {
    const Experiment& experiment = *planned.experiment;
    const RunSource source(planned, states);
    Json evaluated = evaluate(
        experiment, planned.grid, source,
        [](const Place& place, const std::string& message) { throw InputError(place, message); });
    double seconds = 0;
    Json runs = runs_json(planned, plan, states, seconds);
    Json out = {{"id", experiment.full_id()},  {"title", experiment.title},
                {"kind", experiment.kind},     {"priority", experiment.priority},
                {"source", experiment.source}, {"claim", experiment.claim}};
    for (const char* part : {"status", "figures", "shapes", "stated"}) out[part] = evaluated[part];
    if (!experiment.tested_by.empty()) out["tested_by"] = experiment.tested_by;
    if (Json tests = tests_json(experiment, head.tests); !tests.empty()) {
      judge_tests(out, tests);
      out["tests"] = std::move(tests);
    }
    out["explanation"] = experiment.explanation;
    if (evaluated.contains("counters")) out["counters"] = evaluated["counters"];
    // What holds without the runs that failed may not hold with them.
    const bool judged =
        out["status"] == "pass" || out["status"] == kNoVerdict || out["status"] == kRefuted;
    if (judged && runs["done"] != runs["total"]) out["status"] = "incomplete";
    out["runs"] = std::move(runs);
    if (Json settings = run_settings(experiment); !settings.empty())
      out["settings"] = std::move(settings);
    if (!experiment.replaced.empty()) out["replaced"] = replaced_json(experiment);
    out["wall_seconds"] = seconds;
    experiments.push_back(std::move(out));
  }
  return {{"schema", 1},
          {"kind", "reproduction"},
          {"raddle_version", sim::version()},
          {"commit", sim::commit()},
          {"date", head.date},
          {"command", head.command},
          {"scale", kScaleNames[static_cast<std::size_t>(head.scale)]},
          {"paper",
           {{"id", paper.id},
            {"title", paper.title},
            {"reference", paper.reference},
            {"notes", paper.notes}}},
          {"machine", head.machine},
          {"experiments", std::move(experiments)}};
}

bool all_pass(const Json& document) {
  return std::ranges::all_of(document.at("experiments"), [](const Json& e) {
    return e.value("kind", "") == kStudy || e.at("status") == "pass" ||
           e.at("status") == "tested_elsewhere" || e.at("status") == kNoVerdict ||
           e.at("status") == kRefuted;
  });
}

bool any_fails(const Json& document) {
  return std::ranges::any_of(document.at("experiments"), [](const Json& e) {
    return e.value("kind", "") != kStudy && e.at("status") == "fail";
  });
}

}  // namespace raddle::lab

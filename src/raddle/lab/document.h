// From runs to verdicts: the reproduction document (schema 1), which the report draws and scripts
// read. Its form is fixed in experiments/README.md.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "raddle/lab/evaluator.h"
#include "raddle/lab/named_tests.h"
#include "raddle/lab/plan.h"

namespace raddle::lab {

/// What makes no sense, and where it stands.
using OnMistake = std::function<void(const Place&, const std::string&)>;

/// `figures`, `shapes`, `stated`, `counters` and `status` of one experiment.
Json evaluate(const PlannedExperiment& planned, const MetricSource& source,
              const OnMistake& on_mistake);

/// How the runs of an experiment came out.
struct RunState {
  enum class Kind : std::uint8_t { Done, Failed, Missing } kind = Kind::Missing;
  std::string error;
  double wall_seconds = 0;
  std::map<std::string, double> metrics;
};

struct DocumentHead {
  std::string command, date;
  Scale scale = Scale::Quick;
  Json machine;             ///< {"name", "config"}; null when nothing is simulated
  TestOutcomes tests = {};  ///< of the tests that rows name; none when they were not run
};

/// `states` by position in plan.runs.
Json document(const Paper& paper, const Plan& plan, const std::vector<RunState>& states,
              const DocumentHead& head);

/// Status of a row in which nothing is stated that could hold, or not of what ran.
inline constexpr const char* kNoVerdict = "no_verdict";

/// Do all rows pass, or are tested elsewhere?
bool all_pass(const Json& document);

}  // namespace raddle::lab

// What an experiment states, evaluated: figures, verdicts and counters as JSON.
#pragma once
#include <functional>
#include <string>

#include "raddle/lab/evaluate/evaluator.h"

namespace raddle::lab {

/// What makes no sense, and where it stands.
using OnMistake = std::function<void(const Place&, const std::string&)>;

/// Status of a row in which nothing is stated that could hold, or not of what ran.
inline constexpr const char* kNoVerdict = "no_verdict";

/// What the paper says of a row cannot be so under any policy, by a bound that the runs show.
inline constexpr const char* kRefuted = "refuted";

/// `figures`, `shapes`, `stated`, `counters` and `status` of one experiment.
Json evaluate(const Experiment& e, const Grid& grid, const MetricSource& source,
              const OnMistake& on_mistake);

}  // namespace raddle::lab

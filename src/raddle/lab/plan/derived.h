// Derived values: numbers that some runs of an experiment give and others need. One is evaluated in
// the workload and at the points of the cell that needs it.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "raddle/lab/evaluate/evaluator.h"

namespace raddle::lab {

/// Derived values that the settings of a cell name.
std::set<std::string> derived_of(const Experiment& e, const Cell& cell);
/// Where a cell's derived values are evaluated: its workload and its points, under no variant.
Coordinates coordinates_of(const Cell& cell);

/// As it is written; nothing when a number is missing. Throws EvaluationError.
std::optional<std::string> derived_text(const Experiment& e, const Derived& derived,
                                        Evaluator& evaluator, const Coordinates& where);
/// "4", "0.3125".
std::string written(double number);

}  // namespace raddle::lab

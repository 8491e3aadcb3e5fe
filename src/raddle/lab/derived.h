// Derived values: numbers that some runs of an experiment give and others need. "{NAME}" in a
// policy, a setting or a parameter stands for one; it is evaluated in the workload and at the
// points of the cell that needs it (experiments/README.md).
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/evaluator.h"

namespace raddle::lab {

/// Names in braces, in order. Throws InputError without a place when a brace has no partner or
/// holds no name.
std::vector<std::string> placeholders(std::string_view text);

/// What a name stands for, as it is written in a file: "4", or "0.5+0.75" of a list.
using DerivedText = std::function<std::string(const std::string& name)>;
/// The text with every placeholder replaced. Precondition: placeholders() accepts it.
std::string filled(std::string_view text, const DerivedText& derived);
/// A value that is one placeholder becomes a number, if it is one.
Setting filled(Setting setting, const DerivedText& derived);

/// Derived values that the settings of a cell name.
std::set<std::string> derived_of(const Experiment& e, const Cell& cell);
/// Where a cell's derived values are evaluated: its workload and its points, under no variant.
Where coordinates_of(const Cell& cell);

/// As it is written; nothing when a number is missing. Throws EvaluationError.
std::optional<std::string> derived_text(const Experiment& e, const Derived& derived,
                                        Evaluator& evaluator, const Where& where);
/// "4", "0.3125".
std::string written(double number);

/// Adds everything that is wrong with derived values and with the names in braces.
void check_derived(const Experiment& e, class Problems& problems);

}  // namespace raddle::lab

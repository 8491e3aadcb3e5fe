// Checks every expression of planned experiments where it will be evaluated: metrics that do not
// exist, points without a run, pins without effect.
#pragma once
#include "raddle/lab/plan.h"
#include "raddle/lab/section.h"

namespace raddle::lab {

/// Which metrics there are is found out by a run of `vecadd` at `tiny` under each variant.
void check_expressions(const Plan& plan, const Catalogue& catalogue, Problems& problems);

/// A place in a result that no run of that kind has.
struct UnknownMetric : EvaluationError {
  using EvaluationError::EvaluationError;
};

/// Every number of a result that is not inside a list, by its path.
std::map<std::string, double> numbers_of(const Json& result);

}  // namespace raddle::lab

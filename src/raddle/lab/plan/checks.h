// Checks every expression of planned experiments where it will be evaluated: metrics that do not
// exist, points without a run, pins without effect.
#pragma once
#include "raddle/lab/file/section.h"
#include "raddle/lab/plan/plan.h"

namespace raddle::lab {

/// Which metrics there are is found out by a run of `vecadd` at `tiny` under each variant.
void check_expressions(const Plan& plan, const Catalogue& catalogue, Problems& problems);

}  // namespace raddle::lab

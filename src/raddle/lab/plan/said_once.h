// What one cell of an experiment says of settings.
#pragma once
#include <vector>

#include "raddle/lab/evaluate/grid.h"
#include "raddle/lab/file/experiment.h"
#include "raddle/policy/all.h"

namespace raddle::lab {

/// InputError where a variant, two axes or one `set` say a setting twice, or an axis another policy
/// than its variant: results would stand under what was not run. Otherwise axes win over variants,
/// and those over workloads and the experiment. `policies`: the variant's, with derived values
/// filled in.
void check_said_once(const Experiment& e, const Cell& cell, const std::vector<PlacedText>& policies,
                     const policy::Registries& known);

}  // namespace raddle::lab

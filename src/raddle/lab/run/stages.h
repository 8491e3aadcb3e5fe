// Carries out experiments some of whose runs need the results of others (derived values): a plan of
// what is known is run, then made again with what has become known. Each stage is a plan of its own
// and its keys hold the derived values, so a sweep that was interrupted goes on where it was.
#pragma once
#include <vector>

#include "raddle/lab/run/runner.h"

namespace raddle::lab {

struct SweepResult {
  Plan plan;              ///< the last, which has every cell that could be planned
  RunnerSummary summary;  ///< of all stages; `states` are those of `plan`
};

/// A plan with what the store knows.
Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue,
               Store& store);

/// Of experiments that make_plan has accepted. Throws as make_plan and run_plan do. `experiments`
/// must outlive the result.
SweepResult run_stages(const std::vector<const Experiment*>& experiments,
                       const Catalogue& catalogue, Store& store, Executor& executor,
                       const ResultsFolder& folder, const RunnerOptions& options);

}  // namespace raddle::lab

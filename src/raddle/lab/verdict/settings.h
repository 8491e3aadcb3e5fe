// How an experiment is run, for those who read its row: machine, workloads with their parameters,
// variants, sweeps.
#pragma once
#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// Only what `e` runs: {"gpu", "seed", "set", "workloads", "variants", "axes", "analyses"}, members
/// without content left out. Empty for a row without runs.
Json run_settings(const Experiment& e);

}  // namespace raddle::lab

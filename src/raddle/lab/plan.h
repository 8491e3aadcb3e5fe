// Which simulations a set of experiments needs. Cells of several experiments that are the same
// simulation become one run. Everything that can be wrong is found here, before anything runs.
#pragma once
#include <string>
#include <vector>

#include "raddle/lab/cell.h"
#include "raddle/lab/grid.h"

namespace raddle::lab {

struct PlannedRun {
  CellSpec spec;          ///< `configuration` filled in, `recording` not
  std::string key;        ///< hash of configuration, analyses and program: what the store knows
  std::string recording;  ///< hash of its op streams; "" when run live
  double timeout_seconds = 0;
  std::string label;  ///< "fig7 bfs ccws", of the first cell that needs it
  Json parameters;    ///< resolved
  std::string gpu;    ///< name in the machine's file
};

struct PlannedExperiment {
  const Experiment* experiment;
  Grid grid;
  std::vector<std::size_t> runs;  ///< by cell of the grid: position in Plan::runs
};

struct Plan {
  std::vector<PlannedExperiment> experiments;
  std::vector<PlannedRun> runs;  ///< in order of first need
};

/// Deterministic: the same files give the same plan. Throws InputError with everything that is
/// wrong with the experiments' settings, parameters, metrics and expressions. `experiments` must
/// outlive the plan.
Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue);

/// The point of a cell as the store keeps it: {"limit": 4}, axes in order of name.
Json point_json(const Experiment& e, const Cell& cell);

/// A machine's file stands relative to the file that names it; other texts are names.
PlacedText found_gpu(PlacedText gpu);

/// Hash of what a run is.
std::string run_key(const std::string& configuration,
                    const std::map<std::string, PlacedText>& analyses);

}  // namespace raddle::lab

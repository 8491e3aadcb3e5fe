// Which simulations a set of experiments needs. Cells of several experiments that are the same
// simulation become one run. Everything that can be wrong is found here, before anything runs.
#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "raddle/lab/evaluate/grid.h"
#include "raddle/lab/plan/cell.h"

namespace raddle::lab {

struct PlannedRun {
  CellSpec spec;        ///< `configuration` filled in, recordings not
  std::string program;  ///< who would make the result (program.h)
  std::string key;      ///< hash of configuration, analyses and program: what the store knows
  /// By program: hash of its op streams. None when run live.
  std::vector<std::string> recordings;
  double timeout_seconds = 0;
  std::string label;     ///< "fig7 bfs ccws", of the first cell that needs it
  std::string workload;  ///< name in the result
  Json parameters;       ///< resolved
  std::string gpu;       ///< name in the machine's file
};

/// Of a cell that has no run.
inline constexpr std::size_t kNoRun = ~std::size_t{0};

/// A cell whose derived values are not known, or make no run.
struct UnplannedCell {
  std::size_t cell;
  std::string label;
  std::string why;  ///< of one that is refused; "" of one that waits for the runs of others
};

struct PlannedExperiment {
  const Experiment* experiment;
  Grid grid;
  std::vector<std::size_t> runs;  ///< by cell of the grid: position in Plan::runs, or kNoRun
  std::vector<UnplannedCell> unplanned;
  std::set<std::size_t> left_out;  ///< cells that `where` of their [[runs]] leaves out: no run
};

struct Plan {
  std::vector<PlannedExperiment> experiments;
  std::vector<PlannedRun> runs;  ///< in order of first need
  /// Cells that wait for the runs of others.
  std::size_t waiting() const;
};

/// The numbers of a run by their places in the result JSON; nothing while it has none.
using KnownMetrics =
    std::function<std::optional<std::map<std::string, double>>(const PlannedRun& run)>;

/// Deterministic: the same files give the same plan. Throws InputError with everything that is
/// wrong with the experiments' settings, parameters, metrics and expressions; it looks at cells
/// that wait for others too, as if every metric was 1. `experiments` must outlive the plan.
Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue);

/// The same with what runs have given by now, of experiments that the other has accepted. Cells
/// with derived values are planned when the runs that these need are known; so a plan is carried
/// out, and made again, until nothing waits that could be known (run/stages.h).
Plan make_plan(const std::vector<const Experiment*>& experiments, const Catalogue& catalogue,
               const KnownMetrics& known);

/// The point of a cell as the store keeps it: {"limit": 4}, axes in order of name.
Json point_json(const Experiment& e, const Cell& cell);

/// A name that ends in one of `ends` is a file and stands relative to the file that names it.
PlacedText found_file(PlacedText name, std::initializer_list<std::string_view> ends);
/// Of a machine.
PlacedText found_gpu(PlacedText gpu);

/// Hash of what a run is.
std::string run_key(const std::string& configuration,
                    const std::map<std::string, PlacedText>& analyses, const std::string& program);

}  // namespace raddle::lab

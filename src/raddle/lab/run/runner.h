// Runs what a plan needs and the store does not have: recordings first, then the cells that replay
// them. What has ended is in the store, whatever happens to this process.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "raddle/lab/run/executor.h"
#include "raddle/lab/store/run_state.h"

namespace raddle::lab {

/// A folder of results: database, recordings, work under way.
struct ResultsFolder {
  std::filesystem::path root;
  std::filesystem::path database() const { return root / "results.sqlite"; }
  std::filesystem::path recordings() const { return root / "recordings"; }
  std::filesystem::path work() const { return root / "work"; }
};

struct RunnerProgress {
  std::size_t runs = 0, done = 0, failed = 0;  ///< of those that were not there before
  std::size_t running = 0;                     ///< recordings among them
  double seconds = 0;
  std::optional<double> seconds_left;
  /// What has just ended, and how long it took; "" when nothing has.
  std::string ended, error;
  double ended_seconds = 0;
};

struct RunnerOptions {
  bool retry_failed = false;
  std::optional<double> timeout_seconds;  ///< instead of the experiments'
  std::uint64_t recordings_limit = 0;     ///< bytes
  std::string scale;                      ///< as cells are stored
  std::function<void(const RunnerProgress&)> progress;
  std::function<bool()> stop;  ///< asked now and then; true: end cleanly
};

struct RunnerSummary {
  std::vector<RunState> states;  ///< by position in plan.runs
  std::size_t found = 0;         ///< were in the store already
  std::size_t done = 0, failed = 0, missing = 0;
  std::size_t recordings = 0;  ///< made now
  bool interrupted = false;
  bool any_failed() const {
    return std::ranges::any_of(
        states, [](const RunState& state) { return state.kind == RunState::Kind::Failed; });
  }
};

/// Throws RunError when results cannot be written (all that ended before is kept). Precondition:
/// the folder is locked by this process (FolderLock) and exists.
RunnerSummary run_plan(const Plan& plan, const Catalogue& catalogue, Store& store,
                       Executor& executor, const ResultsFolder& folder,
                       const RunnerOptions& options);

}  // namespace raddle::lab

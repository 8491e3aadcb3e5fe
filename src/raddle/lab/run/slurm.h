// Slurm, as its commands show it: sbatch, squeue, scancel, scontrol.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::lab::slurm {

/// Words as a shell splits them: blanks part, quotes of both kinds and backslashes hold together.
/// Throws InputError when a quote is not closed.
std::vector<std::string> split_options(std::string_view text);

/// Throws InputError when Slurm's commands are not there, or an option would take from the executor
/// what it must decide itself.
void check(const std::vector<std::string>& options);

/// A task of an array: number of the array, index.
using TaskId = std::pair<std::string, unsigned>;

struct TaskState {
  std::string state, reason, node;
  int exit_status = 0;  ///< of the batch script
  /// It runs or will run, as far as Slurm can tell.
  bool alive() const;
  bool running() const;
};

/// The largest index that an array may have. Throws RunError when Slurm does not answer.
unsigned largest_index();

struct Submission {
  std::string job_name;
  unsigned tasks = 1;  ///< indices 1 to this
  std::uint64_t memory_mib = 0;
  std::uint64_t minutes = 0;
  std::vector<std::string> options;  ///< the user's, which win
  std::filesystem::path script;
};

/// The array's number, or Slurm's words why there is none.
struct Submitted {
  std::string id, error;
};
Submitted submit(const Submission& submission);

/// All arrays with one of these names; of those that ended what Slurm remembers (minutes). Nothing,
/// and `error` set, when Slurm does not answer.
std::optional<std::map<TaskId, TaskState>> tasks(const std::vector<std::string>& job_names,
                                                 std::string& error);

/// What Slurm's accounting has of a task that squeue has no more; an empty state where it has
/// nothing.
TaskState accounted(const std::string& id);

/// Ends arrays ("12") or tasks ("12_3"), and says nothing of those that have ended.
void cancel(const std::vector<std::string>& ids);

}  // namespace raddle::lab::slurm

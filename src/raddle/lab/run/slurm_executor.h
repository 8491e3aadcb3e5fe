// Jobs as arrays of Slurm. A folder of each array, in the work folder, holds all that a later
// runner needs to find its tasks again:
//
//   slurm-ID/list     line n: name, timeout in seconds and memory in bytes of task n
//   slurm-ID/script   what Slurm runs for each task
//   slurm-ID/job      number of the array, once Slurm has taken it; its name is raddle-ID
//   slurm-ID/n.ended  how task n ended: exit status, seconds, host; put there by rename
//
// That a task has ended is read from its file, so Slurm itself is asked seldom, and only to learn
// of tasks that ended otherwise.
#pragma once
#include <deque>
#include <map>
#include <optional>

#include "raddle/lab/run/executor.h"
#include "raddle/lab/run/slurm.h"

namespace raddle::lab {

struct SlurmOptions {
  std::filesystem::path work;        ///< where jobs' files are: a folder that all nodes see
  std::string program;               ///< called as PROGRAM cell SPEC -o RESULT on the nodes
  std::vector<std::string> options;  ///< for sbatch
  std::size_t jobs = 0;              ///< at most so many in Slurm; 0 = any number
  std::optional<std::uint64_t>
      memory_bytes;                       ///< of each job, instead of what it is expected to need
  std::chrono::milliseconds poll{20000};  ///< how often Slurm is asked
};

class SlurmExecutor final : public Executor {
 public:
  /// Precondition: slurm::check(options.options) has passed.
  explicit SlurmExecutor(SlurmOptions options);

  /// Jobs that Slurm still has, or that ended since. Throws RunError when Slurm cannot be asked
  /// what it has.
  std::vector<std::string> adopt(const std::set<std::string>& names) override;
  bool outlives_runner() const override { return true; }
  void submit(const std::vector<Job>& jobs) override;
  /// Throws RunError when Slurm refuses the first array, when it has not answered for long, and
  /// when a node cannot run jobs at all.
  std::vector<JobEnd> wait(std::chrono::milliseconds at_most) override;
  std::size_t running() const override { return running_; }
  std::size_t width() const override;
  void cancel() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    Job job;
    unsigned not_alive = 0;  ///< times in a row that Slurm did not know it as alive
  };
  struct Array {
    std::string id, number;
    std::filesystem::path folder;
    std::map<unsigned, Task> open;
    bool others = false;  ///< tasks that this runner has not asked for are under way
  };
  Array make_array(const std::vector<Job>& jobs);
  std::optional<Array> read_array(const std::filesystem::path& folder) const;
  void find_numbers(std::vector<Array>& arrays) const;
  std::size_t open_tasks() const;
  void submit_queue();
  bool submit_array(const std::vector<Job>& jobs);
  void collect(std::vector<JobEnd>& out);
  JobEnd ended_of(const Array& array, unsigned index, const Job& job,
                  const std::string& note) const;
  void ask(std::vector<JobEnd>& out);
  bool judge(const Array& array, unsigned index, Task& task,
             const std::map<slurm::TaskId, slurm::TaskState>& states, std::vector<JobEnd>& out);
  JobEnd lost(const Job& job, const slurm::TaskState& state, const std::string& id) const;
  void forget_finished();
  bool any_alive();

  SlurmOptions options_;
  std::deque<Job> queue_;
  std::vector<Array> arrays_;
  std::map<std::string, unsigned> restarts_;  ///< after failures of nodes, by job
  std::size_t running_ = 0;
  unsigned largest_index_ = 0, made_ = 0;
  Clock::time_point next_ask_, next_sampling_, next_try_;
  std::optional<Clock::time_point> silent_since_;  ///< Slurm has not answered from then on
};

}  // namespace raddle::lab

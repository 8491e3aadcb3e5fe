// A pool of processes on this machine.
#pragma once
#include <sys/types.h>

#include <deque>

#include "raddle/lab/run/executor.h"

namespace raddle::lab {

struct LocalOptions {
  std::filesystem::path work;  ///< where jobs' files are
  std::string program;         ///< called as PROGRAM cell SPEC -o RESULT
  unsigned jobs = 1;
  /// Of all jobs together. A job that would exceed it waits, unless it is alone, and lets a bounded
  /// number of smaller ones go first; each is held to it by the system.
  std::uint64_t memory_bytes = 0;
};

/// Cores that this process may use.
unsigned usable_cores();
/// Memory that is free for use now.
std::uint64_t available_memory();

class LocalExecutor final : public Executor {
 public:
  explicit LocalExecutor(LocalOptions options);
  ~LocalExecutor() override;
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  /// None: workers die with the runner.
  std::vector<std::string> adopt(const std::set<std::string>&) override { return {}; }
  void submit(const std::vector<Job>& jobs) override;
  std::vector<JobEnd> wait(std::chrono::milliseconds at_most) override;
  std::size_t running() const override { return running_.size(); }
  std::size_t width() const override { return options_.jobs; }
  void cancel() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Process {
    Job job;
    pid_t pid;
    Clock::time_point start;
    bool timed_out = false;
  };
  struct Waiting {
    Job job;
    unsigned overtaken = 0;  ///< by how many later ones while it was the first
  };
  bool fits(const Job& job) const;
  void start_what_fits();
  void start(const Job& job);
  std::vector<JobEnd> collect();

  LocalOptions options_;
  std::deque<Waiting> waiting_;  ///< in the order of submission
  std::vector<Process> running_;
};

}  // namespace raddle::lab

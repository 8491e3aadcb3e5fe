// What can be timed: a workload or PTX file with its parameters, a recording, an Accel-Sim trace,
// or a program that somebody records first, once.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "raddle/base/files.h"
#include "raddle/report/summary.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/trace/recording.h"

namespace raddle::api {

/// What has to be run elsewhere before it can be timed: a CUDA program. Who can run one implements
/// this.
class Program {
 public:
  virtual ~Program() = default;
  virtual sim::WorkloadInfo info() const = 0;
  /// Puts its op streams into `file`. Throws InputError and RunError.
  virtual void record(sim::Setup& machine, const sim::Options& options,
                      const std::string& file) const = 0;
};

/// Words of a command line as one would type them.
std::string joined(const std::vector<std::string>& words);

class Work {
 public:
  /// Of `words`, a name and KEY=VALUE behind it. Looks at what is named. Throws InputError.
  explicit Work(const std::vector<std::string>& words);
  Work(std::string name, std::unique_ptr<Program> program);

  const std::string& name() const { return name_; }
  /// As it was written, parameters and all: for tables.
  const std::string& title() const { return title_.empty() ? name_ : title_; }
  /// How results call it. Two works of one comparison must differ in name or parameters.
  sim::WorkloadInfo info() const;
  /// Results are to call it by its file.
  void call_by_file() { called_ = name_; }
  bool is_program() const { return program_ != nullptr; }
  /// The seed that its inputs were made with, where that is not for us to choose.
  std::optional<std::uint64_t> seed() const;
  /// Throws InputError where another seed than `machine` has made the inputs of a recording.
  void check_run(const sim::Setup& machine) const;
  /// Which of the machines can share one execution, as positions, the first first: those of which
  /// it sees the same (sim/setup/seen.h). A live one is alone.
  std::vector<std::vector<std::size_t>> executions(std::span<const sim::Setup> machines) const;
  /// How `other` comes by its instructions where `machine` has what was executed or recorded.
  report::Stream stream_of(const sim::Setup& machine, const sim::Setup& other) const;
  /// Records what is a program, under one of the machines.
  void prepare(sim::Setup& machine, const sim::Options& options);
  /// One result for each of the machines. Preconditions: they can share one execution, and
  /// prepare() was called for it.
  std::vector<sim::Result> time(std::span<sim::Setup> machines, const sim::Options& options);

 private:
  /// A file of op streams, and not a program that is recorded here?
  bool is_recorded() const { return recording_ != nullptr && !is_program(); }
  std::string execution_of(const sim::Setup& machine) const;
  std::string name_, title_, called_;    ///< called_: "" as the workload or the recording says
  std::vector<std::string> parameters_;  ///< of a workload, as given
  sim::NamedWorkload workload_;          ///< made anew for each execution
  std::unique_ptr<trace::Recording> recording_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<TemporaryFolder> folder_;  ///< of the recording of a program
};

/// Results are told apart by name and parameters: recordings of one program go by their files.
/// Throws InputError where two works are the same.
void distinguish(std::span<Work> works);

/// How an execution runs that the machines at these positions share. `first`: of them.
using OptionsOfExecution =
    std::function<sim::Options(sim::Setup& first, const std::vector<std::size_t>& which)>;
/// One result for each of the machines, in order. Each execution serves those that may share it.
std::vector<sim::Result> time_all(Work& work, std::vector<sim::Setup> machines,
                                  const OptionsOfExecution& options);

}  // namespace raddle::api

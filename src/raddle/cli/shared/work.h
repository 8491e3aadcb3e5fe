// What compare and analyze time: a workload or PTX file with its parameters, a recording, an
// Accel-Sim trace, or a CUDA program of the user's own, which is recorded first, once.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "raddle/base/files.h"
#include "raddle/cli/shared/options.h"
#include "raddle/trace/recording.h"

namespace raddle::cli {

/// The words behind the first "--" of a command line: a program and its arguments.
std::vector<std::string> words_of_program(const std::vector<std::string>& arguments);

class Work {
 public:
  /// Of `words`, a name and KEY=VALUE behind it. Looks at what is named. Throws InputError.
  explicit Work(const std::vector<std::string>& words);
  /// A program and its arguments.
  static Work program(std::vector<std::string> words);

  /// Its name, or all of a program's words.
  const std::string& name() const { return name_; }
  /// As it was written, parameters and all: for tables.
  const std::string& title() const { return title_.empty() ? name_ : title_; }
  /// How results call it. Two works of one command must differ in name or parameters.
  sim::WorkloadInfo info() const;
  /// Results are to call it by its file.
  void call_by_file() { called_ = name_; }
  /// Is it to be executed as a CUDA program?
  bool is_cuda_program() const { return !program_.empty(); }
  /// The seed that its inputs were made with, where that is not for us to choose.
  std::optional<std::uint64_t> seed() const;
  /// Throws InputError where another seed than `machine` has made the inputs of a recording.
  void check_seed(const sim::Setup& machine) const;
  /// Which of the machines can share one execution, as positions, the first first: those of which
  /// it sees the same (sim/setup/seen.h). A live one is alone.
  std::vector<std::vector<std::size_t>> executions(std::span<const sim::Setup> machines) const;
  /// Records what is a program, under one of the machines.
  void prepare(sim::Setup& machine, const CommonOptions& common);
  /// One result for each of the machines. Preconditions: they can share one execution, and
  /// prepare() was called for it.
  std::vector<sim::Result> time(std::span<sim::Setup> machines, const sim::Options& options);

 private:
  Work() = default;
  /// A file of op streams, and not a program that is recorded here?
  bool is_recorded() const { return recording_ != nullptr && !is_cuda_program(); }
  std::string execution_of(const sim::Setup& machine) const;
  std::string name_, title_, called_;    ///< called_: "" as the workload or the recording says
  std::vector<std::string> parameters_;  ///< of a workload, as given
  NamedWorkload workload_;               ///< made anew for each execution
  std::unique_ptr<trace::Recording> recording_;
  std::vector<std::string> program_;
  std::unique_ptr<TemporaryFolder> folder_;  ///< of the recording of a program
};

}  // namespace raddle::cli

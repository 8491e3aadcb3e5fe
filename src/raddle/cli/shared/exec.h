// Unmodified CUDA programs on the simulated GPU.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "raddle/cli/shared/options.h"

namespace raddle::cli {

/// Runs `words` (the program and its arguments) with the drop-in CUDA runtime in front of it, then
/// writes and prints what was asked for. With `record`, its op streams go to that file and nothing
/// is timed. `arguments` is our own command line. Returns the exit status. Throws InputError and
/// RunError.
int execute(const CommonOptions& common, const std::vector<std::string>& words,
            const std::string& record, const std::vector<std::string>& arguments);

/// A program that is recorded for others to time.
struct ProgramRun {
  std::vector<std::string> words;  ///< the program and its arguments
  std::string folder;              ///< in which it runs; "" is ours
  std::uint64_t input_hash = 0;
  std::string out_of_bounds = "page";  ///< of sim::ExecJob::kOutOfBoundsNames
};
/// Runs it with its output on standard error and puts its op streams into `file`. Returns the JSON
/// of the functional run. Throws InputError and RunError, also when the program ends badly.
std::string record_program(const ProgramRun& run, sim::Setup& setup, const sim::Options& options,
                           const std::string& file);

/// Of a program that runs in `folder` ("" is ours): sim::hash_of_program, and the libraries that
/// the loader gives it, except ours and those of the system. Throws InputError.
std::uint64_t program_hash(const std::vector<std::string>& words, const std::string& folder,
                           std::span<const std::string> inputs = {});

/// A program's name as seen from `folder`; one without a '/' is looked up in PATH.
std::string path_in(const std::string& folder, const std::string& name);

/// Whether `name` is the path of a file that could be executed, and no workload's name.
bool is_program(const std::string& name);

}  // namespace raddle::cli

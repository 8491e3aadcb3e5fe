// Unmodified CUDA programs on the simulated GPU.
#pragma once
#include <string>
#include <vector>

#include "raddle/cli/options.h"

namespace raddle::cli {

/// Runs `words` (the program and its arguments) with the drop-in CUDA runtime in front of it, then
/// writes and prints what was asked for. With `record`, its op streams go to that file and nothing
/// is timed. `arguments` is our own command line. Returns the exit status. Throws InputError and
/// RunError.
int execute(const CommonOptions& common, const std::vector<std::string>& words,
            const std::string& record, const std::vector<std::string>& arguments);

/// Whether `name` is the path of a file that could be executed, and no workload's name.
bool is_program(const std::string& name);

}  // namespace raddle::cli

// What compare and analyze time. Beside what the library knows (api/work.h): a CUDA program of the
// user's own, which is recorded first, once.
#pragma once
#include <string>
#include <vector>

#include "raddle/api/work.h"

namespace raddle::cli {

using api::Work;

/// The words behind the first "--" of a command line: a program and its arguments.
std::vector<std::string> words_of_program(const std::vector<std::string>& arguments);

/// Of `words`, a name and what goes with it. Looks at what is named. Throws InputError.
Work make_work(const std::vector<std::string>& words, const std::string& out_of_bounds);
/// Of a program and its arguments. `out_of_bounds`: of sim::ExecJob::kOutOfBoundsNames.
Work program_work(const std::vector<std::string>& words, const std::string& out_of_bounds);

}  // namespace raddle::cli

// Files and terminal output of the commands.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "raddle/sim/simulation.h"

namespace raddle::cli {

/// Throws InputError when `file` could not be created or replaced.
void check_writable(const std::string& file);
/// Writes all or nothing: a temporary file beside it, then a rename. "-" is standard output. Throws
/// RunError.
void write_file(const std::string& file, std::string_view text);

/// One run in a few lines.
std::string summary(const sim::Result& result);

struct Row {
  std::string label;
  const sim::Result* result;
};
/// Rows of one workload; ratios are to the first.
std::string comparison(std::string_view workload, std::span<const Row> rows);

/// Reports progress on standard error when that is a terminal and not `quiet`; otherwise does
/// nothing.
std::function<void(const sim::Progress&)> progress_line(const std::string& what, bool quiet);
/// Removes the progress line.
void clear_progress(bool quiet);

}  // namespace raddle::cli

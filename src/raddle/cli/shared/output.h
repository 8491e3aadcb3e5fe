// Files and terminal output of the commands.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/report/breakdown.h"
#include "raddle/report/summary.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::cli {

/// Throws InputError when `file` could not be created or replaced.
void check_writable(const std::string& file);
struct OutputOption {
  std::string option, file;     ///< "--json", "out.json"; "" is not asked for, "-" standard output
  bool folder_is_made = false;  ///< before it is written
};
/// Throws InputError when one of the files could not be written, or two options name the same.
void check_outputs(const std::vector<OutputOption>& outputs);
/// Throws InputError when a file that the words of a command line name as its output stands among
/// them as something else, too: a recording, a machine, a program.
void keep_inputs(std::span<const std::string> words);
/// As raddle::write_file; "-" is standard output. Throws RunError.
void write_file(const std::string& file, std::string_view text);
/// A JSON text, which may be compressed (base/compressed.h). Throws InputError when it cannot be
/// read or is none.
nlohmann::ordered_json read_json(const std::string& file);

/// What is longer than so many bytes ends with "...", between two characters of UTF-8.
std::string cut(std::string text, std::size_t widest);

/// On standard error: launches that were refused.
void warn_of_refusals(const sim::Result& result);

using report::comparison;
using report::grouped;
using report::headline;
using report::Row;
using report::summary;

/// A line about the recording that has been written; `issued`: warp instructions.
std::string size_line(const std::string& file, std::uint64_t issued);
/// Of a recording's trailer: what was met in a foreign trace and how fast it was read; "" of
/// others.
std::string import_summary(const nlohmann::ordered_json& trailer);

/// Reports progress on standard error when that is a terminal and not `quiet`; otherwise does
/// nothing.
std::function<void(const sim::Progress&)> progress_line(const std::string& what, bool quiet);
/// The same of several runs; `what` says which one.
std::function<void(const sim::Progress&)> progress_line(
    std::function<std::string(const sim::Progress&)> what, bool quiet);
/// Removes the progress line.
void clear_progress(bool quiet);

}  // namespace raddle::cli

// A reproduction document as text.
#pragma once
#include <string>

#include "raddle/lab/file/experiment.h"

namespace raddle::cli {

/// A line for each row with its verdict; below it what does not hold and what failed.
std::string verdict_table(const lab::Json& document);

/// A line for each run of one experiment that has failed, and why.
std::string failed_runs(const lab::Json& experiment);

/// The numbers of every figure of one experiment.
std::string figure_tables(const lab::Json& experiment);

}  // namespace raddle::cli

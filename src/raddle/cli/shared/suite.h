// raddle validate --suite: measurements of a device that come with the program, simulated and
// compared.
#pragma once
#include <string>
#include <vector>

#include "raddle/cli/shared/options.h"

namespace raddle::cli {

struct SuiteOptions {
  std::string device;
  std::string half;                    ///< first, second, both
  std::vector<std::string> parts;      ///< files, by name without .csv; empty: all
  std::vector<std::string> workloads;  ///< of these only; empty: all
  std::string page;
  std::string errors;   ///< file for the errors by kernel (sim/result/error_bars.h); "": none
  unsigned passes = 1;  ///< simulate_measured()
  std::string command;  ///< the command line, shown on the page
};

/// Prints a table for each file, and errors by half; writes JSON and page where asked for. The exit
/// status.
int run_suite(const SuiteOptions& options, const CommonOptions& common);

}  // namespace raddle::cli

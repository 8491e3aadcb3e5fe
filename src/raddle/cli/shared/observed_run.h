// What the subcommands of `raddle analyze` share: the run that is observed.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "raddle/cli/shared/options.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::cli {

struct ObservedRun {
  CommonOptions common;
  std::vector<std::string> words;
  std::vector<std::string> arguments = {};  ///< our whole command line
  OptionModes modes{"analyze", {}};

  /// A subcommand that takes a workload and the options of a run.
  CLI::App* add_to(CLI::App& analyze, const char* name, const char* doc);
  /// Without timing where none of the analyses looks at it.
  sim::Result run(std::vector<sim::AnalysisRequest> analyses) const;
  /// Writes what was asked for; returns the exit status.
  int finish(const sim::Result& result, const std::string& table) const;
};

}  // namespace raddle::cli

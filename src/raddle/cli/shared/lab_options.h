// Options that sweep and reproduce share, and what both do: check, plan, run, judge.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "raddle/lab/run/runner.h"

namespace raddle::cli {

/// Workloads and policies of this program.
lab::Catalogue catalogue();

struct LabOptions {
  std::string scale = "quick", results = "raddle-results", executor = "local", worker;
  std::string slurm_options;
  double slurm_poll_seconds = 20;
  unsigned jobs = 0;  ///< 0 = as many as cores
  double recordings_limit_gib = 20;
  std::optional<double> timeout_minutes, memory_gib;
  bool retry_failed = false, check_only = false, quiet = false;
  std::string json, report, export_csv;

  const CLI::Option* slurm_poll = nullptr;  ///< of the command line

  void add_to(CLI::App& command);
  lab::Scale scale_value() const;
  /// Refuses outputs that could not be or are not written, and options of Slurm without it, before
  /// anything runs.
  void check() const;
};

struct LabOutcome {
  lab::Json document;
  lab::RunnerSummary summary;
};

/// Plans and runs the experiments; writes what --json and --export-csv ask for. Nothing when
/// --check was given (the plan is printed). Throws InputError and RunError.
std::optional<LabOutcome> run_experiments(const lab::Paper& paper,
                                          const std::vector<const lab::Experiment*>& experiments,
                                          const LabOptions& options,
                                          const std::vector<std::string>& arguments);

}  // namespace raddle::cli

// raddle compare --results: the comparison as an experiment of the laboratory, whose runs are
// processes of their own and are kept.
#pragma once
#include <string>
#include <vector>

#include "raddle/api/variants.h"
#include "raddle/cli/shared/lab_options.h"
#include "raddle/cli/shared/options.h"

namespace raddle::cli {

using api::Variant;

struct KeptCompare {
  CommonOptions common;
  std::vector<Variant> variants;
  /// Each a workload, PTX file or recording with its parameters.
  std::vector<std::vector<std::string>> works;
  std::vector<std::string> program;  ///< what stands behind --; may be empty
  std::vector<std::string> inputs;   ///< files that it opens by names of its own
};

/// The experiment file that says the same. Paths stand relative to the folder of this process.
std::string experiment_of(const KeptCompare& compare);

/// Runs what is not in lab.results yet, prints tables, writes what `lab` asks for. The exit status.
int run_kept(const KeptCompare& compare, const LabOptions& lab,
             const std::vector<std::string>& arguments);

}  // namespace raddle::cli

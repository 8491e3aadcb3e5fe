// A + B: tenants that share the GPU, as run and replay take them.
#pragma once
#include <string>
#include <vector>

#include "raddle/cli/shared/options.h"
#include "raddle/sim/corun/corun.h"

namespace raddle::cli {

struct CorunArguments {
  std::uint64_t horizon = 0, warmup = 0, sample = 0;
  bool no_alone = false;
  void add_to(CLI::App& command, OptionModes& modes);
  /// Do the words name several tenants, or one that runs to a horizon?
  bool asked(const std::vector<std::string>& words) const;
  sim::CorunOptions options() const { return {horizon, warmup, !no_alone, {}, sample}; }
};

/// The words of each tenant: those between "+". Throws InputError when one has none.
std::vector<std::vector<std::string>> split_tenants(const std::vector<std::string>& words);

/// Exit status. `arguments`: the command line, shown in the report.
int run_corun(const CommonOptions& common, const std::vector<std::string>& words,
              CorunArguments corun, const std::vector<std::string>& arguments);

}  // namespace raddle::cli

// What run and compare write besides text: the HTML report and the timeline.
#pragma once
#include <string>
#include <vector>

#include "raddle/cli/options.h"
#include "raddle/sim/result.h"

namespace raddle::cli {

struct ReportRun {
  std::string workload, label;  ///< label: the policies as given, "" for a single run
  const sim::Result* result;
};
/// `arguments`: the command line, shown in the report.
void write_reports(const CommonOptions& options, const std::vector<ReportRun>& runs,
                   const std::vector<std::string>& arguments);

}  // namespace raddle::cli

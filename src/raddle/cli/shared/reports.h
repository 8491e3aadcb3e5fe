// What run and compare write besides text: the HTML report and the timeline.
#pragma once
#include <string>
#include <vector>

#include "raddle/api/work.h"
#include "raddle/cli/shared/options.h"
#include "raddle/report/timeline.h"
#include "raddle/sim/result/result.h"

namespace raddle::cli {

struct ReportRun {
  std::string workload, label;  ///< label: the policies as given, "" for a single run
  const sim::Result* result;
};
/// `arguments`: the command line, shown in the report. `what_if`: ReportInput::what_if.
void write_reports(const CommonOptions& options, const std::vector<ReportRun>& runs,
                   const std::vector<std::string>& arguments,
                   const nlohmann::ordered_json& what_if = nlohmann::ordered_json::array());

using api::joined;
/// Date and time of day, for a report.
std::string today();
/// Say where the files lie that the options ask for, unless --quiet.
void announce_report(const CommonOptions& options);
void announce_timeline(const CommonOptions& options);
/// What a bound of so many events has kept out of the file: a line, where there is anything.
void say_left_out(const report::Timeline& timeline, std::uint64_t maximum);

}  // namespace raddle::cli

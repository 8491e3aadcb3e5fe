// What a report says where scripts do not run: each run with its main numbers, as HTML.
#pragma once
#include <string>

#include "raddle/report/report.h"

namespace raddle::report {

/// Texts of the input are escaped. Speed-ups are over the first run of the same workload,
/// parameters and seed; "" of an input without runs.
std::string static_table(const ReportInput& input);

}  // namespace raddle::report

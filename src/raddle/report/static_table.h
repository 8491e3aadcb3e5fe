// What a report says where scripts do not run: each run with its main numbers, as HTML.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace raddle::report {

/// Of the page's data (report.h). Texts in it are escaped. Speed-ups are over the first run of the
/// same workload, parameters and seed; "" of a page without runs.
std::string static_table(const nlohmann::ordered_json& page);

}  // namespace raddle::report

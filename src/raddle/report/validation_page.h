// Measured against simulated, as a page: one self-contained HTML file, without scripts.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "raddle/sim/validate/measurement.h"

namespace raddle::report {

struct Validation {
  std::string title;
  std::string command, date;                                ///< shown as they are; empty = left out
  std::map<std::string, std::string> measured, simulated;   ///< conventions
  std::array<std::vector<sim::Pair>, sim::kMetrics> pairs;  ///< by Metric
};

/// What the numbers say, errors per metric, a plot and a table of launches for each, conventions.
/// Looks as the other pages do.
std::string validation_page(const Validation& validation);

}  // namespace raddle::report

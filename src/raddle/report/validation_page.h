// Measured against simulated, as a page: one self-contained HTML file, without scripts.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "raddle/sim/measurement.h"

namespace raddle::report {

struct Validation {
  std::string title;
  std::map<std::string, std::string> measured, simulated;   ///< conventions
  std::array<std::vector<sim::Pair>, sim::kMetrics> pairs;  ///< by Metric
};

/// Conventions, errors and correlation per metric, a plot and a table of launches for each.
std::string validation_page(const Validation& validation);

}  // namespace raddle::report

// Measured against simulated, as a page: one self-contained HTML file, without scripts.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "raddle/sim/validate/measurement.h"

namespace raddle::report {

/// A table of its own section, texts as they are to be read.
struct ValidationTable {
  std::string id, title, note;  ///< note: a line above it, "" is none
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Validation {
  std::string title;
  std::string command, date;                                ///< shown as they are; empty = left out
  std::map<std::string, std::string> measured, simulated;   ///< conventions
  std::array<std::vector<sim::Pair>, sim::kMetrics> pairs;  ///< by Metric
  std::vector<ValidationTable> tables = {};                 ///< before the metrics
  std::vector<std::string> remarks = {};  ///< what one must know to read the numbers
  bool only_measured = false;             ///< metrics without a pair are left out
};

/// What the numbers say, errors per metric, a plot and a table of launches for each, conventions.
/// Looks as the other pages do.
std::string validation_page(const Validation& validation);

}  // namespace raddle::report

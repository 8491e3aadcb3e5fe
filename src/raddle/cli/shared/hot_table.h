// What a kept result spends its time and traffic on, as a table for a terminal of 80 columns.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "raddle/report/hot.h"

namespace raddle::cli {

struct HotTableOptions {
  std::size_t top = 5;   ///< rows of each list; 0: all
  bool colours = false;  ///< escape sequences of a terminal
};

/// `title`: what ran where under which policies. Text of CUDA lines is read from the files that the
/// PTX names, where they can be read. No line has more than 80 columns.
std::string hot_table(const std::string& title, const report::Hot& hot,
                      const HotTableOptions& options);

}  // namespace raddle::cli

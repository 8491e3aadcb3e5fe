// Results as text for a terminal.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// What ran where under which policies, and whether its result is right: a line.
std::string headline(const sim::Result& result);
/// One run in a few lines.
std::string summary(const sim::Result& result);
/// Of a run in which launches by kernels were refused: how many, why, and the way out; else "".
std::string refused_launches(const sim::Result& result);

struct Row {
  std::string label;
  std::string of_any_seed;  ///< the label without the seed
  const sim::Result* result;
};
/// Rows of one workload; ratios are to the first of the same seed. Of several seeds, how far they
/// lie apart stands below.
std::string comparison(std::string_view workload, std::span<const Row> rows);

}  // namespace raddle::report

// Measured against simulated, a point for each launch.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "raddle/sim/validate/measurement.h"

namespace raddle::report {

inline constexpr std::array<std::string_view, sim::kMetrics> kMetricTitles = {
    "Cycles",   "L1 hit rate",       "L2 hit rate",        "DRAM bytes",
    "Power, W", "Warp instructions", "Time, microseconds", "Warp instructions per SM and cycle"};
inline bool is_rate(sim::Metric metric) {
  return metric == sim::Metric::L1HitRate || metric == sim::Metric::L2HitRate;
}
/// "112,088", "83.1 %" of a rate, "2.53" of time and of instructions per cycle.
std::string metric_text(sim::Metric metric, double value);

/// An SVG document: both axes logarithmic (rates: linear), the line of agreement between those of
/// 20 % (rates: 10 points) more and less, points by workload. Pairs with a zero have no place on
/// logarithmic axes and are left out with a note.
std::string scatter_svg(std::span<const sim::Pair> pairs, sim::Metric metric);

}  // namespace raddle::report

// Measured against simulated, a point for each launch.
#pragma once
#include <span>
#include <string>

#include "raddle/sim/measurement.h"

namespace raddle::report {

/// An SVG document: both axes logarithmic (rates: linear, 0 to 1), the line of agreement, points by
/// workload. Pairs with a zero have no place on logarithmic axes and are left out with a note.
std::string scatter_svg(std::span<const sim::Pair> pairs, sim::Metric metric);

}  // namespace raddle::report

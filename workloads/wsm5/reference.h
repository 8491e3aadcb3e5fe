// The reference of wsm5: a column in double precision.
#pragma once
#include <array>
#include <vector>

#include "wsm5/atmosphere.h"

namespace raddle::workloads {

/// Water on the ground, in mm: in all, in the last minor step, its frozen share; frozen in all, and
/// in the last minor step.
enum GroundField { kRainAll, kRainNow, kFrozenShare, kSnowAll, kSnowNow, kGroundFields };

/// At a few limits the formulas jump: where water freezes, how much cloud rains, into how many
/// parts a step is cut. Rounding may carry a value over them; these move the limits.
struct Nudge {
  double kelvin = 0, cloud = 0, parts = 0;
};

struct AirColumn {
  std::array<std::vector<double>, kAirFields> fields;  ///< by level
  std::array<double, kGroundFields> ground{};

  void step(double seconds, const Nudge& nudge);
};

}  // namespace raddle::workloads

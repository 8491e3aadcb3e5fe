// Air of wsm5: word (j * levels + k) * width + i of a field is level k of column (i, j);
// level 0 at the ground.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace raddle::workloads {

enum AirField {
  kTheta,   // potential temperature, K
  kExner,   // temperature over that
  kVapour,  // kg/kg of dry air, as the four below
  kCloud,   // of water
  kIce,     // of cloud
  kRain,
  kSnow,
  kDensity,    // kg/m^3
  kPressure,   // Pa
  kThickness,  // m
  kAirFields,
};

struct AtmosphereShape {
  std::uint32_t width = 0, depth = 0, levels = 0;
  std::uint32_t storm = 0;  ///< percent of the columns, in one corner, that rain or snow falls in
  std::size_t words() const { return std::size_t{width} * depth * levels; }
  std::size_t columns() const { return std::size_t{width} * depth; }
  /// Columns and rows of the storm.
  std::array<std::uint32_t, 2> storm_extent() const;
};

using Atmosphere = std::array<std::vector<float>, kAirFields>;

Atmosphere make_atmosphere(std::uint64_t seed, const AtmosphereShape& shape);

}  // namespace raddle::workloads

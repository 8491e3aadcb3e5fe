// Makes the air of wsm5: colder upwards and towards one side, with a storm in a corner.
#include "wsm5/atmosphere.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "raddle/base/rng.h"
#include "wsm5/physics.h"

namespace raddle::workloads {

namespace {

constexpr double kDryGas = 287, kGravity = 9.81, kSurfacePressure = 1e5;
// Chosen: levels as thin at the ground as weather models have them, 13 km in all with 27.
constexpr double kLowest = 55, kGrowth = 1.14, kThickest = 1700;
constexpr double kWarmest = 297, kNorthward = 22, kLapse = 0.0065, kColdest = 215;
// Chosen: most of each kind of water in the middle of the storm, kg/kg.
constexpr double kMaxCloud = 8e-4, kMaxIce = 1e-4, kMaxRain = 1.2e-3, kMaxSnow = 8e-4;

double saturated(double temperature, double pressure) {
  double ratio = double{kTriple} / temperature;
  double partial =
      kTriplePressure * std::exp(std::log(ratio) * kWaterPower + kWaterSlope * (1 - ratio));
  return kWeights * partial / (pressure - partial);
}

}  // namespace

std::array<std::uint32_t, 2> AtmosphereShape::storm_extent() const {
  double side = std::sqrt(storm / 100.0);
  return {static_cast<std::uint32_t>(std::lround(side * width)),
          static_cast<std::uint32_t>(std::lround(side * depth))};
}

Atmosphere make_atmosphere(std::uint64_t seed, const AtmosphereShape& shape) {
  Rng rng(seed, "wsm5/atmosphere");
  Atmosphere air;
  for (auto& field : air) field.resize(shape.words());
  const auto [columns, rows] = shape.storm_extent();
  auto hump = [](std::uint32_t at, std::uint32_t of) {
    return at < of ? std::sin(std::numbers::pi * (at + 0.5) / of) : 0.0;
  };
  for (std::uint32_t j = 0; j < shape.depth; ++j)
    for (std::uint32_t i = 0; i < shape.width; ++i) {
      const double strength = hump(i, columns) * hump(j, rows) * (0.8 + 0.4 * rng.unit());
      const double ground = kWarmest - kNorthward * j / shape.depth + rng.unit() - 0.5;
      const double dry = 0.3 + 0.3 * rng.unit();
      double height = 0, pressure = kSurfacePressure, thickness = kLowest;
      for (std::uint32_t k = 0; k < shape.levels; ++k) {
        const double temperature = std::max(ground - kLapse * (height + thickness / 2), kColdest);
        const double frozen = std::clamp((kFreezing - temperature) / 20, 0.0, 1.0);
        const double humid = strength > 0 ? 0.9 + 0.1 * std::min(strength, 1.0) : dry;
        const double exner = std::pow(pressure / 1e5, 2.0 / 7);
        // What advection leaves of nothing: a little less than it, here and there.
        const double none = rng.unit() < 0.02 ? -1e-12 : 0;
        std::array<double, kAirFields> level{};
        level[kTheta] = temperature / exner;
        level[kExner] = exner;
        level[kVapour] = humid * (0.98 + 0.04 * rng.unit()) * saturated(temperature, pressure);
        level[kCloud] = strength > 0 && frozen < 1 ? strength * kMaxCloud * (1 - frozen) : none;
        level[kIce] = strength > 0 && frozen > 0 ? strength * kMaxIce * frozen : none;
        level[kRain] = strength > 0 && frozen == 0 ? strength * kMaxRain : none;
        level[kSnow] = strength > 0 && frozen > 0 ? strength * kMaxSnow * (1 - frozen / 2) : none;
        level[kDensity] = pressure / (kDryGas * temperature);
        level[kPressure] = pressure;
        level[kThickness] = thickness;
        const std::size_t at = (std::size_t{j} * shape.levels + k) * shape.width + i;
        for (std::size_t field = 0; field < kAirFields; ++field)
          air[field][at] = static_cast<float>(level[field]);
        height += thickness;
        pressure *= std::exp(-kGravity * thickness / (kDryGas * temperature));
        thickness = std::min(thickness * kGrowth, kThickest);
      }
    }
  return air;
}

}  // namespace raddle::workloads

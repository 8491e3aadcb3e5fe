// What kernel and host of wp share: order of the fields in memory and physical constants.
#pragma once

// Field f of level k of column i is word (f * levels + k) * columns + i.
enum Field {
  kTemperature,  // K
  kVapour,       // kg/kg of dry air, as the four below
  kCloud,
  kIce,
  kRain,
  kSnow,
  kStates,
  kDensity = kStates,  // kg/m^3
  kPressure,           // Pa
  kThickness,          // m
  kInputs,
  // Worked out in a step, kept from one loop over the levels to the next.
  kOverWater = kInputs,  // vapour at saturation over water
  kOverIce,
  kRainSpeed,  // m/s
  kSnowSpeed,
  kAutoconversion,  // cloud to rain by itself; rates in 1/s, as all below
  kAccretion,       // cloud to rain by falling rain
  kRiming,          // cloud to snow by falling snow
  kFreezing,        // cloud to ice
  kEvaporation,     // rain to vapour
  kMelting,         // snow to rain
  kAggregation,     // ice to snow
  kDeposition,      // vapour to ice, or back when negative
  kFields,
};

constexpr float kZeroCelsius = 273.15f;
constexpr float kHeat = 1004.6f;            // of air at constant pressure, J/(kg K)
constexpr float kGas = 287.0f;              // constant of dry air, J/(kg K)
constexpr float kVapourGas = 461.6f;        // constant of vapour, J/(kg K)
constexpr float kEvaporationHeat = 2.5e6f;  // J/kg
constexpr float kMeltingHeat = 3.5e5f;
constexpr float kSublimationHeat = kEvaporationHeat + kMeltingHeat;
constexpr float kTrace = 1e-9f;      // least content that has a fall speed, kg/m^3
constexpr float kCloudHeld = 5e-4f;  // cloud that does not rain, kg/kg
constexpr float kIceHeld = 8e-5f;    // ice that does not become snow, kg/kg

// What kernel and host of wsm5 share: sizes, and the constants of WSM5 (Hong, Dudhia, Chen 2004),
// in SI units. Those that a power or a gamma function makes are written out.
#pragma once

constexpr int kMaxLevels = 28;  // of a thread's arrays in local memory

constexpr float kTriple = 273.16f, kFreezing = 273.15f;  // K
constexpr float kTriplePressure = 610.78f;               // Pa
constexpr float kHomogeneous = 40.0f;                    // K below freezing: all cloud is ice
constexpr float kMinorStep = 120.0f;                     // s, the longest

// Heats: J/(kg K), of phase changes J/kg.
constexpr float kDryHeat = 1004.5f, kVapourHeat = 1846.4f, kWaterHeat = 4190.0f, kIceHeat = 2106.0f;
constexpr float kVapourGas = 461.6f, kWeights = 0.62175f;
constexpr float kEvaporation = 2.5e6f, kSublimation = 2.85e6f, kFusion = 3.5e5f;

// Vapour pressure is kTriplePressure (T3 / T)^power exp(slope (1 - T3 / T)).
constexpr float kWaterPower = (kWaterHeat - kVapourHeat) / kVapourGas;
constexpr float kWaterSlope = kWaterPower + kEvaporation / (kVapourGas * kTriple);
constexpr float kIcePower = (kIceHeat - kVapourHeat) / kVapourGas;
constexpr float kIceSlope = kIcePower + kSublimation / (kVapourGas * kTriple);

constexpr float kTrace = 1e-15f;      // kg/kg: less is none
constexpr float kMinFalling = 1e-9f;  // kg/kg of rain or snow with a size of its own
constexpr float kSurfaceDensity = 1.28f, kWaterDensity = 1000.0f;

// Drops and flakes: number N exp(-size / slope), fall speed a size^b. Intercepts N in 1/m^4; pi
// times density times N; slopes where there are hardly any, and their b-th powers.
constexpr float kRainN = 8e6f, kRainMass = 2.5132741e10f, kRainB = 0.8f;
constexpr float kSnowN = 2e6f, kSnowMass = 6.2831853e8f, kSnowB = 0.41f, kSnowMostN = 1e11f;
constexpr float kSnowColder = 0.12f;  // 1/K: smaller and more flakes
constexpr float kRainLeastSlope = 1.25e-5f, kRainLeastSlopeB = 1.1954406e-4f;
constexpr float kSnowLeastSlope = 1e-5f, kSnowLeastSlopeB = 8.9125094e-3f;
constexpr float kRainSpeed = 2502.9493f, kSnowSpeed = 20.071289f;  // a gamma(4 + b) / 6

constexpr float kCloudHeld = 5.026548e-4f, kAutoconversion = 6.7738954f;
constexpr float kRainGathers = 2.4831307e10f,
                kSnowGathers = 5.5474324e7f;  // pi N a gamma(3 + b) / 4
constexpr float kRainSurface = 3.9207076e7f, kRainVentilated = 8.2619916e8f;
constexpr float kSnowSurface = 5.2e6f, kSnowVentilated = 1.8688707e7f;
constexpr float kFreezingRate = 100.0f, kFreezingColder = 0.66f, kDrops = 3e8f;

// Crystals: their number by mass of ice, size by mass, speed by size.
constexpr float kCrystals = 5.38e7f, kFewestCrystals = 1e3f, kMaxCrystals = 1e6f;
constexpr float kCrystalSize = 11.9f, kCrystalMost = 5e-4f, kCrystalSpeed = 1.49e4f;
constexpr float kCrystalB = 1.31f, kIceHeld = 8.125e-5f;  // kg/m^3

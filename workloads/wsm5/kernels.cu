// A step of WSM5: water in its five classes changes its kind and falls. Thread = column. README.md.
#include "common/cuda_lite.h"
#include "wsm5/physics.h"

constexpr int kBlock = 8;
constexpr float kPi = 3.14159265f;

// Fields of all columns and levels, the columns of a row side by side, then the levels.
struct Air {
  float *theta, *exner, *vapour, *cloud, *ice, *rain, *snow, *density, *pressure, *thickness;
};

// What a column keeps from one sweep over its levels to the next, in local memory.
using Levels = float[kMaxLevels];
struct Kept {
  Levels &temperature, &heat, &latent, &over_water, &over_ice, &humid, &humid_ice;
  Levels &rain_slope, &snow_slope, &snow_slope_b, &snow_slope2, &thin, &flakes;
  Levels &first_speed, &second_speed, &crystals;
};

// Of the lower 24 bits of both, as the published program has addresses.
static __device__ __forceinline__ int product24(int a, int b) {
  return (a << 8 >> 8) * (b << 8 >> 8);
}

struct Column {
  Air air;
  int first, row, levels;
  __device__ __forceinline__ int at(int k) const { return first + product24(k, row); }
};

static __device__ __forceinline__ float root(float x) {
  float y;
  __asm__("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
static __device__ __forceinline__ float inverse(float x) { return __fdividef(1.0f, x); }
static __device__ __forceinline__ float power(float x, float exponent) {
  return __expf(__logf(x) * exponent);
}
static __device__ __forceinline__ float clamp(float x, float low, float high) {
  return fminf(fmaxf(x, low), high);
}

// Vapour that saturates air of a pressure where its own is `partial`.
static __device__ __forceinline__ float mixing_ratio(float partial, float pressure) {
  return fmaxf(__fdividef(kWeights * partial, pressure - partial), kTrace);
}

static __device__ __forceinline__ float partial_pressure(float log_ratio, float ratio, float power,
                                                         float slope) {
  return kTriplePressure * __expf(log_ratio * power + slope * (1.0f - ratio));
}

static __device__ __forceinline__ float heat_of(float vapour) {
  float moist = fmaxf(vapour, kTrace);
  return kDryHeat * (1.0f - moist) + moist * kVapourHeat;
}

static __device__ __forceinline__ float viscosity(float temperature, float density) {
  return __fdividef(__fdividef(1.496e-6f * (temperature * root(temperature)), temperature + 120.0f),
                    density);
}
static __device__ __forceinline__ float diffusivity(float temperature, float pressure) {
  return __fdividef(8.794e-5f * power(temperature, 1.81f), pressure);
}
static __device__ __forceinline__ float conductivity(float temperature, float density) {
  return 1.414e3f * viscosity(temperature, density) * density;
}
// Resistance of air to heat and vapour on their way to a drop.
static __device__ __forceinline__ float resistance(float latent, float pressure, float temperature,
                                                   float density, float saturated) {
  float heat = conductivity(temperature, density) * kVapourGas * temperature * temperature;
  return __fdividef(density * latent * latent, heat) +
         inverse(saturated * diffusivity(temperature, pressure));
}
static __device__ __forceinline__ float ventilation(float pressure, float temperature,
                                                    float density) {
  float schmidt = __fdividef(viscosity(temperature, density), diffusivity(temperature, pressure));
  return power(schmidt, 0.3333333f) * rsqrtf(viscosity(temperature, density)) *
         root(root(__fdividef(kSurfaceDensity, density)));
}
static __device__ __forceinline__ float crystals_of(float density, float ice) {
  float mass = density * fmaxf(ice, kTrace);
  return clamp(kCrystals * root(root(mass * mass * mass)), kFewestCrystals, kMaxCrystals);
}

struct Slope {
  float one, b, two, three;
};
static __device__ __forceinline__ Slope rain_slope(float rain, float density) {
  if (rain <= kMinFalling)
    return {kRainLeastSlope, kRainLeastSlopeB, kRainLeastSlope * kRainLeastSlope,
            kRainLeastSlope * kRainLeastSlope * kRainLeastSlope};
  float one = inverse(root(root(__fdividef(kRainMass, rain * density))));
  return {one, power(one, kRainB), one * one, one * one * one};
}
static __device__ __forceinline__ Slope snow_slope(float snow, float density, float flakes) {
  if (snow <= kMinFalling)
    return {kSnowLeastSlope, kSnowLeastSlopeB, kSnowLeastSlope * kSnowLeastSlope,
            kSnowLeastSlope * kSnowLeastSlope * kSnowLeastSlope};
  float one = inverse(root(root(__fdividef(kSnowMass * flakes, snow * density))));
  return {one, power(one, kSnowB), one * one, one * one * one};
}
static __device__ __forceinline__ float flakes_of(float below_freezing) {
  return fmaxf(fminf(__expf(kSnowColder * below_freezing), kSnowMostN / kSnowN), 1.0f);
}

static __device__ __forceinline__ void begin(const Column& c, const Kept& kept) {
#pragma unroll 1
  for (int k = 0; k < c.levels; ++k)
    kept.temperature[k] = c.air.theta[c.at(k)] * c.air.exner[c.at(k)];
#pragma unroll 1
  for (int level = 0; level < c.levels; ++level) {
    const int k = unknown(level);
    int at = c.at(k);
    if (c.air.cloud[at] < 0.0f) c.air.cloud[at] = 0.0f;
    if (c.air.ice[at] < 0.0f) c.air.ice[at] = 0.0f;
    if (c.air.rain[at] < 0.0f) c.air.rain[at] = 0.0f;
    if (c.air.snow[at] < 0.0f) c.air.snow[at] = 0.0f;
  }
#pragma unroll 1
  for (int k = 0; k < c.levels; ++k) {
    kept.heat[k] = heat_of(c.air.vapour[c.at(k)]);
    kept.latent[k] = kEvaporation - (kWaterHeat - kVapourHeat) * (kept.temperature[k] - kFreezing);
  }
}

static __device__ __forceinline__ void saturate(const Column& c, const Kept& kept) {
#pragma unroll 1
  for (int level = 0; level < c.levels; ++level) {
    const int k = unknown(level);
    float pressure = c.air.pressure[c.at(k)], temperature = kept.temperature[k];
    float ratio = __fdividef(kTriple, temperature), log_ratio = __logf(ratio);
    float vapour = c.air.vapour[c.at(k)];
    float water = partial_pressure(log_ratio, ratio, kWaterPower, kWaterSlope);
    kept.over_water[k] = mixing_ratio(water, pressure);
    kept.humid[k] = fmaxf(__fdividef(vapour, kept.over_water[k]), kTrace);
    float cold = temperature < kTriple
                     ? partial_pressure(log_ratio, ratio, kIcePower, kIceSlope)
                     : partial_pressure(log_ratio, ratio, kWaterPower, kWaterSlope);
    kept.over_ice[k] = mixing_ratio(cold, pressure);
    kept.humid_ice[k] = fmaxf(__fdividef(vapour, kept.over_ice[k]), kTrace);
  }
}

// As published, although each gets its number in the next sweep.
static __device__ __forceinline__ void begin_crystals(const Column& c, const Kept& kept) {
#pragma unroll 1
  for (int k = 0; k < c.levels; ++k) kept.crystals[k] = kFewestCrystals;
}

// Steps in which nothing falls through more than a level.
static __device__ __forceinline__ int parts(float levels_fallen) {
  return max(static_cast<int>(__builtin_truncf(levels_fallen + 0.5f + 0.5f)), 1);
}

static __device__ __forceinline__ int find_speeds(const Column& c, const Kept& kept, float time) {
  int steps = 1;
#pragma unroll 1
  for (int level = 0; level < c.levels; ++level) {
    const int k = unknown(level);
    int at = c.at(k);
    float density = c.air.density[at], thickness = c.air.thickness[at];
    kept.flakes[k] = flakes_of(kFreezing - kept.temperature[k]);
    Slope rain = rain_slope(c.air.rain[at], density);
    Slope snow = snow_slope(c.air.snow[at], density, kept.flakes[k]);
    kept.rain_slope[k] = rain.one;
    kept.snow_slope[k] = snow.one;
    kept.snow_slope_b[k] = snow.b;
    kept.snow_slope2[k] = snow.two;
    kept.thin[k] = root(__fdividef(kSurfaceDensity, density));
    kept.first_speed[k] = __fdividef(kRainSpeed * rain.b * kept.thin[k], thickness);
    kept.second_speed[k] = __fdividef(kSnowSpeed * snow.b * kept.thin[k], thickness);
    steps = max(steps, parts(fmaxf(kept.first_speed[k], kept.second_speed[k]) * time));
    kept.crystals[k] = crystals_of(density, c.air.ice[at]);
  }
  return steps;
}

// Flakes below the freezing level become drops.
static __device__ __forceinline__ void melt_snow(const Column& c, const Kept& kept, float time,
                                                 float share) {
#pragma unroll 1
  for (int level = c.levels - 1; level >= 0; --level) {
    const int k = unknown(level);
    int at = c.at(k);
    if (!(kept.temperature[k] > kFreezing && c.air.snow[at] > 0.0f)) continue;
    float temperature = kept.temperature[k], density = c.air.density[at];
    float vent = ventilation(c.air.pressure[at], temperature, density);
    float grown = kept.snow_slope2[k] * root(kept.snow_slope[k] * kept.snow_slope_b[k]);
    float rate = __fdividef(conductivity(temperature, density), kFusion) *
                 (kFreezing - temperature) * (kPi / 2) * kept.flakes[k] *
                 (kSnowSurface * kept.snow_slope2[k] + kSnowVentilated * vent * grown);
    float melted = fminf(fmaxf(rate * time * share, -c.air.snow[at] * share), 0.0f);
    c.air.snow[at] += melted;
    c.air.rain[at] -= melted;
    kept.temperature[k] += __fdividef(kFusion, heat_of(c.air.vapour[at])) * melted;
  }
}

// Rain and snow leave each level downwards, from the top on. Adds what reaches the ground.
static __device__ __forceinline__ void fall(const Column& c, const Kept& kept, float time,
                                            int steps, float& rain, float& snow) {
  const float share = inverse(static_cast<float>(steps));
#pragma unroll 1
  for (int n = 0; n < steps; ++n) {
    float thickness_above = 0.0f, rain_above = 0.0f, snow_above = 0.0f;
    {
      int k = c.levels - 1, at = c.at(k);
      float density = c.air.density[at];
      rain_above = density * c.air.rain[at] * kept.first_speed[k] * share;
      snow_above = density * c.air.snow[at] * kept.second_speed[k] * share;
      float each = __fdividef(time, density);
      c.air.rain[at] = fmaxf(c.air.rain[at] - rain_above * each, 0.0f);
      c.air.snow[at] = fmaxf(c.air.snow[at] - snow_above * each, 0.0f);
      thickness_above = c.air.thickness[at];
    }
#pragma unroll 1
    for (int level = c.levels - 2; level >= 0; --level) {
      const int k = unknown(level);
      int at = c.at(k);
      float density = c.air.density[at];
      float rain_here = density * c.air.rain[at] * kept.first_speed[k] * share;
      float snow_here = density * c.air.snow[at] * kept.second_speed[k] * share;
      float each = __fdividef(time, density), thickness = c.air.thickness[at];
      float thinner = inverse(thickness);
      c.air.rain[at] =
          fmaxf(c.air.rain[at] - (rain_here - rain_above * thickness_above * thinner) * each, 0.0f);
      c.air.snow[at] =
          fmaxf(c.air.snow[at] - (snow_here - snow_above * thickness_above * thinner) * each, 0.0f);
      thickness_above = thickness;
      rain_above = rain_here;
      snow_above = snow_here;
    }
    rain += rain_above;
    snow += snow_above;
    melt_snow(c, kept, time, share);
  }
}

static __device__ __forceinline__ int find_ice_speed(const Column& c, const Kept& kept,
                                                     float time) {
  int steps = 1;
#pragma unroll 1
  for (int level = c.levels - 1; level >= 0; --level) {
    const int k = unknown(level);
    int at = c.at(k);
    if (c.air.ice[at] <= 0.0f) {
      kept.second_speed[k] = 0.0f;
    } else {
      float mass = __fdividef(c.air.density[at] * c.air.ice[at], kept.crystals[k]);
      float size = fmaxf(fminf(kCrystalSize * root(mass), kCrystalMost), 1e-25f);
      kept.first_speed[k] = kCrystalSpeed * power(size, kCrystalB);
      kept.second_speed[k] = __fdividef(kept.first_speed[k], c.air.thickness[at]);
    }
    steps = max(steps, parts(kept.second_speed[k] * time));
  }
  return steps;
}

static __device__ __forceinline__ float fall_ice(const Column& c, const Kept& kept, float time,
                                                 int steps) {
  const float share = inverse(static_cast<float>(steps));
  float fallen = 0.0f;
#pragma unroll 1
  for (int n = 0; n < steps; ++n) {
    int top = c.levels - 1, high = c.at(top);
    float above = c.air.density[high] * c.air.ice[high] * kept.second_speed[top] * share;
    c.air.ice[high] = fmaxf(c.air.ice[high] - __fdividef(above * time, c.air.density[high]), 0.0f);
    float thickness_above = c.air.thickness[high];
#pragma unroll 1
    for (int level = top - 1; level >= 0; --level) {
      const int k = unknown(level);
      int at = c.at(k);
      float density = c.air.density[at];
      float here = density * c.air.ice[at] * kept.second_speed[k] * share;
      float thickness = c.air.thickness[at];
      float kept_here = here - __fdividef(above * thickness_above, thickness);
      c.air.ice[at] = fmaxf(c.air.ice[at] - __fdividef(kept_here * time, density), 0.0f);
      thickness_above = thickness;
      above = here;
    }
    fallen += above;
  }
  return fallen;
}

// A level while its water changes: contents in kg/kg, rates in kg/kg/s.
struct Level {
  float temperature, vapour, cloud, ice, rain, snow;
  float density, pressure, thin, flakes, heat, latent, over_water, over_ice, humid, humid_ice;
  Slope drop, flake;
  float below;  // K below freezing before anything has changed
  // Cloud to rain by itself and by rain, vapour to rain; cloud to snow, ice to snow by snow and by
  // itself; vapour to ice, to new crystals, to snow; melting snow to vapour.
  float autoconverted, gathered, to_rain, rimed, collected, aggregated, to_ice, to_crystals;
  float to_snow, dried;
  float crystals, to_drop, to_flake, vent;
};

static __device__ __forceinline__ void freeze_and_melt(Level& a, float time, float slope) {
  a.below = kFreezing - a.temperature;
  float fusion = a.below < 0.0f ? kFusion : kSublimation - a.latent;
  if (a.below < 0.0f && a.ice > 0.0f) {
    a.cloud += a.ice;
    a.temperature -= __fdividef(fusion, a.heat) * a.ice;
    a.ice = 0.0f;
  }
  if (a.below > kHomogeneous && a.cloud > 0.0f) {
    a.ice += a.cloud;
    a.temperature += __fdividef(fusion, a.heat) * a.cloud;
    a.cloud = 0.0f;
  }
  if (a.below > 0.0f && a.cloud > 0.0f) {
    float rate = kFreezingRate * (__expf(kFreezingColder * a.below) - 1.0f) * a.density;
    float each = __fdividef(__fdividef(rate, kWaterDensity), kDrops);
    float frozen = fminf(each * a.cloud * a.cloud * time, a.cloud);
    a.ice += frozen;
    a.temperature += __fdividef(fusion, a.heat) * frozen;
    a.cloud -= frozen;
  }
  if (a.below > 0.0f && a.rain > 0.0f) {
    float seventh = slope * slope * slope * slope * slope * slope * slope;
    constexpr float kRate = 20.0f * kPi * kPi * kFreezingRate * kRainN * kWaterDensity;
    float frozen = fminf(
        __fdividef(kRate, a.density) * (__expf(kFreezingColder * a.below) - 1.0f) * seventh * time,
        a.rain);
    a.snow += frozen;
    a.temperature += __fdividef(fusion, a.heat) * frozen;
    a.rain -= frozen;
  }
}

static __device__ __forceinline__ void warm_rates(Level& a, float time) {
  float most = __fdividef(fmaxf(a.vapour, kTrace) - a.over_water, time);
  if (a.cloud > kCloudHeld)
    a.autoconverted =
        fminf(kAutoconversion * power(a.cloud, 7.0f / 3.0f), __fdividef(a.cloud, time));
  if (a.rain > kMinFalling && a.cloud > kTrace)
    a.gathered =
        fminf(kRainGathers * a.drop.three * a.drop.b * a.cloud * a.thin, __fdividef(a.cloud, time));
  if (a.rain > 0.0f) {
    float grown = a.drop.two * root(a.drop.one * a.drop.b);
    a.to_rain = __fdividef(
        (a.humid - 1.0f) * (kRainSurface * a.drop.two + kRainVentilated * a.vent * grown),
        a.to_drop);
    if (a.to_rain < 0.0f)
      a.to_rain = fmaxf(fmaxf(a.to_rain, __fdividef(-a.rain, time)), __fdividef(most, 2.0f));
    else a.to_rain = fminf(a.to_rain, __fdividef(most, 2.0f));
  }
}

// Vapour, ice and snow below freezing share what lies above or below saturation over ice.
static __device__ __forceinline__ void deposit(Level& a, float most, float supersaturated,
                                               float rate) {
  bool used = false;
  if (a.ice > 0.0f) {
    float size = kCrystalSize * root(__fdividef(a.density * a.ice, a.crystals));
    a.to_ice = __fdividef(4.0f * size * a.crystals * (a.humid_ice - 1.0f), a.to_flake);
    float left = most - a.to_rain;
    if (a.to_ice < 0.0f) a.to_ice = fmaxf(fmaxf(fmaxf(a.to_ice, most * 0.5f), left), -a.ice * rate);
    else a.to_ice = fminf(fminf(a.to_ice, most * 0.5f), left);
    if (fabsf(a.to_rain + a.to_ice) >= fabsf(most)) used = true;
  }
  if (a.snow > 0.0f && !used) {
    float grown = a.flake.two * root(a.flake.one * a.flake.b);
    a.to_snow = __fdividef((a.humid_ice - 1.0f) * a.flakes *
                               (kSnowSurface * a.flake.two + kSnowVentilated * a.vent * grown),
                           a.to_flake);
    float left = most - a.to_rain - a.to_ice;
    if (a.to_snow < 0.0f)
      a.to_snow = fmaxf(fmaxf(fmaxf(a.to_snow, -a.snow * rate), most * 0.5f), left);
    else a.to_snow = fminf(fminf(a.to_snow, most * 0.5f), left);
    if (fabsf(a.to_rain + a.to_ice + a.to_snow) >= fabsf(most)) used = true;
  }
  if (supersaturated > 0.0f && !used) {
    float left = most - a.to_rain - a.to_ice - a.to_snow;
    float nuclei = 1e3f * __expf(0.1f * a.below);
    float mass = 4.92e-11f * power(nuclei, 1.33f);
    float made = fmaxf((__fdividef(mass, a.density) - fmaxf(a.ice, 0.0f)) * rate, 0.0f);
    a.to_crystals = fminf(fminf(made, most), left);
  }
}

static __device__ __forceinline__ void cold_rates(Level& a, float time) {
  float rate = inverse(time), supersaturated = fmaxf(a.vapour, kTrace) - a.over_ice;
  float most = __fdividef(supersaturated, time);
  a.crystals = crystals_of(a.density, a.ice);
  float sticks = __expf(-0.07f * a.below);
  if (a.snow > kMinFalling && a.cloud > kTrace)
    a.rimed = fminf(kSnowGathers * a.flakes * a.flake.three * a.flake.b * a.cloud * a.thin,
                    a.cloud * rate);
  if (a.below > 0.0f) {
    if (a.snow > kMinFalling && a.ice > kTrace) {
      float size =
          fminf(kCrystalSize * root(__fdividef(a.density * a.ice, a.crystals)), kCrystalMost);
      float ice_speed = kCrystalSpeed * power(size, kCrystalB);
      float snow_speed = kSnowSpeed * a.flake.b * a.thin;
      float swept = 2.0f * a.flake.three + 2.0f * size * a.flake.two + size * size * a.flake.one;
      a.collected =
          kPi * a.ice * sticks * kSnowN * a.flakes * fabsf(snow_speed - ice_speed) * swept * 0.25f;
    }
    deposit(a, most, supersaturated, rate);
    if (a.ice > 0.0f) a.aggregated = fmaxf((a.ice - __fdividef(kIceHeld, a.density)) * rate, 0.0f);
  }
  if (a.below < 0.0f) {
    if (a.snow > 0.0f && a.humid < 1.0f) a.dried = __fdividef(a.to_snow * a.to_flake, a.to_drop);
    a.dried = fminf(fmaxf(a.dried, -a.snow * rate), 0.0f);
  }
}

// Makes the rates that take from a kind of water smaller until it is enough.
template <class... Rates>
static __device__ __forceinline__ void limit(float there, float taken, Rates&... rates) {
  if (taken > there) {
    float factor = __fdividef(there, taken);
    ((rates *= factor), ...);
  }
}

static __device__ __forceinline__ void apply_frozen(Level& a, float time) {
  limit(fmaxf(a.cloud, kTrace), (a.autoconverted + a.gathered + a.rimed) * time, a.autoconverted,
        a.gathered, a.rimed);
  limit(fmaxf(a.ice, kTrace), (a.aggregated + a.collected - a.to_crystals - a.to_ice) * time,
        a.aggregated, a.collected, a.to_crystals, a.to_ice);
  limit(fmaxf(a.rain, kTrace), (-a.autoconverted - a.gathered - a.to_rain) * time, a.autoconverted,
        a.gathered, a.to_rain);
  limit(fmaxf(a.snow, kTrace), (-a.to_snow - a.aggregated - a.collected - a.rimed) * time,
        a.to_snow, a.aggregated, a.collected, a.rimed);
  a.vapour -= (a.to_rain + a.to_snow + a.to_crystals + a.to_ice) * time;
  a.cloud = fmaxf(a.cloud - (a.autoconverted + a.gathered + a.rimed) * time, 0.0f);
  a.rain = fmaxf(a.rain + (a.autoconverted + a.gathered + a.to_rain) * time, 0.0f);
  a.ice = fmaxf(a.ice - (a.aggregated + a.collected - a.to_crystals - a.to_ice) * time, 0.0f);
  a.snow = fmaxf(a.snow + (a.to_snow + a.aggregated + a.collected + a.rimed) * time, 0.0f);
  float warmed = kSublimation * (a.to_snow + a.to_ice + a.to_crystals) + a.latent * a.to_rain +
                 (kSublimation - a.latent) * a.rimed;
  a.temperature += __fdividef(warmed, a.heat) * time;
}

static __device__ __forceinline__ void apply_warm(Level& a, float time) {
  limit(fmaxf(a.cloud, kTrace), (a.autoconverted + a.gathered + a.rimed) * time, a.autoconverted,
        a.gathered, a.rimed);
  limit(fmaxf(a.rain, kTrace), (-a.autoconverted - a.gathered - a.to_rain - a.rimed) * time,
        a.autoconverted, a.gathered, a.to_rain, a.rimed);
  limit(fmaxf(a.snow, kMinFalling), -a.dried * time, a.dried);
  a.vapour -= (a.to_rain + a.dried) * time;
  a.cloud = fmaxf(a.cloud - (a.autoconverted + a.gathered + a.rimed) * time, 0.0f);
  a.rain = fmaxf(a.rain + (a.autoconverted + a.gathered + a.to_rain + a.rimed) * time, 0.0f);
  a.snow = fmaxf(a.snow + a.dried * time, 0.0f);
  a.temperature += __fdividef(a.latent * (a.to_rain + a.dried), a.heat) * time;
}

static __device__ __forceinline__ void condense(Level& a, float time) {
  float ratio = __fdividef(kTriple, a.temperature);
  float partial =
      kTriplePressure * __expf(__logf(ratio) * kWaterPower) * __expf(kWaterSlope * (1.0f - ratio));
  a.over_water = mixing_ratio(partial, a.pressure);
  float steeper = __fdividef(a.latent * a.latent, kVapourGas * a.heat) * a.over_water;
  float excess = __fdividef(fmaxf(a.vapour, kTrace) - a.over_water,
                            1.0f + __fdividef(steeper, a.temperature * a.temperature));
  float condensed =
      fminf(__fdividef(fmaxf(excess, 0.0f), time), __fdividef(fmaxf(a.vapour, 0.0f), time));
  if (a.cloud > 0.0f && excess < 0.0f) condensed = __fdividef(fmaxf(excess, -a.cloud), time);
  a.vapour -= condensed * time;
  a.cloud = fmaxf(a.cloud + condensed * time, 0.0f);
  a.temperature += __fdividef(condensed * a.latent, a.heat) * time;
  if (a.cloud <= kTrace) a.cloud = 0.0f;
  if (a.ice <= kTrace) a.ice = 0.0f;
}

static __device__ __forceinline__ void change(const Column& c, const Kept& kept, float time) {
#pragma unroll 1
  for (int level = 0; level < c.levels; ++level) {
    const int k = unknown(level);
    int at = c.at(k);
    Level a = {};
    a.vapour = c.air.vapour[at], a.temperature = kept.temperature[k];
    a.rain = c.air.rain[at], a.cloud = c.air.cloud[at];
    a.snow = c.air.snow[at], a.ice = c.air.ice[at];
    a.over_water = kept.over_water[k], a.over_ice = kept.over_ice[k];
    a.humid = kept.humid[k], a.humid_ice = kept.humid_ice[k];
    a.heat = kept.heat[k], a.latent = kept.latent[k], a.thin = kept.thin[k];
    a.density = c.air.density[at], a.pressure = c.air.pressure[at];
    freeze_and_melt(a, time, kept.rain_slope[k]);
    a.flakes = flakes_of(a.below);
    a.drop = rain_slope(a.rain, a.density);
    a.flake = snow_slope(a.snow, a.density, a.flakes);
    a.to_drop = resistance(a.latent, a.pressure, a.temperature, a.density, a.over_water);
    a.to_flake = resistance(kSublimation, a.pressure, a.temperature, a.density, a.over_ice);
    a.vent = ventilation(a.pressure, a.temperature, a.density);
    warm_rates(a, time);
    cold_rates(a, time);
    // As published, although the next minor step works them out anew.
    kept.flakes[k] = a.flakes;
    kept.rain_slope[k] = a.drop.one;
    kept.snow_slope[k] = a.flake.one, kept.snow_slope_b[k] = a.flake.b;
    kept.snow_slope2[k] = a.flake.two;
    kept.crystals[k] = a.crystals;
    if (a.temperature <= kFreezing) apply_frozen(a, time);
    else apply_warm(a, time);
    condense(a, time);
    c.air.vapour[at] = a.vapour;
    kept.temperature[k] = a.temperature;
    c.air.rain[at] = a.rain, c.air.cloud[at] = a.cloud;
    c.air.snow[at] = a.snow, c.air.ice[at] = a.ice;
    kept.over_water[k] = a.over_water;
  }
}

// What has reached the ground in a minor step, in mm: all of it, frozen, and that share.
struct Ground {
  float *rain, *rain_now, *share, *snow, *snow_now;
};
static __device__ __forceinline__ void account(const Ground& ground, int own, float all,
                                               float frozen, float depth) {
  ground.rain_now[own] = 0.0f;
  if (all > 0.0f) {
    ground.rain_now[own] = all * depth;
    ground.rain[own] = all * depth + ground.rain[own];
  }
  ground.snow_now[own] = 0.0f;
  if (frozen > 0.0f) {
    ground.snow_now[own] = frozen * depth;
    ground.snow[own] = frozen * depth + ground.snow[own];
  }
  ground.share[own] = 0.0f;
  if (all > 0.0f) ground.share[own] = __fdividef(frozen * depth, ground.rain_now[own] + 1e-12f);
}

extern "C" __global__ void wsm5(Air air, Ground ground, float seconds, int width, int depth,
                                int levels) {
  Levels temperature, heat, latent, over_water, over_ice, humid, humid_ice, slope, flake_slope,
      flake_b, flake2, thin, flakes, first_speed, second_speed, crystals;
  int i = static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);
  int j = static_cast<int>(blockIdx.y) * kBlock + static_cast<int>(threadIdx.y);
  if (i >= width || j >= depth) return;
  const Column c = {air, i + j * width * levels, width, levels};
  const Kept kept = {temperature, heat,        latent,       over_water, over_ice, humid,
                     humid_ice,   slope,       flake_slope,  flake_b,    flake2,   thin,
                     flakes,      first_speed, second_speed, crystals};
  begin(c, kept);
  int minor = max(static_cast<int>(__fdividef(seconds, kMinorStep) + 0.5f), 1);
  float time = __fdividef(seconds, static_cast<float>(minor));
  for (int n = 0; n < minor; ++n) {
    saturate(c, kept);
    begin_crystals(c, kept);
    float rain = 0.0f, snow = 0.0f;
    fall(c, kept, time, find_speeds(c, kept, time), rain, snow);
    float ice = fall_ice(c, kept, time, find_ice_speed(c, kept, time));
    float depth_of_water = air.thickness[c.at(0)] * (1000.0f / kWaterDensity) * time;
    account(ground, i + j * width, rain + snow + ice, snow + ice, depth_of_water);
    change(c, kept, time);
  }
#pragma unroll 1
  for (int k = 0; k < levels; ++k)
    air.theta[c.at(k)] = __fdividef(temperature[k], air.exner[c.at(k)]);
}

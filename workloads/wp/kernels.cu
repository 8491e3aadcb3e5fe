// A step of the physics of clouds and rain in columns of air. See README.md.
#include "common/cuda_lite.h"
#include "wp/fields.h"

constexpr int kThreads = 64;

// The column of a thread: its levels are `columns` words apart, lanes lie side by side.
struct Column {
  float* fields;
  int columns, levels, own;
  __device__ __forceinline__ float& at(Field field, int level) const {
    return fields[(field * levels + level) * columns + own];
  }
};

static __device__ __forceinline__ float power(float x, float exponent) {
  return __expf(exponent * __logf(x));
}

static __device__ __forceinline__ float clamp(float x, float low, float high) {
  return fminf(fmaxf(x, low), high);
}

// Vapour at saturation (Murray, J. Appl. Meteor. 6, 1967): a, b for water or ice.
static __device__ __forceinline__ float saturation(float temperature, float pressure, float a,
                                                   float b) {
  float partial = 610.78f * __expf(a * (temperature - 273.16f) / (temperature - b));
  return 0.622f * partial / (pressure - partial);
}

static __device__ __forceinline__ float over_water(float temperature, float pressure) {
  return saturation(temperature, pressure, 17.27f, 35.86f);
}

// Saturation, and how fast rain and snow fall: drops and flakes distributed as by Marshall and
// Palmer, with the numbers of Hong, Dudhia, Chen.
static __device__ __forceinline__ void prepare(const Column& air) {
  for (int k = 0; k < air.levels; ++k) {
    float temperature = air.at(kTemperature, k), pressure = air.at(kPressure, k);
    float density = air.at(kDensity, k);
    air.at(kOverWater, k) = over_water(temperature, pressure);
    air.at(kOverIce, k) = saturation(temperature, pressure, 21.87f, 7.66f);
    float thin = sqrtf(1.28f / density);
    float rain = fmaxf(density * air.at(kRain, k), kTrace);
    float snow = fmaxf(density * air.at(kSnow, k), kTrace);
    float flakes = 6.2832e8f * __expf(0.12f * clamp(kZeroCelsius - temperature, 0.0f, 80.0f));
    air.at(kRainSpeed, k) = 2503.0f * power(2.5133e10f / rain, -0.2f) * thin;
    air.at(kSnowSpeed, k) = 19.8f * power(flakes / snow, -0.1025f) * thin;
  }
}

// What leaves a level downwards in `time`, per area: no more than there is.
static __device__ __forceinline__ float fall(float& ratio, float speed, float mass, float thickness,
                                             float time, float above) {
  float there = mass * ratio + above;
  float leaving = fminf(mass * ratio * speed * time / thickness, there);
  ratio = (there - leaving) / mass;
  return leaving;
}

// From the top down; returns in rain_out and snow_out what reaches the ground, kg/m^2.
static __device__ __forceinline__ void sediment(const Column& air, float time, float& rain_out,
                                                float& snow_out) {
  float rain_above = 0.0f, snow_above = 0.0f;
  for (int k = air.levels - 1; k >= 0; --k) {
    float thickness = air.at(kThickness, k), mass = air.at(kDensity, k) * thickness;
    float rain = air.at(kRain, k), snow = air.at(kSnow, k);
    rain_above = fall(rain, air.at(kRainSpeed, k), mass, thickness, time, rain_above);
    snow_above = fall(snow, air.at(kSnowSpeed, k), mass, thickness, time, snow_above);
    air.at(kRain, k) = rain;
    air.at(kSnow, k) = snow;
  }
  rain_out += rain_above;
  snow_out += snow_above;
}

// How fast each kind of water becomes another, were there enough of it.
static __device__ __forceinline__ void find_rates(const Column& air) {
  for (int k = 0; k < air.levels; ++k) {
    float temperature = air.at(kTemperature, k), pressure = air.at(kPressure, k);
    float density = air.at(kDensity, k), vapour = air.at(kVapour, k);
    float cloud = air.at(kCloud, k), ice = air.at(kIce, k);
    float rain = air.at(kRain, k), snow = air.at(kSnow, k);
    float over_water = air.at(kOverWater, k), over_ice = air.at(kOverIce, k);
    float warm = fmaxf(temperature - kZeroCelsius, 0.0f);
    float cold = clamp((kZeroCelsius - temperature) / 20.0f, 0.0f, 1.0f);
    float colder = clamp((kZeroCelsius - 15.0f - temperature) / 20.0f, 0.0f, 1.0f);
    float rain_content = fmaxf(density * rain, kTrace);
    float snow_content = fmaxf(density * snow, kTrace);

    air.at(kAutoconversion, k) = 1e-3f * fmaxf(cloud - kCloudHeld, 0.0f);
    air.at(kAccretion, k) = 2.2f * cloud * power(rain_content, 0.875f);
    air.at(kRiming, k) = cold * 1.1f * cloud * power(snow_content, 0.8125f);
    air.at(kFreezing, k) = colder * 2e-3f * cloud;
    float ventilation = 1.6f + 30.4f * power(rain_content, 0.2046f);
    float dryness = fmaxf(1.0f - vapour / over_water, 0.0f);
    air.at(kEvaporation, k) = dryness * ventilation * power(rain_content, 0.525f) /
                              (density * (2.03e4f + 9.58e6f / (pressure * over_water)));
    air.at(kMelting, k) = 4e-4f * warm * power(snow_content, 0.65f);
    air.at(kAggregation, k) = 1e-3f * __expf(0.05f * fminf(temperature - kZeroCelsius, 0.0f)) *
                                  fmaxf(ice - kIceHeld, 0.0f) +
                              0.5f * ice * power(snow_content, 0.875f);
    air.at(kDeposition, k) = cold * 1e-3f * (vapour - over_ice);
  }
}

// Factor that keeps `rates` from taking more than there is.
static __device__ __forceinline__ float within(float there, float rates, float time) {
  return fminf(1.0f, there / fmaxf(rates * time, 1e-20f));
}

static __device__ __forceinline__ void apply_rates(const Column& air, float time) {
  for (int k = 0; k < air.levels; ++k) {
    float vapour = air.at(kVapour, k), cloud = air.at(kCloud, k), ice = air.at(kIce, k);
    float rain = air.at(kRain, k), snow = air.at(kSnow, k);
    float autoconversion = air.at(kAutoconversion, k), accretion = air.at(kAccretion, k);
    float riming = air.at(kRiming, k), freezing = air.at(kFreezing, k);
    float share = within(cloud, autoconversion + accretion + riming + freezing, time) * time;
    float to_rain = share * (autoconversion + accretion), rimed = share * riming;
    float frozen = share * freezing;
    float evaporated = fminf(air.at(kEvaporation, k) * time, rain);
    float melted = fminf(air.at(kMelting, k) * time, snow);
    float gathered = fminf(air.at(kAggregation, k) * time, ice);
    float deposited = clamp(air.at(kDeposition, k) * time, gathered - ice, 0.5f * vapour);

    air.at(kVapour, k) = vapour + evaporated - deposited;
    air.at(kCloud, k) = fmaxf(cloud - (to_rain + rimed + frozen), 0.0f);
    air.at(kIce, k) = fmaxf(ice + frozen + deposited - gathered, 0.0f);
    air.at(kRain, k) = fmaxf(rain + to_rain + melted - evaporated, 0.0f);
    air.at(kSnow, k) = fmaxf(snow + gathered + rimed - melted, 0.0f);
    air.at(kTemperature, k) += (kMeltingHeat * (rimed + frozen - melted) -
                                kEvaporationHeat * evaporated + kSublimationHeat * deposited) /
                               kHeat;
  }
}

// Vapour above saturation becomes cloud, cloud in dry air vapour; warm ice becomes cloud.
static __device__ __forceinline__ void condense(const Column& air) {
  for (int k = 0; k < air.levels; ++k) {
    float temperature = air.at(kTemperature, k), vapour = air.at(kVapour, k);
    float cloud = air.at(kCloud, k), ice = air.at(kIce, k);
    float melted = ice * clamp((temperature - kZeroCelsius) / 2.0f, 0.0f, 1.0f);
    temperature -= kMeltingHeat / kHeat * melted;
    cloud += melted;
    float saturated = over_water(temperature, air.at(kPressure, k));
    float slope = kEvaporationHeat * kEvaporationHeat / (kHeat * kVapourGas) * saturated /
                  (temperature * temperature);
    float condensed = fmaxf((vapour - saturated) / (1.0f + slope), -cloud);
    air.at(kIce, k) = ice - melted;
    air.at(kCloud, k) = cloud + condensed;
    air.at(kVapour, k) = vapour - condensed;
    air.at(kTemperature, k) = temperature + kEvaporationHeat / kHeat * condensed;
  }
}

// Thread = column. ground[i] and ground[columns + i]: rain and snow that have reached it, kg/m^2.
extern "C" __global__ void __launch_bounds__(kThreads)
    wp_step(float* fields, float* ground, int columns, int levels, int substeps, float time) {
  int own = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (own >= columns) return;
  Column air = {fields, columns, levels, own};
  float rain = ground[own], snow = ground[columns + own];
  prepare(air);
  for (int s = 0; s < substeps; ++s) sediment(air, time / static_cast<float>(substeps), rain, snow);
  ground[own] = rain;
  ground[columns + own] = snow;
  find_rates(air);
  apply_rates(air, time);
  condense(air);
}

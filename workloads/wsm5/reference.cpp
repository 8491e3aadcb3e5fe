// A step of WSM5 (Hong, Dudhia, Chen, Mon. Wea. Rev. 132, 2004), level by level.
#include "wsm5/reference.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

#include "wsm5/physics.h"

namespace raddle::workloads {

namespace {

using std::max;
using std::min;

double over(double t, double p, double power, double slope) {
  const double e =
      kTriplePressure * std::pow(kTriple / t, power) * std::exp(slope * (1 - kTriple / t));
  return max<double>(kWeights * e / (p - e), kTrace);
}
double over_water(double t, double p) { return over(t, p, kWaterPower, kWaterSlope); }
double over_ice(double t, double p) { return over(t, p, kIcePower, kIceSlope); }

double heat(double vapour) {
  const double q = max<double>(vapour, kTrace);
  return kDryHeat * (1 - q) + q * kVapourHeat;
}
double viscosity(double t, double density) {
  return 1.496e-6 * std::pow(t, 1.5) / (t + 120) / density;
}
double diffusivity(double t, double p) { return 8.794e-5 * std::pow(t, 1.81) / p; }
double conductivity(double t, double density) { return 1414 * viscosity(t, density) * density; }
double resistance(double latent, double p, double t, double density, double saturated) {
  return density * latent * latent / (conductivity(t, density) * kVapourGas * t * t) +
         1 / (saturated * diffusivity(t, p));
}
double ventilation(double p, double t, double density) {
  const double v = viscosity(t, density);
  return std::pow(v / diffusivity(t, p), 0.3333333) / std::sqrt(v) *
         std::pow(kSurfaceDensity / density, 0.25);
}
double crystals(double density, double ice) {
  return std::clamp<double>(kCrystals * std::pow(density * max<double>(ice, kTrace), 0.75),
                            kFewestCrystals, kMaxCrystals);
}
double flakes(double below) {
  return max(min<double>(std::exp(kSnowColder * below), kSnowMostN / kSnowN), 1.0);
}

/// Of drops or flakes.
struct Sizes {
  double slope, b;
  double grown() const { return slope * slope * std::sqrt(slope * b); }
};
Sizes drops(double rain, double density) {
  if (rain <= kMinFalling) return {kRainLeastSlope, kRainLeastSlopeB};
  const double slope = std::pow(rain * density / kRainMass, 0.25);
  return {slope, std::pow(slope, kRainB)};
}
Sizes snow_sizes(double snow, double density, double flakes) {
  if (snow <= kMinFalling) return {kSnowLeastSlope, kSnowLeastSlopeB};
  const double slope = std::pow(snow * density / (kSnowMass * flakes), 0.25);
  return {slope, std::pow(slope, kSnowB)};
}

/// One level.
struct Level {
  double t, vapour, cloud, ice, rain, snow, density, p, thickness;
  double heat_capacity, latent, humid, humid_ice, saturated, saturated_ice;
  Sizes drop, flake;  ///< when the minor step began
  double flakes_then, crystals_then, thin;

  void begin_minor();
  void melt(double time, double share);
  void freeze(double time, const Nudge&);
  void change(double time, const Nudge&);
  void condense(double time);
};

void Level::begin_minor() {
  saturated = over_water(t, p);
  saturated_ice = t < kTriple ? over_ice(t, p) : saturated;
  humid = max<double>(vapour / saturated, kTrace);
  humid_ice = max<double>(vapour / saturated_ice, kTrace);
  flakes_then = flakes(kFreezing - t);
  drop = drops(rain, density);
  flake = snow_sizes(snow, density, flakes_then);
  crystals_then = crystals(density, ice);
  thin = std::sqrt(kSurfaceDensity / density);
}

void Level::melt(double time, double share) {
  if (t <= kFreezing || snow <= 0) return;
  const double each = kSnowSurface * flake.slope * flake.slope +
                      kSnowVentilated * ventilation(p, t, density) * flake.grown();
  const double rate = conductivity(t, density) / kFusion * (t - kFreezing) * std::numbers::pi / 2 *
                      flakes_then * each;
  const double melted = std::clamp(rate * time, 0.0, snow) * share;
  snow -= melted;
  rain += melted;
  t -= kFusion / heat(vapour) * melted;
}

void Level::freeze(double time, const Nudge& nudge) {
  const double below = kFreezing - t;
  const double fusion = below < 0 ? kFusion : kSublimation - latent;
  auto turn = [&](double& from, double& to, double much) {
    from -= much;
    to += much;
    t += fusion / heat_capacity * much;
  };
  if (below < nudge.kelvin && ice > 0) {
    t -= fusion / heat_capacity * ice;
    cloud += std::exchange(ice, 0);
  }
  if (below > kHomogeneous + nudge.kelvin && cloud > 0) turn(cloud, ice, cloud);
  const double colder = std::exp(kFreezingColder * below) - 1;
  if (below > 0 && cloud > 0)
    turn(cloud, ice,
         min(kFreezingRate * colder * density / kWaterDensity / kDrops * cloud * cloud * time,
             cloud));
  if (below > 0 && rain > 0)
    turn(rain, snow,
         min(20 * std::numbers::pi * std::numbers::pi * kFreezingRate * kRainN * kWaterDensity /
                 density * colder * std::pow(drop.slope, 7) * time,
             rain));
}

/// Multiplies rates so that no more than `there` is taken in a minor step.
void limit(double there, double taken, std::initializer_list<double*> rates) {
  if (taken <= there) return;
  for (double* rate : rates) *rate *= there / taken;
}

void Level::change(double time, const Nudge& nudge) {
  const double below = kFreezing - t;
  freeze(time, nudge);
  const double many = flakes(below), n = crystals(density, ice);
  const Sizes drop = drops(rain, density), flake = snow_sizes(snow, density, many);
  const double to_drop = resistance(latent, p, t, density, saturated);
  const double to_flake = resistance(kSublimation, p, t, density, saturated_ice);
  const double vent = ventilation(p, t, density);
  double converted = 0, gathered = 0, evaporated = 0, rimed = 0, collected = 0, aggregated = 0;
  double deposited = 0, nucleated = 0, sublimed = 0, dried = 0;
  if (cloud > kCloudHeld * (1 + nudge.cloud))
    converted = min(kAutoconversion * std::pow(cloud, 7.0 / 3), cloud / time);
  if (rain > kMinFalling && cloud > kTrace)
    gathered = min(kRainGathers * std::pow(drop.slope, 3) * drop.b * cloud * thin, cloud / time);
  double maximum = (max<double>(vapour, kTrace) - saturated) / time;
  if (rain > 0) {
    evaporated = (humid - 1) *
                 (kRainSurface * drop.slope * drop.slope + kRainVentilated * vent * drop.grown()) /
                 to_drop;
    evaporated = evaporated < 0 ? max({evaporated, -rain / time, maximum / 2})
                                : min(evaporated, maximum / 2);
  }
  if (snow > kMinFalling && cloud > kTrace)
    rimed =
        min(kSnowGathers * many * std::pow(flake.slope, 3) * flake.b * cloud * thin, cloud / time);
  const double supersaturated = max<double>(vapour, kTrace) - saturated_ice;
  maximum = supersaturated / time;
  if (below > nudge.kelvin) {
    if (snow > kMinFalling && ice > kTrace) {
      const double size = min<double>(kCrystalSize * std::sqrt(density * ice / n), kCrystalMost);
      const double apart =
          kSnowSpeed * flake.b * thin - kCrystalSpeed * std::pow(size, double{kCrystalB});
      const double swept =
          flake.slope * (2 * flake.slope * flake.slope + 2 * size * flake.slope + size * size);
      collected = std::numbers::pi / 4 * ice * std::exp(-0.07 * below) * kSnowN * many *
                  std::abs(apart) * swept;
    }
    bool used = false;
    auto share = [&](double rate, double there, double others) {
      const double left = maximum - others;
      const double got =
          rate < 0 ? max({rate, -there / time, maximum / 2, left}) : min({rate, maximum / 2, left});
      used = std::abs(others + got) >= std::abs(maximum);
      return got;
    };
    if (ice > 0) {
      const double size = kCrystalSize * std::sqrt(density * ice / n);
      deposited = share(4 * size * n * (humid_ice - 1) / to_flake, ice, evaporated);
    }
    if (snow > 0 && !used)
      sublimed = share(
          (humid_ice - 1) * many *
              (kSnowSurface * flake.slope * flake.slope + kSnowVentilated * vent * flake.grown()) /
              to_flake,
          snow, evaporated + deposited);
    if (supersaturated > 0 && !used) {
      const double nuclei = 4.92e-11 * std::pow(1e3 * std::exp(0.1 * below), 1.33);
      nucleated = min({max((nuclei / density - ice) / time, 0.0), maximum,
                       maximum - evaporated - deposited - sublimed});
    }
    if (ice > 0) aggregated = max((ice - kIceHeld / density) / time, 0.0);
  }
  // Where it is warm nothing sublimes, and so nothing dries: the published program's, too.
  if (below < 0) dried = std::clamp(snow > 0 && humid < 1 ? sublimed : 0.0, -snow / time, 0.0);
  const bool frozen = t <= kFreezing - nudge.kelvin;
  limit(max<double>(cloud, kTrace), (converted + gathered + rimed) * time,
        {&converted, &gathered, &rimed});
  if (frozen) {
    limit(max<double>(ice, kTrace), (aggregated + collected - nucleated - deposited) * time,
          {&aggregated, &collected, &nucleated, &deposited});
    limit(max<double>(rain, kTrace), -(converted + gathered + evaporated) * time,
          {&converted, &gathered, &evaporated});
    limit(max<double>(snow, kTrace), -(sublimed + aggregated + collected + rimed) * time,
          {&sublimed, &aggregated, &collected, &rimed});
  } else {
    limit(max<double>(rain, kTrace), -(converted + gathered + evaporated + rimed) * time,
          {&converted, &gathered, &evaporated, &rimed});
    limit(max<double>(snow, kMinFalling), -dried * time, {&dried});
    sublimed = dried;
    deposited = nucleated = aggregated = collected = 0;
  }
  vapour -= (evaporated + sublimed + nucleated + deposited) * time;
  cloud = max(cloud - (converted + gathered + rimed) * time, 0.0);
  rain = max(rain + (converted + gathered + evaporated + (frozen ? 0 : rimed)) * time, 0.0);
  ice = max(ice - (aggregated + collected - nucleated - deposited) * time, 0.0);
  snow = max(snow + (sublimed + aggregated + collected + (frozen ? rimed : 0)) * time, 0.0);
  t += time / heat_capacity *
       (frozen ? kSublimation * (sublimed + deposited + nucleated) + latent * evaporated +
                     (kSublimation - latent) * rimed
               : latent * (evaporated + sublimed));
  condense(time);
}

void Level::condense(double time) {
  const double water = over_water(t, p), q = max<double>(vapour, kTrace);
  const double excess =
      (q - water) / (1 + latent * latent / (kVapourGas * heat_capacity) * water / (t * t));
  double rate = min(max(excess, 0.0), max(vapour, 0.0)) / time;
  if (cloud > 0 && excess < 0) rate = max(excess, -cloud) / time;
  vapour -= rate * time;
  cloud = max(cloud + rate * time, 0.0);
  t += rate * latent / heat_capacity * time;
  if (cloud <= kTrace) cloud = 0;
  if (ice <= kTrace) ice = 0;
}

/// Cuts a minor step into as many parts as levels that the fastest of it falls through.
double parts_of(double levels, const Nudge& nudge) {
  return max(std::floor(levels + 1 + nudge.parts), 1.0);
}

/// Lets one kind of water fall for a part of a minor step; what reaches the ground, kg/m^3/s.
double fall(std::vector<Level>& air, double Level::*what, const std::vector<double>& speed,
            double time, double share) {
  double above = 0, thickness = 1;
  for (std::size_t k = air.size(); k-- > 0;) {
    Level& level = air[k];
    const double here = level.density * level.*what * speed[k] * share;
    const double kept = here - above * thickness / level.thickness;
    level.*what = max(level.*what - kept * time / level.density, 0.0);
    above = here;
    thickness = level.thickness;
  }
  return above;
}

/// What falls to the ground: rain, snow, ice.
std::array<double, 3> sediment(std::vector<Level>& air, double time, const Nudge& nudge) {
  std::vector<double> rain, snow, ice;
  double fastest = 0;
  for (const Level& level : air) {
    rain.push_back(kRainSpeed * level.drop.b * level.thin / level.thickness);
    snow.push_back(kSnowSpeed * level.flake.b * level.thin / level.thickness);
    fastest = max({fastest, rain.back(), snow.back()});
  }
  std::array<double, 3> out{};
  double parts = parts_of(fastest * time, nudge);
  for (double n = 0; n < parts; ++n) {
    out[0] += fall(air, &Level::rain, rain, time, 1 / parts);
    out[1] += fall(air, &Level::snow, snow, time, 1 / parts);
    for (Level& level : air) level.melt(time, 1 / parts);
  }
  fastest = 0;
  for (const Level& level : air) {
    const double mass = level.density * level.ice / level.crystals_then;
    const double size = min<double>(kCrystalSize * std::sqrt(max(mass, 0.0)), kCrystalMost);
    ice.push_back(level.ice > 0 ? kCrystalSpeed * std::pow(max(size, 1e-25), double{kCrystalB}) /
                                      level.thickness
                                : 0.0);
    fastest = max(fastest, ice.back());
  }
  parts = parts_of(fastest * time, nudge);
  for (double n = 0; n < parts; ++n) out[2] += fall(air, &Level::ice, ice, time, 1 / parts);
  return out;
}

}  // namespace

void AirColumn::step(double seconds, const Nudge& nudge) {
  std::vector<Level> air(fields[kTheta].size());
  for (std::size_t k = 0; k < air.size(); ++k) {
    auto of = [&](AirField f) { return fields[f][k]; };
    Level& level = air[k];
    level.t = of(kTheta) * of(kExner);
    level.vapour = of(kVapour);
    level.cloud = max(of(kCloud), 0.0);
    level.ice = max(of(kIce), 0.0);
    level.rain = max(of(kRain), 0.0);
    level.snow = max(of(kSnow), 0.0);
    level.density = of(kDensity);
    level.p = of(kPressure);
    level.thickness = of(kThickness);
    level.heat_capacity = heat(level.vapour);
    level.latent = kEvaporation - (kWaterHeat - kVapourHeat) * (level.t - kFreezing);
  }
  const double minor = max(std::floor(seconds / kMinorStep + 0.5), 1.0), time = seconds / minor;
  for (double n = 0; n < minor; ++n) {
    for (Level& level : air) level.begin_minor();
    const auto [rain, snow, ice] = sediment(air, time, nudge);
    const double depth = air[0].thickness * time;  // level kg/m^2 is level mm
    ground[kRainNow] = (rain + snow + ice) * depth;
    ground[kSnowNow] = (snow + ice) * depth;
    ground[kRainAll] += ground[kRainNow];
    ground[kSnowAll] += ground[kSnowNow];
    ground[kFrozenShare] = ground[kSnowNow] / (ground[kRainNow] + 1e-12);
    for (Level& level : air) level.change(time, nudge);
  }
  for (std::size_t k = 0; k < air.size(); ++k) {
    const Level& level = air[k];
    fields[kTheta][k] = level.t / fields[kExner][k];
    fields[kVapour][k] = level.vapour;
    fields[kCloud][k] = level.cloud;
    fields[kIce][k] = level.ice;
    fields[kRain][k] = level.rain;
    fields[kSnow][k] = level.snow;
  }
}

}  // namespace raddle::workloads

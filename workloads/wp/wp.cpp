// Host code of wp: physics of clouds and rain in columns of air, step by step. See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "wp/fields.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 64;  // as in kernels.cu

double saturation(double temperature, double pressure, double a, double b) {
  double partial = 610.78 * std::exp(a * (temperature - 273.16) / (temperature - b));
  return 0.622 * partial / (pressure - partial);
}
double over_water(double temperature, double pressure) {
  return saturation(temperature, pressure, 17.27, 35.86);
}
double over_ice(double temperature, double pressure) {
  return saturation(temperature, pressure, 21.87, 7.66);
}

// The reference: one level of a column, in double precision.
struct Level {
  std::array<double, kInputs> field;
  double& operator[](Field f) { return field[f]; }
  double content(Field f) { return std::max<double>(field[kDensity] * field[f], kTrace); }

  double rain_speed() {
    return 2503 * std::pow(2.5133e10 / content(kRain), -0.2) * std::sqrt(1.28 / field[kDensity]);
  }
  double snow_speed() {
    double cold = std::clamp<double>(kZeroCelsius - field[kTemperature], 0, 80);
    return 19.8 * std::pow(6.2832e8 * std::exp(0.12 * cold) / content(kSnow), -0.1025) *
           std::sqrt(1.28 / field[kDensity]);
  }
  /// Takes `above` in and lets what falls in `time` at `speed` out; both kg/m^2.
  double fall(Field f, double speed, double time, double above) {
    double mass = field[kDensity] * field[kThickness];
    double there = mass * field[f] + above;
    double outgoing = std::min(mass * field[f] * speed * time / field[kThickness], there);
    field[f] = (there - outgoing) / mass;
    return outgoing;
  }
  void change(double time);
  void condense();
};

// Water changes its kind; vapour at saturation is that of before the sedimentation, which changes
// neither temperature nor pressure.
void Level::change(double time) {
  Level& air = *this;
  double temperature = air[kTemperature], vapour = air[kVapour], cloud = air[kCloud],
         ice = air[kIce];
  double warm = std::max<double>(temperature - kZeroCelsius, 0);
  double cold = std::clamp<double>((kZeroCelsius - temperature) / 20, 0, 1);
  double colder = std::clamp<double>((kZeroCelsius - 15 - temperature) / 20, 0, 1);
  double water = over_water(temperature, air[kPressure]);
  double rain = content(kRain), snow = content(kSnow);

  double to_rain =
      1e-3 * std::max<double>(cloud - kCloudHeld, 0) + 2.2 * cloud * std::pow(rain, 0.875);
  double rimed = cold * 1.1 * cloud * std::pow(snow, 0.8125);
  double frozen = colder * 2e-3 * cloud;
  double wanted = (to_rain + rimed + frozen) * time;
  double share = wanted > cloud ? cloud / wanted * time : time;
  to_rain *= share;
  rimed *= share;
  frozen *= share;

  double evaporation = std::max(1 - vapour / water, 0.0) * (1.6 + 30.4 * std::pow(rain, 0.2046)) *
                       std::pow(rain, 0.525) /
                       (air[kDensity] * (2.03e4 + 9.58e6 / (air[kPressure] * water)));
  double evaporated = std::min(evaporation * time, air[kRain]);
  double melted = std::min(4e-4 * warm * std::pow(snow, 0.65) * time, air[kSnow]);
  double aggregation = 1e-3 * std::exp(0.05 * std::min<double>(temperature - kZeroCelsius, 0)) *
                           std::max<double>(ice - kIceHeld, 0) +
                       0.5 * ice * std::pow(snow, 0.875);
  double gathered = std::min(aggregation * time, ice);
  double deposited =
      std::clamp(cold * 1e-3 * (vapour - over_ice(temperature, air[kPressure])) * time,
                 gathered - ice, vapour / 2);

  air[kVapour] += evaporated - deposited;
  air[kCloud] = std::max(cloud - to_rain - rimed - frozen, 0.0);
  air[kIce] = std::max(ice + frozen + deposited - gathered, 0.0);
  air[kRain] = std::max(air[kRain] + to_rain + melted - evaporated, 0.0);
  air[kSnow] = std::max(air[kSnow] + gathered + rimed - melted, 0.0);
  air[kTemperature] += (kMeltingHeat * (rimed + frozen - melted) - kEvaporationHeat * evaporated +
                        kSublimationHeat * deposited) /
                       kHeat;
}

void Level::condense() {
  Level& air = *this;
  double melted = air[kIce] * std::clamp<double>((air[kTemperature] - kZeroCelsius) / 2, 0, 1);
  air[kIce] -= melted;
  air[kCloud] += melted;
  air[kTemperature] -= kMeltingHeat * melted / kHeat;
  double t = air[kTemperature], water = over_water(t, air[kPressure]);
  double slope = double{kEvaporationHeat} * kEvaporationHeat * water / (kHeat * kVapourGas * t * t);
  double condensed = std::max((air[kVapour] - water) / (1 + slope), -air[kCloud]);
  air[kVapour] -= condensed;
  air[kCloud] += condensed;
  air[kTemperature] += kEvaporationHeat * condensed / kHeat;
}

class WeatherPrediction final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, columns_, {100, 4608, 4608});
    by_size(size, levels_, {6, 20, 27});
    by_size(size, steps_, {1, 1, 10});
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", columns_, {1, 1u << 20}, "columns", "columns of air");
    v.field("levels", levels_, {1, 256}, "levels", "levels of a column");
    v.field("steps", steps_, {1, 10000}, "launches", "time steps of a minute");
    v.field("substeps", substeps_, {1, 100}, "steps", "parts of a time step that rain falls in");
  }

  std::vector<std::string> violations() const override {
    if (words(kFields) <= 1u << 30) return {};
    return {"columns * levels must not exceed " + std::to_string((1u << 30) / kFields) + ", is " +
            std::to_string(words(1))};
  }

  void run(Device& device, std::uint64_t seed) override {
    start_ = atmosphere(seed);
    inputs_.add(start_, columns_, substeps_);
    KernelId kernel = device.kernel(load_module(device, "wp"), "wp_step");
    DeviceArray<float> fields(device, words(kFields));
    DeviceArray<float> ground(device, std::vector<float>(2 * std::size_t{columns_}, 0.0f));
    device.copy_to_device(fields.address(), start_.data(), start_.size() * sizeof(float));
    for (std::uint32_t s = 0; s < steps_; ++s)
      device.launch(kernel, {blocks_for(columns_, kThreads)}, {kThreads},
                    Arguments(fields.address(), ground.address(), columns_, levels_, substeps_,
                              static_cast<float>(kStep)));
    device.synchronize();
    ground_ = ground.download();
    states_ = device.download<float>(fields.address(), words(kStates));
  }

  std::string check() override {
    std::vector<double> states(words(kStates)), ground(ground_.size());
    std::vector<Level> air(levels_);
    for (std::size_t i = 0; i < columns_; ++i) {
      for (std::size_t k = 0; k < levels_; ++k)
        for (std::size_t f = 0; f < kInputs; ++f) air[k].field[f] = start_[word(f, k, i)];
      for (std::uint32_t s = 0; s < steps_; ++s)
        reference_step(air, ground[i], ground[columns_ + i]);
      for (std::size_t k = 0; k < levels_; ++k)
        for (std::size_t f = 0; f < kStates; ++f) states[word(f, k, i)] = air[k].field[f];
    }
    double much = *std::max_element(ground.begin(), ground.end());
    std::string wrong = first_beyond("ground", ground, ground_,
                                     [&](std::size_t) { return kTolerance * steps_ * much; });
    if (!wrong.empty()) return wrong;
    return first_beyond("states", states, states_, [&](std::size_t i) {
      return kTolerance * steps_ * (i < words(1) ? kWarm : kMoist);
    });
  }

 private:
  static constexpr double kStep = 60;     // s
  static constexpr double kWarm = 300;    // K, near the ground
  static constexpr double kMoist = 0.02;  // kg/kg, vapour near the ground
  // Of those, per step: twenty times the worst seen at every size over 1 to 100 steps. All rates
  // are continuous in their arguments: at a limit both branches agree.
  static constexpr double kTolerance = 1e-5;

  std::size_t words(std::size_t fields) const { return fields * levels_ * columns_; }
  std::size_t word(std::size_t field, std::size_t level, std::size_t column) const {
    return (field * levels_ + level) * columns_ + column;
  }

  // A standard atmosphere, colder by 6.5 K per kilometre, with clouds, rain and snow strewn in.
  std::vector<float> atmosphere(std::uint64_t seed) const {
    Rng rng(seed, "wp/atmosphere");
    std::vector<float> fields(words(kInputs));
    auto some = [&](double chance, double maximum) {
      return rng.unit() < chance ? maximum * rng.unit() : 0.0;
    };
    for (std::size_t i = 0; i < columns_; ++i) {
      double ground = 290 + 15 * rng.unit(), wet = 0.4 + 0.6 * rng.unit();
      double height = 0, pressure = 101'325;
      for (std::size_t k = 0; k < levels_; ++k) {
        std::array<double, kInputs> level;
        double t = std::max(ground - 0.0065 * height, 215.0) + rng.unit() - 0.5;
        double cold = std::clamp((kZeroCelsius - t) / 20, 0.0, 1.0);
        level[kTemperature] = t;
        level[kVapour] = wet * (0.6 + 0.5 * rng.unit()) * over_water(t, pressure);
        level[kCloud] = some(0.5, 2e-3) * (1 - cold / 2);
        level[kIce] = some(0.5, 4e-4) * cold;
        level[kRain] = some(0.4, 2e-3) * (1 - cold);
        level[kSnow] = some(0.4, 1e-3) * cold;
        level[kDensity] = pressure / (kGas * t);
        level[kPressure] = pressure;
        level[kThickness] = 400 + 10.0 * std::min(static_cast<double>(k), 40.0);
        height += level[kThickness];
        pressure *= std::exp(-9.81 * level[kThickness] / (kGas * t));
        for (std::size_t f = 0; f < kInputs; ++f)
          fields[word(f, k, i)] = static_cast<float>(level[f]);
      }
    }
    return fields;
  }

  void reference_step(std::vector<Level>& air, double& rain, double& snow) const {
    std::vector<double> rain_speed, snow_speed;
    for (Level& level : air) {
      rain_speed.push_back(level.rain_speed());
      snow_speed.push_back(level.snow_speed());
    }
    for (std::uint32_t s = 0; s < substeps_; ++s) {
      double rain_above = 0, snow_above = 0;
      for (std::size_t k = air.size(); k-- > 0;) {
        rain_above = air[k].fall(kRain, rain_speed[k], kStep / substeps_, rain_above);
        snow_above = air[k].fall(kSnow, snow_speed[k], kStep / substeps_, snow_above);
      }
      rain += rain_above;
      snow += snow_above;
    }
    for (Level& level : air) {
      level.change(kStep);
      level.condense();
    }
  }

  std::uint32_t columns_ = 0, levels_ = 0, steps_ = 0, substeps_ = 2;
  std::vector<float> start_, ground_, states_;
};

}  // namespace

void add_workload_wp(Workloads& w) {
  w.add<WeatherPrediction>("wp", "weather: long arithmetic down columns of air, coalesced");
}

}  // namespace raddle::runtime

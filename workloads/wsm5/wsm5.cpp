// Host code of wsm5: physics of clouds in the columns of a forecast's patch. See README.md.
#include <algorithm>
#include <cmath>
#include <deque>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "wsm5/atmosphere.h"
#include "wsm5/physics.h"
#include "wsm5/reference.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr Dim3 kBlock = {8, 8};

constexpr double kKelvin = 3e-3, kWater = 1e-6, kMillimetres = 1e-4;
constexpr double kBeside = 1e-3;  // K, share of a content, levels: what is at a limit

class Wsm5 final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, shape_.width, {9, 71, 71});
    by_size(size, shape_.depth, {3, 58, 58});
    by_size(size, shape_.levels, {5, 9, 27});
  }

  void visit(FieldVisitor& v) override {
    v.field("width", shape_.width, {1, 4096}, "columns", "of air, side by side");
    v.field("depth", shape_.depth, {1, 4096}, "rows", "of columns");
    v.field("levels", shape_.levels, {2, kMaxLevels}, "levels", "of a column");
    v.field("storm", shape_.storm, {0, 100}, "percent",
            "of the columns, in one corner, in which rain or snow falls");
    v.field("seconds", seconds_, {1, 600}, "s", "of the step, in parts of at most 120");
  }

  void run(Device& device, std::uint64_t seed) override {
    start_ = make_atmosphere(seed, shape_);
    for (const auto& field : start_) inputs_.add(field);
    inputs_.add(seconds_);
    KernelId kernel = device.kernel(load_module(device, "wsm5"), "wsm5");
    std::deque<DeviceArray<float>> fields, ground;
    std::array<Address, kAirFields> air{};
    std::array<Address, kGroundFields> below{};
    for (std::size_t f = 0; f < kAirFields; ++f)
      air[f] = fields.emplace_back(device, start_[f]).address();
    for (Address& address : below)
      address = ground.emplace_back(device, std::vector<float>(shape_.columns(), 0.0f)).address();
    device.launch(kernel, {blocks_for(shape_.width, kBlock.x), blocks_for(shape_.depth, kBlock.y)},
                  kBlock,
                  Arguments(air, below, static_cast<float>(seconds_), shape_.width, shape_.depth,
                            shape_.levels));
    device.synchronize();
    for (std::size_t f = 0; f < kGroundFields; ++f) ground_[f] = ground[f].download();
    for (std::size_t f = 0; f < kResults.size(); ++f)
      air_[f] = fields[kResults[f].field].download();
  }

  // A column is right if it is what the reference has, at its limits or just beside them.
  std::string check() override {
    for (std::uint32_t j = 0; j < shape_.depth; ++j)
      for (std::uint32_t i = 0; i < shape_.width; ++i) {
        std::string wrong = difference(i, j, {});
        if (wrong.empty() || right_beside(i, j)) continue;
        return wrong;
      }
    return "";
  }

 private:
  /// What is compared, with what is small in it: absolute.
  struct Result {
    AirField field;
    const char* name;
    double tolerance;
  };
  static constexpr std::array<Result, 6> kResults = {{{kTheta, "theta", kKelvin},
                                                      {kVapour, "vapour", kWater},
                                                      {kCloud, "cloud", kWater},
                                                      {kIce, "ice", kWater},
                                                      {kRain, "rain", kWater},
                                                      {kSnow, "snow", kWater}}};
  static constexpr std::array<const char*, kGroundFields> kGroundNames = {
      "rain on the ground", "rain of the step", "frozen share", "snow on the ground",
      "snow of the step"};

  // Each nudged way by itself and together: a column seldom is at two limits.
  bool right_beside(std::uint32_t i, std::uint32_t j) const {
    for (double kelvin : {0.0, -kBeside, kBeside})
      for (double cloud : {0.0, -kBeside, kBeside})
        for (double parts : {0.0, -kBeside, kBeside})
          if (difference(i, j, {kelvin, cloud, parts}).empty()) return true;
    return false;
  }

  std::string difference(std::uint32_t i, std::uint32_t j, const Nudge& nudge) const {
    AirColumn column;
    for (std::size_t f = 0; f < kAirFields; ++f)
      for (std::uint32_t k = 0; k < shape_.levels; ++k)
        column.fields[f].push_back(start_[f][word(i, j, k)]);
    column.step(seconds_, nudge);
    const std::size_t own = std::size_t{j} * shape_.width + i;
    for (std::size_t f = 0; f < kGroundFields; ++f)
      if (!(std::abs(ground_[f][own] - column.ground[f]) <= kMillimetres))
        return difference_text(kGroundNames[f], own, column.ground[f], ground_[f][own],
                               kMillimetres);
    for (std::size_t f = 0; f < kResults.size(); ++f)
      for (std::uint32_t k = 0; k < shape_.levels; ++k) {
        const double expected = column.fields[kResults[f].field][k];
        const double got = air_[f][word(i, j, k)];
        if (!(std::abs(got - expected) <= kResults[f].tolerance))
          return difference_text(kResults[f].name, word(i, j, k), expected, got,
                                 kResults[f].tolerance);
      }
    return "";
  }

  std::size_t word(std::uint32_t i, std::uint32_t j, std::uint32_t k) const {
    return (std::size_t{j} * shape_.levels + k) * shape_.width + i;
  }

  AtmosphereShape shape_ = {0, 0, 0, 25};
  std::uint32_t seconds_ = 180;
  Atmosphere start_;
  std::array<std::vector<float>, 6> air_;
  std::array<std::vector<float>, kGroundFields> ground_;
};

}  // namespace

void add_workload_wsm5(Workloads& w) {
  w.add<Wsm5>("wsm5", "weather: columns of air with arrays in local memory, a storm in a corner");
}

}  // namespace raddle::runtime

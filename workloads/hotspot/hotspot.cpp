// Host code of hotspot: heat conduction on a chip, explicit steps, two temperature arrays in turn.
// See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kBlock = 16;          // as in kernels.cu
constexpr std::uint32_t kInner = kBlock - 2;  // as in kernels.cu

// Silicon chip of 16 x 16 x 0.5 mm, conductivity 100 W/(m K) (values of the HotSpot model, Huang et
// al., DAC 2004); per_z stands for the package above it.
constexpr double kSide = 0.016, kThickness = 0.0005, kConductivity = 100;
constexpr float kAmbient = 80.0f;

struct Coefficients {
  float step, per_x, per_y, per_z;  // K/W, W/K, W/K, W/K
};

// The step is a fifth of what keeps the scheme from overshooting, so that heat moves visibly at
// every grid size (a physical step would depend on the cell's heat capacity).
Coefficients coefficients(std::uint32_t rows, std::uint32_t columns) {
  double width = kSide / columns, height = kSide / rows;
  double per_x = kConductivity * kThickness * height / width;
  double per_y = kConductivity * kThickness * width / height;
  double per_z = kConductivity * width * height / kThickness;
  double step = 0.2 / (2 * per_x + 2 * per_y + per_z);
  return {static_cast<float>(step), static_cast<float>(per_x), static_cast<float>(per_y),
          static_cast<float>(per_z)};
}

class Hotspot final : public HashedWorkload {
 public:
  Hotspot() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    switch (size) {
      case Size::Tiny:
        rows_ = 40, columns_ = 30, steps_ = 2;
        break;
      case Size::Small:
        rows_ = 512, columns_ = 512, steps_ = 3;
        break;
      case Size::Paper:
        rows_ = 512, columns_ = 512, steps_ = 20;
        break;
    }
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 16384}, "cells", "cells of the chip from north to south");
    v.field("columns", columns_, {1, 16384}, "cells", "cells of the chip from west to east");
    v.field("steps", steps_, {1, 10000}, "launches", "time steps, one launch each");
  }

  void run(Device& device, std::uint64_t seed) override {
    std::size_t cells = std::size_t{rows_} * columns_;
    start_ = random_floats(seed, "hotspot/temperature", cells, 323, 341);
    power_ = random_floats(seed, "hotspot/power", cells, 0, 1);
    inputs_.add(start_);
    inputs_.add(power_);
    inputs_.add(rows_);
    inputs_.add(steps_);

    KernelId kernel = device.kernel(load_module(device, "hotspot"), "hotspot");
    DeviceArray<float> power(device, power_), even(device, start_), odd(device, cells);
    Coefficients k = coefficients(rows_, columns_);
    for (std::uint32_t s = 0; s < steps_; ++s) {
      Address from = s % 2 == 0 ? even.address() : odd.address();
      Address to = s % 2 == 0 ? odd.address() : even.address();
      device.launch(kernel, {blocks_for(columns_, kInner), blocks_for(rows_, kInner)},
                    {kBlock, kBlock},
                    Arguments(from, power.address(), to, rows_, columns_, k.step, k.per_x, k.per_y,
                              k.per_z, kAmbient));
    }
    device.synchronize();
    result_ = steps_ % 2 == 0 ? even.download() : odd.download();
  }

  // Tolerance: a step is a weighted mean of temperatures (weights at most 0.2 beside the own cell),
  // so earlier errors do not grow, and its own roundings come to less than 8 units of the hottest.
  std::string check() override {
    std::vector<double> t(start_.begin(), start_.end());
    double hottest = 0;
    for (std::uint32_t s = 0; s < steps_; ++s) {
      t = reference_step(t);
      for (double value : t) hottest = std::max(hottest, std::abs(value));
    }
    double tolerance = 8 * kFloatRoundoff * steps_ * std::max(hottest, 341.0);
    return first_beyond("temperature", t, result_, [&](std::size_t) { return tolerance; });
  }

 private:
  std::vector<double> reference_step(const std::vector<double>& t) const {
    Coefficients k = coefficients(rows_, columns_);
    std::vector<double> next(t.size());
    for (std::size_t i = 0; i < rows_; ++i) {
      std::size_t north = i == 0 ? i : i - 1, south = i + 1 == rows_ ? i : i + 1;
      for (std::size_t j = 0; j < columns_; ++j) {
        std::size_t west = j == 0 ? j : j - 1, east = j + 1 == columns_ ? j : j + 1;
        double own = t[i * columns_ + j];
        double flow = power_[i * columns_ + j];
        flow += (t[north * columns_ + j] + t[south * columns_ + j] - 2 * own) * k.per_y;
        flow += (t[i * columns_ + west] + t[i * columns_ + east] - 2 * own) * k.per_x;
        flow += (kAmbient - own) * k.per_z;
        next[i * columns_ + j] = own + k.step * flow;
      }
    }
    return next;
  }

  std::uint32_t rows_ = 0, columns_ = 0, steps_ = 0;
  std::vector<float> start_, power_, result_;
};

}  // namespace

void add_workload_hotspot(Workloads& w) {
  w.add<Hotspot>("hotspot", "heat conduction: five-point stencil through shared-memory tiles");
}

}  // namespace raddle::runtime

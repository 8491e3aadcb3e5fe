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

constexpr std::uint32_t kBlock = 16;  // as in kernels.cu
constexpr float kAmbient = 80.0f;     // as in kernels.cu

// Silicon chip of 16 x 16 x 0.5 mm, conductivity 100 W/(m K) (values of the HotSpot model, Huang et
// al., DAC 2004), heat capacity 1.75e6 J/(m^3 K); the resistance along z stands for the package.
constexpr double kSide = 0.016, kThickness = 0.0005, kConductivity = 100, kHeat = 1.75e6;

struct Coefficients {
  float step, capacity, r_x, r_y, r_z;  // s, J/K, K/W, K/W, K/W

  // As the kernel computes them.
  float scale() const { return step / capacity; }
  float per_x() const { return 1 / r_x; }
  float per_y() const { return 1 / r_y; }
  float per_z() const { return 1 / r_z; }
};

// The step is a fifth of what keeps the scheme from overshooting, so that heat moves visibly at
// every grid size.
Coefficients coefficients(std::uint32_t rows, std::uint32_t columns) {
  double width = kSide / columns, height = kSide / rows;
  double per_x = kConductivity * kThickness * height / width;
  double per_y = kConductivity * kThickness * width / height;
  double per_z = kConductivity * width * height / kThickness;
  double capacity = kHeat * kThickness * width * height;
  double step = 0.2 * capacity / (2 * per_x + 2 * per_y + per_z);
  return {static_cast<float>(step), static_cast<float>(capacity), static_cast<float>(1 / per_x),
          static_cast<float>(1 / per_y), static_cast<float>(1 / per_z)};
}

class Hotspot final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {28, 512, 512});
    by_size(size, columns_, {30, 512, 512});
    by_size(size, steps_, {2, 3, 20});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 16384}, "cells", "cells of the chip from north to south");
    v.field("columns", columns_, {1, 16384}, "cells", "cells of the chip from west to east");
    v.field("steps", steps_, {1, 10000}, "steps", "time steps");
    v.field("height", height_, {1, 7}, "steps",
            "time steps of a launch, which computes that many cells less at each side of a tile");
  }

  void run(Device& device, std::uint64_t seed) override {
    std::size_t cells = std::size_t{rows_} * columns_;
    start_ = random_floats(seed, "hotspot/temperature", cells, 323, 341);
    power_ = random_floats(seed, "hotspot/power", cells, 0, 1);
    inputs_.add(start_, power_, rows_, steps_);

    KernelId kernel = device.kernel(load_module(device, "hotspot"), "hotspot");
    DeviceArray<float> power(device, power_), even(device, start_), odd(device, cells);
    Coefficients k = coefficients(rows_, columns_);
    const DeviceArray<float>*from = &even, *to = &odd;
    for (std::uint32_t done = 0; done < steps_; done += height_) {
      const std::uint32_t steps = std::min(height_, steps_ - done);
      device.launch(kernel, grid(steps), {kBlock, kBlock},
                    Arguments(from->address(), power.address(), to->address(), rows_, columns_,
                              steps, steps, steps, k.step, k.capacity, k.r_x, k.r_y, k.r_z));
      std::swap(from, to);
    }
    device.synchronize();
    result_ = from->download();
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
  Dim3 grid(std::uint32_t steps) const {
    const std::uint32_t inner = kBlock - 2 * steps;
    return {blocks_for(columns_, inner), blocks_for(rows_, inner)};
  }

  std::vector<double> reference_step(const std::vector<double>& t) const {
    Coefficients k = coefficients(rows_, columns_);
    std::vector<double> next(t.size());
    for (std::size_t i = 0; i < rows_; ++i) {
      std::size_t north = i == 0 ? i : i - 1, south = i + 1 == rows_ ? i : i + 1;
      for (std::size_t j = 0; j < columns_; ++j) {
        std::size_t west = j == 0 ? j : j - 1, east = j + 1 == columns_ ? j : j + 1;
        double own = t[i * columns_ + j];
        double flow = power_[i * columns_ + j];
        flow += (t[north * columns_ + j] + t[south * columns_ + j] - 2 * own) * k.per_y();
        flow += (t[i * columns_ + west] + t[i * columns_ + east] - 2 * own) * k.per_x();
        flow += (kAmbient - own) * k.per_z();
        next[i * columns_ + j] = own + k.scale() * flow;
      }
    }
    return next;
  }

  std::uint32_t rows_ = 0, columns_ = 0, steps_ = 0, height_ = 1;
  std::vector<float> start_, power_, result_;
};

}  // namespace

void add_workload_hotspot(Workloads& w) {
  w.add<Hotspot>("hotspot", "heat conduction: five-point stencil through shared-memory tiles");
}

}  // namespace raddle::runtime

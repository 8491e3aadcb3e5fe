// Host code of lbm: steps of a gas between six walls, two grids in turn. See README.md.
#include <algorithm>
#include <bit>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

// As in kernels.cu.
constexpr std::size_t kMoving = 19, kFields = kMoving + 1;
constexpr std::uint32_t kObstacle = 1, kDriven = 2;
constexpr double kOmega = 1.95f;
constexpr std::array<double, 3> kDrivenVelocity = {0.005f, 0.002f, 0};
constexpr std::uint32_t kFixedSide = 120, kFixedPlanes = 24;  // of lbm_120_24

constexpr std::uint32_t kMarginPlanes = 2;  // before the grid and after it

using Velocity = std::array<int, 3>;
constexpr std::array<Velocity, kMoving> kVelocities = {{{0, 0, 0},
                                                        {0, 1, 0},
                                                        {0, -1, 0},
                                                        {1, 0, 0},
                                                        {-1, 0, 0},
                                                        {0, 0, 1},
                                                        {0, 0, -1},
                                                        {1, 1, 0},
                                                        {-1, 1, 0},
                                                        {1, -1, 0},
                                                        {-1, -1, 0},
                                                        {0, 1, 1},
                                                        {0, 1, -1},
                                                        {0, -1, 1},
                                                        {0, -1, -1},
                                                        {1, 0, 1},
                                                        {1, 0, -1},
                                                        {-1, 0, 1},
                                                        {-1, 0, -1}}};

double weight(const Velocity& v) {
  const int distance = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  return distance == 0 ? 1.0 / 3 : distance == 1 ? 1.0 / 18 : 1.0 / 36;
}

using Cell = std::array<double, kMoving>;

// The distribution towards which a gas of that density and velocity goes: of second order in the
// velocity (Qian, d'Humieres, Lallemand, Europhysics Letters 17, 1992).
Cell equilibrium(double density, const std::array<double, 3>& u) {
  Cell all;
  const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  for (std::size_t i = 0; i < kMoving; ++i) {
    double along = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) along += kVelocities[i][axis] * u[axis];
    all[i] =
        weight(kVelocities[i]) * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square);
  }
  return all;
}

Cell collided(const Cell& before, bool driven) {
  double density = 0;
  std::array<double, 3> u = {};
  for (std::size_t i = 0; i < kMoving; ++i) {
    density += before[i];
    for (std::size_t axis = 0; axis < 3; ++axis) u[axis] += kVelocities[i][axis] * before[i];
  }
  for (double& component : u) component /= density;
  Cell after = equilibrium(density, driven ? kDrivenVelocity : u);
  for (std::size_t i = 0; i < kMoving; ++i) after[i] = before[i] + kOmega * (after[i] - before[i]);
  return after;
}

Cell turned_back(const Cell& before) {
  Cell after;
  for (std::size_t i = 0; i < kMoving; ++i) {
    const Velocity& v = kVelocities[i];
    auto opposite = std::ranges::find(kVelocities, Velocity{-v[0], -v[1], -v[2]});
    after[i] = before[static_cast<std::size_t>(opposite - kVelocities.begin())];
  }
  return after;
}

class Lbm final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, columns_, {40, kFixedSide, kFixedSide});
    by_size(size, rows_, {5, kFixedSide, kFixedSide});
    by_size(size, planes_, {4, kFixedPlanes, kFixedPlanes});
    by_size(size, steps_, {2, 1, 2});
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", columns_, {1, 1024}, "cells", "cells in a row: threads of a block");
    v.field("rows", rows_, {1, 4096}, "rows", "rows of a plane");
    v.field("planes", planes_, {1, 4096}, "planes", "planes of the grid");
    v.field("steps", steps_, {1, 10000}, "launches", "steps, one launch each");
  }

  std::vector<std::string> violations() const override {
    if (words() <= 1u << 29) return {};
    return {"20 * 32 * ceil(columns / 32) * rows * (planes + 4) must not exceed 2^29, is " +
            std::to_string(words())};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "lbm");
    const bool fixed = columns_ == kFixedSide && rows_ == kFixedSide && planes_ == kFixedPlanes;
    KernelId kernel = device.kernel(module, fixed ? "lbm_120_24" : "lbm");
    DeviceArray<float> even(device, start_), odd(device, start_);
    for (std::uint32_t s = 0; s < steps_; ++s) {
      Arguments arguments(first_cell(s % 2 == 0 ? even : odd), first_cell(s % 2 == 0 ? odd : even));
      if (!fixed) {
        arguments.add(static_cast<std::uint32_t>(pitch()));
        arguments.add(static_cast<std::uint32_t>(plane()));
        arguments.add(std::uint64_t{field()});
      }
      device.launch(kernel, {rows_, planes_}, {columns_}, arguments);
    }
    device.synchronize();
    result_ = steps_ % 2 == 0 ? even.download() : odd.download();
  }

  // Where nothing moves to (walls, margins, what pads the rows) a grid stays as it was, and so do
  // the words that say what a cell is.
  std::string check() override {
    std::vector<double> from(start_.begin(), start_.end()), to = from;
    for (std::uint32_t s = 0; s < steps_; ++s) {
      reference_step(from, to);
      std::swap(from, to);
    }
    return first_beyond("cells", from, result_, [&](std::size_t word) {
      return word < kMoving * field() ? kTolerance * steps_ : 0;
    });
  }

 private:
  // A step errs by a few roundings of values below 0.4, and a collision keeps 0.95 of earlier
  // errors: four times the worst seen after one step, 170 times the worst per step after 100.
  static constexpr double kTolerance = 1e-6;

  std::size_t pitch() const { return std::size_t{blocks_for(columns_, kLanes)} * kLanes; }
  std::size_t plane() const { return pitch() * rows_; }
  std::size_t field() const { return plane() * (planes_ + 2 * kMarginPlanes); }
  std::size_t words() const { return kFields * field(); }
  std::size_t cell(std::size_t x, std::size_t y, std::size_t z) const {
    return x + pitch() * y + plane() * (z + kMarginPlanes);
  }
  Address first_cell(const DeviceArray<float>& grid) const {
    return grid.address() + cell(0, 0, 0) * sizeof(float);
  }

  std::uint32_t kind(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    auto outmost = [](std::uint32_t at, std::uint32_t extent, std::uint32_t layers) {
      return at < layers || at + layers >= extent;
    };
    if (outmost(x, columns_, 1) || outmost(y, rows_, 1) || outmost(z, planes_, 1)) return kObstacle;
    return outmost(z, planes_, 2) && !outmost(x, columns_, 2) && !outmost(y, rows_, 2) ? kDriven
                                                                                       : 0;
  }

  // At rest but for a hundredth, in the margins too.
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "lbm/cells");
    start_.assign(words(), 0);
    for (std::size_t i = 0; i < kMoving; ++i)
      for (std::size_t at = 0; at < field(); ++at)
        start_[i * field() + at] =
            static_cast<float>(weight(kVelocities[i]) * (1 + 0.01 * (2 * rng.unit() - 1)));
    for (std::uint32_t z = 0; z < planes_; ++z)
      for (std::uint32_t y = 0; y < rows_; ++y)
        for (std::uint32_t x = 0; x < columns_; ++x)
          start_[kMoving * field() + cell(x, y, z)] = std::bit_cast<float>(kind(x, y, z));
    inputs_.add(start_, steps_);
  }

  void reference_step(const std::vector<double>& from, std::vector<double>& to) const {
    for (std::uint32_t z = 0; z < planes_; ++z)
      for (std::uint32_t y = 0; y < rows_; ++y)
        for (std::uint32_t x = 0; x < columns_; ++x) {
          const std::size_t at = cell(x, y, z);
          Cell f;
          for (std::size_t i = 0; i < kMoving; ++i) f[i] = from[i * field() + at];
          const std::uint32_t what = kind(x, y, z);
          f = what == kObstacle ? turned_back(f) : collided(f, what == kDriven);
          for (std::size_t i = 0; i < kMoving; ++i) to[i * field() + neighbour(at, i)] = f[i];
        }
  }

  // Where what is in field i of a cell moves to.
  std::size_t neighbour(std::size_t at, std::size_t i) const {
    const Velocity& v = kVelocities[i];
    return at + static_cast<std::size_t>(v[0]) + static_cast<std::size_t>(v[1]) * pitch() +
           static_cast<std::size_t>(v[2]) * plane();
  }

  std::uint32_t columns_ = 0, rows_ = 0, planes_ = 0, steps_ = 0;
  std::vector<float> start_, result_;
};

}  // namespace

void add_workload_lbm(Workloads& w) {
  w.add<Lbm>("lbm", "lattice Boltzmann: 20 streams read, 19 scattered to neighbours' cells");
}

}  // namespace raddle::runtime

// Host code of cfd: three-stage time steps of the Euler equations on a mesh of tetrahedra. See
// README.md.
#include "cfd/mesh.h"

#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 192, kFewThreads = 64;  // as in kernels.cu
constexpr std::size_t kFaces = 4, kVariables = 5, kStages = 3;
constexpr double kGamma = 1.4, kSmoothing = 0.2f, kCourant = 0.2f;  // as in kernels.cu

/// Density, momentum and energy per volume: T = float is the kernels' State.
template <class T>
using State = std::array<T, kVariables>;

// The reference's view of a state.
struct Flow {
  explicit Flow(const State<double>& variables) : u(variables) {
    double speed2 = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      velocity[axis] = u[1 + axis] / u[0];
      speed2 += velocity[axis] * velocity[axis];
    }
    pressure = (kGamma - 1) * (u[4] - u[0] * speed2 / 2);
    fastest = std::sqrt(speed2) + std::sqrt(kGamma * pressure / u[0]);
  }
  // Through a face of normal n.
  State<double> flux(const std::array<double, 3>& n) const {
    double through = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) through += velocity[axis] * n[axis];
    State<double> f = u;
    f[4] += pressure;
    for (double& value : f) value *= through;
    for (std::size_t axis = 0; axis < 3; ++axis) f[1 + axis] += pressure * n[axis];
    return f;
  }

  State<double> u;
  std::array<double, 3> velocity;
  double pressure, fastest;  // fastest: speed of the flow and of sound in it
};

// Air at Mach 1.2 along x, in units of its density / 1.4, pressure and speed of sound.
constexpr State<float> kFarState = {1.4f, 1.68f, 0.0f, 0.0f, 3.508f};

class Cfd final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, width_, {4, 16, 25});
    by_size(size, depth_, {3, 16, 26});
    by_size(size, height_, {2, 16, 25});
    by_size(size, iterations_, {1, 1, 4});
  }

  void visit(FieldVisitor& v) override {
    v.field("width", width_, {1, 256}, "cubes", "extent of the mesh along the flow");
    v.field("depth", depth_, {1, 256}, "cubes", "extent of the mesh across the flow");
    v.field("height", height_, {1, 256}, "cubes", "extent of the mesh above the wall");
    v.field("shuffle", shuffle_, {1, 1u << 27}, "elements",
            "elements exchange numbers within every so many; 1: as the mesh was made");
    v.field("iterations", iterations_, {1, 10000}, "steps", "time steps of three stages");
    v.field("flux", flux_,
            "only the flows of the first stage of each step, which all are the same");
    v.field("block", block_, {kFewThreads, kThreads}, "threads",
            "of the kernel of the flows: 192, or with flux=true 64");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> out;
    std::uint64_t cubes = std::uint64_t{width_} * depth_ * height_;
    if (cubes > kMaxCubes)
      out.push_back("width * depth * height must not exceed " + std::to_string(kMaxCubes) +
                    ", is " + std::to_string(cubes));
    if (block_ != kThreads && (block_ != kFewThreads || !flux_))
      out.push_back("block must be 192, or 64 with flux=true, is " + std::to_string(block_));
    return out;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "cfd");
    KernelId step_factor = device.kernel(module, "cfd_step_factor");
    KernelId flux = device.kernel(module, block_ == kThreads ? "cfd_flux" : "cfd_flux_64");
    KernelId advance = device.kernel(module, "cfd_advance");

    std::uint32_t n = mesh_.elements;
    DeviceArray<std::int32_t> neighbours(device, mesh_.neighbours);
    DeviceArray<float> normals(device, mesh_.normals), size(device, mesh_.size);
    DeviceArray<float> variables(device, start_), old(device, start_.size());
    DeviceArray<float> fluxes(device, start_.size()), factors(device, n);
    Dim3 grid{blocks_for(n, kThreads)}, block{kThreads};
    auto launch_flux = [&] {
      device.launch(flux, Dim3{blocks_for(n, block_)}, Dim3{block_},
                    Arguments(neighbours.address(), normals.address(), variables.address(),
                              fluxes.address(), n, kFarState));
    };
    for (std::uint32_t i = 0; flux_ && i < iterations_; ++i) launch_flux();
    for (std::uint32_t i = 0; !flux_ && i < iterations_; ++i) {
      device.copy_on_device(old.address(), variables.address(), start_.size() * sizeof(float));
      device.launch(step_factor, grid, block,
                    Arguments(variables.address(), size.address(), factors.address(), n));
      for (std::size_t stage = 0; stage < kStages; ++stage) {
        launch_flux();
        device.launch(advance, grid, block,
                      Arguments(old.address(), factors.address(), fluxes.address(),
                                variables.address(), n, share(stage)));
      }
    }
    device.synchronize();
    result_ = (flux_ ? fluxes : variables).download();
  }

  std::string check() override {
    std::vector<double> u(start_.begin(), start_.end());
    if (flux_) return wrong_flows(u);
    for (std::uint32_t i = 0; i < iterations_; ++i) reference_step(u);
    std::size_t n = mesh_.elements;
    State<double> maximum = {};
    for (std::size_t i = 0; i < u.size(); ++i)
      maximum[i / n] = std::max(maximum[i / n], std::abs(u[i]));
    maximum[2] = maximum[3] = maximum[1];  // a momentum is as exact as its largest component
    return first_beyond("variables", u, result_,
                        [&](std::size_t i) { return kTolerance * iterations_ * maximum[i / n]; });
  }

 private:
  static constexpr std::uint64_t kMaxCubes = 1u << 22;
  // Of the largest value of a variable, per time step: twenty times the worst seen at every size
  // over 1 to 1000 steps. A step is stable, so that earlier errors do not grow, and changes a value
  // by a part of its size; the roundings of that change and of the sum stay.
  static constexpr double kTolerance = 2e-6;

  // Of the largest flow of a variable; flows are differences of terms some ten times as large.
  std::string wrong_flows(const std::vector<double>& u) const {
    std::size_t n = mesh_.elements;
    std::vector<double> flows(u.size());
    State<double> maximum = {};
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t v = 0; const double flow : inflow(u, e)) {
        maximum[v] = std::max(maximum[v], std::abs(flow));
        flows[v++ * n + e] = flow;
      }
    return first_beyond("fluxes", flows, result_,
                        [&](std::size_t i) { return 10 * kTolerance * maximum[i / n]; });
  }

  static float share(std::size_t stage) { return 1.0f / static_cast<float>(kStages - stage); }

  // The far flow, disturbed everywhere.
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "cfd/mesh");
    mesh_ = make_mesh(width_, depth_, height_, shuffle_, rng);
    std::size_t n = mesh_.elements;
    start_ = random_floats(seed, "cfd/start", n * kVariables, -0.05, 0.05);
    for (std::size_t i = 0; i < start_.size(); ++i) start_[i] += kFarState[i / n];
    inputs_.add(mesh_.neighbours, mesh_.normals, start_, iterations_);
  }

  static State<double> at(const std::vector<double>& u, std::size_t e) {
    State<double> all;
    std::size_t n = u.size() / kVariables;
    for (std::size_t v = 0; v < kVariables; ++v) all[v] = u[v * n + e];
    return all;
  }

  void reference_step(std::vector<double>& u) const {
    std::vector<double> old = u, factor(mesh_.elements);
    for (std::size_t e = 0; e < factor.size(); ++e)
      factor[e] = kCourant / (mesh_.size[e] * Flow(at(u, e)).fastest);
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      std::vector<double> next = old;
      for (std::size_t e = 0; e < factor.size(); ++e) {
        State<double> flows = inflow(u, e);
        for (std::size_t v = 0; v < kVariables; ++v)
          next[v * factor.size() + e] +=
              flows[v] * factor[e] / static_cast<double>(kStages - stage);
      }
      u = next;
    }
  }

  State<double> inflow(const std::vector<double>& u, std::size_t e) const {
    std::size_t n = mesh_.elements;
    Flow own(at(u, e)),
        far(State<double>{kFarState[0], kFarState[1], kFarState[2], kFarState[3], kFarState[4]});
    State<double> sum = {};
    for (std::size_t face = 0; face < kFaces; ++face) {
      std::int32_t neighbour = mesh_.neighbours[face * n + e];
      std::array<double, 3> normal;
      double area = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        normal[axis] = mesh_.normals[(axis * kFaces + face) * n + e];
        area += normal[axis] * normal[axis];
      }
      area = std::sqrt(area);
      if (neighbour == kWall) {
        for (std::size_t axis = 0; axis < 3; ++axis) sum[1 + axis] -= own.pressure * normal[axis];
        continue;
      }
      Flow other = neighbour == kFar ? far : Flow(at(u, static_cast<std::size_t>(neighbour)));
      State<double> here = own.flux(normal), there = other.flux(normal);
      double viscosity =
          neighbour == kFar ? 0 : kSmoothing / 2 * area * (own.fastest + other.fastest);
      for (std::size_t v = 0; v < kVariables; ++v)
        sum[v] += viscosity * (other.u[v] - own.u[v]) - (here[v] + there[v]) / 2;
    }
    return sum;
  }

  std::uint32_t width_ = 0, depth_ = 0, height_ = 0, shuffle_ = 256, iterations_ = 0;
  std::uint32_t block_ = kThreads;
  bool flux_ = false;
  Mesh mesh_;
  std::vector<float> start_, result_;
};

}  // namespace

void add_workload_cfd(Workloads& w) {
  w.add<Cfd>("cfd", "flow on an unstructured mesh: gathers from neighbouring elements");
}

}  // namespace raddle::runtime

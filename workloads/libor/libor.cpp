// Host code of libor: values and sensitivities of paths. See README.md.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "libor/market.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

// In intervals of 40 and as yearly rates: those of the public program.
constexpr std::array<std::uint32_t, kOptions> kMaturities = {4,  4,  4,  8,  8,  8,  20, 20,
                                                             20, 28, 28, 28, 40, 40, 40};
constexpr std::array<float, 3> kStrikes = {0.045f, 0.05f, 0.055f};
constexpr double kInterval = 0.25;  // years

/// The reference: one path in double precision. All paths have the same random numbers.
struct Market {
  std::uint32_t rates, steps;
  std::vector<float> volatilities;
  std::vector<std::int32_t> maturities;

  double value(const std::vector<double>& last) const {
    double bond = 1, annuity = 0, paid = 0;
    std::vector<double> bonds, annuities;
    for (std::uint32_t n = steps; n < rates; ++n) {
      bonds.push_back(bond /= 1 + kInterval * last[n]);
      annuities.push_back(annuity += kInterval * bond);
    }
    for (std::size_t i = 0; i < kOptions; ++i) {
      auto m = static_cast<std::size_t>(maturities[i] - 1);
      paid += kShortfall * std::max(1 - bonds[m] - kStrikes[i % 3] * annuities[m], 0.0);
    }
    for (std::uint32_t n = 0; n < steps; ++n) paid /= 1 + kInterval * last[n];
    return paid;
  }

  // Of the value by the last of the first rates: central difference, whose error is far below the
  // tolerance where no swap changes sign.
  double sensitivity() const {
    constexpr double kStep = 1e-5;
    auto moved = [&](double by) {
      std::vector<double> now(rates, kFirstRate);
      now.back() += by;
      return value(last_from(now));
    };
    return (moved(kStep) - moved(-kStep)) / (2 * kStep);
  }

  std::vector<double> last_from(std::vector<double> now) const {
    for (std::uint32_t n = 0; n < steps; ++n) step(now, n);
    return now;
  }

  void step(std::vector<double>& now, std::uint32_t n) const {
    double drift = 0, shock = std::sqrt(kInterval) * kNormal;
    for (std::uint32_t i = n + 1; i < rates; ++i) {
      double volatility = volatilities[i - n - 1], scaled = kInterval * volatility;
      drift += scaled * now[i] / (1 + kInterval * now[i]);
      now[i] *= std::exp(scaled * drift + volatility * (shock - scaled / 2));
    }
  }
};

class Libor final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rates_, {16, 40, 80});
    by_size(size, steps_, {8, 20, 40});
    by_size(size, paths_, {64, 4096, 4096});
  }

  void visit(FieldVisitor& v) override {
    v.field("paths", paths_, {1, 1u << 20}, "paths", "one per thread, in turns beyond the grid");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "most of a launch, of 64 threads");
    v.field("rates", rates_, {2, kMaxRates}, "rates", "forward rates of a path");
    v.field("steps", steps_, {1, kMaxSteps}, "steps", "rates that fall due on the way");
  }

  std::vector<std::string> violations() const override {
    if (steps_ < rates_ && rates_ - steps_ <= kMaxSteps) return {};
    return {"rates must be " + std::to_string(steps_ + 1) + " to " +
            std::to_string(steps_ + kMaxSteps) + " with " + std::to_string(steps_) + " steps, is " +
            std::to_string(rates_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "libor");
    KernelId value = device.kernel(module, "libor_values");
    KernelId sensitivity = device.kernel(module, "libor_sensitivities");
    upload(device, module);
    DeviceArray<float> values(device, paths_), sensitivities(device, paths_);
    std::uint32_t blocks = std::min(blocks_for(paths_, kThreads), blocks_);
    device.launch(value, {blocks}, {kThreads}, Arguments(values.address(), paths_));
    device.synchronize();
    alone_ = values.download();
    device.launch(sensitivity, {blocks}, {kThreads},
                  Arguments(values.address(), sensitivities.address(), paths_));
    device.synchronize();
    together_ = values.download();
    sensitivities_ = sensitivities.download();
  }

  std::string check() override {
    double value = market_.value(market_.last_from(std::vector<double>(rates_, kFirstRate)));
    double sensitivity = market_.sensitivity();
    std::string wrong = beyond("value", value, alone_);
    if (wrong.empty()) wrong = beyond("value with sensitivity", value, together_);
    if (wrong.empty()) wrong = beyond("sensitivity", sensitivity, sensitivities_);
    return wrong;
  }

 private:
  // Relative; chosen, not derived. Exponentials and divisions are approximate, over 40 steps.
  static constexpr double kTolerance = 1e-3;

  static std::string beyond(const char* what, double expected, const std::vector<float>& got) {
    return first_beyond(what, std::vector<double>(got.size(), expected), got,
                        [&](std::size_t) { return kTolerance * std::abs(expected); });
  }

  // The public program's numbers, but volatilities of 0.2 that differ a little with the seed. They
  // are the same for all paths, so that no warp diverges.
  void make_input(std::uint64_t seed) {
    market_ = {
        rates_, steps_, random_floats(seed, "libor/volatilities", rates_, 0.1999, 0.2001), {}};
    for (std::uint32_t maturity : kMaturities)
      market_.maturities.push_back(
          static_cast<std::int32_t>(std::max(1u, maturity * (rates_ - steps_) / kMaxSteps)));
    inputs_.add(market_.volatilities, market_.maturities, paths_, steps_);
  }

  void upload(Device& device, ModuleId module) const {
    auto put = [&](const char* name, const auto& values) {
      device.copy_to_device(device.symbol(module, name), values.data(),
                            values.size() * sizeof values[0]);
    };
    std::vector<float> strikes;
    for (std::size_t i = 0; i < kOptions; ++i) strikes.push_back(kStrikes[i % 3]);
    put("libor_rates", std::array{rates_});
    put("libor_steps", std::array{steps_});
    put("libor_options", std::array{kOptions});
    put("libor_interval", std::array{static_cast<float>(kInterval)});
    put("libor_maturities", market_.maturities);
    put("libor_strikes", strikes);
    put("libor_volatilities", market_.volatilities);
  }

  std::uint32_t paths_ = 0, blocks_ = 64, rates_ = 0, steps_ = 0;
  Market market_{};
  std::vector<float> alone_, together_, sensitivities_;
};

}  // namespace

void add_workload_libor(Workloads& w) {
  w.add<Libor>("libor", "forward rates along paths: arrays of the thread in local memory");
}

}  // namespace raddle::runtime

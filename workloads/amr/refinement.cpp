// See refinement.h. Operation by operation what the kernels do, so that both give the same bits.
#include "amr/refinement.h"

#include <algorithm>
#include <cmath>

namespace raddle::workloads {

double energy_of(double temperature, const Gas& gas) {
  return temperature + temperature * temperature / gas.curve;
}

double temperature_of(double energy, std::uint32_t cell, const Gas& gas) {
  const double x = cell % 4 - 1.5, y = cell / 4 % 4 - 1.5, z = cell / 16 - 0.5;
  const double share = energy / (1.0 + (x * x + y * y + z * z) / gas.spread);
  return (std::sqrt(1.0 + 4.0 * share / gas.curve) - 1.0) / gas.steep;
}

std::vector<float> make_combustion(const Combustion& what, Rng& rng) {
  struct Spot {
    double x, y;
  };
  std::vector<Spot> spots(what.spots);
  for (Spot& spot : spots)
    spot = {what.side * (0.2 + 0.6 * rng.unit()), what.side * (0.2 + 0.6 * rng.unit())};
  std::vector<float> cells;
  for (std::uint32_t y = 0; y < what.side; ++y)
    for (std::uint32_t x = 0; x < what.side; ++x) {
      double heat = 0;
      for (const Spot& spot : spots) {
        const double square = (x - spot.x) * (x - spot.x) + (y - spot.y) * (y - spot.y);
        heat = std::max(heat, std::exp(-square / (2 * what.radius * what.radius)));
      }
      cells.push_back(static_cast<float>(60 + what.peak * heat * (0.98 + 0.04 * rng.unit())));
    }
  return cells;
}

std::vector<std::uint64_t> refined_cells(const std::vector<float>& coarse, const Gas& gas,
                                         std::uint32_t levels, std::uint64_t maximum) {
  std::vector<std::uint64_t> counts;
  std::vector<float> cells = coarse;
  std::uint64_t sum = 0;
  for (std::uint32_t level = 0; level < levels && sum <= maximum; ++level) {
    std::vector<float> hot, finer;
    std::ranges::copy_if(cells, std::back_inserter(hot),
                         [&](float t) { return static_cast<double>(t) >= gas.threshold; });
    counts.push_back(hot.size());
    sum += hot.size();
    if (level + 1 == levels || sum > maximum) break;
    for (const float t : hot)
      for (std::uint32_t cell = 0; cell < kRefinedCells; ++cell)
        finer.push_back(
            static_cast<float>(temperature_of(energy_of(static_cast<double>(t), gas), cell, gas)));
    cells = std::move(finer);
  }
  return counts;
}

}  // namespace raddle::workloads

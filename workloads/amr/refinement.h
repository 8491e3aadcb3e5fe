// The gas that amr's cells hold, and the mesh it is refined to, on the host.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

inline constexpr std::uint32_t kRefinedCells = 32;  ///< 4 x 4 x 2 instead of one

/// As kernels take it: energy = t + t^2 / curve; steep = 2 / curve; the energy of a new cell falls
/// by 1 + its squared distance from the middle / spread. Cells at `threshold` are refined.
struct Gas {
  double threshold, curve, steep, spread;
};

double energy_of(double temperature, const Gas& gas);
/// Of the new cell `cell`, below kRefinedCells.
double temperature_of(double energy, std::uint32_t cell, const Gas& gas);

/// side x side cells row by row: 60 kelvin, `spots` hot places of about the same temperature,
/// spread over the middle, each with this radius in cells, and some noise.
struct Combustion {
  std::uint32_t side = 64, spots = 5;
  double radius = 2, peak = 1200;
};
std::vector<float> make_combustion(const Combustion& what, Rng& rng);

/// Number of cells of each level that are refined, level 0 the given cells; as many as `levels`.
/// Stops at `most` in all: then the sum is greater.
std::vector<std::uint64_t> refined_cells(const std::vector<float>& coarse, const Gas& gas,
                                         std::uint32_t levels, std::uint64_t maximum);

}  // namespace raddle::workloads

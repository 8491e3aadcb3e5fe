#include "common/draw.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace raddle::workloads {

std::uint32_t geometric(double mean, Rng& rng) {
  double steps = std::log(1 - rng.unit()) / std::log(mean / (mean + 1));
  return static_cast<std::uint32_t>(std::min(steps, 1e9));
}

double normal(Rng& rng) {
  double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

double log_normal(double mean, double shape, Rng& rng) {
  return mean * std::exp(shape * normal(rng) - shape * shape / 2);
}

std::vector<std::uint32_t> permutation(std::uint32_t n, Rng& rng) {
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = i;
  for (std::uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace raddle::workloads

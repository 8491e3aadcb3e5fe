#include "common/attended.h"

#include <algorithm>
#include <cmath>

#include "common/compare.h"

namespace raddle::workloads {

// A score is a sum of products: its error, that of its scaling and of the exponential's argument
// are relative errors of its weight, above and below the line. Then come sums over the keys, the
// rescaling with each tile of keys, and two approximate instructions.
Attended attended(const float* query, const std::vector<const float*>& keys,
                  const std::vector<const float*>& values, std::uint32_t numbers, double scale) {
  std::vector<double> weights(keys.size());
  double largest_product = 0;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    double sum = 0, magnitude = 0;
    for (std::uint32_t i = 0; i < numbers; ++i) {
      const double product = double{query[i]} * keys[key][i];
      sum += product;
      magnitude += std::abs(product);
    }
    weights[key] = sum * scale;
    largest_product = std::max(largest_product, magnitude * scale);
  }
  const double maximum = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& weight : weights) total += weight = std::exp(weight - maximum);

  Attended out;
  out.values.resize(numbers);
  out.magnitudes.resize(numbers);
  for (std::size_t key = 0; key < keys.size(); ++key)
    for (std::uint32_t i = 0; i < numbers; ++i) {
      const double product = weights[key] / total * values[key][i];
      out.values[i] += product;
      out.magnitudes[i] += std::abs(product);
    }
  const double error = 2 * largest_product * chained_error(numbers + 4.0) +
                       chained_error(2.0 * static_cast<double>(keys.size()) + 32);
  for (const double magnitude : out.magnitudes) out.errors.push_back(magnitude * error);
  return out;
}

}  // namespace raddle::workloads

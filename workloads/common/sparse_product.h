// Checking a sparse matrix times a vector.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/graph.h"

namespace raddle::workloads {

/// "" when `y` is what `matrix` with these values makes of `x`. Tolerance as for any sum of
/// products, in any order: chained_error(entries of the row) x sum |a||x|. Sums with zeros, of
/// shuffles or of padded rows, add nothing.
inline std::string wrong_product(const Graph& matrix, const std::vector<float>& value,
                                 const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<double> expected(matrix.vertices(), 0);
  std::vector<double> tolerance(matrix.vertices(), 0);
  for (std::uint32_t r = 0; r < matrix.vertices(); ++r) {
    double magnitude = 0;
    for (std::uint32_t e = matrix.row[r]; e < matrix.row[r + 1]; ++e) {
      const double product = static_cast<double>(value[e]) * x[matrix.column[e]];
      expected[r] += product;
      magnitude += std::abs(product);
    }
    tolerance[r] = chained_error(matrix.degree(r)) * magnitude;
  }
  return first_beyond("y", expected, y, [&](std::size_t r) { return tolerance[r]; });
}

}  // namespace raddle::workloads

// How errors of several kernels lie.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace raddle::sim {

struct ErrorSpread {
  std::size_t count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN(), median = mean, p90 = mean;
};

/// Of values in any order; NaN where there are none. The median of an even number is the mean of
/// the middle two; p90 is the least value that at least nine tenths are not above.
inline ErrorSpread error_spread(std::vector<double> values) {
  ErrorSpread out;
  out.count = values.size();
  if (values.empty()) return out;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  out.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  out.p90 = values[(9 * n + 9) / 10 - 1];
  return out;
}

}  // namespace raddle::sim

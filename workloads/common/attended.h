// Attention in double precision, one query at a time.
#pragma once
#include <cstdint>
#include <vector>

namespace raddle::workloads {

/// One result, the sums of its terms' sizes, and what single precision may make it differ by.
struct Attended {
  std::vector<double> values, magnitudes, errors;
};

/// `query` to rows of keys and values, all of `numbers` numbers.
Attended attended(const float* query, const std::vector<const float*>& keys,
                  const std::vector<const float*>& values, std::uint32_t numbers, double scale);

}  // namespace raddle::workloads

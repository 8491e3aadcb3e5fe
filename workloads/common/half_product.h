// C = A B' of half-precision factors by rows, C in single precision, for the workloads that compute
// it: its inputs, and what is wrong with a result.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/half.h"

namespace raddle::workloads {

struct HalfProduct {
  /// Factors from generators `name`/a and /b of `seed`, between -1 and 1.
  HalfProduct(std::uint64_t seed, std::string_view name, std::uint32_t m, std::uint32_t n,
              std::uint32_t k);
  /// "" or the first wrong number. Double precision; all results up to 10^8 multiply-adds, of more
  /// 64 rows, some of them drawn. Tolerance: 2 k roundings of 2^-24 relative to the sum of
  /// |products|, as tensor units cut what does not fit a sum: twice a rounding.
  std::string difference(const std::vector<float>& c) const;

  std::uint64_t seed = 0;
  std::string name;
  std::uint32_t m = 0, n = 0, k = 0;
  std::vector<Half> a, b;  ///< m x k, n x k

 private:
  std::vector<std::uint32_t> rows_checked() const;
};

}  // namespace raddle::workloads

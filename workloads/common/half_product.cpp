#include "common/half_product.h"

#include <numeric>

#include "common/compare.h"
#include "common/inputs.h"

namespace raddle::workloads {

namespace {

struct Dot {
  double sum = 0, magnitude = 0;
};
Dot dot(const float* a, const float* b, std::uint32_t k) {
  Dot out;
  for (std::uint32_t i = 0; i < k; ++i) {
    const double product = double{a[i]} * b[i];
    out.sum += product;
    out.magnitude += std::abs(product);
  }
  return out;
}

}  // namespace

HalfProduct::HalfProduct(std::uint64_t seed_, std::string_view name_, std::uint32_t m_,
                         std::uint32_t n_, std::uint32_t k_)
    : seed(seed_),
      name(name_),
      m(m_),
      n(n_),
      k(k_),
      a(random_halves(seed, name + "/a", std::size_t{m} * k, 1)),
      b(random_halves(seed, name + "/b", std::size_t{n} * k, 1)) {}

std::vector<std::uint32_t> HalfProduct::rows_checked() const {
  constexpr double kWorkChecked = 1e8;
  constexpr std::uint32_t kRowsDrawn = 64;
  std::vector<std::uint32_t> rows(m);
  std::iota(rows.begin(), rows.end(), 0u);
  if (m <= kRowsDrawn || 1.0 * m * n * k <= kWorkChecked) return rows;
  Rng rng(seed, name + "/check");
  rows = {0, m - 1};
  while (rows.size() < kRowsDrawn) rows.push_back(rng.below(m));
  return rows;
}

std::string HalfProduct::difference(const std::vector<float>& c) const {
  if (c.size() != std::size_t{m} * n) return length_text("c", std::size_t{m} * n, c.size());
  const std::vector<float> left = to_floats(a), right = to_floats(b);
  const double error = chained_error(2.0 * k);
  for (const std::uint32_t row : rows_checked())
    for (std::size_t column = 0; column < n; ++column) {
      const auto [sum, magnitude] = dot(&left[std::size_t{row} * k], &right[column * k], k);
      const std::size_t at = std::size_t{row} * n + column;
      const double got = c[at], allowed = error * magnitude;
      if (!(std::abs(got - sum) <= allowed)) return difference_text("c", at, sum, got, allowed);
    }
  return "";
}

}  // namespace raddle::workloads

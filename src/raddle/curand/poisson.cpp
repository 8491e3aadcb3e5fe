#include "raddle/curand/poisson.h"

#include <cmath>

namespace raddle::curand {

namespace {

/// Of all numbers whose probability is not 0 in double precision.
struct Probabilities {
  std::vector<double> value;
  unsigned shift = 0;
};
Probabilities probabilities(double mean) {
  Probabilities out;
  for (unsigned k = 0;; ++k) {
    const double p = std::exp(-mean + k * std::log(mean) - std::lgamma(k + 1.0));
    if (p > 0) {
      if (out.value.empty()) out.shift = k;
      out.value.push_back(p);
    } else if (k > mean) {
      return out;
    }
  }
}

}  // namespace

/// cuRAND's order: the lowest column that is not full takes from the highest that overflows. Those
/// that are no longer full then come in the next round.
AliasTable alias_table(double mean) {
  Probabilities from = probabilities(mean);
  std::vector<double>& p = from.value;
  const std::size_t count = p.size();
  const double width = 1.0 / static_cast<double>(count);
  AliasTable out{std::vector<double>(count), std::vector<unsigned>(count), from.shift};
  std::vector<bool> is_done(count);
  for (std::size_t j = 0; j < count; ++j) {
    out.value[j] = static_cast<double>(j + 1) * width;
    out.other[j] = static_cast<unsigned>(j);
  }
  std::size_t donors = count;  // the highest that overflows is below
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t j = 0; j < count; ++j) {
      if (is_done[j] || p[j] >= width) continue;
      while (donors > 0 && (is_done[donors - 1] || p[donors - 1] <= width)) --donors;
      if (donors == 0) return out;  // what is left is rounding
      const std::size_t donor = donors - 1;
      out.other[j] = static_cast<unsigned>(donor);
      out.value[j] = static_cast<double>(j) * width + p[j];
      p[donor] -= width - p[j];
      is_done[j] = has_changed = true;
    }
  }
  return out;
}

SumTable sum_table(double mean) {
  Probabilities from = probabilities(mean);
  double sum = 0;
  for (double& p : from.value) p = sum += p;
  return {std::move(from.value), from.shift};
}

}  // namespace raddle::curand

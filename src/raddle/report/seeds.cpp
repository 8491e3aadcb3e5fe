#include "raddle/report/seeds.h"

#include <algorithm>
#include <cmath>

#include "raddle/base/error.h"

namespace raddle::report {

namespace {

std::uint64_t seed_of(const Row& row) { return row.result->config.at("run").at("seed"); }

double cycles_of(const sim::Result& result) {
  return static_cast<double>(sim::whole_of(result).cycles);
}

double amean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double gmean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Spread spread(std::span<const double> values, double mean) {
  RADDLE_ASSERT(!values.empty());
  const double middle = amean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const auto degrees = static_cast<double>(values.size() - 1);
  const auto [min, max] = std::ranges::minmax(values);
  return {.mean = mean,
          .deviation = values.size() == 1 ? 0 : std::sqrt(squares / degrees),
          .min = min,
          .max = max};
}

}  // namespace

double speedup(const sim::Result& result, const sim::Result& base) {
  const double time = cycles_of(result) / result.core_clock_mhz;
  return time == 0 ? 0 : cycles_of(base) / base.core_clock_mhz / time;
}

const Row& baseline(const Row& row, std::span<const Row> rows) {
  const auto found = std::ranges::find(rows, seed_of(row), seed_of);
  RADDLE_ASSERT(found != rows.end());
  return *found;
}

std::vector<OverSeeds> over_seeds(std::span<const Row> rows) {
  std::vector<OverSeeds> out;
  if (rows.empty() || std::ranges::all_of(rows, [&](const Row& row) {
        return seed_of(row) == seed_of(rows.front());
      }))
    return out;
  for (const Row& first : rows) {
    if (std::ranges::find(out, first.of_any_seed, &OverSeeds::label) != out.end()) continue;
    OverSeeds& of = out.emplace_back();
    of.label = first.of_any_seed;
    std::vector<double> cycles, ratios;
    for (const Row& row : rows) {
      if (row.of_any_seed != of.label) continue;
      of.seeds.push_back(seed_of(row));
      cycles.push_back(cycles_of(*row.result));
      ratios.push_back(speedup(*row.result, *baseline(row, rows).result));
    }
    of.cycles = spread(cycles, amean(cycles));
    of.speedup = spread(ratios, gmean(ratios));
  }
  return out;
}

}  // namespace raddle::report

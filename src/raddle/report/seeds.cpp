#include "raddle/report/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "raddle/base/error.h"
#include "raddle/base/student.h"

namespace raddle::report {

namespace {

using Json = nlohmann::ordered_json;

double cycles_of(const sim::Result& result) {
  return static_cast<double>(sim::whole_of(result).cycles);
}

double amean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double middle = amean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// How far the interval of their mean reaches to each side. Precondition: at least two values.
double half_width(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  return student_t(values.size() - 1) * deviation(values) / std::sqrt(n);
}

Spread spread_of_cycles(std::span<const double> values) {
  const auto [min, max] = std::ranges::minmax(values);
  Spread out{amean(values), deviation(values), min, max, {}};
  if (values.size() < 2) return out;
  const double half = half_width(values);
  out.interval = Interval{out.mean - half, out.mean + half};
  return out;
}

std::string verdict_of(const OverSeeds& of) {
  if (of.speedup.min == 1 && of.speedup.max == 1) return "the same";
  const auto& in = of.speedup.interval;
  std::string out = !in            ? "one seed"
                    : in->low > 1  ? "faster"
                    : in->high < 1 ? "slower"
                                   : fmt::format("not told apart by {} seeds", of.seeds.size());
  return of.flips() ? out + ", flips within the spread" : out;
}

/// Do the runs of several seeds all have one input? That of a program is nobody's to know.
bool of_one_input(std::span<const Row> rows, const std::string& label) {
  const sim::Result* first = nullptr;
  for (const Row& row : rows) {
    if (row.of_any_seed != label) continue;
    if (first == nullptr) first = row.result;
    if (row.result->input_hash != first->input_hash) return false;
  }
  return first != nullptr;
}

}  // namespace

std::optional<std::uint64_t> seed_of(const Row& row) {
  const Json& config = row.result->config;
  if (!config.contains("run") || !config["run"].contains("seed")) return std::nullopt;
  return config["run"]["seed"].get<std::uint64_t>();
}

Spread spread_of_ratios(std::span<const double> values) {
  const auto [min, max] = std::ranges::minmax(values);
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  Spread out{std::exp(amean(logs)), deviation(values), min, max, {}};
  if (values.size() < 2) return out;
  const double half = half_width(logs);
  out.interval = Interval{out.mean * std::exp(-half), out.mean * std::exp(half)};
  return out;
}

Json to_json(const Spread& s) {
  Json out = {{"mean", s.mean}, {"deviation", s.deviation}, {"min", s.min}, {"max", s.max}};
  out["low"] = s.interval ? Json(s.interval->low) : Json();
  out["high"] = s.interval ? Json(s.interval->high) : Json();
  return out;
}

double speedup(const sim::Result& result, const sim::Result& base) {
  const double time = cycles_of(result) / result.core_clock_mhz;
  return time == 0 ? 0 : cycles_of(base) / base.core_clock_mhz / time;
}

const Row& baseline(const Row& row, std::span<const Row> rows) {
  const auto found = std::ranges::find(rows, seed_of(row), seed_of);
  RADDLE_ASSERT(found != rows.end());
  return *found;
}

std::vector<OverSeeds> over_seeds(std::span<const Row> all) {
  std::vector<Row> rows;
  for (const Row& row : all)
    if (row.what_if.empty()) rows.push_back(row);
  std::vector<OverSeeds> out;
  if (rows.empty() || std::ranges::any_of(rows, [](const Row& row) { return !seed_of(row); }) ||
      std::ranges::all_of(rows,
                          [&](const Row& row) { return seed_of(row) == seed_of(rows.front()); }))
    return out;
  for (const Row& first : rows) {
    if (std::ranges::find(out, first.of_any_seed, &OverSeeds::label) != out.end()) continue;
    OverSeeds& of = out.emplace_back();
    of.label = first.of_any_seed;
    of.base = rows.front().of_any_seed;
    std::vector<double> cycles, ratios;
    for (const Row& row : rows) {
      if (row.of_any_seed != of.label) continue;
      of.seeds.push_back(*seed_of(row));
      cycles.push_back(cycles_of(*row.result));
      ratios.push_back(speedup(*row.result, *baseline(row, rows).result));
    }
    of.cycles = spread_of_cycles(cycles);
    of.speedup = spread_of_ratios(ratios);
    of.same_input = of_one_input(rows, of.label);
    if (of.label != of.base) of.verdict = verdict_of(of);
  }
  return out;
}

Json to_json(const OverSeeds& of, const sim::Result& first) {
  return {{"workload", first.workload},
          {"parameters", first.parameters},
          {"policies", of.label},
          {"over", of.base},
          {"seeds", of.seeds},
          {"same_input", of.same_input},
          {"interval", {{"confidence", 0.95}, {"method", "student_t"}}},
          {"cycles", to_json(of.cycles)},
          {"speedup", to_json(of.speedup)},
          {"verdict", of.verdict},
          {"flips", of.flips()}};
}

}  // namespace raddle::report

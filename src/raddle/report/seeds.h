// One work under several ways to run it and several seeds. A seed makes an input of its own, so
// runs are compared with those of their seed, and what is told of the seeds together is the mean of
// these ratios, how sure it is and how far single ones lie apart.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "raddle/report/summary.h"

namespace raddle::report {

/// Where the mean of many more seeds would lie, by Student's t with 95 % confidence.
struct Interval {
  double low = 0, high = 0;
};

struct Spread {
  double mean = 0;
  double deviation = 0;  ///< standard deviation of a sample; 0 of one value
  double min = 0, max = 0;
  std::optional<Interval> interval;  ///< none of one value
};

/// Of ratios, one with each seed: their geometric mean, and the interval of the mean of their
/// logarithms.
Spread spread_of_ratios(std::span<const double> values);
nlohmann::ordered_json to_json(const Spread& spread);

/// Rows that differ in nothing but the seed.
struct OverSeeds {
  std::string label, base;  ///< base: what it is compared with
  std::vector<std::uint64_t> seeds;
  Spread cycles;            ///< the mean is the arithmetic one
  Spread speedup;           ///< over the first row of the same seed; spread_of_ratios()
  bool same_input = false;  ///< the work does not use the seed
  /// Is it faster with some of the seeds and slower with others?
  bool flips() const { return speedup.min < 1 && speedup.max > 1; }
  /// "faster", "slower, flips within the spread", "not told apart by 3 seeds", "the same"; "" of
  /// the first row.
  std::string verdict;
};

/// In order of first rows, without those of changed machines. None where all rows have one seed, or
/// say none.
std::vector<OverSeeds> over_seeds(std::span<const Row> rows);

/// An entry of `over_seeds` of compare's JSON and of a page. `first`: a result of the work.
nlohmann::ordered_json to_json(const OverSeeds& of, const sim::Result& first);

/// None of a result without a configuration.
std::optional<std::uint64_t> seed_of(const Row& row);

/// The first row with the seed of this one, which it is compared with.
const Row& baseline(const Row& row, std::span<const Row> rows);

/// How much sooner the same work ends; cycles of different clocks are not of one length.
double speedup(const sim::Result& result, const sim::Result& base);

}  // namespace raddle::report

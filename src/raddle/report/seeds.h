// One work under several ways to run it and several seeds. A seed makes an input of its own, so
// runs are compared with those of their seed, and what is told of the seeds together is the mean of
// these ratios and how far they lie apart.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "raddle/report/summary.h"

namespace raddle::report {

struct Spread {
  double mean = 0;
  double deviation = 0;  ///< standard deviation of a sample; 0 of one value
  double min = 0, max = 0;
};

/// Rows that differ in nothing but the seed.
struct OverSeeds {
  std::string label;
  std::vector<std::uint64_t> seeds;
  Spread cycles;   ///< the mean is the arithmetic one
  Spread speedup;  ///< over the first row of the same seed; the mean is the geometric one
};

/// In order of first rows. None where all rows have one seed.
std::vector<OverSeeds> over_seeds(std::span<const Row> rows);

/// The first row with the seed of this one, which it is compared with.
const Row& baseline(const Row& row, std::span<const Row> rows);

/// How much sooner the same work ends; cycles of different clocks are not of one length.
double speedup(const sim::Result& result, const sim::Result& base);

}  // namespace raddle::report

// Random numbers of other distributions than the uniform one, and random orders.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// 0, 1, 2 ... with probabilities falling by a constant factor, and this mean > 0.
std::uint32_t geometric(double mean, Rng& rng);

/// Mean 0, standard deviation 1 (Box and Muller, 1958).
double normal(Rng& rng);

/// exp(m + shape z) with z normal and m such that the mean is `mean`.
double log_normal(double mean, double shape, Rng& rng);

/// 0 .. n - 1 in random order (Fisher and Yates).
std::vector<std::uint32_t> permutation(std::uint32_t n, Rng& rng);

}  // namespace raddle::workloads

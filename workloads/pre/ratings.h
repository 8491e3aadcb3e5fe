// Who has rated what: ratings with the skew of MovieLens, and which items were rated together.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

struct RatingSpec {
  std::uint32_t items = 1'682, users = 943;  ///< those of MovieLens 100K, which has 106 per user
  double per_user = 106;       ///< mean number of ratings of a user; log-normal, shape 0.9
  double zipf = 1.0;           ///< the r-th most popular item is rated in proportion to r^-zipf
  std::uint32_t group = 64;    ///< consecutive items of one kind
  double loyal = 0.7;          ///< share of a user's ratings that are of the user's two groups
  std::uint32_t maximum = 64;  ///< ratings kept of an item: those of its first users
};

struct Ratings {
  std::vector<std::uint32_t> first;   ///< of each item, and the end
  std::vector<std::uint32_t> rating;  ///< user * 8 + stars 1 to 5, sorted in each item
  std::vector<std::uint32_t> together_first, together;  ///< of each item: others of its group that
                                                        ///< a user of it has rated, ascending
};

/// Preconditions: items, users, group, most >= 1; users < 2^28.
Ratings make_ratings(const RatingSpec& spec, Rng& rng);

/// Cosine of two items' ratings, operation by operation as the kernel does.
float rating_cosine(const Ratings& ratings, std::uint32_t item, std::uint32_t other);

}  // namespace raddle::workloads

// pre's ratings.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pre/ratings.h"

namespace raddle::workloads::pre_inputs_test {
namespace {

TEST(Ratings, AreSortedAndThoseOfAnItemAreOfDifferentUsers) {
  Rng rng(1, "test");
  const RatingSpec spec{.items = 500, .users = 200, .per_user = 20, .group = 50, .maximum = 8};
  const Ratings ratings = make_ratings(spec, rng);
  ASSERT_EQ(ratings.first.size(), 501u);
  for (std::uint32_t item = 0; item < spec.items; ++item) {
    EXPECT_LE(ratings.first[item + 1] - ratings.first[item], 8u);
    for (std::uint32_t k = ratings.first[item]; k < ratings.first[item + 1]; ++k) {
      EXPECT_LT(ratings.rating[k] / 8, 200u);
      EXPECT_GE(ratings.rating[k] % 8, 1u);
      EXPECT_LE(ratings.rating[k] % 8, 5u);
      if (k > ratings.first[item]) {
        EXPECT_LT(ratings.rating[k - 1] / 8, ratings.rating[k] / 8);
      }
    }
  }
}

TEST(Ratings, TogetherAreItemsOfTheGroupThatShareAUserBothWays) {
  Rng rng(2, "test");
  const RatingSpec spec{.items = 130, .users = 60, .per_user = 10, .group = 50, .maximum = 100};
  const Ratings ratings = make_ratings(spec, rng);
  std::vector<std::set<std::uint32_t>> users(spec.items), together(spec.items);
  for (std::uint32_t item = 0; item < spec.items; ++item) {
    for (std::uint32_t k = ratings.first[item]; k < ratings.first[item + 1]; ++k)
      users[item].insert(ratings.rating[k] / 8);
    for (std::uint32_t k = ratings.together_first[item]; k < ratings.together_first[item + 1]; ++k)
      together[item].insert(ratings.together[k]);
  }
  for (std::uint32_t item = 0; item < spec.items; ++item)
    for (std::uint32_t other = 0; other < spec.items; ++other) {
      std::vector<std::uint32_t> shared;
      std::ranges::set_intersection(users[item], users[other], std::back_inserter(shared));
      const bool alike = item / 50 == other / 50 && item != other && !shared.empty();
      EXPECT_EQ(together[item].contains(other), alike) << item << " " << other;
    }
}

// MovieLens 100K: 943 users, 1,682 items, 100,000 ratings, at least 20 of a user. Its most rated
// item has 583, and 141 items have one; those with many have more here, and none has one.
TEST(Ratings, OfMovieLens100KsSizeAreAsMany) {
  Rng rng(1, "pre/ratings");
  const RatingSpec spec{.items = 1682, .users = 943, .per_user = 106, .group = 64, .maximum = 943};
  const Ratings ratings = make_ratings(spec, rng);
  EXPECT_NEAR(static_cast<double>(ratings.rating.size()), 100'000, 15'000);
  std::uint32_t maximum = 0, minimum = 943;
  for (std::uint32_t item = 0; item < spec.items; ++item) {
    const std::uint32_t count = ratings.first[item + 1] - ratings.first[item];
    maximum = std::max(maximum, count);
    minimum = std::min(minimum, count);
  }
  EXPECT_GT(maximum, 583u);
  EXPECT_LE(maximum, 943u);
  EXPECT_LT(minimum, 25u);
}

TEST(Ratings, CosineOfEqualListsIs1AndOfStrangers0) {
  Ratings ratings;
  ratings.first = {0, 2, 4, 5};
  ratings.rating = {8 + 3, 16 + 4, 8 + 3, 16 + 4, 24 + 5};
  EXPECT_FLOAT_EQ(rating_cosine(ratings, 0, 1), 1);
  EXPECT_FLOAT_EQ(rating_cosine(ratings, 0, 2), 0);
}

}  // namespace
}  // namespace raddle::workloads::pre_inputs_test

// See ratings.h.
#include "pre/ratings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/draw.h"

namespace raddle::workloads {

namespace {

// Draws items by popularity; the order of popularity has nothing to do with their numbers, so that
// each group has some popular ones.
class Popularity {
 public:
  Popularity(const RatingSpec& spec, Rng& rng) : group_(spec.group), order_(spec.items) {
    const std::vector<std::uint32_t> rank = permutation(spec.items, rng);
    double sum = 0;
    for (std::uint32_t item = 0; item < spec.items; ++item)
      up_to_.push_back(sum += std::pow(rank[item] + 1.0, -spec.zipf));
  }
  std::uint32_t any(Rng& rng) const { return between(0, order_, rng); }
  std::uint32_t of_group(std::uint32_t group, Rng& rng) const {
    const std::uint32_t first = group * group_;
    return between(first, std::min(first + group_, order_), rng);
  }
  std::uint32_t groups() const { return (order_ + group_ - 1) / group_; }

 private:
  std::uint32_t between(std::uint32_t first, std::uint32_t end, Rng& rng) const {
    const double low = first == 0 ? 0 : up_to_[first - 1];
    const double at = low + (up_to_[end - 1] - low) * rng.unit();
    const auto found = std::upper_bound(up_to_.begin() + first, up_to_.begin() + end, at);
    return std::min(static_cast<std::uint32_t>(found - up_to_.begin()), end - 1);
  }
  std::uint32_t group_, order_;
  std::vector<double> up_to_;
};

using Lists = std::vector<std::vector<std::uint32_t>>;

// By item: its ratings, those of early users first.
Lists rate(const RatingSpec& spec, Rng& rng) {
  const Popularity popularity(spec, rng);
  Lists rating(spec.items);
  for (std::uint32_t user = 0; user < spec.users; ++user) {
    const std::uint32_t groups[] = {rng.below(popularity.groups()), rng.below(popularity.groups())};
    std::set<std::uint32_t> rated;
    // The most diligent user of MovieLens 100K has seven times the mean. Nobody rates an item
    // twice: the popular ones are drawn in vain more and more often.
    const double wanted = std::min(log_normal(spec.per_user, 0.9, rng), 7 * spec.per_user);
    for (double n = 0; n < 8 * wanted && static_cast<double>(rated.size()) < wanted; ++n)
      rated.insert(rng.unit() < spec.loyal ? popularity.of_group(groups[rng.below(2)], rng)
                                           : popularity.any(rng));
    for (const std::uint32_t item : rated)
      if (rating[item].size() < spec.maximum) rating[item].push_back(user * 8 + 1 + rng.below(5));
  }
  return rating;
}

bool share_a_user(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] / 8 == b[k] / 8) return true;
    if (a[i] < b[k]) ++i;
    else ++k;
  }
  return false;
}

}  // namespace

Ratings make_ratings(const RatingSpec& spec, Rng& rng) {
  const Lists rating = rate(spec, rng);
  Ratings out;
  for (std::uint32_t item = 0; item < spec.items; ++item) {
    out.first.push_back(static_cast<std::uint32_t>(out.rating.size()));
    out.rating.insert(out.rating.end(), rating[item].begin(), rating[item].end());
    out.together_first.push_back(static_cast<std::uint32_t>(out.together.size()));
    const std::uint32_t group = item / spec.group * spec.group;
    for (std::uint32_t other = group; other < std::min(group + spec.group, spec.items); ++other)
      if (other != item && share_a_user(rating[item], rating[other])) out.together.push_back(other);
  }
  out.first.push_back(static_cast<std::uint32_t>(out.rating.size()));
  out.together_first.push_back(static_cast<std::uint32_t>(out.together.size()));
  return out;
}

float rating_cosine(const Ratings& ratings, std::uint32_t item, std::uint32_t other) {
  const auto& rating = ratings.rating;
  const auto squares = [&](std::uint32_t of) {
    std::uint32_t sum = 0;
    for (std::uint32_t k = ratings.first[of]; k < ratings.first[of + 1]; ++k)
      sum += rating[k] % 8 * (rating[k] % 8);
    return sum;
  };
  std::uint32_t product = 0;
  for (std::uint32_t k = ratings.first[item]; k < ratings.first[item + 1]; ++k)
    for (std::uint32_t m = ratings.first[other]; m < ratings.first[other + 1]; ++m)
      if (rating[k] / 8 == rating[m] / 8) product += rating[k] % 8 * (rating[m] % 8);
  return static_cast<float>(product) /
         std::sqrt(static_cast<float>(squares(item) * squares(other)));
}

}  // namespace raddle::workloads

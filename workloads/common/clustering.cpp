#include "common/clustering.h"

#include <algorithm>
#include <cstddef>

#include "common/compare.h"

namespace raddle::workloads {
namespace {

double squared_distance(const Points& points, const std::vector<float>& centre, std::size_t point,
                        std::size_t cluster) {
  double sum = 0;
  for (std::size_t f = 0; f < points.features; ++f) {
    const double difference = static_cast<double>(points.rows[point * points.features + f]) -
                              centre[cluster * points.features + f];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

std::vector<float> means_of(const Points& points, const ClusteringRound& round) {
  const std::size_t features = points.features, clusters = round.centre.size() / features;
  std::vector<float> centre = round.centre;
  if (std::any_of(round.membership.begin(), round.membership.end(),
                  [&](std::uint32_t cluster) { return cluster >= clusters; }))
    return centre;
  std::vector<double> sum(centre.size(), 0);
  std::vector<std::uint32_t> count(clusters, 0);
  for (std::size_t p = 0; p < round.membership.size(); ++p) {
    const std::size_t c = round.membership[p];
    ++count[c];
    for (std::size_t f = 0; f < features; ++f)
      sum[c * features + f] += points.rows[p * features + f];
  }
  for (std::size_t i = 0; i < centre.size(); ++i)
    if (count[i / features] != 0) centre[i] = static_cast<float>(sum[i] / count[i / features]);
  return centre;
}

std::string wrong_membership(const Points& points, const ClusteringRound& round,
                             const std::string& what) {
  const double slack = 1 + 3 * chained_error(points.features + 2.0);
  const std::size_t clusters = round.centre.size() / points.features;
  for (std::size_t p = 0; p < round.membership.size(); ++p) {
    const std::uint32_t got = round.membership[p];
    std::size_t nearest = 0;
    double minimum = squared_distance(points, round.centre, p, 0), own = minimum;
    for (std::size_t c = 1; c < clusters; ++c) {
      const double distance = squared_distance(points, round.centre, p, c);
      if (c == got) own = distance;
      if (distance >= minimum) continue;
      minimum = distance;
      nearest = c;
    }
    if (got >= clusters || own > minimum * slack)
      return difference_text(what, p, static_cast<double>(nearest), got);
  }
  return "";
}

std::string wrong_membership(const Points& points, const std::vector<ClusteringRound>& rounds) {
  for (std::size_t r = 0; r < rounds.size(); ++r)
    if (std::string wrong =
            wrong_membership(points, rounds[r], "membership of round " + std::to_string(r));
        !wrong.empty())
      return wrong;
  return "";
}

}  // namespace raddle::workloads

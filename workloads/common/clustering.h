// What a host does between and after the launches of k-means: new centroids, and the check of an
// assignment. Points lie row by row, `features` words each; so do centroids.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace raddle::workloads {

struct Points {
  const std::vector<float>& rows;
  std::uint32_t features;
};

/// One launch: the centroids it had, and the cluster it gave to each point.
struct ClusteringRound {
  std::vector<float> centre;
  std::vector<std::uint32_t> membership;
};

/// The mean of each cluster's points; an empty cluster keeps its centre. An assignment to a cluster
/// that does not exist gives the centres unchanged.
std::vector<float> means_of(const Points& points, const ClusteringRound& round);

/// "" when every point is in the nearest cluster, or in one that rounding may take for the nearest:
/// a squared distance is a sum of `features` positive terms, relative error
/// chained_error(features + 2).
std::string wrong_membership(const Points& points, const ClusteringRound& round,
                             const std::string& what);

/// Round by round, each with the centroids it had, so that a point between two centroids, which may
/// go either way, does not lead reference and device apart.
std::string wrong_membership(const Points& points, const std::vector<ClusteringRound>& rounds);

}  // namespace raddle::workloads

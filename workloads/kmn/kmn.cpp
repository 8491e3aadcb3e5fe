// Host code of kmn: rounds of assignment on the device, new centroids on the host. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kNone = ~0u;

class Kmn final : public HashedWorkload {
 public:
  Kmn() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    switch (size) {
      case Size::Tiny:
        points_ = 300;
        features_ = 10;
        break;
      case Size::Small:
        points_ = 32'768;
        features_ = 34;
        break;
      case Size::Paper:
        points_ = 204'800;
        features_ = 34;
        break;
    }
  }

  void visit(FieldVisitor& v) override {
    v.field("points", points_, {1, 1u << 24}, "points", "number of points");
    v.field("features", features_, {1, 256}, "words", "coordinates of a point");
    v.field("clusters", clusters_, {1, 256}, "clusters", "number of clusters");
    v.field("rounds", rounds_, {1, 1000}, "launches",
            "most rounds; fewer when no point changes its cluster");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (clusters_ > points_) all.push_back("clusters must not exceed points");
    if (std::uint64_t{points_} * features_ > 1u << 30)
      all.push_back("points * features must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    KernelId assign = device.kernel(load_module(device, "kmn"), "kmn_assign");
    DeviceArray<float> rows(device, rows_);
    DeviceArray<float> centroids(device, std::size_t{clusters_} * features_);
    DeviceArray<std::uint32_t> membership(device, points_);
    std::uint32_t side = grid_side();
    std::vector<float> centre(rows_.begin(), rows_.begin() + std::size_t{clusters_} * features_);
    std::vector<std::uint32_t> before(points_, kNone);
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      centroids.upload(centre);
      device.launch(assign, {side, side}, {block_},
                    Arguments(rows.address(), features_, points_, clusters_, membership.address(),
                              centroids.address()));
      device.synchronize();
      rounds_done_.push_back({centre, membership.download()});
      const auto& now = rounds_done_.back().membership;
      if (now == before || !sound(now)) break;
      centre = means(now, centre);
      before = now;
    }
  }

  // The rounds are checked one by one with the centroids each had, so that a point between two
  // centroids, which may go either way, does not lead reference and device apart. A squared
  // distance is a sum of `features` positive terms: relative error chained_error(features + 2).
  std::string check() override {
    for (std::size_t r = 0; r < rounds_done_.size(); ++r)
      if (std::string wrong = check_round(r); !wrong.empty()) return wrong;
    return "";
  }

 private:
  struct Round {
    std::vector<float> centre;
    std::vector<std::uint32_t> membership;
  };

  // Blocks along each side of the square grid.
  std::uint32_t grid_side() const {
    std::uint32_t blocks = blocks_for(points_, block_), side = 1;
    while (std::uint64_t{side} * side < blocks) ++side;
    return side;
  }

  // Points around `clusters` random centres, so that there is something to find.
  void make_input(std::uint64_t seed) {
    std::vector<float> centre =
        random_floats(seed, "kmn/centre", std::size_t{clusters_} * features_, 0, 10);
    rows_ = random_floats(seed, "kmn/points", std::size_t{points_} * features_, -3, 3);
    Rng rng(seed, "kmn/cluster");
    for (std::size_t p = 0; p < points_; ++p) {
      std::size_t around = rng.below(clusters_);
      for (std::size_t f = 0; f < features_; ++f)
        rows_[p * features_ + f] += centre[around * features_ + f];
    }
    inputs_.add(rows_);
    inputs_.add(clusters_);
  }

  bool sound(const std::vector<std::uint32_t>& membership) const {
    return std::all_of(membership.begin(), membership.end(),
                       [&](std::uint32_t cluster) { return cluster < clusters_; });
  }

  // Mean of each cluster's points; an empty cluster keeps its centre.
  std::vector<float> means(const std::vector<std::uint32_t>& membership,
                           std::vector<float> centre) const {
    std::vector<double> sum(centre.size(), 0);
    std::vector<std::uint32_t> count(clusters_, 0);
    for (std::size_t p = 0; p < points_; ++p) {
      std::size_t c = membership[p];
      ++count[c];
      for (std::size_t f = 0; f < features_; ++f)
        sum[c * features_ + f] += rows_[p * features_ + f];
    }
    for (std::size_t i = 0; i < centre.size(); ++i)
      if (count[i / features_] != 0) centre[i] = static_cast<float>(sum[i] / count[i / features_]);
    return centre;
  }

  double squared_distance(const std::vector<float>& centre, std::size_t point,
                          std::size_t cluster) const {
    double sum = 0;
    for (std::size_t f = 0; f < features_; ++f) {
      double difference =
          static_cast<double>(rows_[point * features_ + f]) - centre[cluster * features_ + f];
      sum += difference * difference;
    }
    return sum;
  }

  std::string check_round(std::size_t r) const {
    const Round& round = rounds_done_[r];
    double slack = 1 + 3 * chained_error(features_ + 2.0);
    std::string what = "membership of round " + std::to_string(r);
    for (std::size_t p = 0; p < points_; ++p) {
      std::uint32_t got = round.membership[p];
      std::size_t nearest = 0;
      double least = squared_distance(round.centre, p, 0);
      double own = least;
      for (std::size_t c = 1; c < clusters_; ++c) {
        double distance = squared_distance(round.centre, p, c);
        if (c == got) own = distance;
        if (distance >= least) continue;
        least = distance;
        nearest = c;
      }
      if (got >= clusters_ || own > least * slack)
        return difference_text(what, p, static_cast<double>(nearest), got);
    }
    return "";
  }

  std::uint32_t points_ = 0, features_ = 0, clusters_ = 5, rounds_ = 2, block_ = 256;
  std::vector<float> rows_;
  std::vector<Round> rounds_done_;
};

}  // namespace

void add_workload_kmn(Workloads& w) {
  w.add<Kmn>("kmn", "k-means clustering, points row by row: each lane walks its own lines");
}

}  // namespace raddle::runtime

// Host code of kmeans: change of layout, then rounds of assignment on the device and new centroids
// on the host. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kNone = ~0u;
constexpr std::uint32_t kMostCentroidWords = 1088;  // as in kernels.cu

class Kmeans final : public HashedWorkload {
 public:
  Kmeans() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    switch (size) {
      case Size::Tiny:
        points_ = 300, features_ = 10, rounds_ = 3;
        break;
      case Size::Small:
        points_ = 40'032, features_ = 34, rounds_ = 1;
        break;
      case Size::Paper:
        points_ = 200'032, features_ = 34, rounds_ = 2;
        break;
    }
  }

  void visit(FieldVisitor& v) override {
    v.field("points", points_, {1, 1u << 24}, "points", "number of points");
    v.field("features", features_, {1, 256}, "words", "coordinates of a point");
    v.field("clusters", clusters_, {1, 256}, "clusters", "number of clusters");
    v.field("rounds", rounds_, {1, 1000}, "launches",
            "most assignment rounds; fewer when no point changes its cluster");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
    v.field("spread", spread_, {0, 1000}, "",
            "how far a point lies from its centre in a coordinate at most (centres are in 0 to "
            "10): the further, the more rounds until no point changes");
    v.field("unified", unified_,
            "the points are in memory that host and device share, and the host reads them in every "
            "round; otherwise they are copied to the device once");
    v.field("invert", invert_,
            "kmeans_layout, on the device, makes the feature-major copy of the points; otherwise "
            "the host does");
    v.field("constant", constant_,
            "centroids are in constant memory, of which there are 1,088 words (kmeans_nearest); "
            "otherwise in global memory (kmeans_assign)");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (clusters_ > points_) all.push_back("clusters must not exceed points");
    if (constant_ && clusters_ * features_ > kMostCentroidWords)
      all.push_back("constant: clusters * features must not exceed 1088, is " +
                    std::to_string(clusters_ * features_));
    if (std::uint64_t{points_} * features_ > 1u << 30)
      all.push_back("points * features must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "kmeans");
    DeviceArray<float> by_point(device, points_by_row_), by_feature(device, points_by_row_.size());
    DeviceArray<float> centroids(device, std::size_t{clusters_} * features_);
    DeviceArray<std::uint32_t> membership(device, points_);
    if (!invert_) by_feature.upload(points_by_feature());
    else
      device.launch(device.kernel(module, "kmeans_layout"), grid(), {block_},
                    Arguments(by_point.address(), by_feature.address(), points_, features_));
    std::vector<float> centre(points_by_row_.begin(),
                              points_by_row_.begin() + std::size_t{clusters_} * features_);
    std::vector<std::uint32_t> before(points_, kNone);
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      if (constant_) {
        device.copy_to_device(device.symbol(module, "kmeans_centroids"), centre.data(),
                              centre.size() * sizeof(float));
        device.launch(
            device.kernel(module, "kmeans_nearest"), grid(), {block_},
            Arguments(by_feature.address(), features_, points_, clusters_, membership.address()));
      } else {
        centroids.upload(centre);
        device.launch(device.kernel(module, "kmeans_assign"), grid(), {block_},
                      Arguments(by_feature.address(), centroids.address(), membership.address(),
                                points_, features_, clusters_));
      }
      device.synchronize();
      rounds_done_.push_back({centre, membership.download()});
      const auto& now = rounds_done_.back().membership;
      if (now == before || !sound(now)) break;
      if (unified_) points_by_row_ = by_point.download();
      centre = means(now, centre);
      before = now;
    }
    by_feature_ = by_feature.download();
  }

  // The rounds are checked one by one with the centroids each had, so that a point between two
  // centroids, which may go either way, does not lead reference and device apart. A squared
  // distance is a sum of `features` positive terms: relative error chained_error(features + 2).
  std::string check() override {
    std::string wrong_layout = first_difference("by_feature", points_by_feature(), by_feature_);
    if (!wrong_layout.empty()) return wrong_layout;
    for (std::size_t r = 0; r < rounds_done_.size(); ++r)
      if (std::string wrong = check_round(r); !wrong.empty()) return wrong;
    return "";
  }

 private:
  Dim3 grid() const { return {blocks_for(points_, block_)}; }

  struct Round {
    std::vector<float> centre;
    std::vector<std::uint32_t> membership;
  };

  // Points around `clusters` random centres, so that there is something to find.
  void make_input(std::uint64_t seed) {
    std::vector<float> centre =
        random_floats(seed, "kmeans/centre", std::size_t{clusters_} * features_, 0, 10);
    Rng rng(seed, "kmeans/points");
    points_by_row_.resize(std::size_t{points_} * features_);
    for (std::size_t p = 0; p < points_; ++p) {
      std::size_t around = rng.below(clusters_);
      for (std::size_t f = 0; f < features_; ++f)
        points_by_row_[p * features_ + f] =
            static_cast<float>(centre[around * features_ + f] + spread_ * (2 * rng.unit() - 1));
    }
    inputs_.add(points_by_row_);
    inputs_.add(clusters_);
  }

  std::vector<float> points_by_feature() const {
    std::vector<float> all(points_by_row_.size());
    for (std::size_t p = 0; p < points_; ++p)
      for (std::size_t f = 0; f < features_; ++f)
        all[f * points_ + p] = points_by_row_[p * features_ + f];
    return all;
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
        sum[c * features_ + f] += points_by_row_[p * features_ + f];
    }
    for (std::size_t i = 0; i < centre.size(); ++i)
      if (count[i / features_] != 0) centre[i] = static_cast<float>(sum[i] / count[i / features_]);
    return centre;
  }

  double squared_distance(const std::vector<float>& centre, std::size_t point,
                          std::size_t cluster) const {
    double sum = 0;
    for (std::size_t f = 0; f < features_; ++f) {
      double difference = static_cast<double>(points_by_row_[point * features_ + f]) -
                          centre[cluster * features_ + f];
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
      double least = squared_distance(round.centre, p, 0), own = least;
      for (std::size_t c = 1; c < clusters_; ++c) {
        double distance = squared_distance(round.centre, p, c);
        if (c == got) own = distance;
        if (distance < least) least = distance, nearest = c;
      }
      if (got >= clusters_ || own > least * slack)
        return difference_text(what, p, static_cast<double>(nearest), got);
    }
    return "";
  }

  std::uint32_t points_ = 0, features_ = 0, clusters_ = 5, rounds_ = 0, block_ = 256;
  double spread_ = 3;
  bool unified_ = false, invert_ = true, constant_ = false;
  std::vector<float> points_by_row_, by_feature_;
  std::vector<Round> rounds_done_;
};

}  // namespace

void add_workload_kmeans(Workloads& w) {
  w.add<Kmeans>("kmeans", "k-means clustering: strided copies, broadcast and streaming reads");
}

}  // namespace raddle::runtime

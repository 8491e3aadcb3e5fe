// Host code of kmeans: change of layout, then rounds of assignment on the device and new centroids
// on the host. See README.md.
#include "common/clustering.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kNone = ~0u;
constexpr std::uint32_t kMaxCentroidWords = 1088;  // as in kernels.cu

class Kmeans final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, points_, {300, 40'032, 200'032});
    by_size(size, features_, {10, 34, 34});
    by_size(size, rounds_, {3, 1, 2});
  }

  void visit(FieldVisitor& v) override {
    v.field("points", points_, {1, 1u << 24}, "points", "number of points");
    v.field("features", features_, {1, 256}, "words", "coordinates of a point");
    v.field("clusters", clusters_, {1, 256}, "clusters", "number of clusters");
    v.field("rounds", rounds_, {0, 1000}, "launches",
            "most assignment rounds; fewer when no point changes its cluster; 0: the copy only");
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
    v.field("square", square_,
            "constant: as many blocks as a square of them needs, side by side for the layout and "
            "in the square for the assignment; those beyond the points end at once");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (clusters_ > points_) all.push_back("clusters must not exceed points");
    if (constant_ && clusters_ * features_ > kMaxCentroidWords)
      all.push_back("constant: clusters * features must not exceed 1088, is " +
                    std::to_string(clusters_ * features_));
    if (square_ && !constant_) all.push_back("square needs constant=true");
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
      device.launch(device.kernel(module, "kmeans_layout"), {grid().x * grid().y}, {block_},
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
      const ClusteringRound& done = rounds_done_.back();
      if (done.membership == before) break;
      if (unified_) points_by_row_ = by_point.download();
      centre = means_of(points(), done);
      before = done.membership;
    }
    by_feature_ = by_feature.download();
  }

  std::string check() override {
    std::string wrong_layout = first_difference("by_feature", points_by_feature(), by_feature_);
    if (!wrong_layout.empty()) return wrong_layout;
    return wrong_membership(points(), rounds_done_);
  }

 private:
  Points points() const { return {points_by_row_, features_}; }

  Dim3 grid() const {
    const std::uint32_t blocks = blocks_for(points_, block_);
    if (!square_) return {blocks};
    std::uint32_t side = 1;
    while (std::uint64_t{side} * side < blocks) ++side;
    return {side, side};
  }

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
    inputs_.add(points_by_row_, clusters_);
  }

  std::vector<float> points_by_feature() const {
    std::vector<float> all(points_by_row_.size());
    for (std::size_t p = 0; p < points_; ++p)
      for (std::size_t f = 0; f < features_; ++f)
        all[f * points_ + p] = points_by_row_[p * features_ + f];
    return all;
  }

  std::uint32_t points_ = 0, features_ = 0, clusters_ = 5, rounds_ = 0, block_ = 256;
  double spread_ = 3;
  bool unified_ = false, invert_ = true, constant_ = false, square_ = false;
  std::vector<float> points_by_row_, by_feature_;
  std::vector<ClusteringRound> rounds_done_;
};

}  // namespace

void add_workload_kmeans(Workloads& w) {
  w.add<Kmeans>("kmeans", "k-means clustering: strided copies, broadcast and streaming reads");
}

}  // namespace raddle::runtime

// Host code of kmn: rounds of assignment on the device, new centroids on the host. See README.md.
#include "common/clustering.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kNone = ~0u;

class Kmn final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, points_, {300, 32'768, 204'800});
    by_size(size, features_, {10, 34, 34});
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
      const ClusteringRound& done = rounds_done_.back();
      if (done.membership == before) break;
      centre = means_of(points(), done);
      before = done.membership;
    }
  }

  std::string check() override { return wrong_membership(points(), rounds_done_); }

 private:
  Points points() const { return {rows_, features_}; }

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
    inputs_.add(rows_, clusters_);
  }

  std::uint32_t points_ = 0, features_ = 0, clusters_ = 5, rounds_ = 2, block_ = 256;
  std::vector<float> rows_;
  std::vector<ClusteringRound> rounds_done_;
};

}  // namespace

void add_workload_kmn(Workloads& w) {
  w.add<Kmn>("kmn", "k-means clustering, points row by row: each lane walks its own lines");
}

}  // namespace raddle::runtime

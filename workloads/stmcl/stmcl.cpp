// Host code of stmcl: local search for the centres of a stream of points, one candidate per launch.
// See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

struct Point {  // as in kernels.cu
  float weight;
  std::uint32_t unused[3];
  std::uint32_t centre;
  std::uint32_t unused_half;
  float cost;
  std::uint32_t padding;
};

// What a kernel says of one candidate: a row of words per point, the last for the candidate and one
// per open centre before it, and a flag per point.
struct Gains {
  std::vector<float> rows;
  std::vector<std::uint8_t> nearer;
};

// The clustering as it stands, and what the host does with a candidate's gains.
class Clustering {
 public:
  Clustering(std::uint32_t points, std::uint32_t dimensions, std::uint64_t seed)
      : dimensions_(dimensions), point_(points) {
    make_coordinates(seed);
    Rng rng(seed, "stmcl/points");
    for (Point& p : point_) p = {static_cast<float>(1 + rng.below(3)), {}, 0, 0, 0, 0};
    std::vector<float> distance = distances(0);
    double total = 0;
    for (std::size_t p = 0; p < point_.size(); ++p)
      total += point_[p].cost = distance[p] * point_[p].weight;
    price_ = total / 40;
  }

  const std::vector<Point>& point() const { return point_; }
  const std::vector<float>& coordinates() const { return coordinates_; }
  /// Words per row.
  std::uint32_t stride() const { return static_cast<std::uint32_t>(centres_.size()) + 1; }
  /// Number of each open centre, by point; 0 for other points.
  std::vector<std::uint32_t> slots() const {
    std::vector<std::uint32_t> slot(point_.size(), 0);
    for (std::uint32_t i = 0; i < centres_.size(); ++i) slot[centres_[i]] = i;
    return slot;
  }

  /// The reference of the kernel, with the same operations in the same order.
  Gains gains(std::uint32_t candidate) const {
    Gains all{std::vector<float>(point_.size() * stride(), 0.0f),
              std::vector<std::uint8_t>(point_.size(), 0)};
    std::vector<float> distance = distances(candidate);
    std::vector<std::uint32_t> slot = slots();
    for (std::size_t p = 0; p < point_.size(); ++p) {
      float cost = distance[p] * point_[p].weight;
      float* row = &all.rows[p * stride()];
      if (cost < point_[p].cost) {
        all.nearer[p] = 1;
        row[stride() - 1] = cost - point_[p].cost;
      } else {
        row[slot[point_[p].centre]] = point_[p].cost - cost;
      }
    }
    return all;
  }

  /// Opens the candidate if that saves more than the price of a centre, counting the centres that
  /// may then be closed. Points move to it when it is nearer or their centre has closed.
  void decide(std::uint32_t candidate, const Gains& gains) {
    std::vector<double> sum(stride(), 0);
    for (std::size_t i = 0; i < gains.rows.size(); ++i) sum[i % stride()] += gains.rows[i];
    double change = price_ + sum.back();
    std::vector<bool> closes(centres_.size());
    for (std::size_t i = 0; i < centres_.size(); ++i) {
      closes[i] = sum[i] < price_;
      if (closes[i]) change += sum[i] - price_;
    }
    bool is_one = std::find(centres_.begin(), centres_.end(), candidate) != centres_.end();
    if (is_one || !(change < 0)) return;
    std::vector<float> distance = distances(candidate);
    std::vector<std::uint32_t> slot = slots();
    for (std::size_t p = 0; p < point_.size(); ++p) {
      if (gains.nearer[p] == 0 && !closes[slot[point_[p].centre]]) continue;
      point_[p].centre = candidate;
      point_[p].cost = distance[p] * point_[p].weight;
    }
    std::vector<std::uint32_t> open = {candidate};
    for (std::size_t i = 0; i < centres_.size(); ++i)
      if (!closes[i]) open.push_back(centres_[i]);
    centres_ = open;
  }

 private:
  // Around as many random places as would be worth their price.
  void make_coordinates(std::uint64_t seed) {
    constexpr std::uint32_t kClusters = 16;
    std::size_t points = point_.size();
    std::vector<float> place =
        random_floats(seed, "stmcl/places", std::size_t{kClusters} * dimensions_, 0, 1);
    Rng rng(seed, "stmcl/coordinates");
    coordinates_.resize(points * dimensions_);
    for (std::size_t p = 0; p < points; ++p) {
      std::size_t around = rng.below(kClusters);
      for (std::size_t d = 0; d < dimensions_; ++d)
        coordinates_[d * points + p] =
            static_cast<float>(place[around * dimensions_ + d] + 0.4 * rng.unit() - 0.2);
    }
  }

  std::vector<float> distances(std::uint32_t to) const {
    std::size_t points = point_.size();
    std::vector<float> sum(points, 0.0f);
    for (std::size_t d = 0; d < dimensions_; ++d) {
      const float* coordinate = &coordinates_[d * points];
      for (std::size_t p = 0; p < points; ++p) {
        float difference = coordinate[p] - coordinate[to];
        sum[p] = std::fmaf(difference, difference, sum[p]);
      }
    }
    return sum;
  }

  std::uint32_t dimensions_;
  std::vector<Point> point_;
  std::vector<float> coordinates_;  // [d * points + p]
  std::vector<std::uint32_t> centres_ = {0};
  double price_ = 0;  // of a centre
};

class Streamcluster final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, points_, {500, 30'720, 65'536});
    by_size(size, dimensions_, {16, 32, 32});
    by_size(size, candidates_, {4, 3, 16});
  }

  void visit(FieldVisitor& v) override {
    v.field("points", points_, {1, 1u << 24}, "points", "points of the stream");
    v.field("dimensions", dimensions_, {1, 1024}, "words", "coordinates of a point");
    v.field("candidates", candidates_, {1, 1000}, "launches", "points tried as a centre");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    if (std::uint64_t{points_} * dimensions_ <= 1u << 30) return {};
    return {"points * dimensions must not exceed 2^30"};
  }

  void run(Device& device, std::uint64_t seed) override {
    start_ = std::make_unique<Clustering>(points_, dimensions_, seed);
    Rng rng(seed, "stmcl/candidates");
    for (std::uint32_t i = 0; i < candidates_; ++i) candidate_.push_back(rng.below(points_));
    inputs_.add(start_->point(), start_->coordinates(), candidate_);

    Clustering now = *start_;
    KernelId kernel = device.kernel(load_module(device, "stmcl"), "stmcl_gain");
    DeviceArray<Point> point(device, points_);
    DeviceArray<float> coordinates(device, now.coordinates());
    DeviceArray<std::uint32_t> slot(device, points_);
    DeviceArray<std::uint8_t> nearer(device, points_);
    for (std::uint32_t candidate : candidate_) {
      point.upload(now.point());
      slot.upload(now.slots());
      DeviceArray<float> rows(device, std::size_t{points_} * now.stride());
      rows.set_bytes(0);
      nearer.set_bytes(0);
      device.launch(
          kernel, {blocks_for(points_, block_)}, {block_},
          Arguments(point.address(), coordinates.address(), slot.address(), rows.address(),
                    nearer.address(), points_, dimensions_, candidate, now.stride()));
      device.synchronize();
      std::vector<std::uint8_t> flags = nearer.download();
      gains_.push_back({rows.download(), std::move(flags)});
      now.decide(candidate, gains_.back());
    }
  }

  // Exact. Up to the first difference the reference takes the same decisions.
  std::string check() override {
    Clustering now = *start_;
    for (std::size_t i = 0; i < candidate_.size(); ++i) {
      Gains expected = now.gains(candidate_[i]);
      std::string of = " of candidate " + std::to_string(i);
      std::string wrong = first_difference("nearer" + of, expected.nearer, gains_[i].nearer);
      if (wrong.empty()) wrong = first_difference("rows" + of, expected.rows, gains_[i].rows);
      if (!wrong.empty()) return wrong;
      now.decide(candidate_[i], expected);
    }
    return "";
  }

 private:
  std::uint32_t points_ = 0, dimensions_ = 0, candidates_ = 0, block_ = 512;
  std::unique_ptr<Clustering> start_;
  std::vector<std::uint32_t> candidate_;
  std::vector<Gains> gains_;
};

}  // namespace

void add_workload_stmcl(Workloads& w) {
  w.add<Streamcluster>("stmcl",
                       "clustering a stream of points: coalesced and broadcast reads, short rows");
}

}  // namespace raddle::runtime

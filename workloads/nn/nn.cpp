// Host code of nn: the records nearest to a place; distances on the device, choice on the host.
// See README.md.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Nn final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr std::uint32_t kRecords[] = {10'000, 1'000'000, 171'056};
    records_ = kRecords[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("records", records_, {1, 1u << 28}, "records", "places to search");
    v.field("nearest", nearest_, {1, 1000}, "records", "how many are looked for");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    if (nearest_ <= records_) return {};
    return {"nearest must not exceed records = " + std::to_string(records_) + ", is " +
            std::to_string(nearest_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    KernelId kernel = device.kernel(load_module(device, "nn"), "nn");
    DeviceArray<Place> places(device, places_);
    DeviceArray<float> distance(device, records_);
    device.launch(kernel, {blocks_for(records_, block_)}, {block_},
                  Arguments(places.address(), distance.address(), records_, target_.latitude,
                            target_.longitude));
    device.synchronize();
    distance_ = distance.download();
    found_ = nearest_by(distance_);
  }

  // Tolerance: differences of floats err by one rounding each, squares, sum and root by one more,
  // the root halves what it is given: 4 roundings in all. Records equally far within that may
  // change places.
  std::string check() override {
    std::vector<double> expected(records_);
    for (std::size_t i = 0; i < records_; ++i)
      expected[i] = std::hypot(static_cast<double>(places_[i].latitude) - target_.latitude,
                               static_cast<double>(places_[i].longitude) - target_.longitude);
    double error = chained_error(4);
    std::string wrong = first_beyond("distance", expected, distance_,
                                     [&](std::size_t i) { return error * expected[i]; });
    if (!wrong.empty()) return wrong;
    std::vector<std::uint32_t> order = nearest_by(expected);
    for (std::size_t i = 0; i < order.size(); ++i) {
      double best = expected[order[i]];
      if (std::abs(expected[found_[i]] - best) > 2 * error * best)
        return difference_text("nearest", i, order[i], found_[i]);
    }
    return "";
  }

 private:
  struct Place {
    float latitude, longitude;  // degrees
  };

  void make_input(std::uint64_t seed) {
    Rng rng(seed, "nn/places");
    auto place = [&] {
      auto latitude = static_cast<float>(180 * rng.unit() - 90);
      return Place{latitude, static_cast<float>(360 * rng.unit() - 180)};
    };
    target_ = place();
    places_.resize(records_);
    for (Place& one : places_) one = place();
    inputs_.add(places_, target_.latitude, target_.longitude);
  }

  // The nearest first, equal ones in the order of their records. NaN (a fault) is farthest.
  template <class T>
  std::vector<std::uint32_t> nearest_by(const std::vector<T>& distance) const {
    auto farness = [&](std::uint32_t i) {
      T value = distance[i];
      return std::pair(std::isnan(value) ? std::numeric_limits<T>::infinity() : value, i);
    };
    std::vector<std::uint32_t> order(distance.size());
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + nearest_, order.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return farness(a) < farness(b); });
    order.resize(nearest_);
    return order;
  }

  std::uint32_t records_ = 0, nearest_ = 10, block_ = 256;
  Place target_{};
  std::vector<Place> places_;
  std::vector<float> distance_;
  std::vector<std::uint32_t> found_;
};

}  // namespace

void add_workload_nn(Workloads& w) {
  w.add<Nn>("nn", "nearest neighbours of a place: streaming with a square root");
}

}  // namespace raddle::runtime

// Host code of sobol: Sobol points of many dimensions. See README.md.
#include <algorithm>
#include <bit>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kDirections = 32;  // as in kernels.cu
constexpr std::uint32_t kThreads = 64;

class Sobol final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, vectors_, {1000, 10'000, 100'000});
    by_size(size, dimensions_, {3, 100, 100});
    by_size(size, blocks_, {4, 64, 512});
  }

  void visit(FieldVisitor& v) override {
    v.field("vectors", vectors_, {1, 1u << 26}, "points", "points");
    v.field("dimensions", dimensions_, {1, 65535}, "", "numbers of a point, a row of blocks each");
    v.field("blocks", blocks_, {1, 32768}, "blocks", "blocks of a row; a power of two");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (!std::has_single_bit(blocks_))
      all.push_back("blocks must be a power of two, is " + std::to_string(blocks_));
    if (std::uint64_t{vectors_} * dimensions_ > 1u << 28)
      all.push_back("vectors * dimensions must not exceed 2^28");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_directions(seed);
    KernelId kernel = device.kernel(load_module(device, "sobol"), "sobol_points");
    DeviceArray<std::uint32_t> directions(device, directions_);
    DeviceArray<float> out(device, std::size_t{vectors_} * dimensions_);
    device.launch(kernel, {blocks_, dimensions_}, {kThreads},
                  Arguments(vectors_, directions.address(), out.address()));
    device.synchronize();
    result_ = out.download();
  }

  // Exact: point i is the sum of the directions of its Gray code's bits.
  std::string check() override {
    std::vector<float> expected;
    expected.reserve(result_.size());
    for (std::uint32_t d = 0; d < dimensions_; ++d)
      for (std::uint32_t i = 0; i < vectors_; ++i) {
        std::uint32_t point = 0;
        for (std::uint32_t gray = i ^ i >> 1; gray != 0; gray &= gray - 1)
          point ^= directions_[d * kDirections + static_cast<unsigned>(std::countr_zero(gray))];
        expected.push_back(static_cast<float>(point) * 0x1p-32f);
      }
    return first_difference("points", expected, result_);
  }

 private:
  // Direction k of a dimension has its highest bit at 31 - k, what is below at random: points as
  // even along each axis as Sobol's, not along two at once.
  void make_directions(std::uint64_t seed) {
    Rng rng(seed, "sobol/directions");
    for (std::uint32_t d = 0; d < dimensions_; ++d)
      for (std::uint32_t k = 0; k < kDirections; ++k) {
        const std::uint32_t highest = 1u << (kDirections - 1 - k);
        directions_.push_back(highest | (highest > 1 ? rng.below(highest) : 0));
      }
    inputs_.add(directions_, vectors_);
  }

  std::uint32_t vectors_ = 0, dimensions_ = 0, blocks_ = 0;
  std::vector<std::uint32_t> directions_;
  std::vector<float> result_;
};

}  // namespace

void add_workload_sobol(Workloads& w) {
  w.add<Sobol>("sobol", "Sobol points by Gray code: integer arithmetic, streams of stores");
}

}  // namespace raddle::runtime

// Host code of pathfinder: cheapest way down a grid, row by row. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 256;  // as in kernels.cu

class Pathfinder final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, columns_, {1500, 100'000, 100'000});
    by_size(size, rows_, {5, 11, 101});
    by_size(size, height_, {1, 1, 20});
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", columns_, {1, 1u << 24}, "columns", "width of the grid");
    v.field("rows", rows_, {2, 10000}, "rows", "rows of the grid, the first is the start");
    v.field("height", height_, {1, 127}, "rows", "rows per launch: the halo of a block's tile");
    v.field("arrays", arrays_, {1, 2}, "arrays",
            "of 256 words in shared memory; 2: a row's costs go through the second");
  }

  std::vector<std::string> violations() const override {
    if (std::uint64_t{rows_} * columns_ <= 1u << 30) return {};
    return {"rows * columns must not exceed 2^30, is " +
            std::to_string(std::uint64_t{rows_} * columns_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "pathfinder/wall");
    wall_.resize(std::size_t{rows_} * columns_);
    for (std::int32_t& cost : wall_) cost = static_cast<std::int32_t>(rng.below(10));
    inputs_.add(wall_, columns_);

    KernelId kernel = device.kernel(load_module(device, "pathfinder"),
                                    arrays_ == 2 ? "pathfinder_two_arrays" : "pathfinder");
    DeviceArray<std::int32_t> wall(device, wall_), even(device, columns_), odd(device, columns_);
    device.copy_on_device(even.address(), wall.address(), columns_ * sizeof(std::int32_t));
    Address from = even.address(), to = odd.address();
    for (std::uint32_t row = 1; row < rows_; row += height_) {
      std::uint32_t steps = std::min(height_, rows_ - row);
      Address here = wall.address() + std::uint64_t{row} * columns_ * sizeof(std::int32_t);
      device.launch(kernel, {blocks_for(columns_, kThreads - 2 * height_)}, {kThreads},
                    Arguments(here, from, to, columns_, steps, height_));
      std::swap(from, to);
    }
    device.synchronize();
    result_ = device.download<std::int32_t>(from, columns_);
  }

  std::string check() override {
    std::vector<std::int32_t> cost(wall_.begin(), wall_.begin() + columns_);
    for (std::size_t row = 1; row < rows_; ++row) {
      std::vector<std::int32_t> before = cost;
      for (std::size_t j = 0; j < columns_; ++j) {
        std::int32_t minimum = before[j];
        if (j > 0) minimum = std::min(minimum, before[j - 1]);
        if (j + 1 < columns_) minimum = std::min(minimum, before[j + 1]);
        cost[j] = minimum + wall_[row * columns_ + j];
      }
    }
    return first_difference("cost", cost, result_);
  }

 private:
  std::uint32_t columns_ = 0, rows_ = 0, height_ = 0, arrays_ = 1;
  std::vector<std::int32_t> wall_, result_;
};

}  // namespace

void add_workload_pathfinder(Workloads& w) {
  w.add<Pathfinder>("pathfinder", "dynamic programming over rows: tiles with a shrinking halo");
}

}  // namespace raddle::runtime

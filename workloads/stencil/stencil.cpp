// Host code of stencil: steps of a seven-point mean in space, two arrays in turn. See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kWidth = 32, kHeight = 4, kColumns = 2;  // as in kernels.cu
constexpr float kOwn = 1.0f / 6, kNeighbour = 1.0f / 36;

class Stencil final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, columns_, {70, 256, 128});
    by_size(size, rows_, {6, 256, 128});
    by_size(size, planes_, {3, 8, 8});
    by_size(size, steps_, {3, 3, 10});
    by_size(size, padding_, {0, 80, 80});
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", columns_, {1, 16384}, "cells", "cells in a row");
    v.field("rows", rows_, {1, 16384}, "rows", "rows of a plane");
    v.field("planes", planes_, {2, 4096}, "planes", "planes of the grid");
    v.field("steps", steps_, {1, 10000}, "launches", "steps, one launch each");
    v.field("padding", padding_, {0, 16384}, "words",
            "unused words after each plane, so that a column's cells fall into different sets");
  }

  std::vector<std::string> violations() const override {
    if (words() <= 1u << 28) return {};
    return {"planes * (rows * columns + padding) must not exceed 2^28, is " +
            std::to_string(words())};
  }

  void run(Device& device, std::uint64_t seed) override {
    std::vector<float> cells =
        random_floats(seed, "stencil/cells", std::size_t{columns_} * rows_ * planes_, 0, 1);
    inputs_.add(cells, columns_, steps_);
    start_.assign(words(), 0);
    for (std::size_t z = 0; z < planes_; ++z)
      std::copy_n(cells.begin() + z * plane_cells(), plane_cells(), start_.begin() + z * stride());

    KernelId kernel = device.kernel(load_module(device, "stencil"), "stencil");
    DeviceArray<float> even(device, start_), odd(device, start_);
    Dim3 grid{blocks_for(columns_, kColumns * kWidth), blocks_for(rows_, kHeight)};
    for (std::uint32_t s = 0; s < steps_; ++s) {
      Address from = s % 2 == 0 ? even.address() : odd.address();
      Address to = s % 2 == 0 ? odd.address() : even.address();
      device.launch(kernel, grid, {kWidth, kHeight},
                    Arguments(kOwn, kNeighbour, from, to, columns_, rows_, planes_,
                              static_cast<std::uint32_t>(stride())));
    }
    device.synchronize();
    result_ = steps_ % 2 == 0 ? even.download() : odd.download();
  }

  // Exact: the sums are done in the kernel's order; the surface and the padding stay as they are.
  std::string check() override {
    std::vector<float> cells = start_;
    for (std::uint32_t s = 0; s < steps_; ++s) cells = reference_step(cells);
    return first_difference("cells", cells, result_);
  }

 private:
  std::size_t plane_cells() const { return std::size_t{rows_} * columns_; }
  std::size_t stride() const { return plane_cells() + padding_; }
  std::size_t words() const { return planes_ * stride(); }

  std::vector<float> reference_step(const std::vector<float>& cells) const {
    std::vector<float> next = cells;
    auto row_step = static_cast<std::ptrdiff_t>(columns_);
    auto plane_step = static_cast<std::ptrdiff_t>(stride());
    for (std::size_t z = 1; z + 1 < planes_; ++z)
      for (std::size_t y = 1; y + 1 < rows_; ++y)
        for (std::size_t x = 1; x + 1 < columns_; ++x) {
          const std::size_t at = z * stride() + y * columns_ + x;
          const float* own = &cells[at];
          float sum = own[plane_step] + own[-plane_step];
          sum = sum + own[row_step] + own[-row_step] + own[1] + own[-1];
          next[at] = std::fmaf(-kOwn, *own, sum * kNeighbour);
        }
    return next;
  }

  std::uint32_t columns_ = 0, rows_ = 0, planes_ = 0, steps_ = 0, padding_ = 0;
  std::vector<float> start_, result_;
};

}  // namespace

void add_workload_stencil(Workloads& w) {
  w.add<Stencil>("stencil", "seven-point mean in space: planes through shared memory");
}

}  // namespace raddle::runtime

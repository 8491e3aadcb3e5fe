// Host code of fdtd: steps of three fields on a grid in the plane. See README.md.
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kWidth = 32, kHeight = 8;
enum class Kernels : std::uint32_t { Ey, All };
constexpr std::string_view kKernels[] = {"ey", "all"};

class Fdtd final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {24, 512, 2048});
    by_size(size, columns_, {40, 512, 2048});
    by_size(size, steps_, {2, 2, 3});
    by_size(size, kernels_, {Kernels::All, Kernels::All, Kernels::Ey});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {2, 16384}, "rows", "rows of the grid");
    v.field("columns", columns_, {2, 16384}, "cells", "cells in a row");
    v.field("steps", steps_, {1, 10000}, "steps", "steps in time");
    v.choice("kernels", kernels_, kKernels,
             "of a step: fdtd_ey alone, as CCBP's FTD, or fdtd_ey, fdtd_ex and fdtd_hz");
  }

  void run(Device& device, std::uint64_t seed) override {
    const std::size_t cells = std::size_t{rows_} * columns_;
    source_ = random_floats(seed, "fdtd/source", steps_, -1, 1);
    ex_ = random_floats(seed, "fdtd/ex", cells, -1, 1);
    ey_ = random_floats(seed, "fdtd/ey", cells, -1, 1);
    hz_ = random_floats(seed, "fdtd/hz", cells, -1, 1);
    for (const auto* field : {&source_, &ex_, &ey_, &hz_}) inputs_.add(*field);
    inputs_.add(columns_);
    const bool all = kernels_ == Kernels::All;

    ModuleId module = load_module(device, "fdtd");
    KernelId ey_kernel = device.kernel(module, "fdtd_ey");
    KernelId ex_kernel = device.kernel(module, "fdtd_ex");
    KernelId hz_kernel = device.kernel(module, "fdtd_hz");
    DeviceArray<float> source(device, source_), ex(device, ex_), ey(device, ey_), hz(device, hz_);
    const Dim3 grid{blocks_for(columns_, kWidth), blocks_for(rows_, kHeight)};
    const Dim3 block{kWidth, kHeight};
    for (std::uint32_t step = 0; step < steps_; ++step) {
      device.launch(ey_kernel, grid, block,
                    Arguments(source.address(), ey.address(), hz.address(), rows_, columns_, step));
      if (!all) continue;
      device.launch(ex_kernel, grid, block, Arguments(ex.address(), hz.address(), rows_, columns_));
      device.launch(hz_kernel, grid, block,
                    Arguments(ex.address(), ey.address(), hz.address(), rows_, columns_));
    }
    device.synchronize();
    if (all) {
      ex_result_ = ex.download();
      hz_result_ = hz.download();
    }
    ey_result_ = ey.download();
  }

  // Exact: every cell is computed in the kernel's order, and no cell twice in a kernel.
  std::string check() override {
    const bool all = kernels_ == Kernels::All;
    std::vector<float> ex = ex_, ey = ey_, hz = hz_;
    for (std::uint32_t s = 0; s < steps_; ++s) {
      step_ey(s, ey, hz);
      if (!all) continue;
      step_ex(ex, hz);
      step_hz(ex, ey, hz);
    }
    std::string text = all ? first_difference("ex", ex, ex_result_) : "";
    if (text.empty() && all) text = first_difference("hz", hz, hz_result_);
    return text.empty() ? first_difference("ey", ey, ey_result_) : text;
  }

 private:
  using Field = std::vector<float>;
  void step_ey(std::uint32_t step, Field& ey, const Field& hz) const {
    for (std::size_t j = 0; j < columns_; ++j) ey[j] = source_[step];
    for (std::size_t at = columns_; at < ey.size(); ++at)
      ey[at] = std::fmaf(hz[at] - hz[at - columns_], -0.5f, ey[at]);
  }
  void step_ex(Field& ex, const Field& hz) const {
    for (std::size_t at = 0; at < ex.size(); ++at)
      if (at % columns_ != 0) ex[at] = std::fmaf(hz[at] - hz[at - 1], -0.5f, ex[at]);
  }
  void step_hz(const Field& ex, const Field& ey, Field& hz) const {
    for (std::size_t i = 0; i + 1 < rows_; ++i)
      for (std::size_t j = 0; j + 1 < columns_; ++j) {
        const std::size_t at = i * columns_ + j;
        const float across = ex[at + 1] - ex[at];
        hz[at] = std::fmaf(across + ey[at + columns_] - ey[at], -0.7f, hz[at]);
      }
  }

  std::uint32_t rows_ = 0, columns_ = 0, steps_ = 0;
  Kernels kernels_ = Kernels::All;
  Field source_, ex_, ey_, hz_;  ///< as they start
  Field ex_result_, ey_result_, hz_result_;
};

}  // namespace

void add_workload_fdtd(Workloads& w) {
  w.add<Fdtd>("fdtd",
              "finite differences in time, in the plane: streams and hardly any arithmetic");
}

}  // namespace raddle::runtime

// Host code of rms_norm. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/half.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class RmsNorm final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {6, 512, 8192});
    by_size(size, hidden_, {520, 4096, 4096});
    by_size(size, block_, {64, 256, 256});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 1u << 20}, "rows", "tokens");
    v.field("hidden", hidden_, {8, 1u << 16}, "numbers", "length of a row");
    v.field("residual", residual_, "true: the row is a residual plus an input, and kept");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (hidden_ % 8 != 0)
      all.push_back("hidden must be a multiple of 8, is " + std::to_string(hidden_));
    if (block_ % 32 != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (std::uint64_t{rows_} * hidden_ > kMaxNumbers)
      all.push_back("rows * hidden must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    const std::size_t count = std::size_t{rows_} * hidden_;
    in_ = random_halves(seed, "rms_norm/in", count, 4);
    weight_ = random_halves(seed, "rms_norm/weight", hidden_, 2);
    if (residual_) before_ = random_halves(seed, "rms_norm/residual", count, 4);
    inputs_.add(in_, weight_, before_);

    ModuleId module = load_module(device, "rms_norm");
    DeviceArray<Half> in(device, in_), weight(device, weight_), residual(device, before_);
    DeviceArray<Half> out(device, count);
    if (residual_) {
      device.launch(device.kernel(module, "rms_norm_add"), {rows_}, {block_},
                    Arguments(in.address(), residual.address(), weight.address(), out.address(),
                              hidden_, kEpsilon));
    } else {
      device.launch(device.kernel(module, "rms_norm"), {rows_}, {block_},
                    Arguments(in.address(), weight.address(), out.address(), hidden_, kEpsilon));
    }
    device.synchronize();
    if (residual_) after_ = residual.download();
    out_ = out.download();
  }

  // A sum of `hidden` squares, then a root, of which rsqrt.approx errs by 2^-22.4 (CUDA C++
  // Programming Guide, of intrinsics), and two products.
  std::string check() override {
    if (residual_) {
      if (auto wrong = first_difference("residual", sums(), after_); !wrong.empty()) return wrong;
    }
    const std::vector<double> expected = reference();
    const double error = chained_error(hidden_ / 2.0 + 8);
    return first_beyond("out", expected, to_floats(out_), [&](std::size_t i) {
      return half_tolerance(expected[i], error * std::abs(expected[i]));
    });
  }

 private:
  static constexpr float kEpsilon = 1e-5F;
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30;

  // One addition in single precision and one rounding, as on the device.
  std::vector<Half> sums() const {
    std::vector<Half> all(in_.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = to_half(to_float(in_[i]) + to_float(before_[i]));
    return all;
  }

  std::vector<double> reference() const {
    const std::vector<float> rows = to_floats(residual_ ? sums() : in_);
    const std::vector<float> weight = to_floats(weight_);
    std::vector<double> out(rows.size());
    for (std::size_t first = 0; first < rows.size(); first += hidden_) {
      double sum = 0;
      for (std::size_t i = 0; i < hidden_; ++i) sum += double{rows[first + i]} * rows[first + i];
      const double factor = 1 / std::sqrt(sum / hidden_ + double{kEpsilon});
      for (std::size_t i = 0; i < hidden_; ++i)
        out[first + i] = rows[first + i] * factor * weight[i];
    }
    return out;
  }

  std::uint32_t rows_ = 0, hidden_ = 0, block_ = 256;
  bool residual_ = false;
  std::vector<Half> in_, weight_, before_, after_, out_;
};

}  // namespace

void add_workload_rms_norm(Workloads& w) {
  w.add<RmsNorm>("rms_norm",
                 "rows divided by their root mean square, half precision: a block a row");
}

}  // namespace raddle::runtime

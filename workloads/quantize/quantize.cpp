// Host code of quantize. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/half.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Quantize final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {6, 512, 8192});
    by_size(size, columns_, {520, 4096, 4096});
    by_size(size, block_, {64, 256, 256});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 1u << 20}, "rows", "rows, a block and a scale each");
    v.field("columns", columns_, {8, 1u << 18}, "numbers", "length of a row");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (columns_ % 8 != 0)
      all.push_back("columns must be a multiple of 8, is " + std::to_string(columns_));
    if (block_ % 32 != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (std::uint64_t{rows_} * columns_ > kMaxNumbers)
      all.push_back("rows * columns must not exceed 2^30");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "quantize");
    DeviceArray<Half> in(device, in_);
    DeviceArray<std::int8_t> out(device, in_.size());
    DeviceArray<float> scales(device, rows_);
    device.launch(device.kernel(module, "quantize"), {rows_}, {block_},
                  Arguments(in.address(), out.address(), scales.address(), columns_));
    device.synchronize();
    out_ = out.download();
    scales_ = scales.download();
  }

  // Exact: one division, one product, one rounding, all as on the device.
  std::string check() override {
    std::vector<std::int8_t> expected(in_.size());
    std::vector<float> scales(rows_);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::size_t first = std::size_t{row} * columns_;
      float largest = 0;
      for (std::size_t i = first; i < first + columns_; ++i)
        largest = std::max(largest, std::abs(to_float(in_[i])));
      scales[row] = largest / 127.0F;
      const float factor = largest > 0 ? 127.0F / largest : 0.0F;
      for (std::size_t i = first; i < first + columns_; ++i)
        expected[i] = static_cast<std::int8_t>(std::nearbyint(to_float(in_[i]) * factor));
    }
    if (auto wrong = first_difference("scale", scales, scales_); !wrong.empty()) return wrong;
    return first_difference("out", expected, out_);
  }

 private:
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 30;

  // Rows of different sizes; the first is of zeros where there are several.
  void make_input(std::uint64_t seed) {
    in_ = random_halves(seed, "quantize/in", std::size_t{rows_} * columns_, 1);
    Rng rng(seed, "quantize/rows");
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const double size = row == 0 && rows_ > 1 ? 0 : 16 * rng.unit();
      const std::size_t first = std::size_t{row} * columns_;
      for (std::size_t i = first; i < first + columns_; ++i)
        in_[i] = to_half(size * to_float(in_[i]));
    }
    inputs_.add(in_);
  }

  std::uint32_t rows_ = 0, columns_ = 0, block_ = 256;
  std::vector<Half> in_;
  std::vector<std::int8_t> out_;
  std::vector<float> scales_;
};

}  // namespace

void add_workload_quantize(Workloads& w) {
  w.add<Quantize>("quantize", "rows of half precision to bytes, scaled by their largest size");
}

}  // namespace raddle::runtime

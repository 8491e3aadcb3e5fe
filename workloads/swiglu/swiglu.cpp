// Host code of swiglu. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/half.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Swiglu final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {3, 128, 2048});
    by_size(size, width_, {1000, 14'336, 14'336});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 65'535}, "rows", "tokens");
    v.field("width", width_, {8, 1u << 18}, "numbers", "results of a row");
    v.field("block", block_, {32, 1024}, "threads", "threads per block, eight results each");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (width_ % 8 != 0)
      all.push_back("width must be a multiple of 8, is " + std::to_string(width_));
    if (std::uint64_t{rows_} * width_ > kMaxNumbers)
      all.push_back("rows * width must not exceed 2^29");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    const std::size_t count = std::size_t{rows_} * width_;
    in_ = random_halves(seed, "swiglu/in", 2 * count, kLimit);
    inputs_.add(in_);
    ModuleId module = load_module(device, "swiglu");
    DeviceArray<Half> in(device, in_), out(device, count);
    device.launch(device.kernel(module, "swiglu"), {blocks_for(width_, block_ * 8), rows_},
                  {block_}, Arguments(in.address(), out.address(), width_));
    device.synchronize();
    out_ = out.download();
  }

  // ex2.approx and div.approx err by 2 ulp, the exponent by its rounding: kLimit log2(e) of them.
  std::string check() override {
    const double error = chained_error(2 * kLimit + 12);
    std::vector<double> expected(out_.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t at = i / width_ * 2 * width_ + i % width_;
      const double gate = to_float(in_[at]), up = to_float(in_[at + width_]);
      expected[i] = gate / (1 + std::exp(-gate)) * up;
    }
    return first_beyond("out", expected, to_floats(out_), [&](std::size_t i) {
      return half_tolerance(expected[i], error * std::abs(expected[i]));
    });
  }

 private:
  static constexpr double kLimit = 8;
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 29;

  std::uint32_t rows_ = 0, width_ = 0, block_ = 256;
  std::vector<Half> in_, out_;
};

}  // namespace

void add_workload_swiglu(Workloads& w) {
  w.add<Swiglu>("swiglu", "silu(gate) * up in half precision: a stream without reuse");
}

}  // namespace raddle::runtime

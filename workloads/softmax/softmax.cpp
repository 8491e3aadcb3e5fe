// Host code of softmax. See README.md.
#include <algorithm>
#include <array>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Readings : std::uint8_t { Online, Three };
constexpr std::array<std::string_view, 2> kReadings = {"online", "three"};

class Softmax final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {3, 64, 64});
    by_size(size, columns_, {1004, 32'000, 128'256});
    by_size(size, block_, {128, 256, 1024});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 1u << 20}, "rows", "rows, a block each");
    v.field("columns", columns_, {4, 1u << 20}, "numbers", "length of a row");
    v.choice("readings", readings_, kReadings,
             "online: maximum and sum in one reading of the row; three: a reading for each, and "
             "one for the result");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (columns_ % 4 != 0)
      all.push_back("columns must be a multiple of 4, is " + std::to_string(columns_));
    if (block_ % 32 != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (std::uint64_t{rows_} * columns_ > kMaxNumbers)
      all.push_back("rows * columns must not exceed 2^29");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    in_ = random_floats(seed, "softmax/in", std::size_t{rows_} * columns_, -kLimit, kLimit);
    inputs_.add(in_);
    ModuleId module = load_module(device, "softmax");
    DeviceArray<float> in(device, in_), out(device, in_.size());
    const bool online = readings_ == Readings::Online;
    device.launch(device.kernel(module, online ? "softmax_online" : "softmax_three"), {rows_},
                  {block_}, Arguments(in.address(), out.address(), columns_));
    device.synchronize();
    out_ = out.download();
  }

  // An exponential errs by 2 ulp for ex2.approx and by the rounding of its argument, at most
  // 2 kLimit log2(e): 32 of it and of the last factor. A thread's sum is scaled and added to with
  // each vector; a block's sum has ten steps more.
  std::string check() override {
    std::vector<double> expected(in_.size());
    for (std::size_t first = 0; first < in_.size(); first += columns_)
      reference_row(first, expected);
    const double of_power = 4 * kLimit + 8;
    const double vectors = std::max(1.0, columns_ / (4.0 * block_)) + 1;
    const double error = chained_error(of_power + vectors * (of_power + 8) + 16);
    return first_beyond("out", expected, out_, [&](std::size_t i) { return error * expected[i]; });
  }

 private:
  static constexpr double kLimit = 8;
  static constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 29;

  void reference_row(std::size_t first, std::vector<double>& expected) const {
    const float maximum = *std::max_element(&in_[first], &in_[first] + columns_);
    double sum = 0;
    for (std::size_t i = first; i < first + columns_; ++i) {
      expected[i] = std::exp(double{in_[i]} - maximum);
      sum += expected[i];
    }
    for (std::size_t i = first; i < first + columns_; ++i) expected[i] /= sum;
  }

  std::uint32_t rows_ = 0, columns_ = 0, block_ = 256;
  Readings readings_ = Readings::Online;
  std::vector<float> in_, out_;
};

}  // namespace

void add_workload_softmax(Workloads& w) {
  w.add<Softmax>("softmax", "softmax of rows, online or in three readings: a block a row");
}

}  // namespace raddle::runtime

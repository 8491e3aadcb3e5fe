// Host code of walsh: dyadic convolution of a vector by fast Walsh transforms. See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kPassThreads = 256;
constexpr std::uint32_t kModulateThreads = 256;

class Walsh final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr std::uint32_t kOrders[] = {11, 19, 23}, kBlockOrders[] = {9, 11, 11};
    constexpr std::uint32_t kBlocks[] = {3, 128, 128};
    const auto at = static_cast<std::size_t>(size);
    order_ = kOrders[at];
    block_order_ = kBlockOrders[at];
    blocks_ = kBlocks[at];
  }

  void visit(FieldVisitor& v) override {
    v.field("order", order_, {10, 26}, "", "the vector has 2^order elements");
    v.field("kernel_order", kernel_order_, {0, 26}, "",
            "what it is convolved with has 2^kernel_order elements, zeros up to the vector's");
    v.field("block_order", block_order_, {8, 11}, "",
            "a thread block transforms 2^block_order elements, or half as many, in shared memory");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "thread blocks that multiply the transforms");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (auto [name, value] :
         {std::pair("kernel_order", kernel_order_), std::pair("block_order", block_order_)})
      if (value > order_)
        all.push_back(std::string(name) + " must not exceed order = " + std::to_string(order_) +
                      ", is " + std::to_string(value));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    data_ = random_floats(seed, "walsh/data", std::size_t{1} << order_, -1, 1);
    kernel_ = random_floats(seed, "walsh/kernel", std::size_t{1} << kernel_order_, -1, 1);
    inputs_.add(data_, kernel_);
    std::vector<float> padded = kernel_;
    padded.resize(data_.size(), 0);

    ModuleId module = load_module(device, "walsh");
    DeviceArray<float> data(device, data_), kernel(device, padded);
    transform(device, module, data.address());
    transform(device, module, kernel.address());
    device.launch(device.kernel(module, "walsh_modulate"), {blocks_}, {kModulateThreads},
                  Arguments(data.address(), kernel.address(), 1u << order_));
    transform(device, module, data.address());
    device.synchronize();
    result_ = data.download();
  }

  // Element i is the sum of kernel[j] data[i xor j] over all j.
  std::string check() override {
    std::vector<double> expected(data_.size());
    double squares = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t j = 0; j < kernel_.size(); ++j)
        expected[i] += static_cast<double>(kernel_[j]) * data_[i ^ j];
      squares += expected[i] * expected[i];
    }
    // A stage of a transform is orthogonal up to a factor, so that an error keeps its size relative
    // to the elements' mean (root of the squares).
    double mean = std::sqrt(squares / static_cast<double>(expected.size()));
    double tolerance = kTolerance * std::sqrt(3.0 * order_) * kFloatRoundoff * mean;
    return first_beyond("result", expected, result_, [&](std::size_t) { return tolerance; });
  }

 private:
  // Errors of 3 order stages, each of a roundoff and independent, come to the root of their number
  // in the mean; the worst element seen at every size, seeds 1 to 3, has 2.2 times that.
  static constexpr double kTolerance = 10;

  // In place: two stages at a time over all of the vector, distances falling, until what is left
  // fits a block.
  void transform(Device& device, ModuleId module, Address at) const {
    KernelId pass = device.kernel(module, "walsh_pass");
    const std::uint32_t passes = order_ > block_order_ ? (order_ - block_order_ + 1) / 2 : 0;
    for (std::uint32_t p = 0; p < passes; ++p)
      device.launch(pass, {(1u << order_) / (4 * kPassThreads)}, {kPassThreads},
                    Arguments(at, at, 1u << (order_ - 2 * p - 2)));
    const std::uint32_t left = order_ - 2 * passes, length = 1u << left;
    device.launch(device.kernel(module, "walsh_block"), {1u << (order_ - left)}, {length / 4},
                  Arguments(at, at, left), length * static_cast<std::uint32_t>(sizeof(float)));
  }

  std::uint32_t order_ = 0, kernel_order_ = 7, block_order_ = 0, blocks_ = 0;
  std::vector<float> data_, kernel_, result_;
};

}  // namespace

void add_workload_walsh(Workloads& w) {
  w.add<Walsh>("walsh", "dyadic convolution by fast Walsh transforms: strides of powers of two");
}

}  // namespace raddle::runtime

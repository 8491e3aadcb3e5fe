// Host code of reduction: sum or maximum of a vector in two launches. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Operation : std::uint8_t { Sum, Max, Pairs };
constexpr std::array<std::string_view, 3> kOperations = {"sum", "max", "pairs"};
constexpr std::uint32_t kThreads = 256;     // as in kernels.cu
constexpr std::uint32_t kLastThreads = 32;  // of the second launch of pairs
constexpr std::uint32_t kExact = 1u << 24;  // floats hold every whole number up to here

class Reduction final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, n_, {20'000, 4'000'000, kExact});
    by_size(size, blocks_, {9, 1280, 1280});
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, kExact}, "elements", "length of the vector");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "thread blocks of the first launch");
    v.choice("operation", operation_, kOperations,
             "what is computed; pairs: a sum of whole numbers, two in a round of the loop");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "reduction");
    if (operation_ == Operation::Pairs) run_pairs(device, module);
    else run_floats(device, module);
  }

  // Exact, see make_input.
  std::string check() override {
    if (operation_ == Operation::Pairs) {
      std::int32_t sum = 0;
      for (std::int32_t value : whole_numbers()) sum += value;
      return first_difference("result", {sum}, whole_result_);
    }
    double expected = in_[0];
    for (std::size_t i = 1; i < in_.size(); ++i)
      expected = operation_ == Operation::Sum ? expected + in_[i]
                                              : std::max(expected, static_cast<double>(in_[i]));
    return first_difference("result", {static_cast<float>(expected)}, result_);
  }

 private:
  void run_floats(Device& device, ModuleId module) {
    std::string name = "reduce_" + std::string(kOperations[static_cast<std::size_t>(operation_)]);
    KernelId kernel = device.kernel(module, name);
    DeviceArray<float> in(device, in_), partial(device, blocks_), out(device, 1);
    device.launch(kernel, {blocks_}, {kThreads}, Arguments(in.address(), partial.address(), n_));
    device.launch(kernel, {1}, {kThreads}, Arguments(partial.address(), out.address(), blocks_));
    device.synchronize();
    result_ = out.download();
  }

  void run_pairs(Device& device, ModuleId module) {
    DeviceArray<std::int32_t> in(device, whole_numbers()), partial(device, blocks_), out(device, 1);
    device.launch(device.kernel(module, "reduce_pairs_256"), {blocks_}, {kThreads},
                  Arguments(in.address(), partial.address(), n_));
    device.launch(device.kernel(module, "reduce_pairs_32"), {1}, {kLastThreads},
                  Arguments(partial.address(), out.address(), blocks_));
    device.synchronize();
    whole_result_ = out.download();
  }

  std::vector<std::int32_t> whole_numbers() const { return {in_.begin(), in_.end()}; }

  // Whole numbers so small that no partial sum can leave the range where floats are exact: the
  // result is the same in any order, and a single lost element shows.
  void make_input(std::uint64_t seed) {
    std::uint32_t maximum = kExact / n_;
    Rng rng(seed, "reduction/in");
    in_.resize(n_);
    for (float& value : in_) {
      auto whole = static_cast<std::int64_t>(rng.below(2 * maximum + 1)) - maximum;
      value = static_cast<float>(whole);
    }
    inputs_.add(in_);
  }

  std::uint32_t n_ = 0, blocks_ = 0;
  Operation operation_ = Operation::Sum;
  std::vector<float> in_, result_;
  std::vector<std::int32_t> whole_result_;
};

}  // namespace

void add_workload_reduction(Workloads& w) {
  w.add<Reduction>("reduction", "sum or maximum of a vector: grid stride, tree, shuffles");
}

}  // namespace raddle::runtime

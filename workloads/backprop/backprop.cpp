// Host code of backprop: one round of training of a network with one hidden layer. See README.md.
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kSide = 16;             // as in kernels.cu
constexpr std::size_t kWidth = kSide + 1;       // as in kernels.cu
constexpr double kRate = 0.3, kMomentum = 0.3;  // as in kernels.cu

double squash(double x) { return 1 / (1 + std::exp(-x)); }

class Backprop final : public HashedWorkload {
 public:
  void set_size(Size size) override { by_size(size, inputs_count_, {240, 16'384, 65'536}); }

  void visit(FieldVisitor& v) override {
    v.field("inputs", inputs_count_, {kSide, kSide * 65535}, "units", "units of the input layer");
    v.field("forward", forward_, "the forward pass only");
    v.field("powers", powers_,
            "forward: the reach of each step of the tree from a logarithm and a power at run time");
  }

  std::vector<std::string> violations() const override {
    if (inputs_count_ % kSide == 0) return {};
    return {"inputs must be a multiple of " + std::to_string(kSide) + ", is " +
            std::to_string(inputs_count_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "backprop");
    Dim3 grid{1, inputs_count_ / kSide}, block{kSide, kSide};
    DeviceArray<float> input(device, input_), weights(device, weights_);
    DeviceArray<float> partial_sums(device, inputs_count_);
    const char* forward = powers_ ? "backprop_forward_powers" : "backprop_forward";
    device.launch(device.kernel(module, forward), grid, block,
                  Arguments(input.address(), weights.address(), partial_sums.address(), kSide));
    device.synchronize();
    partial_sums_ = partial_sums.download();
    tiles_ = weights.inspect();
    if (forward_) return;

    delta_ = hidden_errors();
    DeviceArray<float> delta(device, delta_), changes(device, changes_);
    weights.upload(weights_);
    device.launch(
        device.kernel(module, "backprop_adjust"), grid, block,
        Arguments(delta.address(), kSide, input.address(), weights.address(), changes.address()));
    device.synchronize();
    adjusted_ = weights.download();
    new_changes_ = changes.download();
  }

  // Exact: the order of every sum is fixed, and what is fused here is fused there. The backward
  // pass is checked with the errors that the device's own sums led to.
  std::string check() override {
    std::vector<float> tiles = weights_, sums(inputs_count_);
    for (std::size_t first = 0; first < inputs_count_; first += kSide)
      for (std::size_t unit = 0; unit < kSide; ++unit)
        sums[first + unit] = sum_tile(tiles, first + 1, unit + 1);
    if (auto wrong = first_difference("partial_sums", sums, partial_sums_); !wrong.empty())
      return wrong;
    if (auto wrong = first_difference("tiles", tiles, tiles_); !wrong.empty()) return wrong;
    if (forward_) return "";

    std::vector<float> weights = weights_, changes = changes_;
    for (std::size_t row = 0; row <= inputs_count_; ++row)
      for (std::size_t unit = 1; unit <= kSide; ++unit) {
        std::size_t at = row * kWidth + unit;
        double step = kRate * delta_[unit];
        if (row != 0) step *= input_[row];
        double change = std::fma(kMomentum, double{changes[at]}, step);
        weights[at] = static_cast<float>(weights[at] + change);
        changes[at] = static_cast<float>(change);
      }
    if (auto wrong = first_difference("weights", weights, adjusted_); !wrong.empty()) return wrong;
    return first_difference("changes", changes, new_changes_);
  }

 private:
  // Row 0 and input 0 belong to the bias, whose input is 1.
  void make_input(std::uint64_t seed) {
    std::size_t rows = std::size_t{inputs_count_} + 1;
    input_ = random_floats(seed, "backprop/input", rows, 0, 1);
    input_[0] = 1;
    weights_ = random_floats(seed, "backprop/weights", rows * kWidth, -0.1, 0.1);
    changes_ = random_floats(seed, "backprop/changes", rows * kWidth, -0.01, 0.01);
    output_weights_ = random_floats(seed, "backprop/output", kWidth, -1, 1);
    inputs_.add(input_, weights_, changes_, output_weights_);
  }

  // The rest of the network, small enough for the host: hidden units, one output unit that should
  // be 0.1, and the errors carried back to the hidden units. As in Rumelhart, Hinton, Williams,
  // Nature 323, 1986.
  std::vector<float> hidden_errors() const {
    std::vector<double> hidden(kWidth, 1);
    for (std::size_t unit = 1; unit <= kSide; ++unit) {
      double sum = weights_[unit];
      for (std::size_t at = unit - 1; at < partial_sums_.size(); at += kSide)
        sum += partial_sums_[at];
      hidden[unit] = squash(sum);
    }
    double sum = 0;
    for (std::size_t unit = 0; unit < kWidth; ++unit) sum += hidden[unit] * output_weights_[unit];
    double output = squash(sum);
    double error = output * (1 - output) * (0.1 - output);
    std::vector<float> errors(kWidth, 0);
    for (std::size_t unit = 1; unit <= kSide; ++unit)
      errors[unit] =
          static_cast<float>(hidden[unit] * (1 - hidden[unit]) * error * output_weights_[unit]);
    return errors;
  }

  // What becomes of column `unit` of the tile of inputs first .. first + 15, and its sum.
  float sum_tile(std::vector<float>& tiles, std::size_t first, std::size_t unit) const {
    auto cell = [&](std::size_t row) -> float& { return tiles[(first + row) * kWidth + unit]; };
    for (std::size_t row = 0; row < kSide; ++row) cell(row) *= input_[first + row];
    for (std::size_t reach = 1; reach < kSide; reach *= 2)
      for (std::size_t row = 0; row < kSide; row += 2 * reach) cell(row) += cell(row + reach);
    return cell(0);
  }

  std::uint32_t inputs_count_ = 0;
  bool forward_ = false, powers_ = false;
  std::vector<float> input_, weights_, changes_, output_weights_, delta_;
  std::vector<float> partial_sums_, tiles_, adjusted_, new_changes_;
};

}  // namespace

void add_workload_backprop(Workloads& w) {
  w.add<Backprop>("backprop", "neural network: tile sums in shared memory, then streamed updates");
}

}  // namespace raddle::runtime

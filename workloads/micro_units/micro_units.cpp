// Host code of micro_units: chains of one instruction. See README.md.
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Unit : std::uint8_t { Int, Float, Double, Half2, Sin, Tensor };
constexpr std::array<std::string_view, 6> kUnits = {"int",   "float", "double",
                                                    "half2", "sin",   "tensor"};
constexpr std::uint32_t kUnrolled = 32, kInstructions = 4;  // as in kernels.cu

// x = a b + x of each unit; halves change between x and 1 - x.
constexpr std::uint32_t kIntA = 1664525, kIntB = 1013904223;
constexpr double kA = 0.75, kB = 0.5;
constexpr std::uint32_t kMinusOnes = 0xbc00bc00, kOnes = 0x3c003c00;

class MicroUnits final : public HashedWorkload {
 public:
  MicroUnits() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    threads_ = size == Size::Tiny ? 64 : 1024;
    steps_ = size == Size::Tiny ? 4 : size == Size::Small ? 32 : 256;
  }

  void visit(FieldVisitor& v) override {
    v.choice("unit", unit_, kUnits, "what the chain is made of");
    v.field("threads", threads_, {1, 1024}, "threads", "of a block");
    v.field("blocks", blocks_, {1, 1u << 16}, "blocks", "of the grid");
    v.field("steps", steps_, {1, 1u << 20}, "steps", "of the chain: 128 instructions, tensor: 32");
  }

  std::vector<std::string> violations() const override {
    if (unit_ != Unit::Tensor || threads_ % 32 == 0) return {};
    return {"threads must be a multiple of 32 with unit=tensor, is " + std::to_string(threads_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    module_ = load_module(device, "micro_units");
    if (unit_ == Unit::Double) run_chain(device, doubles_, seed);
    else if (unit_ == Unit::Int || unit_ == Unit::Half2) run_chain(device, words_, seed);
    else run_chain(device, floats_, seed);
  }

  std::string check() override {
    switch (unit_) {
      case Unit::Int:
        return differs(words_, [](std::uint32_t x) { return kIntA * kIntB + x; });
      case Unit::Float:
        return differs(floats_, [](float x) { return std::fma(float{kA}, float{kB}, x); });
      case Unit::Double:
        return differs(doubles_, [](double x) { return std::fma(kA, kB, x); });
      case Unit::Half2: {  // one more than the loop's even number of changes
        for (std::uint32_t& x : words_.before) x = kOnes - x;
        return first_difference("x", words_.before, words_.after);
      }
      case Unit::Sin:
        return sines();
      case Unit::Tensor:
        return tiles();
    }
    return "no unit";
  }

 private:
  template <class T>
  struct Chain {
    std::vector<T> before, after;
  };

  /// A value of each kind that the chain may begin with.
  void draw(Rng& rng, std::uint32_t& x) const {
    x = static_cast<std::uint32_t>(rng.next());
    if (unit_ == Unit::Half2) x = x % 2 == 0 ? 0 : kOnes;
  }
  void draw(Rng& rng, double& x) const { x = rng.unit(); }
  void draw(Rng& rng, float& x) const {
    x = unit_ == Unit::Tensor ? static_cast<float>(rng.below(1000))
                              : static_cast<float>(rng.unit());
  }

  template <class T>
  void run_chain(Device& device, Chain<T>& x, std::uint64_t seed) {
    Rng rng(seed, "micro_units/x");
    x.before.resize(std::size_t{threads_} * blocks_);
    for (T& each : x.before) draw(rng, each);
    inputs_.add(x.before);
    DeviceArray<T> array(device, x.before);
    Arguments arguments(array.address());
    switch (unit_) {
      case Unit::Int:
        arguments.add(kIntA), arguments.add(kIntB);
        break;
      case Unit::Float:
        arguments.add(float{kA}), arguments.add(float{kB});
        break;
      case Unit::Double:
        arguments.add(kA), arguments.add(kB);
        break;
      case Unit::Half2:
        arguments.add(kMinusOnes), arguments.add(kOnes);
        break;
      default:
        break;
    }
    arguments.add(steps_);
    const std::string kernel = "micro_" + std::string(kUnits[static_cast<std::size_t>(unit_)]);
    device.launch(device.kernel(module_, kernel), {blocks_}, {threads_}, arguments);
    x.after = array.download();
  }

  std::uint64_t instructions() const {
    return std::uint64_t{steps_} * kUnrolled * (unit_ == Unit::Tensor ? 1 : kInstructions);
  }

  template <class T, class F>
  std::string differs(const Chain<T>& x, F f) const {
    std::vector<T> expected = x.before;
    for (T& each : expected)
      for (std::uint64_t i = 0; i < instructions(); ++i) each = f(each);
    return first_difference("x", expected, x.after);
  }

  // sin.approx errs by at most 2^-20.9 between -pi and pi (PTX ISA, sin); a sine never makes an
  // error larger.
  std::string sines() const {
    std::vector<double> expected(floats_.before.begin(), floats_.before.end());
    for (double& each : expected)
      for (std::uint64_t i = 0; i < instructions(); ++i) each = std::sin(each);
    const double allowed = std::exp2(-20.9) * static_cast<double>(instructions());
    return first_beyond("x", expected, floats_.after, [&](std::size_t) { return allowed; });
  }

  // Exact: eight elements of D that have grown by 1 in each product.
  std::string tiles() const {
    std::vector<float> expected = floats_.before;
    for (float& each : expected) each = 8 * (each + static_cast<float>(instructions()));
    return first_difference("x", expected, floats_.after);
  }

  Unit unit_ = Unit::Float;
  std::uint32_t threads_ = 0, blocks_ = 1, steps_ = 0;
  ModuleId module_{};
  Chain<std::uint32_t> words_;
  Chain<float> floats_;
  Chain<double> doubles_;
};

}  // namespace

void add_workload_micro_units(Workloads& w) {
  w.add<MicroUnits>("micro_units", "chains of one instruction: latency and rate of a unit");
}

}  // namespace raddle::runtime

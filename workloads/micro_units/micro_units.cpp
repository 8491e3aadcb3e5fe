// Host code of micro_units: chains of one instruction. See README.md.
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Unit : std::uint8_t {
  Int,
  Float,
  Double,
  Half2,
  Sin,
  Tensor,
  Logic,
  Convert,
  Shuffle,
  IntDiv,
  FloatDiv,
  DoubleDiv,
  Barrier,
  Loop,
  Jump,
};
constexpr std::array<std::string_view, 15> kUnits = {
    "int",     "float",   "double",    "half2",      "sin",     "tensor", "logic", "convert",
    "shuffle", "int_div", "float_div", "double_div", "barrier", "loop",   "jump"};
constexpr std::uint32_t kUnrolled = 32, kInstructions = 4;  // as in kernels.cu

// x = a b + x of each unit; halves change between x and 1 - x.
constexpr std::uint32_t kIntA = 1664525, kIntB = 1013904223;
constexpr double kA = 0.75, kB = 0.5;
constexpr std::uint32_t kMinusOnes = 0xbc00bc00, kOnes = 0x3c003c00;
// x = a / x, which goes to and fro; with whole numbers x stays below the root of a.
constexpr std::uint32_t kIntDividend = 1u << 30, kMinDivisor = 1u << 14;
constexpr double kDividend = 3;
constexpr std::uint32_t kWarp = 32;

class MicroUnits final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    threads_ = size == Size::Tiny ? 64 : 1024;
    steps_ = size == Size::Tiny ? 4 : size == Size::Small ? 32 : 256;
  }

  void visit(FieldVisitor& v) override {
    v.choice("unit", unit_, kUnits, "what the chain is made of");
    v.field("threads", threads_, {1, 1024}, "threads", "of a block");
    v.field("blocks", blocks_, {1, 1u << 16}, "blocks", "of the grid");
    v.field("steps", steps_, {1, 1u << 20}, "steps",
            "of the chain: 128 instructions; tensor 32, divisions 4");
  }

  std::vector<std::string> violations() const override {
    const bool whole_warps = unit_ == Unit::Tensor || unit_ == Unit::Shuffle;
    if (!whole_warps || threads_ % kWarp == 0) return {};
    return {"threads must be a multiple of 32 with unit=" + name() + ", is " +
            std::to_string(threads_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    module_ = load_module(device, "micro_units");
    switch (unit_) {
      case Unit::Double:
      case Unit::DoubleDiv:
        return run_chain(device, doubles_, seed);
      case Unit::Float:
      case Unit::Sin:
      case Unit::Tensor:
      case Unit::Convert:
      case Unit::FloatDiv:
        return run_chain(device, floats_, seed);
      default:
        return run_chain(device, words_, seed);
    }
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
      case Unit::Logic:
      case Unit::Loop:
        return differs(words_, [](std::uint32_t x) { return (x + kIntA) ^ kIntB; });
      case Unit::Convert:
        return differs(floats_, [](float x) { return std::trunc(x); });
      case Unit::Shuffle:
        return turned();
      case Unit::IntDiv:
        return differs(words_, [](std::uint32_t x) { return kIntDividend / x; });
      case Unit::FloatDiv:
        return differs(floats_, [](float x) { return float{kDividend} / x; });
      case Unit::DoubleDiv:
        return differs(doubles_, [](double x) { return kDividend / x; });
      case Unit::Barrier:
        return plus(steps_);
      case Unit::Jump:  // an even number of exclusive ors
        return plus(0);
    }
    return "no unit";
  }

 private:
  std::string name() const { return std::string(kUnits[static_cast<std::size_t>(unit_)]); }

  template <class T>
  struct Chain {
    std::vector<T> before, after;
  };

  /// A value of each kind that the chain may begin with.
  void draw(Rng& rng, std::uint32_t& x) const {
    x = static_cast<std::uint32_t>(rng.next());
    if (unit_ == Unit::Half2) x = x % 2 == 0 ? 0 : kOnes;
    if (unit_ == Unit::IntDiv) x = kMinDivisor + x % kMinDivisor;
  }
  void draw(Rng& rng, double& x) const {
    x = unit_ == Unit::DoubleDiv ? 1 + rng.unit() : rng.unit();
  }
  void draw(Rng& rng, float& x) const {
    if (unit_ == Unit::Tensor) x = static_cast<float>(rng.below(1000));
    else if (unit_ == Unit::Convert) x = static_cast<float>(1000 * rng.unit());
    else x = static_cast<float>(unit_ == Unit::FloatDiv ? 1 + rng.unit() : rng.unit());
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
      case Unit::Logic:
      case Unit::Loop:
      case Unit::Jump:
        arguments.add(kIntA);
        arguments.add(kIntB);
        break;
      case Unit::IntDiv:
        arguments.add(kIntDividend);
        break;
      case Unit::FloatDiv:
        arguments.add(float{kDividend});
        break;
      case Unit::DoubleDiv:
        arguments.add(kDividend);
        break;
      case Unit::Float:
        arguments.add(float{kA});
        arguments.add(float{kB});
        break;
      case Unit::Double:
        arguments.add(kA);
        arguments.add(kB);
        break;
      case Unit::Half2:
        arguments.add(kMinusOnes);
        arguments.add(kOnes);
        break;
      default:
        break;
    }
    arguments.add(steps_);
    device.launch(device.kernel(module_, "micro_" + name()), {blocks_}, {threads_}, arguments);
    x.after = array.download();
  }

  /// Changes of x.
  std::uint64_t instructions() const {
    const std::uint64_t steps = steps_;
    switch (unit_) {
      case Unit::Tensor:
        return steps * kUnrolled;
      case Unit::Logic:  // of two instructions each
        return steps * kUnrolled * kInstructions / 2;
      case Unit::IntDiv:
      case Unit::FloatDiv:
      case Unit::DoubleDiv:
        return steps * kInstructions;
      default:
        return steps * kUnrolled * kInstructions;
    }
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

  // Each lane has the next one's, an odd number of times.
  std::string turned() const {
    std::vector<std::uint32_t> expected(words_.before.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = words_.before[i / kWarp * kWarp + (i + instructions() + 1) % kWarp];
    return first_difference("x", expected, words_.after);
  }

  std::string plus(std::uint32_t more) const {
    std::vector<std::uint32_t> expected = words_.before;
    for (std::uint32_t& each : expected) each += more;
    return first_difference("x", expected, words_.after);
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

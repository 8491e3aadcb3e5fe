// Host code of quasirandom: points of a digital sequence, then quantiles. See README.md.
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kBits = 31, kDimensions = 3;  // as in kernels.cu
constexpr std::uint32_t kThreads = 128;

class Quasirandom final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, points_, {600, 65'536, 1'048'576});
    by_size(size, blocks_, {3, 128, 128});
  }

  void visit(FieldVisitor& v) override {
    v.field("points", points_, {1, 1u << 26}, "points", "points of three dimensions");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "thread blocks of both launches");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_table(seed);
    ModuleId module = load_module(device, "quasirandom");
    device.copy_to_device(device.symbol(module, "quasirandom_table"), table_.data(),
                          table_.size() * sizeof(table_[0]));
    const std::uint32_t numbers = kDimensions * points_;
    DeviceArray<float> out(device, numbers);
    device.launch(device.kernel(module, "quasirandom_points"), {blocks_}, {kThreads, kDimensions},
                  Arguments(out.address(), first_, points_));
    device.synchronize();
    sequence_ = out.download();
    device.launch(device.kernel(module, "quasirandom_quantiles"), {blocks_}, {kThreads},
                  Arguments(out.address(), numbers));
    device.synchronize();
    quantiles_ = out.download();
  }

  // The points exactly. A quantile must be one: the distribution there is the number it is of, up
  // to Moro's error of 3e-9 and some roundings.
  std::string check() override {
    std::vector<float> expected;
    for (std::uint32_t d = 0; d < kDimensions; ++d)
      for (std::uint32_t i = 0; i < points_; ++i) {
        std::uint32_t sum = 0;
        for (std::uint32_t bit = 0; bit < kBits; ++bit)
          if (((first_ + i) >> bit & 1) != 0) sum ^= table_[d * kBits + bit];
        expected.push_back(static_cast<float>(sum + 1) * 0x1p-31f);
      }
    if (std::string wrong = first_difference("points", expected, sequence_); !wrong.empty())
      return wrong;
    const auto numbers = static_cast<std::uint32_t>(quantiles_.size());
    const std::uint32_t distance = 0xffffffffu / (numbers + 1);
    for (std::uint32_t i = 0; i < numbers; ++i) {
      const double share = (i + 1.0) * distance * 0x1p-32;
      const double there = 0.5 * std::erfc(-quantiles_[i] / std::sqrt(2.0));
      if (!(std::abs(there - share) <= kTolerance))
        return difference_text("quantiles", i, share, there, kTolerance);
    }
    return "";
  }

 private:
  // The worst seen at every size, seeds 1 to 3, is 9e-7: single precision near one half, where a
  // unit of the quantile is a third of a unit of the share, and approximate logarithms.
  static constexpr double kTolerance = 4e-6;

  // Bit b of a number adds a word whose highest bit is 30 - b, what is below at random: a
  // digital sequence of which 2^k points lie in 2^k different intervals.
  void make_table(std::uint64_t seed) {
    Rng rng(seed, "quasirandom/table");
    for (std::uint32_t d = 0; d < kDimensions; ++d)
      for (std::uint32_t bit = 0; bit < kBits; ++bit) {
        const std::uint32_t highest = 1u << (kBits - 1 - bit);
        table_[d * kBits + bit] = highest | (highest > 1 ? rng.below(highest) : 0);
      }
    first_ = rng.below(1u << 16);
    inputs_.add(std::vector<std::uint32_t>(table_.begin(), table_.end()), first_);
  }

  std::uint32_t points_ = 0, blocks_ = 0, first_ = 0;
  std::array<std::uint32_t, std::size_t{kDimensions} * kBits> table_{};
  std::vector<float> sequence_, quantiles_;
};

}  // namespace

void add_workload_quasirandom(Workloads& w) {
  w.add<Quasirandom>("quasirandom", "points of a digital sequence by bits, and normal quantiles");
}

}  // namespace raddle::runtime

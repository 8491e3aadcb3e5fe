// Host code of tagged_histogram: how many floats fall into each of 1,024 parts of their range. See
// README.md.
#include <algorithm>
#include <tuple>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 96, kBins = 1024;  // as in kernels.cu

class TaggedHistogram final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, n_, {3'000, 300'000, 500'000});
    by_size(size, blocks_, {5, 64, 64});
    by_size(size, launches_, {2, 1, 1});
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, 1u << 28}, "elements", "floats counted");
    v.field("alike", alike_, {0, 1}, "",
            "share of the floats that all have one same value; the others are uniform");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "thread blocks");
    v.field("launches", launches_, {1, 1000}, "launches", "of the same floats, which add up");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (std::uint64_t{n_} * launches_ >= 1ull << 32)
      all.push_back("n * launches must be less than 2^32");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    values_ = random_floats(seed, "tagged_histogram/values", n_, 0, 1);
    Rng rng(seed, "tagged_histogram/alike");
    for (float& value : values_)
      if (rng.unit() < alike_) value = values_.front();
    inputs_.add(values_);
    std::tie(minimum_, maximum_) = range();

    KernelId kernel = device.kernel(load_module(device, "tagged_histogram"), "tagged_histogram");
    DeviceArray<float> values(device, values_);
    DeviceArray<std::uint32_t> counts(device, kBins);
    counts.set_bytes(0);
    for (std::uint32_t i = 0; i < launches_; ++i)
      device.launch(kernel, {blocks_}, {kThreads},
                    Arguments(values.address(), counts.address(), minimum_, maximum_, n_));
    device.synchronize();
    counts_ = counts.download();
  }

  // Exact: place in the range with the kernel's operations, each of which is rounded as here.
  std::string check() override {
    std::vector<std::uint32_t> expected(kBins, 0);
    for (float value : values_) {
      const float place = (value - minimum_) / (maximum_ - minimum_) * static_cast<float>(kBins);
      expected[static_cast<std::uint32_t>(place) & (kBins - 1)] += launches_;
    }
    return first_difference("counts", expected, counts_);
  }

 private:
  // Of the values; not empty.
  std::pair<float, float> range() const {
    const auto [minimum, maximum] = std::ranges::minmax(values_);
    return {minimum, minimum < maximum ? maximum : minimum + 1};
  }

  std::uint32_t n_ = 0, blocks_ = 0, launches_ = 0;
  double alike_ = 0;
  float minimum_ = 0, maximum_ = 0;
  std::vector<float> values_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

void add_workload_tagged_histogram(Workloads& w) {
  w.add<TaggedHistogram>("tagged_histogram",
                         "counts per bin: copies of warps, tagged and tried again, no atomics");
}

}  // namespace raddle::runtime

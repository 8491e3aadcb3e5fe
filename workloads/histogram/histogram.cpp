// Host code of histogram: how many words fall into each of equal parts of their range. See
// README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Histogram final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, n_, {20'000, 3'000'000, 1u << 22});
    by_size(size, blocks_, {5, 1280, 1280});
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, 1u << 28}, "elements", "words counted");
    v.field("bins", bins_, {1, 12288}, "bins", "equal parts of the 32-bit range");
    v.field("hot_share", hot_share_, {0, 1}, "",
            "share of the words that all have one same value; the others are uniform");
    v.field("blocks", blocks_, {1, 65535}, "blocks", "thread blocks");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "histogram/values");
    auto hot = static_cast<std::uint32_t>(rng.next());
    values_.resize(n_);
    for (std::uint32_t& value : values_)
      value = rng.unit() < hot_share_ ? hot : static_cast<std::uint32_t>(rng.next());
    inputs_.add(values_, bins_);

    KernelId kernel = device.kernel(load_module(device, "histogram"), "histogram");
    DeviceArray<std::uint32_t> values(device, values_), counts(device, bins_);
    counts.set_bytes(0);
    auto shared_bytes = static_cast<std::uint32_t>(bins_ * sizeof(std::uint32_t));
    device.launch(kernel, {blocks_}, {block_},
                  Arguments(values.address(), counts.address(), n_, bins_), shared_bytes);
    device.synchronize();
    counts_ = counts.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected(bins_, 0);
    for (std::uint32_t value : values_) ++expected[std::uint64_t{value} * bins_ >> 32];
    return first_difference("counts", expected, counts_);
  }

 private:
  std::uint32_t n_ = 0, bins_ = 256, blocks_ = 0, block_ = 256;
  double hot_share_ = 0;
  std::vector<std::uint32_t> values_, counts_;
};

}  // namespace

void add_workload_histogram(Workloads& w) {
  w.add<Histogram>("histogram", "counts per bin: shared-memory atomics on private copies");
}

}  // namespace raddle::runtime

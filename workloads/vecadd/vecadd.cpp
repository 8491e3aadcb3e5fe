// Host code of vecadd: c = a + b. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class VecAdd final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr std::uint32_t kElements[] = {10'000, 1'500'000, 1u << 24};
    n_ = kElements[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, 1u << 28}, "elements", "length of the vectors");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  void run(Device& device, std::uint64_t seed) override {
    a_ = random_floats(seed, "vecadd/a", n_, -100, 100);
    b_ = random_floats(seed, "vecadd/b", n_, -100, 100);
    inputs_.add(a_, b_);

    KernelId kernel = device.kernel(load_module(device, "vecadd"), "vecadd");
    DeviceArray<float> a(device, a_), b(device, b_), c(device, n_);
    device.launch(kernel, {blocks_for(n_, block_)}, {block_},
                  Arguments(a.address(), b.address(), c.address(), n_));
    device.synchronize();
    c_ = c.download();
  }

  // One IEEE addition each: the host's and the device's agree to the bit.
  std::string check() override {
    std::vector<float> expected(n_);
    for (std::size_t i = 0; i < n_; ++i) expected[i] = a_[i] + b_[i];
    return first_difference("c", expected, c_);
  }

 private:
  std::uint32_t n_ = 0, block_ = 256;
  std::vector<float> a_, b_, c_;
};

}  // namespace

void add_workload_vecadd(Workloads& w) {
  w.add<VecAdd>("vecadd", "element-wise sum of two vectors: coalesced streaming");
}

}  // namespace raddle::runtime

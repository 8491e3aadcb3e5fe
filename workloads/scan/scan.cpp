// Host code of scan: exclusive prefix sums modulo 2^32 by recursion over block sums. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Algorithm : std::uint8_t { Shuffle, Blelloch };
constexpr std::array<std::string_view, 2> kAlgorithms = {"shuffle", "blelloch"};
constexpr std::uint32_t kBlock = 1024;  // elements per thread block, as in kernels.cu
constexpr std::uint32_t kAddThreads = 256;

class Scan final : public HashedWorkload {
 public:
  Scan() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    constexpr std::uint32_t kElements[] = {10'000, 1'500'000, 1u << 22};
    n_ = kElements[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, 1u << 28}, "elements", "length of the vector");
    v.choice("algorithm", algorithm_, kAlgorithms, "how a block scans its 1024 elements");
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "scan/in");
    in_.resize(n_);
    for (std::uint32_t& value : in_) value = static_cast<std::uint32_t>(rng.next());
    inputs_.add(in_);

    ModuleId module = load_module(device, "scan");
    scan_ = device.kernel(module,
                          "scan_" + std::string(kAlgorithms[static_cast<std::size_t>(algorithm_)]));
    add_ = device.kernel(module, "scan_add");
    DeviceArray<std::uint32_t> in(device, in_), out(device, n_);
    scan_level(device, in.address(), out.address(), n_);
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected(n_);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      expected[i] = sum;
      sum += in_[i];
    }
    return first_difference("out", expected, out_);
  }

 private:
  void scan_level(Device& device, Address in, Address out, std::uint32_t n) {
    std::uint32_t blocks = blocks_for(n, kBlock);
    std::uint32_t threads = algorithm_ == Algorithm::Shuffle ? kBlock / 4 : kBlock / 2;
    DeviceArray<std::uint32_t> totals(device, blocks);
    device.launch(scan_, {blocks}, {threads}, Arguments(in, out, totals.address(), n));
    if (blocks > 1) {
      DeviceArray<std::uint32_t> offsets(device, blocks);
      scan_level(device, totals.address(), offsets.address(), blocks);
      device.launch(add_, {blocks}, {kAddThreads}, Arguments(out, offsets.address(), n));
      device.synchronize();  // before the arrays of this level go
    }
    device.synchronize();
  }

  std::uint32_t n_ = 0;
  Algorithm algorithm_ = Algorithm::Shuffle;
  KernelId scan_ = 0, add_ = 0;
  std::vector<std::uint32_t> in_, out_;
};

}  // namespace

void add_workload_scan(Workloads& w) {
  w.add<Scan>("scan", "prefix sums: block scans, scan of the block sums, uniform add");
}

}  // namespace raddle::runtime

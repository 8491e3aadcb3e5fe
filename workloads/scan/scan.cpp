// Host code of scan: exclusive prefix sums modulo 2^32 by recursion over block sums, or of many
// arrays at once. See README.md.
#include <algorithm>
#include <bit>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Algorithm : std::uint8_t { Shuffle, Blelloch, Naive };
constexpr std::array<std::string_view, 3> kAlgorithms = {"shuffle", "blelloch", "naive"};
constexpr std::uint32_t kBlock = 1024;  // elements per thread block, as in kernels.cu
constexpr std::uint32_t kAddThreads = 256;
constexpr std::uint32_t kNaiveThreads = 256;
constexpr std::uint32_t kMaxLength = kBlock * kNaiveThreads;  // one block scans an array's totals

class Scan final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr std::uint32_t kElements[] = {10'000, 1'500'000, 1u << 22};
    n_ = kElements[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {1, 1u << 28}, "elements", "length of the vector");
    v.choice("algorithm", algorithm_, kAlgorithms, "how a block scans its 1024 elements");
    v.field("length", length_, {4, kMaxLength}, "elements",
            "naive: the vector is arrays of this length, a power of two, each scanned by itself");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (algorithm_ != Algorithm::Naive) return all;
    if (!std::has_single_bit(length_))
      all.push_back("length must be a power of two, is " + std::to_string(length_));
    const std::uint32_t unit = std::max(length_, kBlock);
    if (n_ % unit != 0)
      all.push_back("naive: n must be a multiple of " + std::to_string(unit) + ", is " +
                    std::to_string(n_));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "scan/in");
    in_.resize(n_);
    for (std::uint32_t& value : in_) value = static_cast<std::uint32_t>(rng.next());
    inputs_.add(in_);

    ModuleId module = load_module(device, "scan");
    DeviceArray<std::uint32_t> in(device, in_), out(device, n_);
    if (algorithm_ == Algorithm::Naive) scan_arrays(device, module, in.address(), out.address());
    else scan_vector(device, module, in.address(), out.address());
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected(n_);
    const std::uint32_t length = algorithm_ == Algorithm::Naive ? length_ : n_;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (i % length == 0) sum = 0;
      expected[i] = sum;
      sum += in_[i];
    }
    return first_difference("out", expected, out_);
  }

 private:
  // Arrays longer than a block take the totals of their blocks by a second kernel and a third.
  void scan_arrays(Device& device, ModuleId module, Address in, Address out) {
    const std::uint32_t blocks = n_ / kBlock;
    const Dim3 block{kNaiveThreads};
    device.launch(device.kernel(module, "scan_naive"), {blocks}, block,
                  Arguments(in, out, std::min(length_, kBlock)));
    if (length_ <= kBlock) return;
    DeviceArray<std::uint32_t> offsets(device, blocks);
    device.launch(device.kernel(module, "scan_tops"), {blocks_for(blocks, kNaiveThreads)}, block,
                  Arguments(in, out, offsets.address(), blocks, length_ / kBlock));
    device.launch(device.kernel(module, "scan_offset"), {blocks}, block,
                  Arguments(out, offsets.address()));
    device.synchronize();  // before the offsets go
  }

  void scan_vector(Device& device, ModuleId module, Address in, Address out) {
    scan_ = device.kernel(module,
                          "scan_" + std::string(kAlgorithms[static_cast<std::size_t>(algorithm_)]));
    add_ = device.kernel(module, "scan_add");
    scan_level(device, in, out, n_);
  }

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

  std::uint32_t n_ = 0, length_ = kMaxLength;
  Algorithm algorithm_ = Algorithm::Shuffle;
  KernelId scan_ = 0, add_ = 0;
  std::vector<std::uint32_t> in_, out_;
};

}  // namespace

void add_workload_scan(Workloads& w) {
  w.add<Scan>("scan", "prefix sums: block scans, scan of the block sums, uniform add");
}

}  // namespace raddle::runtime

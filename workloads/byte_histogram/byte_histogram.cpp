// Host code of byte_histogram: bytes by their upper six bits. See README.md.
#include <array>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kBins = 64, kThreads = 64;  // as in kernels.cu
constexpr std::uint32_t kMaximum = 255 / 16;  // words of 16 bytes of a thread, counted in 8 bits

class ByteHistogram final : public HashedWorkload {
 public:
  void set_size(Size size) override { by_size(size, kib_, {32, 4096, 65'536}); }

  void visit(FieldVisitor& v) override { v.field("kib", kib_, {1, 1u << 20}, "KiB", "data"); }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "byte_histogram/data");
    data_.resize(std::size_t{kib_} * 256);
    for (std::uint32_t& word : data_) word = rng.below(0x80000000u) << 1 ^ rng.below(1u << 16);
    inputs_.add(data_);
    const std::uint32_t quads = kib_ * 64, blocks = blocks_for(quads, kThreads * kMaximum);

    KernelId kernel = device.kernel(load_module(device, "byte_histogram"), "byte_histogram");
    DeviceArray<std::uint32_t> data(device, data_), partial(device, std::size_t{blocks} * kBins);
    device.launch(kernel, {blocks}, {kThreads},
                  Arguments(data.address(), quads, partial.address()));
    device.synchronize();
    partial_ = partial.download();
  }

  // Exact, block by block: its threads take 16 bytes each in turn.
  std::string check() override {
    const std::uint32_t quads = kib_ * 64, blocks = blocks_for(quads, kThreads * kMaximum);
    std::vector<std::uint32_t> expected(std::size_t{blocks} * kBins);
    for (std::size_t at = 0; at < data_.size(); ++at) {
      const std::size_t block = at / 4 / kThreads % blocks;
      for (unsigned byte = 0; byte < 4; ++byte)
        ++expected[block * kBins + (data_[at] >> (8 * byte + 2) & 63)];
    }
    return first_difference("counts", expected, partial_);
  }

 private:
  std::uint32_t kib_ = 0;
  std::vector<std::uint32_t> data_, partial_;
};

}  // namespace

void add_workload_byte_histogram(Workloads& w) {
  w.add<ByteHistogram>("byte_histogram", "bytes counted in counters of a byte for each thread");
}

}  // namespace raddle::runtime

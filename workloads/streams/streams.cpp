// Host code of streams: small kernels on several CUDA streams, joined by events. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Streams final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    struct Values {
      std::uint32_t kernels, streams, blocks, rounds;
    };
    constexpr Values kValues[] = {{12, 4, 2, 20}, {128, 16, 16, 25}, {512, 32, 32, 100}};
    const Values& v = kValues[static_cast<std::size_t>(size)];
    kernels_ = v.kernels;
    streams_ = v.streams;
    blocks_ = v.blocks;
    rounds_ = v.rounds;
  }

  void visit(FieldVisitor& v) override {
    v.field("kernels", kernels_, {1, 100'000}, "launches", "independent kernels");
    v.field("streams", streams_, {1, 1024}, "", "CUDA streams they are dealt to in turn");
    v.field("blocks", blocks_, {1, 65'535}, "blocks", "blocks of each kernel");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
    v.field("rounds", rounds_, {0, 1'000'000}, "", "steps of the generator for each element");
  }
  std::vector<std::string> violations() const override {
    std::vector<std::string> out;
    if (block_ % 32 != 0) out.emplace_back("block must be a multiple of 32");
    if (elements() > std::uint64_t{1} << 28)
      out.emplace_back("kernels x blocks x block must not be beyond 2^28 elements");
    return out;
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "streams/x");
    x_.resize(elements());
    for (std::uint32_t& v : x_) v = static_cast<std::uint32_t>(rng.next());
    inputs_.add(x_, rounds_);

    const ModuleId module = load_module(device, "streams");
    const KernelId churn = device.kernel(module, "churn"), total = device.kernel(module, "total");
    DeviceArray<std::uint32_t> x(device, x_), sum(device, std::vector<std::uint32_t>{0});
    std::vector<StreamId> streams;
    for (std::uint32_t s = 0; s < streams_; ++s) streams.push_back(device.create_stream());
    const std::uint64_t bytes = std::uint64_t{4} * blocks_ * block_;
    for (std::uint32_t k = 0; k < kernels_; ++k)
      device.launch(churn, {blocks_}, {block_}, Arguments(x.address() + k * bytes, rounds_), 0,
                    streams[k % streams_]);
    // The last kernel is in the first stream and waits for the others.
    for (std::uint32_t s = 1; s < streams_; ++s) {
      const EventId done = device.create_event();
      device.record(done, streams[s]);
      device.wait(streams[0], done);
    }
    device.launch(total, {blocks_}, {block_},
                  Arguments(x.address(), static_cast<std::uint32_t>(elements()), sum.address()), 0,
                  streams[0]);
    device.synchronize();
    got_ = x.download();
    got_sum_ = sum.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected = x_;
    std::uint32_t sum = 0;
    for (std::uint32_t& v : expected) {
      for (std::uint32_t r = 0; r < rounds_; ++r) v = v * 1664525u + 1013904223u;
      sum += v;
    }
    std::string difference = first_difference("x", expected, got_);
    return difference.empty() ? first_difference("sum", {sum}, got_sum_) : difference;
  }

 private:
  std::uint64_t elements() const { return std::uint64_t{kernels_} * blocks_ * block_; }
  std::uint32_t kernels_ = 0, streams_ = 0, blocks_ = 0, block_ = 128, rounds_ = 0;
  std::vector<std::uint32_t> x_, got_, got_sum_;
};

}  // namespace

void add_workload_streams(Workloads& w) {
  w.add<Streams>("streams", "independent small kernels on several streams, joined by events");
}

}  // namespace raddle::runtime

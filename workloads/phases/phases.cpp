// Host code of phases: rounds of two kernels, of which the first wants few warps and the second
// many. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Phases final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    const bool tiny = size == Size::Tiny;
    rows_ = tiny ? 300 : 32'768;
    width_ = tiny ? 5 : 32;
    steps_ = tiny ? 8 : 32;
    rounds_ = tiny ? 1 : 2;
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 1u << 22}, "rows", "rows, and threads of each kernel");
    v.field("width", width_, {1, 256}, "words", "of a row");
    v.field("passes", passes_, {1, 1000}, "", "how often a row is summed in a round");
    v.field("steps", steps_, {1, 100'000}, "squarings", "length of the second phase's chains");
    v.field("rounds", rounds_, {1, 1000}, "", "how often both phases run");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "phases");
    KernelId walk = device.kernel(module, "phases_rows");
    KernelId power = device.kernel(module, "phases_powers");
    DeviceArray<std::uint32_t> rows(device, table_), sums(device, rows_);
    Dim3 grid{blocks_for(rows_, block_)}, block{block_};
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      device.launch(walk, grid, block,
                    Arguments(rows.address(), sums.address(), width_, passes_, rows_));
      device.launch(power, grid, block, Arguments(sums.address(), kModulus, steps_, rows_));
    }
    device.synchronize();
    result_ = sums.download();
  }

  // A round does the same as the one before: the sums are written anew.
  std::string check() override {
    std::vector<std::uint32_t> expected(rows_);
    for (std::size_t r = 0; r < rows_; ++r) {
      std::uint32_t sum = 0;
      for (std::uint32_t pass = 0; pass < passes_; ++pass)
        for (std::size_t w = 0; w < width_; ++w) sum = 31 * sum + table_[r * width_ + w];
      std::uint32_t x = sum % kModulus;
      for (std::uint32_t s = 0; s < steps_; ++s) x = x * x % kModulus;
      expected[r] = x;
    }
    return first_difference("value", expected, result_);
  }

 private:
  static constexpr std::uint32_t kModulus = 65'521;  // the largest prime below 2^16

  void make_input(std::uint64_t seed) {
    Rng rng(seed, "phases/rows");
    table_.resize(std::size_t{rows_} * width_);
    for (std::uint32_t& word : table_) word = rng.below(1u << 30);
    inputs_.add(table_);
  }

  std::uint32_t rows_ = 0, width_ = 0, passes_ = 5, steps_ = 0, rounds_ = 0, block_ = 256;
  std::vector<std::uint32_t> table_, result_;
};

}  // namespace

void add_workload_phases(Workloads& w) {
  w.add<Phases>("phases", "two phases: rows that fill the cache, chains of long operations");
}

}  // namespace raddle::runtime

// Host code of transpose: out[j][i] = in[i][j]. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Variant : std::uint8_t { Padded, Conflicting, Naive };
constexpr std::array<std::string_view, 3> kVariants = {"padded", "conflicting", "naive"};
constexpr std::uint32_t kTile = 32;        // as in kernels.cu
constexpr std::uint32_t kRowsPerPass = 8;  // as in kernels.cu

class Transpose final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {70, 1500, 4096});
    by_size(size, columns_, {50, 1100, 4096});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, 16384}, "rows", "rows of the input");
    v.field("columns", columns_, {1, 16384}, "columns", "columns of the input");
    v.choice("variant", variant_, kVariants,
             "through padded tiles, tiles with bank conflicts, or straight with scattered writes");
  }

  void run(Device& device, std::uint64_t seed) override {
    in_ = random_floats(seed, "transpose/in", std::size_t{rows_} * columns_, -1, 1);
    inputs_.add(in_);

    std::string name = "transpose_" + std::string(kVariants[static_cast<std::size_t>(variant_)]);
    KernelId kernel = device.kernel(load_module(device, "transpose"), name);
    DeviceArray<float> in(device, in_), out(device, in_.size());
    device.launch(kernel, {blocks_for(columns_, kTile), blocks_for(rows_, kTile)},
                  {kTile, kRowsPerPass}, Arguments(in.address(), out.address(), rows_, columns_));
    device.synchronize();
    out_ = out.download();
  }

  std::string check() override {
    std::vector<float> expected(in_.size());
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) expected[j * rows_ + i] = in_[i * columns_ + j];
    return first_difference("out", expected, out_);
  }

 private:
  std::uint32_t rows_ = 0, columns_ = 0;
  Variant variant_ = Variant::Padded;
  std::vector<float> in_, out_;
};

}  // namespace

void add_workload_transpose(Workloads& w) {
  w.add<Transpose>("transpose", "matrix transposition: coalescing and shared-memory banks");
}

}  // namespace raddle::runtime

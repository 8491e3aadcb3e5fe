// Host code of spmv: y = A x for a sparse square matrix. See README.md.
#include "common/device_array.h"
#include "common/graph.h"
#include "common/inputs.h"
#include "common/sparse_product.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Kind : std::uint8_t { Banded, Rmat, Uniform };
constexpr std::array<std::string_view, 3> kKinds = {"banded", "rmat", "uniform"};
enum class Variant : std::uint8_t { Scalar, Vector };
constexpr std::array<std::string_view, 2> kVariants = {"scalar", "vector"};
constexpr std::uint32_t kRowsPerWarp[] = {kLanes, 1};  // by variant

class Spmv final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {600, 160'000, 48'000 * 16});
    by_size(size, mean_, {8, 16, 19});
    by_size(size, half_bandwidth_, {40, 512, 2048});
  }

  void visit(FieldVisitor& v) override {
    v.choice("matrix", kind_, kKinds, "where the entries are");
    v.choice("variant", variant_, kVariants, "one thread or one warp per row");
    v.field("rows", rows_, {16, 1u << 26}, "rows", "rows and columns of the matrix");
    v.field("row_entries", mean_, {1, 4096}, "entries", "mean number of entries per row");
    v.field("half_bandwidth", half_bandwidth_, {0, 1u << 26}, "columns",
            "banded: greatest distance of an entry from the diagonal");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (block_ % kLanes != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (std::uint64_t{rows_} * mean_ > 1u << 30)
      all.push_back("rows * row_entries must not exceed 2^30");
    if (kind_ != Kind::Banded && mean_ > rows_ / 16)
      all.push_back("row_entries must not exceed rows / 16 = " + std::to_string(rows_ / 16) +
                    ", is " + std::to_string(mean_));
    if (kind_ == Kind::Banded && half_bandwidth_ >= rows_)
      all.push_back("half_bandwidth must be less than rows");
    if (kind_ == Kind::Banded && mean_ * 3 / 2 > half_bandwidth_ + 1)
      all.push_back("half_bandwidth + 1 must be at least row_entries * 3 / 2 = " +
                    std::to_string(mean_ * 3 / 2));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    std::string name = "spmv_" + std::string(kVariants[static_cast<std::size_t>(variant_)]);
    KernelId kernel = device.kernel(load_module(device, "spmv"), name);
    DeviceArray<std::uint32_t> row(device, matrix_.row), column(device, matrix_.column);
    DeviceArray<float> value(device, value_), x(device, x_), y(device, rows_);
    std::uint32_t rows_per_block =
        block_ / kLanes * kRowsPerWarp[static_cast<std::size_t>(variant_)];
    device.launch(kernel, {blocks_for(rows_, rows_per_block)}, {block_},
                  Arguments(row.address(), column.address(), value.address(), x.address(),
                            y.address(), rows_));
    device.synchronize();
    y_ = y.download();
  }

  std::string check() override { return wrong_product(matrix_, value_, x_, y_); }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "spmv/matrix");
    std::uint64_t entries = std::uint64_t{rows_} * mean_;
    switch (kind_) {
      case Kind::Banded:
        matrix_ = make_banded(rows_, mean_, half_bandwidth_, rng);
        break;
      case Kind::Rmat:
        matrix_ = make_rmat(rows_, entries, rng);
        break;
      case Kind::Uniform:
        matrix_ = make_uniform(rows_, entries, rng);
        break;
    }
    value_ = random_floats(seed, "spmv/value", matrix_.column.size(), -1, 1);
    x_ = random_floats(seed, "spmv/x", rows_, -1, 1);
    inputs_.add(matrix_.row, matrix_.column, value_, x_);
  }

  Kind kind_ = Kind::Banded;
  Variant variant_ = Variant::Scalar;
  std::uint32_t rows_ = 0, mean_ = 0, half_bandwidth_ = 0, block_ = 256;
  Graph matrix_;
  std::vector<float> value_, x_, y_;
};

}  // namespace

void add_workload_spmv(Workloads& w) {
  w.add<Spmv>("spmv", "sparse matrix times vector: gathers, uneven rows");
}

}  // namespace raddle::runtime

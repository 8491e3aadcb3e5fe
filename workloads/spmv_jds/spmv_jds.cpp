// Host code of spmv_jds: a matrix whose rows are sorted by length, times a vector. See README.md.
#include <algorithm>
#include <numeric>

#include "common/device_array.h"
#include "common/graph.h"
#include "common/inputs.h"
#include "common/sparse_product.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kMaximum = 5000;  // as in kernels.cu

/// Diagonal k has entry k of all rows of warps that have one, padded with zeros.
struct JaggedDiagonals {
  std::vector<std::uint32_t> place;   ///< of each sorted row, the row of the matrix
  std::vector<std::uint32_t> length;  ///< of each warp
  std::vector<std::uint32_t> start;   ///< of each diagonal
  std::vector<std::uint32_t> column;
  std::vector<float> value;
};

JaggedDiagonals jagged(const Graph& matrix, const std::vector<float>& value) {
  JaggedDiagonals all;
  all.place.resize(matrix.vertices());
  std::iota(all.place.begin(), all.place.end(), 0u);
  std::ranges::sort(all.place, [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(matrix.degree(b), a) < std::pair(matrix.degree(a), b);
  });
  for (std::size_t first = 0; first < all.place.size(); first += kLanes)
    all.length.push_back(matrix.degree(all.place[first]));
  for (std::uint32_t k = 0; k < all.length.front(); ++k) {
    all.start.push_back(static_cast<std::uint32_t>(all.column.size()));
    for (std::size_t warp = 0; warp < all.length.size() && k < all.length[warp]; ++warp)
      for (std::size_t sorted = warp * kLanes; sorted < (warp + 1) * kLanes; ++sorted) {
        const bool there = sorted < all.place.size() && k < matrix.degree(all.place[sorted]);
        const std::uint32_t entry = there ? matrix.row[all.place[sorted]] + k : 0;
        all.column.push_back(there ? matrix.column[entry] : 0);
        all.value.push_back(there ? value[entry] : 0);
      }
  }
  return all;
}

class SpmvJds final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {700, 40'000, 146'689});
    by_size(size, mean_, {12, 25, 25});
    by_size(size, half_bandwidth_, {60, 10'000, 10'000});
  }

  void visit(FieldVisitor& v) override {
    v.field("rows", rows_, {1, kMaximum * kLanes}, "rows", "rows and columns of the matrix");
    v.field("row_entries", mean_, {1, kMaximum / 2}, "entries",
            "mean number of entries of a row; rows have half to one and a half of it");
    v.field("half_bandwidth", half_bandwidth_, {0, kMaximum * kLanes}, "columns",
            "greatest distance of an entry from the diagonal, around the end");
    v.field("run", run_, {1, kMaximum * kLanes}, "rows",
            "so many neighbouring rows have their entries equally far from the diagonal: the "
            "longer, the fewer lines of the vector a warp reads at a time");
    v.field("launches", launches_, {1, 10000}, "launches", "of the same product");
    v.field("block", block_, {32, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (block_ % kLanes != 0)
      all.push_back("block must be a multiple of 32, is " + std::to_string(block_));
    if (2 * std::uint64_t{half_bandwidth_} + 1 > rows_)
      all.push_back("2 half_bandwidth + 1 must not exceed rows");
    if (longest() > 2 * std::uint64_t{half_bandwidth_} + 1)
      all.push_back("2 half_bandwidth + 1 must be at least row_entries * 3 / 2 = " +
                    std::to_string(longest()));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    const JaggedDiagonals sorted = jagged(matrix_, value_);
    ModuleId module = load_module(device, "spmv_jds");
    KernelId kernel = device.kernel(module, "spmv_jds");
    auto fill = [&](const char* table, const std::vector<std::uint32_t>& words) {
      device.copy_to_device(device.symbol(module, table), words.data(),
                            words.size() * sizeof(std::uint32_t));
    };
    fill("spmv_jds_start", sorted.start);
    fill("spmv_jds_length", sorted.length);
    DeviceArray<float> value(device, sorted.value), x(device, x_), y(device, rows_);
    DeviceArray<std::uint32_t> column(device, sorted.column), place(device, sorted.place);
    for (std::uint32_t i = 0; i < launches_; ++i)
      device.launch(kernel, {blocks_for(rows_, block_)}, {block_},
                    Arguments(value.address(), column.address(), place.address(), x.address(),
                              y.address(), rows_));
    device.synchronize();
    y_ = y.download();
  }

  std::string check() override { return wrong_product(matrix_, value_, x_, y_); }

 private:
  std::uint32_t longest() const { return mean_ + mean_ / 2; }

  // Rows in runs with the same distances from the diagonal, which is one of them.
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "spmv_jds/matrix");
    matrix_.row = {0};
    std::vector<std::uint32_t> distances;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      if (r % run_ == 0) distances = draw_distances(rng);
      for (std::uint32_t distance : distances) matrix_.column.push_back((r + distance) % rows_);
      matrix_.row.push_back(static_cast<std::uint32_t>(matrix_.column.size()));
    }
    value_ = random_floats(seed, "spmv_jds/value", matrix_.column.size(), -1, 1);
    x_ = random_floats(seed, "spmv_jds/x", rows_, -1, 1);
    inputs_.add(matrix_.row, matrix_.column, value_, x_);
  }

  // Distinct, ascending from left of the diagonal to right of it; modulo rows.
  std::vector<std::uint32_t> draw_distances(Rng& rng) const {
    const std::uint32_t wanted = longest() - rng.below(mean_ / 2 * 2 + 1);
    std::vector<std::uint32_t> distances = {half_bandwidth_};
    while (distances.size() < wanted) {
      const std::uint32_t one = rng.below(2 * half_bandwidth_ + 1);
      if (std::ranges::find(distances, one) == distances.end()) distances.push_back(one);
    }
    std::ranges::sort(distances);
    for (std::uint32_t& one : distances) one = (one + rows_ - half_bandwidth_) % rows_;
    return distances;
  }

  std::uint32_t rows_ = 0, mean_ = 0, half_bandwidth_ = 0, run_ = 6, launches_ = 1, block_ = 192;
  Graph matrix_;
  std::vector<float> value_, x_, y_;
};

}  // namespace

void add_workload_spmv_jds(Workloads& w) {
  w.add<SpmvJds>("spmv_jds", "sparse matrix times vector: rows sorted by length, loads run ahead");
}

}  // namespace raddle::runtime

// Host code of sgemm: C = alpha A B + beta C. See README.md.
#include <array>
#include <tuple>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kTile = 64;                                             // as in kernels.cu
constexpr std::uint32_t kThreads = 256;                                         // as in kernels.cu
constexpr std::uint32_t kStripRows = 128, kStripColumns = 16, kStripDepth = 8;  // as in kernels.cu

enum class Variant : std::uint8_t { Tiled, Streamed, Whole };
constexpr std::array<std::string_view, 3> kVariants = {"tiled", "streamed", "whole"};

// The same matrix by columns.
std::vector<float> transposed(const std::vector<float>& by_rows, std::size_t rows,
                              std::size_t columns) {
  std::vector<float> by_columns(by_rows.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      by_columns[column * rows + row] = by_rows[row * columns + column];
  return by_columns;
}

class Sgemm final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, m_, {70, 1000, 1024});
    by_size(size, n_, {50, 1000, 1056});
    by_size(size, k_, {24, 48, 992});
  }

  void visit(FieldVisitor& v) override {
    v.choice(
        "variant", variant_, kVariants,
        "tiled: 64 x 64 results per block, A and B staged; streamed: 128 x 16, B staged; whole: "
        "as streamed, of sizes that are whole tiles, without tests of bounds");
    v.field("m", m_, {1, 16384}, "rows", "rows of A and C");
    v.field("n", n_, {1, 16384}, "columns", "columns of B and C");
    v.field("k", k_, {1, 16384}, "columns", "columns of A, rows of B");
    v.field("alpha", alpha_, {-1e6, 1e6}, "", "factor of A B");
    v.field("beta", beta_, {-1e6, 1e6}, "", "factor of the old C");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (const auto& [name, size, tile] :
         {std::tuple("m", m_, kStripRows), {"n", n_, kStripColumns}, {"k", k_, kStripDepth}})
      if (variant_ == Variant::Whole && size % tile != 0)
        all.push_back(std::string("whole: ") + name + " must be a multiple of " +
                      std::to_string(tile) + ", is " + std::to_string(size));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    a_ = random_floats(seed, "sgemm/a", std::size_t{m_} * k_, -1, 1);
    b_ = random_floats(seed, "sgemm/b", std::size_t{k_} * n_, -1, 1);
    c_ = random_floats(seed, "sgemm/c", std::size_t{m_} * n_, -1, 1);
    inputs_.add(a_, b_, c_, factor(alpha_), factor(beta_));

    ModuleId module = load_module(device, "sgemm");
    bool tiled = variant_ == Variant::Tiled;
    DeviceArray<float> a(device, tiled ? a_ : transposed(a_, m_, k_)), b(device, b_);
    DeviceArray<float> c(device, tiled ? c_ : transposed(c_, m_, n_));
    Arguments arguments(a.address(), b.address(), c.address(), m_, n_, k_, factor(alpha_),
                        factor(beta_));
    if (tiled) {
      device.launch(device.kernel(module, "sgemm"), {blocks_for(n_, kTile), blocks_for(m_, kTile)},
                    {kThreads}, arguments);
    } else {
      const bool whole = variant_ == Variant::Whole;
      device.launch(device.kernel(module, whole ? "sgemm_whole" : "sgemm_streamed"),
                    {blocks_for(m_, kStripRows), blocks_for(n_, kStripColumns)},
                    {kStripColumns, kStripDepth}, arguments);
    }
    device.synchronize();
    result_ = tiled ? c.download() : transposed(c.download(), n_, m_);
  }

  // Tolerance: a k-term product sum errs by at most chained_error(k) x sum |a||b| in any order and
  // with or without fused multiply-add (Higham, section 3.1); 4 more operations for alpha and beta.
  std::string check() override {
    std::vector<double> expected(std::size_t{m_} * n_), magnitude(expected.size());
    for (std::size_t row = 0; row < m_; ++row) reference_row(row, expected, magnitude);
    double error = chained_error(k_ + 4.0);
    return first_beyond("c", expected, result_,
                        [&](std::size_t i) { return error * magnitude[i]; });
  }

 private:
  static float factor(double value) { return static_cast<float>(value); }

  void reference_row(std::size_t row, std::vector<double>& expected,
                     std::vector<double>& magnitude) const {
    double* sum = &expected[row * n_];
    double* absolute = &magnitude[row * n_];
    double alpha = factor(alpha_), beta = factor(beta_);
    for (std::size_t j = 0; j < n_; ++j) {
      sum[j] = beta * c_[row * n_ + j];
      absolute[j] = std::abs(sum[j]);
    }
    for (std::size_t d = 0; d < k_; ++d) {
      double left = alpha * a_[row * k_ + d];
      for (std::size_t j = 0; j < n_; ++j) {
        double product = left * b_[d * n_ + j];
        sum[j] += product;
        absolute[j] += std::abs(product);
      }
    }
  }

  Variant variant_ = Variant::Tiled;
  std::uint32_t m_ = 0, n_ = 0, k_ = 0;
  double alpha_ = 1.5, beta_ = -0.5;
  std::vector<float> a_, b_, c_, result_;
};

}  // namespace

void add_workload_sgemm(Workloads& w) {
  w.add<Sgemm>("sgemm", "dense matrix product: shared-memory tiles, register blocking");
}

}  // namespace raddle::runtime

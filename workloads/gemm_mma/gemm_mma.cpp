// Host code of gemm_mma: C = A B', by the tensor units of machines since 8.0. See README.md.
#include <algorithm>
#include <array>
#include <numeric>

#include "common/compare.h"
#include "common/half.h"
#include "common/inputs.h"
#include "gemm_mma/launch.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class GemmMma final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, m_, {100, 2048, 4096});
    by_size(size, n_, {72, 2048, 4096});
    by_size(size, k_, {104, 512, 4096});
    by_size(size, tile_, {MmaTile::Of64x64, MmaTile::Of128x128, MmaTile::Of128x128});
  }

  void visit(FieldVisitor& v) override {
    v.choice("tile", tile_, kMmaTileNames, "results of a block, rows x columns");
    v.field("stages", stages_, {2, kMmaMaxStages}, "panels",
            "panels of both factors in shared memory, one of them being multiplied");
    v.field("m", m_, {1, 16384}, "rows", "rows of A and C");
    v.field("n", n_, {8, 16384}, "columns", "rows of B, columns of C; a multiple of 8");
    v.field("k", k_, {8, 16384}, "columns", "columns of A and B, a multiple of 8");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (const auto& [name, size] : {std::pair("n", n_), {"k", k_}})
      if (size % 8 != 0)
        all.push_back(std::string(name) + " must be a multiple of 8, is " + std::to_string(size));
    return all;
  }

  std::uint32_t min_capability() const override { return kMmaCapability; }

  void run(Device& device, std::uint64_t seed) override {
    seed_ = seed;
    a_ = random_halves(seed, "gemm_mma/a", std::size_t{m_} * k_, 1);
    b_ = random_halves(seed, "gemm_mma/b", std::size_t{n_} * k_, 1);
    inputs_.add(a_, b_);
    const ModuleId module = load_module(device, "gemm_mma");
    const DeviceArray<Half> a(device, a_), b(device, b_);
    const DeviceArray<float> c(device, std::size_t{m_} * n_);
    launch_mma(device, module, {tile_, stages_}, "",
               {a.address(), b.address(), c.address(), m_, n_, k_});
    device.synchronize();
    result_ = c.download();
  }

  // Tolerance: as of sgemm, but tensor units cut what does not fit a sum: twice a rounding.
  std::string check() override {
    if (result_.size() != std::size_t{m_} * n_)
      return length_text("c", std::size_t{m_} * n_, result_.size());
    const std::vector<float> a = to_floats(a_), b = to_floats(b_);
    const double error = chained_error(2.0 * k_);
    for (const std::uint32_t row : rows_checked())
      for (std::size_t column = 0; column < n_; ++column) {
        const auto [sum, magnitude] = dot(&a[std::size_t{row} * k_], &b[column * k_]);
        const std::size_t at = std::size_t{row} * n_ + column;
        const double got = result_[at], allowed = error * magnitude;
        if (!(std::abs(got - sum) <= allowed)) return difference_text("c", at, sum, got, allowed);
      }
    return "";
  }

 private:
  /// Multiply-adds of a result that is all checked; of more, so many rows are drawn.
  static constexpr double kWorkChecked = 1e8;
  static constexpr std::uint32_t kRowsDrawn = 64;

  std::vector<std::uint32_t> rows_checked() const {
    std::vector<std::uint32_t> rows(m_);
    std::iota(rows.begin(), rows.end(), 0u);
    if (m_ <= kRowsDrawn || 1.0 * m_ * n_ * k_ <= kWorkChecked) return rows;
    Rng rng(seed_, "gemm_mma/check");
    rows = {0, m_ - 1};
    while (rows.size() < kRowsDrawn) rows.push_back(rng.below(m_));
    return rows;
  }

  struct Dot {
    double sum = 0, magnitude = 0;
  };
  Dot dot(const float* a, const float* b) const {
    Dot out;
    for (std::uint32_t i = 0; i < k_; ++i) {
      const double product = double{a[i]} * b[i];
      out.sum += product;
      out.magnitude += std::abs(product);
    }
    return out;
  }

  MmaTile tile_ = MmaTile::Of64x64;
  std::uint32_t stages_ = 3, m_ = 0, n_ = 0, k_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<Half> a_, b_;
  std::vector<float> result_;
};

}  // namespace

void add_workload_gemm_mma(Workloads& w) {
  w.add<GemmMma>("gemm_mma",
                 "matrix product by tensor units, asynchronous copies; of machines since 8.0");
}

}  // namespace raddle::runtime

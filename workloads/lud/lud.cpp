// Host code of lud: LU decomposition in place, block column by block column. See README.md.
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kSide = 16;  // as in kernels.cu

class Lud final : public HashedWorkload {
 public:
  void set_size(Size size) override { by_size(size, n_, {32, 256, 512}); }

  void visit(FieldVisitor& v) override {
    v.field("n", n_, {kSide, 8192}, "rows", "rows and columns of the matrix");
  }

  std::vector<std::string> violations() const override {
    if (n_ % kSide == 0) return {};
    return {"n must be a multiple of " + std::to_string(kSide) + ", is " + std::to_string(n_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    matrix_ = dominant_matrix(seed);
    inputs_.add(matrix_);
    ModuleId module = load_module(device, "lud");
    KernelId diagonal = device.kernel(module, "lud_diagonal");
    KernelId perimeter = device.kernel(module, "lud_perimeter");
    KernelId internal = device.kernel(module, "lud_internal");
    DeviceArray<float> matrix(device, matrix_);
    for (std::uint32_t done = 0; done < n_; done += kSide) {
      Address block = matrix.address() + (std::uint64_t{done} * n_ + done) * sizeof(float);
      Arguments arguments(block, n_);
      device.launch(diagonal, {1}, {kSide}, arguments);
      std::uint32_t rest = (n_ - done) / kSide - 1;
      if (rest == 0) break;
      device.launch(perimeter, {rest}, {2 * kSide}, arguments);
      device.launch(internal, {rest, rest}, {kSide, kSide}, Arguments(matrix.address(), n_, done));
    }
    device.synchronize();
    result_ = matrix.download();
  }

  // Exact: the kernels do the fused multiply-adds of each element in the order of this loop.
  std::string check() override {
    std::vector<float> a = matrix_;
    std::size_t n = n_;
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = k + 1; i < n; ++i) {
        float factor = a[i * n + k] /= a[k * n + k];
        for (std::size_t j = k + 1; j < n; ++j)
          a[i * n + j] = std::fmaf(-factor, a[k * n + j], a[i * n + j]);
      }
    return first_difference("lu", a, result_);
  }

 private:
  // The diagonal outweighs its row, so that no row exchange is needed.
  std::vector<float> dominant_matrix(std::uint64_t seed) const {
    std::vector<float> a = random_floats(seed, "lud/matrix", std::size_t{n_} * n_, -1, 1);
    for (std::size_t i = 0; i < n_; ++i) a[i * n_ + i] += static_cast<float>(n_);
    return a;
  }

  std::uint32_t n_ = 0;
  std::vector<float> matrix_, result_;
};

}  // namespace

void add_workload_lud(Workloads& w) {
  w.add<Lud>("lud", "LU decomposition: diagonal, perimeter and internal blocks in shared memory");
}

}  // namespace raddle::runtime

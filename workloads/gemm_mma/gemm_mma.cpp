// Host code of gemm_mma: C = A B', by the tensor units of machines since 8.0. See README.md.
#include <optional>

#include "common/half_product.h"
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
    product_.emplace(seed, "gemm_mma", m_, n_, k_);
    inputs_.add(product_->a, product_->b);
    const ModuleId module = load_module(device, "gemm_mma");
    const DeviceArray<Half> a(device, product_->a), b(device, product_->b);
    const DeviceArray<float> c(device, std::size_t{m_} * n_);
    launch_mma(device, module, {tile_, stages_}, "",
               {a.address(), b.address(), c.address(), m_, n_, k_});
    device.synchronize();
    result_ = c.download();
  }

  std::string check() override { return product_->difference(result_); }

 private:
  MmaTile tile_ = MmaTile::Of64x64;
  std::uint32_t stages_ = 3, m_ = 0, n_ = 0, k_ = 0;
  std::optional<HalfProduct> product_;
  std::vector<float> result_;
};

}  // namespace

void add_workload_gemm_mma(Workloads& w) {
  w.add<GemmMma>("gemm_mma",
                 "matrix product by tensor units, asynchronous copies; of machines since 8.0");
}

}  // namespace raddle::runtime

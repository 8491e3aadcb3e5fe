// Host code of gemm_wgmma: C = A B', by the asynchronous tensor units of Hopper. See README.md.
#include <array>
#include <optional>

#include "common/device_array.h"
#include "common/half_product.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class GroupTile : std::uint8_t { Of128x128, Of128x256, Of256x128 };
constexpr std::array<std::string_view, 3> kTileNames = {"128x128", "128x256", "256x128"};
enum class Warpgroups : std::uint8_t { Specialised, Alone };
constexpr std::array<std::string_view, 2> kWarpgroupNames = {"specialised", "alone"};
enum class ClusterSize : std::uint8_t { One, Two, Four };
constexpr std::array<std::string_view, 3> kClusterNames = {"1", "2", "4"};

constexpr std::uint32_t kCapability = 90;                      // wgmma is of no later one
constexpr std::uint32_t kRowBytes = 128, kMaxStages = 8;       // as in tile.h
constexpr std::uint32_t kSharedBytes = 227 * 1024 - 2 * 1024;  // of a block, less what is static

class GemmWgmma final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, m_, {150, 2048, 4096});
    by_size(size, n_, {200, 2048, 4096});
    by_size(size, k_, {200, 512, 4096});
    by_size(size, tile_, {GroupTile::Of128x128, GroupTile::Of128x128, GroupTile::Of128x256});
  }

  void visit(FieldVisitor& v) override {
    v.choice("tile", tile_, kTileNames, "results of a block, rows x columns");
    v.choice("warpgroups", warpgroups_, kWarpgroupNames,
             "specialised: one brings panels, two multiply; alone: one that does both in turn");
    v.field("stages", stages_, {2, kMaxStages}, "panels",
            "panels of both factors in shared memory");
    v.choice("cluster", cluster_, kClusterNames,
             "blocks along the rows that share panels of B by multicast");
    v.field("m", m_, {1, 32768}, "rows", "rows of A and C");
    v.field("n", n_, {8, 32768}, "columns", "rows of B, columns of C; a multiple of 8");
    v.field("k", k_, {8, 32768}, "columns", "columns of A and B, a multiple of 8");
    v.field("launches", launches_, {1, 1000}, "", "of the same product, one after another");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (const auto& [name, size] : {std::pair("n", n_), {"k", k_}})
      if (size % 8 != 0)
        all.push_back(std::string(name) + " must be a multiple of 8, is " + std::to_string(size));
    if (warpgroups_ == Warpgroups::Alone && tile_ != GroupTile::Of128x128)
      all.push_back("warpgroups=alone has tile=128x128 only, not " + tile_name());
    if (shared_bytes() > kSharedBytes)
      all.push_back("stages of " + tile_name() + " must take at most " +
                    std::to_string(kSharedBytes) + " bytes of shared memory, take " +
                    std::to_string(shared_bytes()));
    return all;
  }

  std::uint32_t min_capability() const override { return kCapability; }

  void run(Device& device, std::uint64_t seed) override {
    product_.emplace(seed, "gemm_wgmma", m_, n_, k_);
    inputs_.add(product_->a, product_->b);
    const KernelId kernel = device.kernel(load_module(device, "gemm_wgmma"), kernel_name());
    const DeviceArray<Half> a(device, product_->a), b(device, product_->b);
    const DeviceArray<float> c(device, std::size_t{m_} * n_);
    const DeviceArray<TensorMap> maps(
        device,
        std::vector<TensorMap>{device.tensor_map({a.address(), m_, k_, rows()}),
                               device.tensor_map({b.address(), n_, k_, columns() / cluster()})});
    const Arguments arguments(maps.address(), maps.address() + sizeof(TensorMap), c.address(), m_,
                              n_, k_, stages_, cluster());
    const std::uint32_t clusters = blocks_for(m_, rows() * cluster());
    for (std::uint32_t i = 0; i < launches_; ++i)
      device.launch(kernel, {clusters * cluster(), blocks_for(n_, columns())}, {threads()},
                    arguments,
                    {.dynamic_shared_bytes = shared_bytes(), .cluster = {cluster(), 1, 1}});
    device.synchronize();
    result_ = c.download();
  }

  std::string check() override { return product_->difference(result_); }

 private:
  std::string tile_name() const { return std::string(kTileNames[static_cast<std::size_t>(tile_)]); }
  std::string kernel_name() const {
    const bool alone = warpgroups_ == Warpgroups::Alone;
    return "gemm_wgmma_" + std::string(alone ? "alone_" : "") + tile_name();
  }
  std::uint32_t rows() const { return tile_ == GroupTile::Of256x128 ? 256 : 128; }
  std::uint32_t columns() const { return tile_ == GroupTile::Of128x256 ? 256 : 128; }
  std::uint32_t threads() const { return warpgroups_ == Warpgroups::Alone ? 128 : 384; }
  std::uint32_t cluster() const { return 1u << static_cast<std::uint32_t>(cluster_); }
  std::uint32_t shared_bytes() const { return stages_ * (rows() + columns()) * kRowBytes; }

  GroupTile tile_ = GroupTile::Of128x128;
  Warpgroups warpgroups_ = Warpgroups::Specialised;
  ClusterSize cluster_ = ClusterSize::One;
  std::uint32_t stages_ = 4, m_ = 0, n_ = 0, k_ = 0, launches_ = 1;
  std::optional<HalfProduct> product_;
  std::vector<float> result_;
};

}  // namespace

void add_workload_gemm_wgmma(Workloads& w) {
  w.add<GemmWgmma>("gemm_wgmma",
                   "matrix product by warpgroups, tensor copies and clusters; of Hopper");
}

}  // namespace raddle::runtime

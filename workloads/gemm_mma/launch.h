// Launches of gemm_mma's kernels.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "common/device_array.h"

namespace raddle::workloads {

/// The first compute capability with mma.m16n8k16, ldmatrix and cp.async.
inline constexpr std::uint32_t kMmaCapability = 80;
inline constexpr std::uint32_t kMmaMaxStages = 4;

enum class MmaTile : std::uint8_t { Of64x64, Of128x64, Of128x128, Of256x128 };
inline constexpr std::array<std::string_view, 4> kMmaTileNames = {"64x64", "128x64", "128x128",
                                                                  "256x128"};

struct MmaTiling {
  MmaTile tile;
  std::uint32_t stages;

  std::uint32_t rows() const {
    constexpr std::uint32_t kRows[] = {64, 128, 128, 256};
    return kRows[static_cast<std::size_t>(tile)];
  }
  std::uint32_t columns() const { return tile <= MmaTile::Of128x64 ? 64 : 128; }
  std::uint32_t threads() const { return tile == MmaTile::Of256x128 ? 256 : 128; }
  std::uint32_t shared_bytes() const {
    constexpr std::uint32_t kRowBytes = 128;  // as in tile.h
    return stages * (rows() + columns()) * kRowBytes;
  }
};

/// Rows of `left` times rows of `right`, both of `depth` halves.
struct MmaProduct {
  Address left, right, out;
  std::uint32_t rows, columns, depth;
};

/// `kind`: what stands between the kernel's name and its tile.
inline void launch_mma(runtime::Device& device, runtime::ModuleId module, const MmaTiling& tiling,
                       std::string_view kind, const MmaProduct& of) {
  const std::string name = "gemm_mma_" + std::string(kind) +
                           std::string(kMmaTileNames[static_cast<std::size_t>(tiling.tile)]);
  device.launch(
      device.kernel(module, name),
      {blocks_for(of.columns, tiling.columns()), blocks_for(of.rows, tiling.rows())},
      {tiling.threads()},
      runtime::Arguments(of.left, of.right, of.out, of.rows, of.columns, of.depth, tiling.stages),
      tiling.shared_bytes());
}

}  // namespace raddle::workloads

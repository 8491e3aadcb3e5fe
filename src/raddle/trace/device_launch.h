// Launches that kernels make (CUDA dynamic parallelism). A launch of the host and all that descend
// from it are a tree; its launches are numbered, the host's is 0, and each comes after its parent.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::trace {

/// Where a launch of a tree comes from. The n-th of a warp's launches, in order of `call`, is that
/// of the n-th lane in the warp's records of kind OpKind::Launch, lowest lanes first.
struct DeviceOrigin {
  std::uint32_t parent = 0;           ///< number in the tree
  std::uint32_t block = 0, warp = 0;  ///< of the parent
  std::uint32_t call = 0;             ///< counts the launches that the parent makes
  std::uint32_t depth = 1;            ///< launches above it
  bool tail = false;                  ///< starts when all else that the parent made is complete
  std::vector<std::uint32_t> after;   ///< launches of the tree that must be complete first
  /// Where the parent's warp has written its parameters: 0 bytes when there are none.
  Address parameters = 0;
  std::uint32_t parameter_bytes = 0;
  friend bool operator==(const DeviceOrigin&, const DeviceOrigin&) = default;
};

}  // namespace raddle::trace

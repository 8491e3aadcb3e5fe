// A B+ tree of sorted keys, built level by level.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace raddle::workloads {

/// As in kernels.cu. Keys below none and above all keys bound a node's places.
struct BTreeNode {
  static constexpr std::uint32_t kOrder = 256;
  static constexpr std::int32_t kMinimum = std::numeric_limits<std::int32_t>::min();
  static constexpr std::int32_t kMaximum = std::numeric_limits<std::int32_t>::max();

  std::int32_t location = 0;
  std::array<std::int32_t, kOrder + 1> children{};  ///< nodes; a leaf's are records
  std::array<std::int32_t, kOrder + 1> keys{};      ///< least of each child; kMost where none is
  std::int32_t leaf = 0;
  std::int32_t used = 0;
};
static_assert(sizeof(BTreeNode) == 2068);

struct BTree {
  std::vector<BTreeNode> nodes;  ///< the root, then level by level
  std::uint32_t height = 0;      ///< levels above the leaves
};

/// Nodes of a tree of `keys` keys, at most `fill` a node.
std::uint64_t btree_nodes(std::uint64_t keys, std::uint32_t fill);

/// Key i belongs to record i. Preconditions: keys ascend, at least one; fill is 2 to kOrder.
BTree make_btree(const std::vector<std::int32_t>& keys, std::uint32_t fill);

}  // namespace raddle::workloads

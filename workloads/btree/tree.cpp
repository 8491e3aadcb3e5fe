#include "btree/tree.h"

#include <algorithm>

namespace raddle::workloads {

namespace {

/// Nodes of each level, the root first.
std::vector<std::uint64_t> level_sizes(std::uint64_t keys, std::uint32_t fill) {
  std::vector<std::uint64_t> sizes = {(keys + fill - 1) / fill};
  while (sizes.back() > 1) sizes.push_back((sizes.back() + fill - 1) / fill);
  std::ranges::reverse(sizes);
  return sizes;
}

}  // namespace

std::uint64_t btree_nodes(std::uint64_t keys, std::uint32_t fill) {
  std::uint64_t sum = 0;
  for (std::uint64_t size : level_sizes(keys, fill)) sum += size;
  return sum;
}

BTree make_btree(const std::vector<std::int32_t>& keys, std::uint32_t fill) {
  const std::vector<std::uint64_t> sizes = level_sizes(keys.size(), fill);
  BTree tree;
  tree.height = static_cast<std::uint32_t>(sizes.size() - 1);
  tree.nodes.resize(btree_nodes(keys.size(), fill));
  // From the leaves up: `below` are the least keys of what a level's nodes point to, which begins
  // at `first_below`.
  std::vector<std::int32_t> below = keys;
  std::size_t end = tree.nodes.size(), first_below = 0;
  for (std::size_t level = sizes.size(); level-- > 0;) {
    const std::size_t first = end - sizes[level];
    std::vector<std::int32_t> minimum;
    for (std::size_t n = first; n < end; ++n) {
      BTreeNode& node = tree.nodes[n];
      const std::size_t from = (n - first) * fill;
      node.location = static_cast<std::int32_t>(n);
      node.leaf = level == sizes.size() - 1;
      node.used = static_cast<std::int32_t>(std::min<std::size_t>(fill, below.size() - from));
      node.keys.fill(BTreeNode::kMaximum);
      for (std::size_t i = 0; i < static_cast<std::size_t>(node.used); ++i) {
        node.keys[i] = below[from + i];
        node.children[i] = static_cast<std::int32_t>(first_below + from + i);
      }
      minimum.push_back(node.keys[0]);
      // What is less than all keys goes down the first children.
      if (node.leaf == 0 && n == first) node.keys[0] = BTreeNode::kMinimum;
    }
    below = minimum;
    first_below = first;
    end = first;
  }
  return tree;
}

}  // namespace raddle::workloads

// The B+ tree of btree: its size, and that every key is where the way down leads.
#include <gtest/gtest.h>

#include "btree/tree.h"

namespace raddle::workloads::btree_tree_test {

namespace {

TEST(BTree, OfAMillionKeysIsAsLargeAsThePublicOne) {
  std::vector<std::int32_t> keys(1'000'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int32_t>(3 * i);
  const BTree tree = make_btree(keys, 128);
  EXPECT_EQ(tree.height, 2u);
  EXPECT_EQ(tree.nodes.size(), 1u + 62 + 7813);
  EXPECT_EQ(tree.nodes.size(), btree_nodes(keys.size(), 128));
  EXPECT_NEAR(static_cast<double>(tree.nodes.size() * sizeof(BTreeNode)), 16e6, 0.5e6);
}

// Exactly one place of a node takes a number: its key is not greater and the next one is.
std::size_t place_of(const BTreeNode& node, std::int32_t number) {
  std::size_t found = BTreeNode::kOrder, times = 0;
  for (std::size_t i = 0; i < BTreeNode::kOrder; ++i)
    if (node.keys[i] <= number && node.keys[i + 1] > number) {
      found = i;
      ++times;
    }
  EXPECT_LE(times, 1u);
  return found;
}

TEST(BTree, LeadsToEveryKey) {
  for (std::uint32_t fill : {2u, 7u, 256u})
    for (std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{257}, std::size_t{700}}) {
      std::vector<std::int32_t> keys;
      for (std::size_t i = 0; i < count; ++i) keys.push_back(static_cast<std::int32_t>(10 + 2 * i));
      const BTree tree = make_btree(keys, fill);
      // Numbers below, at and above each key: to the last key that is not greater.
      for (std::int32_t number = 9; number <= keys.back() + 1; ++number) {
        std::size_t at = 0;
        for (std::uint32_t level = 0; level < tree.height; ++level) {
          ASSERT_EQ(tree.nodes[at].leaf, 0);
          at = static_cast<std::size_t>(tree.nodes[at].children[place_of(tree.nodes[at], number)]);
        }
        const BTreeNode& leaf = tree.nodes[at];
        ASSERT_EQ(leaf.leaf, 1);
        const std::size_t place = place_of(leaf, number);
        if (number < keys[0]) EXPECT_EQ(place, BTreeNode::kOrder);
        else EXPECT_EQ(leaf.children[place], (number - 10) / 2) << count << " keys, fill " << fill;
      }
    }
}

}  // namespace

}  // namespace raddle::workloads::btree_tree_test

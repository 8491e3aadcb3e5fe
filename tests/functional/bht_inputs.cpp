// bht's octree and groups of bodies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bht/octree.h"

namespace raddle::workloads::bht_inputs_test {
namespace {

TEST(Octree, EachBodyIsInOneLeafAndCellsFollowInPreorder) {
  Rng rng(3, "test");
  const Octree tree = make_octree(1000, 8, rng);
  std::uint32_t next_body = 0;
  for (std::uint32_t c = 0; c < tree.cell.size(); ++c) {
    const TreeCell& cell = tree.cell[c];
    ASSERT_GT(cell.skip, c);
    ASSERT_LE(cell.skip, tree.cell.size());
    if (cell.skip != c + 1) {
      EXPECT_GT(cell.bodies, 8u);
      continue;
    }
    EXPECT_LE(cell.bodies, 8u);
    EXPECT_EQ(cell.first_body, next_body);
    next_body += cell.bodies;
  }
  EXPECT_EQ(next_body, 1000u);
}

TEST(Octree, CellsHoldTheirBodiesMassAndAreHalfAsWideAsWhatTheyAreIn) {
  Rng rng(4, "test");
  const Octree tree = make_octree(500, 4, rng);
  EXPECT_EQ(tree.cell[0].bodies, 500u);
  EXPECT_FLOAT_EQ(tree.cell[0].size, 1);
  for (std::uint32_t c = 0; c < tree.cell.size(); ++c) {
    const TreeCell& cell = tree.cell[c];
    double mass = 0;
    for (std::uint32_t b = cell.first_body; b < cell.first_body + cell.bodies; ++b) {
      mass += static_cast<double>(tree.body[b].w);
      EXPECT_LT(std::abs(tree.body[b].x - cell.mass.x), cell.size);
    }
    EXPECT_NEAR(static_cast<double>(cell.mass.w), mass, 1e-5 * mass);
    for (std::uint32_t in = c + 1; in < cell.skip; in = tree.cell[in].skip)
      EXPECT_FLOAT_EQ(tree.cell[in].size, cell.size / 2);
  }
}

TEST(Octree, RandomBodiesHaveATreeOfSevenLevels) {
  Rng rng(1, "bht/bodies");
  const Octree tree = make_octree(28'672, 8, rng);
  float smallest = 1;
  for (const TreeCell& cell : tree.cell) smallest = std::min(smallest, cell.size);
  EXPECT_GE(smallest, 0x1p-7f);
  EXPECT_LE(smallest, 0x1p-5f);
}

TEST(Octree, GroupsReachAllTheirBodies) {
  Rng rng(5, "test");
  const Octree tree = make_octree(200, 8, rng);
  const auto groups = make_groups(tree, 64);
  ASSERT_EQ(groups.size(), 4u);
  for (std::size_t b = 0; b < 200; ++b) {
    const Mass& group = groups[b / 64];
    const float x = tree.body[b].x - group.x, y = tree.body[b].y - group.y;
    const float z = tree.body[b].z - group.z;
    EXPECT_LE(std::sqrt(x * x + y * y + z * z), group.w * 1.0001f);
  }
}

TEST(Octree, FarMeansBeyondTheCellsWidthByTheReach) {
  const TreeCell cell{{0, 0, 0, 1}, 0.25f, 2, 0, 9};
  EXPECT_FALSE(is_far(cell, {0.45f, 0, 0, 0}, 2));
  EXPECT_TRUE(is_far(cell, {0.55f, 0, 0, 0}, 2));
  EXPECT_FALSE(is_far(cell, {0.55f, 0, 0, 0.1f}, 2));  // a group that wide
}

}  // namespace
}  // namespace raddle::workloads::bht_inputs_test

// Bodies in a cube and the octree over them, in the order in which kernels walk it.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// Position and mass; of a cell the centre of mass. Of a group of bodies middle and radius.
struct Mass {
  float x, y, z, w;
};

/// Preorder: the first cell in an inner cell is the next one, skip the first after all of them. A
/// leaf's skip is the next one.
struct TreeCell {
  Mass mass;
  float size;
  std::uint32_t skip, first_body, bodies;
};

struct Octree {
  std::vector<Mass> body;  ///< as the leaves have them
  std::vector<TreeCell> cell;
};

/// Bodies uniform in the unit cube; leaves have at most `leaf` unless they are 2^-10 wide.
/// Precondition: bodies, leaf >= 1.
Octree make_octree(std::uint32_t bodies, std::uint32_t leaf, Rng& rng);

/// Of every `size` bodies in turn: the middle of their bounding box and its half diagonal.
std::vector<Mass> make_groups(const Octree& tree, std::uint32_t size);

/// Whether the group takes the cell as one mass, as the kernels decide.
bool is_far(const TreeCell& cell, const Mass& group, float reach);

/// What goes to children when the group walks the cells `at` to `end` - 1.
struct SubTrees {
  std::uint64_t launches = 0;
  std::uint32_t depth = 0;  ///< generations
};
struct WalkRule {
  float reach;
  std::uint32_t threshold;
};
SubTrees count_sub_trees(const Octree& tree, const Mass& group, const WalkRule& rule,
                         std::uint32_t at, std::uint32_t end, float child_size);

}  // namespace raddle::workloads

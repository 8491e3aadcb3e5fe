// See octree.h.
#include "bht/octree.h"

#include <algorithm>
#include <cmath>

#include "raddle/base/stable_sort.h"

namespace raddle::workloads {

namespace {

constexpr unsigned kLevels = 10;

// Bits of the three coordinates in turn, the octant of the first level on top.
std::uint32_t place_in_tree(const Mass& body) {
  std::uint32_t key = 0;
  const std::uint32_t at[] = {static_cast<std::uint32_t>(body.x * (1u << kLevels)),
                              static_cast<std::uint32_t>(body.y * (1u << kLevels)),
                              static_cast<std::uint32_t>(body.z * (1u << kLevels))};
  for (unsigned bit = kLevels; bit-- > 0;)
    for (const std::uint32_t coordinate : at) key = key << 1 | (coordinate >> bit & 1);
  return key;
}

class Builder {
 public:
  Builder(Octree& tree, std::uint32_t leaf) : tree_(tree), leaf_(leaf) {}

  void add(std::uint32_t first, std::uint32_t end, unsigned level) {
    const std::size_t cell = tree_.cell.size();
    tree_.cell.push_back(
        {centre(first, end), std::ldexp(1.0f, -static_cast<int>(level)), 0, first, end - first});
    if (end - first > leaf_ && level < kLevels) add_octants(first, end, level);
    tree_.cell[cell].skip = static_cast<std::uint32_t>(tree_.cell.size());
  }

 private:
  void add_octants(std::uint32_t first, std::uint32_t end, unsigned level) {
    const unsigned shift = 3 * (kLevels - 1 - level);
    while (first < end) {
      const auto octant = [&](std::uint32_t b) { return place_in_tree(tree_.body[b]) >> shift; };
      std::uint32_t next = first;
      while (next < end && octant(next) == octant(first)) ++next;
      add(first, next, level + 1);
      first = next;
    }
  }
  Mass centre(std::uint32_t first, std::uint32_t end) const {
    double x = 0, y = 0, z = 0, mass = 0;
    for (std::uint32_t b = first; b < end; ++b) {
      const Mass& body = tree_.body[b];
      const double w = static_cast<double>(body.w);
      x += w * static_cast<double>(body.x);
      y += w * static_cast<double>(body.y);
      z += w * static_cast<double>(body.z);
      mass += w;
    }
    return {static_cast<float>(x / mass), static_cast<float>(y / mass),
            static_cast<float>(z / mass), static_cast<float>(mass)};
  }

  Octree& tree_;
  std::uint32_t leaf_;
};

}  // namespace

Octree make_octree(std::uint32_t bodies, std::uint32_t leaf, Rng& rng) {
  Octree tree;
  const auto coordinate = [&] { return static_cast<float>(rng.below(1u << 24)) * 0x1p-24f; };
  for (std::uint32_t b = 0; b < bodies; ++b) {
    Mass body{};
    body.x = coordinate();
    body.y = coordinate();
    body.z = coordinate();
    body.w = 0.5f + coordinate();
    tree.body.push_back(body);
  }
  sort_stably(tree.body, place_in_tree);
  Builder(tree, leaf).add(0, bodies, 0);
  return tree;
}

std::vector<Mass> make_groups(const Octree& tree, std::uint32_t size) {
  std::vector<Mass> groups;
  for (std::size_t first = 0; first < tree.body.size(); first += size) {
    Mass low = tree.body[first], high = low;
    for (std::size_t b = first; b < std::min(first + size, tree.body.size()); ++b) {
      const Mass& body = tree.body[b];
      low = {std::min(low.x, body.x), std::min(low.y, body.y), std::min(low.z, body.z), 0};
      high = {std::max(high.x, body.x), std::max(high.y, body.y), std::max(high.z, body.z), 0};
    }
    const float x = high.x - low.x, y = high.y - low.y, z = high.z - low.z;
    groups.push_back({(low.x + high.x) / 2, (low.y + high.y) / 2, (low.z + high.z) / 2,
                      std::sqrt(x * x + y * y + z * z) / 2});
  }
  return groups;
}

bool is_far(const TreeCell& cell, const Mass& group, float reach) {
  const float x = cell.mass.x - group.x, y = cell.mass.y - group.y, z = cell.mass.z - group.z;
  const float square = x * x + y * y + z * z;
  const float minimum = cell.size * reach + group.w;
  return minimum * minimum < square;
}

SubTrees count_sub_trees(const Octree& tree, const Mass& group, const WalkRule& rule,
                         std::uint32_t at, std::uint32_t end, float child_size) {
  SubTrees all;
  while (at < end) {
    const TreeCell& cell = tree.cell[at];
    const bool open = cell.skip != at + 1 && !is_far(cell, group, rule.reach);
    if (open && cell.size <= child_size && cell.bodies >= rule.threshold) {
      const SubTrees below = count_sub_trees(tree, group, rule, at + 1, cell.skip, child_size / 2);
      all.launches += 1 + below.launches;
      all.depth = std::max(all.depth, 1 + below.depth);
    }
    const bool descend = open && !(cell.size <= child_size && cell.bodies >= rule.threshold);
    at = descend ? at + 1 : cell.skip;
  }
  return all;
}

}  // namespace raddle::workloads

// A mesh of tetrahedra for cfd: a box of cubes, six tetrahedra each, with its inner corners shaken.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// Instead of a neighbour: the floor of the box, and its other sides.
inline constexpr std::int32_t kWall = -1, kFar = -2;

struct Mesh {
  std::uint32_t elements = 0;
  std::vector<std::int32_t> neighbours;  // [face * elements + element]: element, kWall or kFar
  std::vector<float> normals;  // [(axis * 4 + face) * elements + element]: outwards, area long
  std::vector<float> size;     // [element]: volume to the power 2/3
};

/// width x depth x height unit cubes along the six paths of Kuhn's subdivision. Elements are
/// numbered cube by cube, then exchanged at random within every `shuffle` consecutive numbers, as a
/// mesh generator's numbers are after renumbering for locality.
Mesh make_mesh(std::uint32_t width, std::uint32_t depth, std::uint32_t height,
               std::uint32_t shuffle, Rng& rng);

}  // namespace raddle::workloads

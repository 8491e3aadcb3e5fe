#include "cfd/mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

using Vector = std::array<double, 3>;
using Corners = std::array<std::uint32_t, 4>;  // of a tetrahedron
constexpr double kShake = 0.1;                 // of a cube's side; more could turn elements over

Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The corners of all cubes, those on the surface where they belong.
struct Grid {
  std::array<std::uint32_t, 3> cubes;
  std::uint32_t corner(std::array<std::uint32_t, 3> at) const {
    return (at[2] * (cubes[1] + 1) + at[1]) * (cubes[0] + 1) + at[0];
  }
  std::vector<Vector> places(Rng& rng) const {
    std::vector<Vector> all;
    std::array<std::uint32_t, 3> at;
    for (at[2] = 0; at[2] <= cubes[2]; ++at[2])
      for (at[1] = 0; at[1] <= cubes[1]; ++at[1])
        for (at[0] = 0; at[0] <= cubes[0]; ++at[0]) {
          bool inside = true;
          for (int axis = 0; axis < 3; ++axis) inside &= at[axis] > 0 && at[axis] < cubes[axis];
          Vector place = {double(at[0]), double(at[1]), double(at[2])};
          for (double& coordinate : place)
            if (inside) coordinate += kShake * (2 * rng.unit() - 1);
          all.push_back(place);
        }
    return all;
  }
};

// Each way from a cube's lowest to its highest corner along three edges is a tetrahedron.
std::vector<Corners> tetrahedra(const Grid& grid) {
  std::vector<Corners> all;
  std::array<std::uint32_t, 3> cube;
  for (cube[2] = 0; cube[2] < grid.cubes[2]; ++cube[2])
    for (cube[1] = 0; cube[1] < grid.cubes[1]; ++cube[1])
      for (cube[0] = 0; cube[0] < grid.cubes[0]; ++cube[0]) {
        std::array<int, 3> axes = {0, 1, 2};
        do {
          std::array<std::uint32_t, 3> at = cube;
          Corners corners = {grid.corner(at)};
          for (std::size_t i = 0; i < 3; ++i) {
            ++at[axes[i]];
            corners[i + 1] = grid.corner(at);
          }
          all.push_back(corners);
        } while (std::next_permutation(axes.begin(), axes.end()));
      }
  return all;
}

void exchange(std::vector<Corners>& elements, std::uint32_t shuffle, Rng& rng) {
  for (std::size_t first = 0; first < elements.size(); first += shuffle) {
    std::size_t count = std::min<std::size_t>(shuffle, elements.size() - first);
    for (std::size_t i = count; i > 1; --i)
      std::swap(elements[first + i - 1],
                elements[first + rng.below(static_cast<std::uint32_t>(i))]);
  }
}

// Corners of the face opposite corner `face`, ascending.
std::array<std::uint32_t, 3> face_corners(const Corners& corners, std::size_t face) {
  std::array<std::uint32_t, 3> three;
  for (std::size_t i = 0, k = 0; i < 4; ++i)
    if (i != face) three[k++] = corners[i];
  std::sort(three.begin(), three.end());
  return three;
}

struct Face {
  std::array<std::uint32_t, 3> corners;
  std::uint32_t element, face;
  bool operator<(const Face& other) const {
    return std::tie(corners, element) < std::tie(other.corners, other.element);
  }
};

// Two elements with a face of the same three corners are neighbours.
void join(Mesh& mesh, const std::vector<Corners>& elements, const std::vector<Vector>& place) {
  std::vector<Face> faces;
  for (std::uint32_t e = 0; e < mesh.elements; ++e)
    for (std::uint32_t f = 0; f < 4; ++f) faces.push_back({face_corners(elements[e], f), e, f});
  std::sort(faces.begin(), faces.end());
  auto neighbour = [&](const Face& of) -> std::int32_t& {
    return mesh.neighbours[std::size_t{of.face} * mesh.elements + of.element];
  };
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (i + 1 < faces.size() && faces[i].corners == faces[i + 1].corners) {
      neighbour(faces[i]) = static_cast<std::int32_t>(faces[i + 1].element);
      neighbour(faces[i + 1]) = static_cast<std::int32_t>(faces[i].element);
      ++i;
    } else {
      double highest = 0;
      for (std::uint32_t corner : faces[i].corners) highest = std::max(highest, place[corner][2]);
      neighbour(faces[i]) = highest == 0 ? kWall : kFar;
    }
  }
}

void measure(Mesh& mesh, const std::vector<Corners>& elements, const std::vector<Vector>& place) {
  for (std::size_t e = 0; e < mesh.elements; ++e) {
    const Corners& corners = elements[e];
    const Vector& a = place[corners[0]];
    double volume = std::abs(dot(minus(place[corners[1]], a),
                                 cross(minus(place[corners[2]], a), minus(place[corners[3]], a)))) /
                    6;
    RADDLE_ASSERT(volume > 0.01);
    mesh.size[e] = static_cast<float>(std::pow(volume, 2.0 / 3));
    for (std::size_t f = 0; f < 4; ++f) {
      auto three = face_corners(corners, f);
      const Vector& base = place[three[0]];
      Vector normal = cross(minus(place[three[1]], base), minus(place[three[2]], base));
      double outwards = dot(normal, minus(place[corners[f]], base)) < 0 ? 0.5 : -0.5;
      for (std::size_t axis = 0; axis < 3; ++axis)
        mesh.normals[(axis * 4 + f) * mesh.elements + e] =
            static_cast<float>(outwards * normal[axis]);
    }
  }
}

}  // namespace

Mesh make_mesh(std::uint32_t width, std::uint32_t depth, std::uint32_t height,
               std::uint32_t shuffle, Rng& rng) {
  RADDLE_ASSERT(width > 0 && depth > 0 && height > 0 && shuffle > 0);
  Grid grid{{width, depth, height}};
  std::vector<Vector> place = grid.places(rng);
  std::vector<Corners> elements = tetrahedra(grid);
  exchange(elements, shuffle, rng);
  Mesh mesh;
  mesh.elements = static_cast<std::uint32_t>(elements.size());
  mesh.neighbours.resize(elements.size() * 4);
  mesh.normals.resize(elements.size() * 12);
  mesh.size.resize(elements.size());
  join(mesh, elements, place);
  measure(mesh, elements, place);
  return mesh;
}

}  // namespace raddle::workloads

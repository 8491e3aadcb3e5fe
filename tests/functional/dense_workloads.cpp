// What is special about wp, stmcl, cfd, nw, backprop, srad, lud and stencil: sizes at the edges,
// results between launches, what they refuse, and cfd's meshes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "cfd/mesh.h"
#include "functional/workload_support.h"

namespace raddle::runtime::dense_workloads_test {

struct DenseCase {
  std::string name;
  Parameters parameters;
};

void PrintTo(const DenseCase& one, std::ostream* out) {
  *out << one.name;
  for (const auto& [key, value] : one.parameters) *out << ' ' << key << '=' << value;
}

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using workloads::Mesh;

class DenseEdges : public ::testing::TestWithParam<DenseCase> {};

TEST_P(DenseEdges, IsCorrect) {
  auto workload = make_workload(GetParam().name, GetParam().parameters);
  ASSERT_THAT(workload->violations(), IsEmpty());
  WatchedDevice device;
  workload->run(device, 3);
  EXPECT_EQ(workload->check(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Nw, DenseEdges,
    ::testing::Values(DenseCase{"nw", {{"rows", "16"}, {"columns", "16"}}},
                      DenseCase{"nw", {{"rows", "16"}, {"columns", "160"}}},
                      DenseCase{"nw", {{"rows", "160"}, {"columns", "32"}}},
                      DenseCase{"nw", {{"rows", "8"}, {"columns", "8"}, {"block", "8"}}},
                      DenseCase{"nw", {{"rows", "72"}, {"columns", "24"}, {"block", "8"}}},
                      DenseCase{"nw", {{"penalty", "0"}}}, DenseCase{"nw", {{"penalty", "1000"}}}));
INSTANTIATE_TEST_SUITE_P(Layers, DenseEdges,
                         ::testing::Values(DenseCase{"backprop", {{"inputs", "16"}}},
                                           DenseCase{"backprop", {{"inputs", "4096"}}},
                                           DenseCase{"lud", {{"n", "16"}}},
                                           DenseCase{"lud", {{"n", "48"}}},
                                           DenseCase{"lud", {{"n", "112"}}}));
INSTANTIATE_TEST_SUITE_P(
    Srad, DenseEdges,
    ::testing::Values(
        DenseCase{"srad", {{"version", "1"}}},
        DenseCase{"srad", {{"version", "1"}, {"rows", "2"}, {"columns", "2"}}},
        DenseCase{"srad", {{"version", "1"}, {"rows", "16"}, {"columns", "32"}}},
        DenseCase{"srad", {{"version", "1"}, {"rows", "27"}, {"columns", "19"}}},
        DenseCase{"srad", {{"version", "1"}, {"iterations", "4"}}},
        DenseCase{"srad", {{"rows", "16"}, {"columns", "16"}}},
        DenseCase{"srad", {{"rows", "160"}, {"columns", "144"}}},
        DenseCase{"srad", {{"iterations", "5"}}},
        DenseCase{"srad", {{"iterations", "5"}, {"unified", "true"}}},
        DenseCase{
            "srad",
            {{"rows", "160"}, {"columns", "144"}, {"iterations", "3"}, {"unified", "true"}}}));
INSTANTIATE_TEST_SUITE_P(
    Stencil, DenseEdges,
    ::testing::Values(
        DenseCase{"stencil", {{"columns", "1"}, {"rows", "1"}, {"planes", "2"}}},
        DenseCase{"stencil", {{"columns", "66"}, {"rows", "6"}, {"planes", "3"}}},
        DenseCase{"stencil", {{"columns", "64"}, {"rows", "4"}, {"planes", "2"}}},
        DenseCase{"stencil", {{"columns", "65"}, {"rows", "5"}, {"padding", "7"}}},
        DenseCase{"stencil", {{"columns", "31"}, {"rows", "3"}, {"planes", "9"}, {"steps", "4"}}},
        DenseCase{"stencil", {{"columns", "2"}, {"rows", "50"}, {"steps", "1"}}}));
INSTANTIATE_TEST_SUITE_P(
    Stmcl, DenseEdges,
    ::testing::Values(DenseCase{"stmcl", {{"points", "1"}}},
                      DenseCase{"stmcl", {{"points", "513"}, {"dimensions", "1"}}},
                      DenseCase{"stmcl", {{"dimensions", "7"}, {"block", "50"}}},
                      DenseCase{"stmcl", {{"candidates", "60"}}}));
INSTANTIATE_TEST_SUITE_P(
    Cfd, DenseEdges,
    ::testing::Values(DenseCase{"cfd", {{"width", "1"}, {"depth", "1"}, {"height", "1"}}},
                      DenseCase{"cfd", {{"width", "32"}, {"depth", "1"}, {"height", "1"}}},
                      DenseCase{"cfd", {{"shuffle", "1"}}}, DenseCase{"cfd", {{"shuffle", "9999"}}},
                      DenseCase{"cfd", {{"iterations", "20"}}}));
INSTANTIATE_TEST_SUITE_P(Wp, DenseEdges,
                         ::testing::Values(DenseCase{"wp", {{"columns", "1"}, {"levels", "1"}}},
                                           DenseCase{"wp", {{"columns", "64"}, {"levels", "40"}}},
                                           DenseCase{"wp", {{"columns", "65"}, {"substeps", "7"}}},
                                           DenseCase{"wp", {{"steps", "20"}}}));

// A wrong word of a download in the middle of a run is found, and nothing breaks on it.
struct Spoilt {
  DenseCase run;
  std::size_t download, word;
  std::uint32_t mask;
  std::string found;
};

class DenseSpoilt : public ::testing::TestWithParam<Spoilt> {};

TEST_P(DenseSpoilt, IsFoundInThatArray) {
  const Spoilt& spoilt = GetParam();
  auto workload = make_workload(spoilt.run.name, spoilt.run.parameters);
  WatchedDevice device;
  device.corruption = Corruption{spoilt.download, spoilt.word, spoilt.mask};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr(spoilt.found));
}

constexpr std::uint32_t kNotANumber = 0x7fc00000;

INSTANTIATE_TEST_SUITE_P(
    All, DenseSpoilt,
    ::testing::Values(
        Spoilt{{"backprop", {}}, 0, 5, 1, "partial_sums[5]: expected"},
        Spoilt{{"backprop", {}}, 0, 5, kNotANumber, "partial_sums[5]: expected"},
        Spoilt{{"backprop", {}}, 1, 40, 1, "tiles[40]: expected"},
        Spoilt{{"backprop", {}}, 2, 0, 1, "weights[0]: expected"},
        Spoilt{{"wp", {}}, 0, 7, 1u << 20, "ground[7]: expected"},
        Spoilt{{"srad", {{"version", "1"}}}, 0, 0, 1u << 20, "image["},
        Spoilt{{"srad", {{"version", "1"}}}, 1, 0, kNotANumber, "image["},
        Spoilt{{"srad", {{"iterations", "2"}}}, 0, 9, kNotANumber, "image["},
        Spoilt{{"srad", {{"iterations", "2"}, {"unified", "true"}}}, 5, 9, 1u << 30, "image["},
        Spoilt{{"stencil", {{"padding", "9"}}}, 0, 70 * 6, 1, "cells[420]: expected"},
        Spoilt{{"stmcl", {}}, 0, 3, 1, "nearer of candidate 0[12]: expected"},
        Spoilt{{"stmcl", {}}, 1, 8, 1, "rows of candidate 0[8]: expected"},
        Spoilt{{"stmcl", {}}, 3, 8, kNotANumber, "rows of candidate 1[8]: expected"},
        Spoilt{{"stmcl", {}}, 2, 2, 1u << 24, "nearer of candidate 1[11]"}));

TEST(Srad, SharedWithTheHostIsTheSameImageOfWhichTheHostReadsTheCorner) {
  auto run = [](const char* unified) {
    auto workload = make_workload(
        "srad", {{"rows", "144"}, {"columns", "160"}, {"iterations", "3"}, {"unified", unified}});
    auto device = std::make_unique<WatchedDevice>();
    workload->run(*device, 1);
    EXPECT_EQ(workload->check(), "");
    return device;
  };
  auto copied = run("false"), shared = run("true");
  EXPECT_EQ(copied->last_download, shared->last_download);
  std::vector<std::uint64_t> expected(2 * 128, 128 * sizeof(float));
  expected.push_back(144 * 160 * sizeof(float));
  EXPECT_EQ(shared->download_bytes, expected);
}

class DenseRefused : public ::testing::TestWithParam<std::pair<DenseCase, std::string>> {};

TEST_P(DenseRefused, SaysWhatContradicts) {
  const auto& [bad, message] = GetParam();
  auto workload = make_workload(bad.name, bad.parameters);
  EXPECT_THAT(workload->violations(), Contains(HasSubstr(message)));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, DenseRefused,
    ::testing::Values(
        std::pair(DenseCase{"nw", {{"rows", "24"}}}, "rows must be a multiple of block = 16"),
        std::pair(DenseCase{"nw", {{"block", "12"}}}, "block must be 8 or 16, is 12"),
        std::pair(DenseCase{"nw", {{"columns", "100"}, {"block", "8"}}},
                  "columns must be a multiple of block = 8, is 100"),
        std::pair(DenseCase{"backprop", {{"inputs", "100"}}}, "inputs must be a multiple of 16"),
        std::pair(DenseCase{"lud", {{"n", "40"}}}, "n must be a multiple of 16, is 40"),
        std::pair(DenseCase{"srad", {{"rows", "40"}}},
                  "rows must be a multiple of 16 in version 2"),
        std::pair(DenseCase{"srad", {{"columns", "50"}}}, "columns must be a multiple of 16"),
        std::pair(DenseCase{"stmcl", {{"points", "16777216"}, {"dimensions", "65"}}}, "2^30"),
        std::pair(DenseCase{"cfd", {{"width", "256"}, {"depth", "256"}, {"height", "65"}}},
                  "width * depth * height must not exceed 4194304, is 4259840"),
        std::pair(DenseCase{"stencil", {{"columns", "16384"}, {"rows", "16384"}, {"planes", "2"}}},
                  "planes * (rows * columns + padding) must not exceed 2^28, is 536870912"),
        std::pair(DenseCase{"wp", {{"columns", "1048576"}, {"levels", "49"}}},
                  "columns * levels must not exceed")));

// --- meshes ---

struct Box {
  std::uint32_t width, depth, height, shuffle;
};

class Meshes : public ::testing::TestWithParam<Box> {
 protected:
  Mesh mesh(std::uint64_t seed = 1) const {
    Rng rng(seed);
    const Box& box = GetParam();
    return workloads::make_mesh(box.width, box.depth, box.height, box.shuffle, rng);
  }
  static std::int32_t neighbour(const Mesh& m, std::size_t face, std::size_t element) {
    return m.neighbours[face * m.elements + element];
  }
  static double normal(const Mesh& m, std::size_t axis, std::size_t face, std::size_t element) {
    return m.normals[(axis * 4 + face) * m.elements + element];
  }
};

INSTANTIATE_TEST_SUITE_P(Boxes, Meshes,
                         ::testing::Values(Box{1, 1, 1, 1}, Box{5, 1, 1, 1}, Box{4, 3, 5, 1},
                                           Box{4, 3, 5, 7}, Box{4, 3, 5, 100000}));

TEST_P(Meshes, HaveSixElementsPerCubeThatFillIt) {
  Mesh m = mesh();
  const Box& box = GetParam();
  EXPECT_EQ(m.elements, 6 * box.width * box.depth * box.height);
  double volume = 0;
  for (float size : m.size) volume += std::pow(size, 1.5);
  EXPECT_NEAR(volume, box.width * box.depth * box.height, 1e-4 * volume);
}

// Faces that two elements share are the same face seen from both sides.
TEST_P(Meshes, NeighboursAreMutualAndTheirNormalsOpposite) {
  Mesh m = mesh();
  for (std::size_t e = 0; e < m.elements; ++e)
    for (std::size_t face = 0; face < 4; ++face) {
      std::int32_t other = neighbour(m, face, e);
      if (other < 0) continue;
      ASSERT_LT(other, static_cast<std::int32_t>(m.elements));
      std::size_t back = 0;
      while (back < 4 && neighbour(m, back, other) != static_cast<std::int32_t>(e)) ++back;
      ASSERT_LT(back, 4u) << e << " has neighbour " << other << " but not the other way";
      for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_EQ(normal(m, axis, face, e), -normal(m, axis, back, other));
    }
}

// The outward normals of a closed surface cancel: a uniform flow stays uniform.
TEST_P(Meshes, EachElementIsClosed) {
  Mesh m = mesh();
  for (std::size_t e = 0; e < m.elements; ++e)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double sum = 0;
      for (std::size_t face = 0; face < 4; ++face) sum += normal(m, axis, face, e);
      EXPECT_NEAR(sum, 0, 1e-6);
    }
}

// Two triangles per square of the surface; the wall is the floor and looks down.
TEST_P(Meshes, WallIsTheFloorAndTheRestOfTheSurfaceIsFar) {
  Mesh m = mesh();
  const Box& box = GetParam();
  std::uint32_t wall = 0, far = 0;
  for (std::size_t e = 0; e < m.elements; ++e)
    for (std::size_t face = 0; face < 4; ++face) {
      if (neighbour(m, face, e) == workloads::kFar) ++far;
      if (neighbour(m, face, e) != workloads::kWall) continue;
      ++wall;
      EXPECT_FLOAT_EQ(static_cast<float>(normal(m, 2, face, e)), -0.5f);
    }
  EXPECT_EQ(wall, 2 * box.width * box.depth);
  EXPECT_EQ(far, 2 * (box.width * box.depth + 2 * box.height * (box.width + box.depth)));
}

TEST_P(Meshes, DependOnTheSeedAlone) {
  EXPECT_EQ(mesh(5).normals, mesh(5).normals);
  EXPECT_EQ(mesh(5).neighbours, mesh(5).neighbours);
  const Box& box = GetParam();
  bool has_inner_corner = std::min({box.width, box.depth, box.height}) > 1;
  EXPECT_EQ(mesh(5).normals != mesh(6).normals, has_inner_corner);
}

}  // namespace

}  // namespace raddle::runtime::dense_workloads_test

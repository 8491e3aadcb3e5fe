// The lower triangle of a saddle-point matrix of finite elements. See graph.h.
#include <algorithm>

#include "common/graph.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

constexpr std::uint32_t kFaces = 5;  // of an element

// The numbers of olesnik0, which other sizes keep the proportions of.
constexpr std::uint64_t kRows = 88'263, kElements = 12'206;
constexpr std::uint64_t kJoints = kRows - (kFaces + 1) * kElements;  // 15,027
constexpr std::uint64_t kJointEntries = 402'623 - 20 * kElements;    // 15 + 5 of each element
constexpr std::uint64_t kLongJoints = kJointEntries - 2 * kFaces * kJoints;  // with 11 entries

std::uint32_t elements_of(std::uint32_t vertices) {
  return static_cast<std::uint32_t>(vertices * kElements / kRows);
}

// Of the first `joints` joints, those with 11 entries.
std::uint64_t long_joints(std::uint64_t joints) { return joints * kLongJoints / kJoints; }

void add_row(Graph& graph, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) graph.column.push_back(first + i);
}

void end_row(Graph& graph) { graph.row.push_back(static_cast<std::uint32_t>(graph.column.size())); }

}  // namespace

std::uint64_t saddle_point_edges(std::uint32_t vertices) {
  std::uint64_t elements = elements_of(vertices);
  std::uint64_t joints = vertices - (kFaces + 1) * elements;
  return 20 * elements + 2 * kFaces * joints + long_joints(joints);
}

Graph make_saddle_point(std::uint32_t vertices, Rng& rng) {
  RADDLE_ASSERT(vertices >= 16);
  constexpr std::uint32_t kNear = 8;  // elements a joint's second one is away at most
  Graph graph;
  std::uint32_t elements = elements_of(vertices);
  for (std::uint32_t face = 0; face < kFaces * elements; ++face) {
    add_row(graph, face - face % kFaces, face % kFaces + 1);
    end_row(graph);
  }
  for (std::uint32_t e = 0; e < elements; ++e) {
    add_row(graph, kFaces * e, kFaces);
    end_row(graph);
  }
  std::uint32_t joints = vertices - (kFaces + 1) * elements;
  for (std::uint32_t j = 0; j < joints; ++j) {
    auto one = static_cast<std::uint32_t>(std::uint64_t{j} * (elements - 1) / joints);
    std::uint32_t other = std::min(one + 1 + rng.below(kNear), elements - 1);
    add_row(graph, kFaces * one, kFaces);
    add_row(graph, kFaces * other, kFaces);
    if (long_joints(j + 1) > long_joints(j)) add_row(graph, kFaces * elements + one, 1);
    end_row(graph);
  }
  return graph;
}

}  // namespace raddle::workloads

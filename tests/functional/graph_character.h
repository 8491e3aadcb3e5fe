// Degrees of a graph and how far apart in index the ends of its arcs are.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/graph.h"

namespace raddle::workloads {

inline double mean_degree(const Graph& graph) {
  return static_cast<double>(graph.column.size()) / graph.vertices();
}

struct Shares {
  double vertices, arcs;
};

// Of the vertices with so many arcs or more: how many they are, and how many of all arcs are
// theirs.
inline Shares from_degree(const Graph& graph, std::uint32_t minimum) {
  double vertices = 0, arcs = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (graph.degree(v) < minimum) continue;
    ++vertices;
    arcs += graph.degree(v);
  }
  return {vertices / graph.vertices(), arcs / static_cast<double>(graph.column.size())};
}

inline std::vector<std::uint32_t> sorted_degrees(const Graph& graph) {
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) degrees.push_back(graph.degree(v));
  std::sort(degrees.begin(), degrees.end());
  return degrees;
}

// How far apart in index the ends of arcs are, as shares of n, ascending.
inline std::vector<double> sorted_distances(const Graph& graph) {
  std::vector<double> distances;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      distances.push_back(std::abs(static_cast<double>(graph.column[e]) - v) / graph.vertices());
  std::sort(distances.begin(), distances.end());
  return distances;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

}  // namespace raddle::workloads

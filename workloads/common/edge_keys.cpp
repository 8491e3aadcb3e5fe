#include "common/edge_keys.h"

namespace raddle::workloads::edge_keys {

Graph from_sorted(std::uint32_t vertices, const std::vector<Key>& edges) {
  Graph graph;
  graph.row.assign(std::size_t{vertices} + 1, 0);
  graph.column.reserve(edges.size());
  for (Key edge : edges) {
    ++graph.row[from(edge) + 1];
    graph.column.push_back(to(edge));
  }
  for (std::uint32_t v = 0; v < vertices; ++v) graph.row[v + 1] += graph.row[v];
  return graph;
}

Key rmat_edge(int bits, Rng& rng) {
  constexpr double kA = 0.57, kB = 0.19, kC = 0.19;
  std::uint32_t source = 0, target = 0;
  for (int level = 0; level < bits; ++level) {
    double place = rng.unit();
    bool lower = place >= kA + kB;                             // quadrants c and d
    bool right = lower ? place >= kA + kB + kC : place >= kA;  // quadrants b and d
    source = source << 1 | static_cast<std::uint32_t>(lower);
    target = target << 1 | static_cast<std::uint32_t>(right);
  }
  return key(source, target);
}

}  // namespace raddle::workloads::edge_keys

// The graph a workload's user asks for, by name and size, and graphs as kernels read them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/graph.h"
#include "raddle/base/fields.h"

namespace raddle::workloads {

enum class GraphKind : std::uint8_t {
  Uniform,
  Rmat,
  PowerLaw,
  Grid,
  SmallWorld,
  Condmat,
  Olesnik,
  Undirected,
  Connected,
};

/// Parameters `graph`, `vertices` and `edges` of a workload.
struct GraphChoice {
  GraphKind kind = GraphKind::Uniform;
  std::uint32_t vertices = 16, edges = 0;

  void visit(FieldVisitor& v);
  std::vector<std::string> violations() const;
  /// Precondition: no violations.
  Graph make(Rng& rng) const;
  /// Where a search of most of the graph starts: the vertex with most edges, the first such. In
  /// graphs where all have about as many (grid, small_world, olesnik): any of them, drawn. In
  /// connected, as with the public file: the first.
  std::uint32_t source(const Graph& graph, Rng& rng) const;
};

/// {first edge, number of edges} of each vertex.
std::vector<std::uint32_t> vertex_records(const Graph& graph);
/// {target, 0, ...} of each edge, `words` words.
std::vector<std::uint32_t> edge_records(const Graph& graph, std::uint32_t words);

}  // namespace raddle::workloads

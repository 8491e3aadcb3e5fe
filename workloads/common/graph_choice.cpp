#include "common/graph_choice.h"

#include <array>
#include <cmath>
#include <string_view>

namespace raddle::workloads {

namespace {

constexpr std::array<std::string_view, 9> kKinds = {"uniform", "rmat",        "power_law",
                                                    "grid",    "small_world", "condmat",
                                                    "olesnik", "undirected",  "connected"};

bool has_edges_asked_for(GraphKind kind) {
  return kind != GraphKind::Grid && kind != GraphKind::SmallWorld && kind != GraphKind::Olesnik;
}

}  // namespace

void GraphChoice::visit(FieldVisitor& v) {
  v.choice("graph", kind, kKinds, "generator of the graph");
  v.field("vertices", vertices, {16, 1u << 26}, "vertices",
          "number of vertices; grid and small_world: rounded down to a rectangle near a square");
  v.field(
      "edges", edges, {0, 1u << 30}, "edges",
      "directed edges (undirected, connected: entries of the lists, two of each edge); grid has "
      "up to 4, "
      "small_world 8, olesnik 4.56 per vertex instead");
}

std::vector<std::string> GraphChoice::violations() const {
  std::vector<std::string> all;
  if (has_edges_asked_for(kind) && edges > max_edges(vertices))
    all.push_back("edges must not exceed vertices^2 / 16 = " + std::to_string(max_edges(vertices)) +
                  ", is " + std::to_string(edges));
  const std::uint64_t minimum = 2 * (std::uint64_t{vertices} - 1);
  if (kind == GraphKind::Connected && (edges < minimum || edges % 2 != 0))
    all.push_back("connected: edges must be even and at least 2 (vertices - 1) = " +
                  std::to_string(minimum) + ", is " + std::to_string(edges));
  return all;
}

Graph GraphChoice::make(Rng& rng) const {
  auto width = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(vertices)));
  switch (kind) {
    case GraphKind::Uniform:
      return make_uniform(vertices, edges, rng);
    case GraphKind::Rmat:
      return make_rmat(vertices, edges, rng);
    case GraphKind::PowerLaw:
      return make_power_law(vertices, edges, rng);
    case GraphKind::Grid:
      return make_grid(width, vertices / width);
    case GraphKind::SmallWorld:
      return make_small_world(width, vertices / width, rng);
    case GraphKind::Condmat:
      return make_collaborations(vertices, edges, rng);
    case GraphKind::Olesnik:
      return make_saddle_point(vertices, rng);
    case GraphKind::Undirected:
      return make_undirected(vertices, edges, rng);
    case GraphKind::Connected:
      return make_connected(vertices, edges, rng);
  }
  return {};
}

std::uint32_t GraphChoice::source(const Graph& graph, Rng& rng) const {
  if (!has_edges_asked_for(kind)) return rng.below(graph.vertices());
  std::uint32_t maximum = 0;
  if (kind == GraphKind::Connected) return maximum;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    if (graph.degree(v) > graph.degree(maximum)) maximum = v;
  return maximum;
}

std::vector<std::uint32_t> vertex_records(const Graph& graph) {
  std::vector<std::uint32_t> records;
  records.reserve(std::size_t{2} * graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    records.push_back(graph.row[v]);
    records.push_back(graph.degree(v));
  }
  return records;
}

std::vector<std::uint32_t> edge_records(const Graph& graph, std::uint32_t words) {
  std::vector<std::uint32_t> records(graph.column.size() * words, 0);
  for (std::size_t e = 0; e < graph.column.size(); ++e) records[e * words] = graph.column[e];
  return records;
}

}  // namespace raddle::workloads

// Graphs and sparse matrices in compressed sparse rows, from seeded generators.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// Edges of vertex v: column[row[v]] .. column[row[v + 1] - 1], ascending, each at most once.
struct Graph {
  std::vector<std::uint32_t> row = {0};
  std::vector<std::uint32_t> column;
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(row.size() - 1); }
  std::uint32_t degree(std::uint32_t v) const { return row[v + 1] - row[v]; }
};

/// Most edges the random generators are asked for: the graph stays sparse enough to draw.
constexpr std::uint64_t most_edges(std::uint64_t vertices) { return vertices * vertices / 16; }

/// R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004) with Graph500's quadrants a .57, b .19, c .19:
/// few vertices have most edges. Vertices are renumbered at random, so that degree and index have
/// nothing to do with each other. Directed, no loops, `edges` distinct ones.
/// Precondition: edges <= most_edges(vertices).
Graph make_rmat(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Both ends uniform (Erdos-Renyi). Directed, no loops, `edges` distinct ones.
/// Precondition: edges <= most_edges(vertices).
Graph make_uniform(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Rows of mean_degree / 2 to mean_degree * 3 / 2 entries, uniform in number and place, within
/// half_bandwidth of the diagonal, which is always there.
/// Precondition: 1 <= mean_degree * 3 / 2 <= half_bandwidth + 1 <= vertices.
Graph make_banded(std::uint32_t vertices, std::uint32_t mean_degree, std::uint32_t half_bandwidth,
                  Rng& rng);

/// width x height points, each joined with its up to four neighbours, both ways.
Graph make_grid(std::uint32_t width, std::uint32_t height);

}  // namespace raddle::workloads

// Graphs and sparse matrices in compressed sparse rows, from seeded generators.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// Edges of vertex v: column[row[v]] .. column[row[v + 1] - 1], ascending, each at most once
/// (make_undirected and make_connected apart).
struct Graph {
  std::vector<std::uint32_t> row = {0};
  std::vector<std::uint32_t> column;
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(row.size() - 1); }
  std::uint32_t degree(std::uint32_t v) const { return row[v + 1] - row[v]; }
};

/// Most edges the random generators are asked for: the graph stays sparse enough to draw.
constexpr std::uint64_t max_edges(std::uint64_t vertices) { return vertices * vertices / 16; }

/// Every edge turned round.
Graph transposed(const Graph& graph);

/// R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004) with Graph500's quadrants a .57, b .19, c .19:
/// few vertices have most edges. Vertices are renumbered at random, so that degree and index have
/// nothing to do with each other. Directed, no loops, `edges` distinct ones.
/// Precondition: edges <= most_edges(vertices).
Graph make_rmat(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Sources drawn in proportion to Pareto weights with density exponent 2.2, at most 100 times the
/// least; targets uniform. Unlike make_rmat, every vertex has about as many edges leading to it,
/// and no vertex has a good part of all edges. Directed, no loops, `edges` distinct ones.
/// Precondition: edges <= most_edges(vertices).
Graph make_power_law(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Both ends uniform (Erdos-Renyi). Directed, no loops, `edges` distinct ones.
/// Precondition: edges <= most_edges(vertices).
Graph make_uniform(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// `edges` / 2 pairs of vertices, of which both ends keep the edge: the first ends in turn, as many
/// for each (one more for some), the second drawn uniformly. A vertex has its edges in the order in
/// which they were made, and may have one twice, as in the generator of Rodinia's bfs. No loops.
/// Preconditions: edges <= most_edges(vertices), vertices >= 2.
Graph make_undirected(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// A random tree (each vertex in a random order joined to one of those before it) and random edges
/// beyond it, each kept by both its ends, in the order of making: `edges` entries, none twice, no
/// loops. A degree is 1, 2, 3 ... with chances of 1/2, 1/4, 1/8 ... from the tree and a Poisson
/// number from the rest; with 6 entries to a vertex these are the degrees of graph65536.txt, which
/// comes with Rodinia's and ISPASS-2009's bfs.
/// Preconditions: 2 (vertices - 1) <= edges <= most_edges(vertices), even.
Graph make_connected(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Rows of mean_degree / 2 to mean_degree * 3 / 2 entries, uniform in number and place, within
/// half_bandwidth of the diagonal, which is always there.
/// Precondition: 1 <= mean_degree * 3 / 2 <= half_bandwidth + 1 <= vertices.
Graph make_banded(std::uint32_t vertices, std::uint32_t mean_degree, std::uint32_t half_bandwidth,
                  Rng& rng);

/// width x height points, each joined with its up to four neighbours, both ways.
Graph make_grid(std::uint32_t width, std::uint32_t height);

/// width x height points of a torus, each with edges to its eight neighbours, one in twenty of
/// which leads to a point drawn at random instead (after Watts and Strogatz, Nature 393, 1998):
/// neighbours have close numbers, yet few edges lead anywhere. Directed, no loops, 8 distinct edges
/// each. Precondition: width >= 4, height >= 4.
Graph make_small_world(std::uint32_t width, std::uint32_t height, Rng& rng);

/// Who wrote papers with whom, as in Newman's condensed-matter collaborations, whose 16,726 authors
/// and 47,594 pairs are the default meant: papers of 2 to 9 authors appear one after another, a
/// paper joins all its authors, who are newcomers (numbered as they come) or known ones, mostly of
/// the papers just before, else in proportion to how much they have written. The number of pairs
/// grows faster than that of authors (as Leskovec, Kleinberg, Faloutsos, KDD 2005, found), so later
/// vertices have more edges. Each pair once, as a matrix's lower triangle is stored: from the
/// later author to the earlier, no loops. Precondition: edges <= most_edges(vertices).
Graph make_collaborations(std::uint32_t vertices, std::uint64_t edges, Rng& rng);

/// Edges that make_saddle_point gives so many vertices.
std::uint64_t saddle_point_edges(std::uint32_t vertices);

/// Lower triangle of a saddle-point matrix of mixed-hybrid finite elements with five faces each, in
/// the proportions of GHS_indef/olesnik0 (88,263 rows, 402,623 entries; its structure is guessed
/// from these two numbers). Rows of faces first: an element's 5 x 5 triangle with its diagonal, 1
/// to 5 entries; then a row per element with 5 entries, one per face; last the faces between
/// elements, with the faces of two elements near each other, and half of them the first one's own
/// row: 10 or 11 entries. Precondition: vertices >= 16.
Graph make_saddle_point(std::uint32_t vertices, Rng& rng);

}  // namespace raddle::workloads

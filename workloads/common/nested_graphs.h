// The three graphs of LaPerm (Wang, Rubin, Sidelnik, Yalamanchili, ISCA 2016), stand-ins of any
// size for citationCiteseer, kron_g500-logn20 and cage15 of the DIMACS challenge and of the
// SuiteSparse collection. What they promise is what those two publish of the graphs, and is tested;
// what is guessed says so. All are symmetric, without loops, each edge once, targets ascending.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "common/graph.h"

namespace raddle::workloads {

enum class NestedGraph : std::uint8_t { Citation, Graph500, Cage15 };
inline constexpr std::array<std::string_view, 3> kNestedGraphNames = {"citation", "graph500",
                                                                      "cage15"};
/// Least vertices of any of the three.
inline constexpr std::uint32_t kMinNestedVertices = 128;

/// Papers and who cites them: 4.31 pairs per vertex (268,495 vertices, 1,156,647 pairs; mean degree
/// 8.62), one component. Each paper but the first cites an earlier one; both ends of the other
/// pairs are drawn in proportion to Pareto weights. Of two readings of "power law, exponent 2.2"
/// the tail's is taken, P(degree >= d) ~ d^-2.2 (density 3.2): the greatest of 268,495 such degrees
/// is near 1,400, and the real graph's is 1,318. 1.4 % of the vertices have degree 32 or more, and
/// 9 % of all arcs; 0.05 % have 128 or more. Guessed: four pairs in five are near in index, at a
/// distance whose mean is 1 % of all, the others anywhere.
Graph make_citation(std::uint32_t vertices, Rng& rng);

/// Kronecker graph of Graph500 (quadrants .57, .19, .19, .05) with 48 draws per vertex, the edge
/// factor of kron_g500-logn20; labels permuted. Draws of the same pair are one pair, as in the
/// matrix's pattern, and loops are left out. Precondition: vertices is a power of two.
Graph make_graph500(std::uint32_t vertices, Rng& rng);

/// DNA electrophoresis: neighbours at offsets 1, 2 and a geometric ladder from 0.002 n to 0.19 n,
/// both signs, median about 0.01 n, and the same offsets hold for runs of 10 to 50 consecutive
/// vertices (so in columns of cage10, the same family). Mean degree 18.24, degrees within the real
/// matrix's 5 to 47 (ours end near 38), no diagonal, one component. Guessed: how much degrees vary.
Graph make_cage15(std::uint32_t vertices, Rng& rng);

/// Precondition: vertices >= kLeastNestedVertices; Graph500: a power of two.
Graph make_nested_graph(NestedGraph kind, std::uint32_t vertices, Rng& rng);

}  // namespace raddle::workloads

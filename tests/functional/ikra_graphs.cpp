// IKRA's two graphs: as many vertices and edges as cond_mat and olesnik0, and their shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/graph_choice.h"

namespace raddle::workloads::ikra_graphs_test {

namespace {

std::vector<std::uint32_t> sorted_degrees(const Graph& graph, bool both_ways) {
  std::vector<std::uint32_t> degree(graph.vertices(), 0);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) degree[v] = graph.degree(v);
  if (both_ways)
    for (std::uint32_t v : graph.column) ++degree[v];
  std::sort(degree.begin(), degree.end());
  return degree;
}

// Mean distance of an edge's ends in numbers of vertices, as a share of all.
double mean_span(const Graph& graph) {
  double sum = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      sum += std::abs(static_cast<double>(v) - graph.column[e]);
  return sum / static_cast<double>(graph.column.size()) / graph.vertices();
}

// Of each full block of 256 threads, one per vertex: the rounds its warps walk edges for.
std::vector<std::uint32_t> rounds_of_blocks(const Graph& graph) {
  std::vector<std::uint32_t> rounds(graph.vertices() / 256, 0);
  for (std::uint32_t warp = 0; warp < 8 * rounds.size(); ++warp) {
    std::uint32_t longest = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      longest = std::max(longest, graph.degree(32 * warp + lane));
    rounds[warp / 8] += longest;
  }
  return rounds;
}

// Rows ascend without doubles; an edge leads to no later vertex.
void expect_lower_triangle(const Graph& graph) {
  ASSERT_EQ(graph.row.back(), graph.column.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
      ASSERT_LE(graph.column[e], v);
      if (e > graph.row[v]) {
        ASSERT_LT(graph.column[e - 1], graph.column[e]) << v;
      }
    }
}

Graph condmat(std::uint64_t seed) {
  GraphChoice choice{GraphKind::Condmat, 16'726, 47'594};
  Rng rng(seed);
  return choice.make(rng);
}

TEST(Condmat, HasTheSizeDegreesAndSpanOfTheCollaborations) {
  for (std::uint64_t seed : {1, 2, 3}) {
    Graph graph = condmat(seed);
    EXPECT_EQ(graph.vertices(), 16'726u);
    EXPECT_EQ(graph.column.size(), 47'594u);
    expect_lower_triangle(graph);
    auto degree = sorted_degrees(graph, true), out = sorted_degrees(graph, false);
    EXPECT_GE(degree.back(), 90u);  // 107 in the original
    EXPECT_LE(degree.back(), 160u);
    EXPECT_EQ(degree[graph.vertices() / 2], 3u);
    auto without = std::count(out.begin(), out.end(), 0u);
    EXPECT_NEAR(static_cast<double>(without) / graph.vertices(), 0.12, 0.02);
    EXPECT_GT(mean_span(graph), 0.1);
    EXPECT_LT(mean_span(graph), 0.3);
  }
}

TEST(Condmat, HasMoreEdgesFromLaterVerticesAndUnevenBlocks) {
  for (std::uint64_t seed : {1, 2, 3}) {
    Graph graph = condmat(seed);
    std::uint32_t n = graph.vertices();
    EXPECT_GT(n - graph.row[n / 2], graph.row[n / 2] / 2);
    EXPECT_GT(graph.row[n] - graph.row[n / 4 * 3], 1.5 * graph.row[n / 4]);
    auto rounds = rounds_of_blocks(graph);
    auto [minimum, maximum] = std::minmax_element(rounds.begin(), rounds.end());
    EXPECT_GT(*maximum, 4 * *minimum);
  }
}

// A paper of three or more makes triangles, which an Erdos-Renyi graph of that size has a handful
// of (mean degree^3 / 6 = 31).
TEST(Condmat, IsAUnionOfCliques) {
  Graph graph = condmat(1);
  auto has_edge = [&](std::uint32_t a, std::uint32_t b) {
    return std::binary_search(graph.column.begin() + graph.row[a],
                              graph.column.begin() + graph.row[a + 1], b);
  };
  std::uint64_t triangles = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      for (std::uint32_t f = graph.row[v]; f < e; ++f)
        triangles += has_edge(graph.column[e], graph.column[f]);
  EXPECT_GT(triangles, 20'000u);
}

TEST(Condmat, HasExactlyTheEdgesAskedForAtAnySize) {
  for (std::uint32_t n : {16u, 17u, 40u, 300u, 2000u})
    for (std::uint64_t edges :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{n}, max_edges(n)}) {
      Rng rng(n);
      Graph graph = make_collaborations(n, edges, rng);
      EXPECT_EQ(graph.vertices(), n);
      EXPECT_EQ(graph.column.size(), edges);
      expect_lower_triangle(graph);
    }
}

Graph olesnik(std::uint64_t seed) {
  GraphChoice choice{GraphKind::Olesnik, 88'263, 0};
  Rng rng(seed);
  return choice.make(rng);
}

TEST(Olesnik, HasTheRowsOfTheSaddlePoint) {
  Graph graph = olesnik(1);
  ASSERT_EQ(graph.vertices(), 88'263u);
  EXPECT_EQ(graph.column.size(), 402'623u);
  expect_lower_triangle(graph);
  for (std::uint32_t face = 0; face < 61'030; ++face) {
    ASSERT_EQ(graph.degree(face), face % 5 + 1);
    ASSERT_EQ(graph.column[graph.row[face]], face - face % 5);
    ASSERT_EQ(graph.column[graph.row[face + 1] - 1], face);  // the diagonal
  }
  for (std::uint32_t e = 0; e < 12'206; ++e) {
    ASSERT_EQ(graph.degree(61'030 + e), 5u);
    ASSERT_EQ(graph.column[graph.row[61'030 + e]], 5 * e);
  }
  for (std::uint32_t joint = 73'236; joint < 88'263; ++joint) {
    ASSERT_GE(graph.degree(joint), 10u);
    ASSERT_LE(graph.degree(joint), 11u);
    ASSERT_LT(graph.column[graph.row[joint] + 9] - graph.column[graph.row[joint]], 5u * 9);
  }
  EXPECT_EQ(graph.row[88'263] - graph.row[73'236], 158'503u);
}

// Every row is short, yet the blocks of the last third have two to three times the work.
TEST(Olesnik, IsBalancedButHeavyAtItsEnd) {
  auto rounds = rounds_of_blocks(olesnik(1));
  std::size_t last = 73'236 / 256 + 1;
  auto mean = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t b = from; b < to; ++b) sum += rounds[b];
    return sum / static_cast<double>(to - from);
  };
  double ratio = mean(last, rounds.size()) / mean(0, 61'030 / 256);
  EXPECT_GT(ratio, 2);
  EXPECT_LT(ratio, 3);
}

TEST(Olesnik, KeepsItsProportionsAtAnySize) {
  for (std::uint32_t n : {16u, 17u, 29u, 300u, 22'066u}) {
    Rng rng(n);
    Graph graph = make_saddle_point(n, rng);
    EXPECT_EQ(graph.vertices(), n);
    EXPECT_EQ(graph.column.size(), saddle_point_edges(n));
    expect_lower_triangle(graph);
  }
  EXPECT_NEAR(static_cast<double>(saddle_point_edges(22'066)), 402'623 / 4.0, 50);
}

TEST(Transposed, TurnsEveryEdgeRound) {
  const Graph graph = condmat(1), turned = transposed(graph);
  ASSERT_EQ(turned.vertices(), graph.vertices());
  ASSERT_EQ(turned.row.back(), graph.column.size());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
      const std::uint32_t target = graph.column[e];
      EXPECT_TRUE(std::binary_search(turned.column.begin() + turned.row[target],
                                     turned.column.begin() + turned.row[target + 1], v));
    }
  const Graph again = transposed(turned);
  EXPECT_EQ(again.row, graph.row);
  EXPECT_EQ(again.column, graph.column);
}

TEST(Transposed, OfNothingIsNothing) {
  Graph graph;
  graph.row.resize(17, 0);
  EXPECT_EQ(transposed(graph).row, graph.row);
}

TEST(IkraGraphs, DependOnTheSeedAlone) {
  EXPECT_EQ(condmat(4).column, condmat(4).column);
  EXPECT_NE(condmat(4).column, condmat(5).column);
  EXPECT_EQ(olesnik(4).column, olesnik(4).column);
  EXPECT_NE(olesnik(4).column, olesnik(5).column);
}

TEST(IkraGraphsDeathTest, WhatCannotBeMadeIsAFault) {
  Rng rng(1);
  EXPECT_DEATH(make_collaborations(100, 626, rng), "max_edges");
  EXPECT_DEATH(make_saddle_point(15, rng), "vertices");
}

}  // namespace

}  // namespace raddle::workloads::ikra_graphs_test

// The graphs of LaPerm: what their generators promise (workloads/common/nested_graphs.h). Where a
// figure is of the real graph or of the public generator, the test says which.
#include "common/nested_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "functional/graph_character.h"

namespace raddle::workloads::nested_graphs_test {

namespace {

Graph graph_of(NestedGraph kind, std::uint32_t vertices, std::uint64_t seed = 1) {
  Rng rng(seed);
  return make_nested_graph(kind, vertices, rng);
}

std::uint32_t component_of_vertex_0(const Graph& graph) {
  std::vector<bool> seen(graph.vertices());
  std::vector<std::uint32_t> queue = {0};
  seen[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t e = graph.row[queue[i]]; e < graph.row[queue[i] + 1]; ++e)
      if (const std::uint32_t to = graph.column[e]; !seen[to]) {
        seen[to] = true;
        queue.push_back(to);
      }
  return static_cast<std::uint32_t>(queue.size());
}

class NestedGraphs : public ::testing::TestWithParam<NestedGraph> {};

INSTANTIATE_TEST_SUITE_P(All, NestedGraphs,
                         ::testing::Values(NestedGraph::Citation, NestedGraph::Graph500,
                                           NestedGraph::Cage15),
                         [](const auto& info) {
                           return std::string(
                               kNestedGraphNames[static_cast<std::size_t>(info.param)]);
                         });

TEST_P(NestedGraphs, AreSymmetricWithoutLoopsAndEachEdgeOnce) {
  for (const std::uint32_t vertices : {kMinNestedVertices, 512u, 4096u}) {
    const Graph graph = graph_of(GetParam(), vertices);
    ASSERT_EQ(graph.vertices(), vertices);
    ASSERT_EQ(graph.row.back(), graph.column.size());
    for (std::uint32_t v = 0; v < vertices; ++v)
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        ASSERT_LT(graph.column[e], vertices);
        ASSERT_NE(graph.column[e], v);
        if (e > graph.row[v]) {
          ASSERT_LT(graph.column[e - 1], graph.column[e]);
        }
      }
    const Graph turned = transposed(graph);
    EXPECT_EQ(turned.row, graph.row);
    EXPECT_EQ(turned.column, graph.column);
  }
}

TEST_P(NestedGraphs, DependOnTheSeedAlone) {
  EXPECT_EQ(graph_of(GetParam(), 512, 5).column, graph_of(GetParam(), 512, 5).column);
  EXPECT_NE(graph_of(GetParam(), 512, 5).column, graph_of(GetParam(), 512, 6).column);
}

// 1,156,647 pairs of 268,495 vertices; the rest are the promises of the tail and of the distances.
TEST(Citation, HasThePairsOfTheRealGraphAndItsTail) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Graph graph = graph_of(NestedGraph::Citation, 49'152, seed);
    EXPECT_NEAR(mean_degree(graph), 8.62, 0.01);
    EXPECT_EQ(component_of_vertex_0(graph), graph.vertices());
    EXPECT_NEAR(from_degree(graph, 32).vertices, 0.014, 0.002);
    EXPECT_NEAR(from_degree(graph, 32).arcs, 0.09, 0.02);
    EXPECT_NEAR(from_degree(graph, 128).vertices, 0.0005, 0.0002);
    // Twice the degree, 2^-2.2 = 0.22 as many vertices beyond it.
    EXPECT_NEAR(from_degree(graph, 64).vertices / from_degree(graph, 32).vertices, 0.22, 0.06);
    EXPECT_GT(sorted_degrees(graph).back(), 300u);
  }
}

TEST(Citation, IsMostlyNearInIndex) {
  const std::vector<double> distances = sorted_distances(graph_of(NestedGraph::Citation, 49'152));
  EXPECT_NEAR(median(distances), 0.009, 0.002);
  const auto far = std::lower_bound(distances.begin(), distances.end(), 0.05);
  EXPECT_NEAR(static_cast<double>(far - distances.begin()) / static_cast<double>(distances.size()),
              0.85, 0.03);
}

// Of an independent program with edge factor 48 at scale 14: mean 66.6, median 10, 90 % below 111,
// 99 % below 747, greatest 6,254, 12.1 % isolated, >= 32 31.1 % / 92.1 %, >= 128 9.0 % / 68.8 %,
// mean distance 0.337 n.
TEST(Graph500, HasTheDegreesOfEdgeFactor48) {
  const Graph graph = graph_of(NestedGraph::Graph500, 1 << 14);
  const std::vector<std::uint32_t> degrees = sorted_degrees(graph);
  EXPECT_NEAR(mean_degree(graph), 66.6, 0.3);
  EXPECT_NEAR(degrees[degrees.size() / 2], 10, 1);
  EXPECT_NEAR(degrees[degrees.size() * 9 / 10], 111, 5);
  EXPECT_NEAR(degrees[degrees.size() * 99 / 100], 747, 40);
  EXPECT_NEAR(degrees.back(), 6254, 250);
  EXPECT_NEAR(1 - from_degree(graph, 1).vertices, 0.121, 0.01);
  EXPECT_NEAR(from_degree(graph, 32).vertices, 0.311, 0.01);
  EXPECT_NEAR(from_degree(graph, 32).arcs, 0.921, 0.01);
  EXPECT_NEAR(from_degree(graph, 128).vertices, 0.090, 0.01);
  EXPECT_NEAR(from_degree(graph, 128).arcs, 0.688, 0.01);
  EXPECT_NEAR(mean(sorted_distances(graph)), 0.337, 0.02);
}

// The mean without the diagonal, and the bounds, are the real matrix's; the distances those of two
// columns of cage10: means 0.031 n and 0.054 n, medians about 0.01 n, greatest 0.17 n and 0.19 n.
TEST(Cage15, HasTheDegreesAndOffsetsOfItsFamily) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Graph graph = graph_of(NestedGraph::Cage15, 32'768, seed);
    EXPECT_NEAR(mean_degree(graph), 18.24, 0.4);
    EXPECT_EQ(component_of_vertex_0(graph), graph.vertices());
    const std::vector<std::uint32_t> degrees = sorted_degrees(graph);
    EXPECT_GE(degrees.front(), 5u);
    EXPECT_LE(degrees.back(), 47u);
    EXPECT_LT(from_degree(graph, 32).vertices, 0.02);
    const std::vector<double> distances = sorted_distances(graph);
    EXPECT_GT(mean(distances), 0.03);
    EXPECT_LT(mean(distances), 0.05);
    EXPECT_NEAR(median(distances), 0.01, 0.004);
    EXPECT_GT(distances.back(), 0.18);
    EXPECT_LE(distances.back(), 0.19 + 0.0001);
  }
}

// Most arcs belong to a run: the vertices before and after have the same offset. Runs last 10 to 50
// vertices; two of them in a row at the same offset are rare beyond the least rungs.
TEST(Cage15, OffsetsHoldForRunsOfVertices) {
  const Graph graph = graph_of(NestedGraph::Cage15, 32'768);
  std::map<std::uint32_t, std::uint32_t> open, next;  // offset: vertices so far
  std::vector<std::uint32_t> runs;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    next.clear();
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      if (const std::uint32_t to = graph.column[e]; to > v + 1000)
        next[to - v] = (open.count(to - v) != 0 ? open[to - v] : 0) + 1;
    for (const auto& [offset, length] : open)
      if (next.count(offset) == 0) runs.push_back(length);
    open = next;
  }
  std::sort(runs.begin(), runs.end());
  ASSERT_GT(runs.size(), 1000u);
  EXPECT_GE(runs[runs.size() / 50], 10u);
  EXPECT_NEAR(runs[runs.size() / 2], 30, 3);
  EXPECT_LE(runs[runs.size() * 9 / 10], 50u);
}

TEST(NestedGraphsDeathTest, WhatCannotBeMadeIsAFault) {
  Rng rng(1);
  EXPECT_DEATH(make_citation(127, rng), "kMinNestedVertices");
  EXPECT_DEATH(make_cage15(127, rng), "kMinNestedVertices");
  EXPECT_DEATH(make_graph500(300, rng), "has_single_bit");
}

}  // namespace

}  // namespace raddle::workloads::nested_graphs_test

// LATOA's programs with irregular data against the public ones that they stand for: BFS.
// docs/reproductions/programs.md says where the public programs' numbers are from.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/graph.h"
#include "functional/launch_profile.h"

namespace raddle::runtime::latoa_irregular_test {

namespace {

using namespace workloads;

const Parameters kBfs = {{"graph", "connected"}, {"vertices", "65536"}, {"edges", "393216"},
                         {"edge_words", "1"},    {"targets", "true"},   {"block", "512"}};

Graph latoa_graph(std::uint64_t seed) {
  Rng rng(seed);
  return make_connected(65'536, 393'216, rng);
}

// How many vertices are how far from the first.
std::vector<unsigned> levels(const Graph& graph) {
  std::vector<unsigned> distance(graph.vertices(), ~0u), count;
  std::vector<std::uint32_t> queue = {0};
  distance[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t v = queue[i];
    count.resize(std::max<std::size_t>(count.size(), distance[v] + 1));
    ++count[distance[v]];
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      if (distance[graph.column[e]] == ~0u) {
        distance[graph.column[e]] = distance[v] + 1;
        queue.push_back(graph.column[e]);
      }
  }
  return count;
}

// graph65536.txt: 638, 2,696, 6,141, 9,516 ... vertices of 1, 2, 3, 4 ... edges, none of more than
// 24, 90 % of at most 9; each edge at both its ends, none twice, no loops.
TEST(LatoaBfs, GraphHasTheDegreesOfThePublicFile) {
  constexpr unsigned kPublic[] = {0,      638,   2'696, 6'141, 9'516, 11'094,
                                  10'577, 8'827, 6'301, 4'224, 2'458};
  for (std::uint64_t seed : {1, 2}) {
    const Graph graph = latoa_graph(seed);
    ASSERT_EQ(graph.column.size(), 393'216u);
    std::map<std::uint32_t, unsigned> degrees;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> ends;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      ++degrees[graph.degree(v)];
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        ASSERT_NE(graph.column[e], v);
        ++ends[std::minmax(v, graph.column[e])];
      }
    }
    for (const auto& [pair, times] : ends) ASSERT_EQ(times, 2) << pair.first << ' ' << pair.second;
    for (unsigned d = 0; d < std::size(kPublic); ++d)
      EXPECT_NEAR(degrees[d], kPublic[d], 0.05 * kPublic[d] + 60) << d;
    EXPECT_GE(degrees.rbegin()->first, 18u);
    EXPECT_LE(degrees.rbegin()->first, 30u);
  }
}

// The public one: 1, 8, 48, 298, 1,824, 9,770, 31,757, 20,959, 865, 6. How fast it begins is up to
// the first vertex and its neighbours, so that the three large levels share the vertices otherwise.
TEST(LatoaBfs, FrontierGrowsSixfoldAndEndsInTenLevelsOrSo) {
  for (std::uint64_t seed : {1, 2, 3}) {
    const std::vector<unsigned> count = levels(latoa_graph(seed));
    EXPECT_GE(count.size(), 9u);
    EXPECT_LE(count.size(), 12u);
    unsigned all = 0, maximum = 0;
    for (unsigned one : count) {
      all += one;
      maximum = std::max(maximum, one);
    }
    EXPECT_EQ(all, 65'536u);
    EXPECT_GT(maximum, 65'536u * 2 / 5);
    EXPECT_LT(maximum, 65'536u * 3 / 5);
  }
}

// Another random graph of the same kind: accesses and instructions within 5 % of the public run.
TEST(LatoaBfs, IsThePublicProgramWithinFivePercent) {
  std::uint64_t instructions[2] = {}, loads[2] = {}, stores[2] = {};
  std::size_t launches = 0;
  for (const LaunchProfile& launch : profile("bfs", kBfs)) {
    EXPECT_EQ(launch.blocks, 128u);
    EXPECT_EQ(launch.block.count(), 512u);
    const std::size_t at = launch.name == "bfs_expand_targets" ? 0 : 1;
    ++launches;
    instructions[at] += launch.warp_instructions;
    loads[at] += launch.of("ld.global").transactions;
    stores[at] += launch.of("st.global").transactions;
  }
  EXPECT_EQ(launches, 20u);
  constexpr double kInstructions[] = {1'802'144, 460'567}, kLoads[] = {868'693, 20'480};
  constexpr double kStores[] = {261'583, 33'428};
  for (std::size_t k : {0u, 1u}) {
    EXPECT_NEAR(static_cast<double>(instructions[k]) / kInstructions[k], 1, 0.05) << k;
    EXPECT_NEAR(static_cast<double>(loads[k]) / kLoads[k], 1, 0.05) << k;
    EXPECT_NEAR(static_cast<double>(stores[k]) / kStores[k], 1, 0.05) << k;
  }
}

}  // namespace

}  // namespace raddle::runtime::latoa_irregular_test

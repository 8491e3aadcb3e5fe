// Generators, comparisons and hashing that the workloads share, and whether the checked-in PTX is
// what the kernels compile to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

#include "common/compare.h"
#include "common/graph.h"
#include "common/input_hash.h"
#include "common/inputs.h"
#include "raddle_paths.h"

namespace raddle::workloads::workload_helpers_test {

namespace {

using ::testing::HasSubstr;

// Offsets ascend from 0 to the number of edges; targets exist, ascend strictly within a row.
void expect_valid(const Graph& graph) {
  ASSERT_FALSE(graph.row.empty());
  EXPECT_EQ(graph.row.front(), 0u);
  EXPECT_EQ(graph.row.back(), graph.column.size());
  std::uint64_t degrees = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    ASSERT_LE(graph.row[v], graph.row[v + 1]);
    degrees += graph.degree(v);
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
      ASSERT_LT(graph.column[e], graph.vertices());
      if (e > graph.row[v]) {
        ASSERT_LT(graph.column[e - 1], graph.column[e]);
      }
    }
  }
  EXPECT_EQ(degrees, graph.column.size());
}

bool has_edge(const Graph& graph, std::uint32_t from, std::uint32_t to) {
  return std::binary_search(graph.column.begin() + graph.row[from],
                            graph.column.begin() + graph.row[from + 1], to);
}

std::vector<std::uint32_t> degrees_descending(const Graph& graph) {
  std::vector<std::uint32_t> degrees(graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) degrees[v] = graph.degree(v);
  std::sort(degrees.rbegin(), degrees.rend());
  return degrees;
}

struct RandomKind {
  const char* name;
  Graph (*make)(std::uint32_t, std::uint64_t, Rng&);
};

class RandomGraph : public ::testing::TestWithParam<RandomKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RandomGraph,
                         ::testing::Values(RandomKind{"rmat", make_rmat},
                                           RandomKind{"power_law", make_power_law},
                                           RandomKind{"uniform", make_uniform}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(RandomGraph, IsValidWithExactlyTheEdgesAskedForAndNoLoops) {
  constexpr std::pair<std::uint32_t, std::uint64_t> kSizes[] = {
      {2, 0}, {4, 1}, {16, 16}, {1000, 0}, {1000, 9000}, {1024, 65536}, {1025, 4000}};
  for (auto [vertices, edges] : kSizes) {
    Rng rng(vertices);
    Graph graph = GetParam().make(vertices, edges, rng);
    EXPECT_EQ(graph.vertices(), vertices);
    EXPECT_EQ(graph.column.size(), edges);
    expect_valid(graph);
    for (std::uint32_t v = 0; v < vertices; ++v) EXPECT_FALSE(has_edge(graph, v, v));
  }
}

TEST_P(RandomGraph, DependsOnTheSeedAlone) {
  auto columns = [&](std::uint64_t seed) {
    Rng rng(seed);
    return GetParam().make(500, 3000, rng).column;
  };
  EXPECT_EQ(columns(1), columns(1));
  EXPECT_NE(columns(1), columns(2));
}

// Renumbered: either half of the vertices has about half of the edges, at both ends.
TEST_P(RandomGraph, EdgesAreSpreadOverTheVertexNumbers) {
  Rng rng(5);
  Graph graph = GetParam().make(8192, 65536, rng);
  double sources = graph.row[4096] / 65536.0;
  auto low = std::count_if(graph.column.begin(), graph.column.end(),
                           [](std::uint32_t v) { return v < 4096; });
  EXPECT_NEAR(sources, 0.5, 0.1);
  EXPECT_NEAR(static_cast<double>(low) / 65536.0, 0.5, 0.1);
}

TEST(Graphs, RmatIsSkewedAndUniformIsNot) {
  Rng rng(1);
  std::vector<std::uint32_t> rmat = degrees_descending(make_rmat(8192, 65536, rng));
  std::vector<std::uint32_t> uniform = degrees_descending(make_uniform(8192, 65536, rng));
  auto share_of_first = [](const std::vector<std::uint32_t>& degrees, std::size_t count) {
    auto first = static_cast<std::ptrdiff_t>(count);
    return std::accumulate(degrees.begin(), degrees.begin() + first, 0.0) / 65536.0;
  };
  EXPECT_GT(rmat.front(), 25u * 8);           // mean degree is 8
  EXPECT_GT(share_of_first(rmat, 82), 0.12);  // the top hundredth has an eighth
  EXPECT_EQ(rmat[6000], 0u);                  // and a quarter has nothing
  EXPECT_LT(uniform.front(), 4u * 8);         // Poisson: no vertex has 32
  EXPECT_LT(share_of_first(uniform, 82), 0.03);
}

TEST(Graphs, UndirectedKeepsEachEdgeAtBothEndsInOrder) {
  constexpr std::pair<std::uint32_t, std::uint64_t> kSizes[] = {
      {4, 0}, {16, 16}, {1000, 15000}, {1000, 7001}};
  for (auto [vertices, edges] : kSizes) {
    Rng rng(vertices);
    Graph graph = make_undirected(vertices, edges, rng);
    ASSERT_EQ(graph.vertices(), vertices);
    ASSERT_EQ(graph.column.size(), edges / 2 * 2);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> balance;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      EXPECT_GE(graph.degree(v), edges / 2 / vertices) << "its own share";
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        const std::uint32_t other = graph.column[e];
        EXPECT_NE(other, v);
        balance[{std::min(v, other), std::max(v, other)}] += v < other ? 1 : -1;
      }
    }
    for (const auto& [pair, sum] : balance) EXPECT_EQ(sum, 0) << pair.first << ' ' << pair.second;
  }
}

// Unlike those of other graphs, lists do not rise: lanes that walk them do not meet.
TEST(Graphs, UndirectedListsAreInOrderOfMaking) {
  Rng rng(3);
  Graph graph = make_undirected(512, 8192, rng);
  unsigned falls = 0;
  for (std::uint32_t v = 0; v < 512; ++v)
    for (std::uint32_t e = graph.row[v] + 1; e < graph.row[v + 1]; ++e)
      falls += graph.column[e] < graph.column[e - 1];
  EXPECT_GT(falls, 8192u / 4);
}

TEST(Graphs, BandedKeepsItsBandItsDiagonalAndItsRowLengths) {
  constexpr std::uint32_t kSizes[][3] = {{1, 1, 0},     {100, 1, 0}, {100, 10, 14},
                                         {500, 16, 40}, {50, 8, 49}, {64, 2, 2}};
  for (auto [vertices, mean, half_bandwidth] : kSizes) {
    Rng rng(mean);
    Graph graph = make_banded(vertices, mean, half_bandwidth, rng);
    ASSERT_EQ(graph.vertices(), vertices);
    expect_valid(graph);
    for (std::uint32_t v = 0; v < vertices; ++v) {
      EXPECT_TRUE(has_edge(graph, v, v));
      EXPECT_GE(graph.degree(v), std::max(mean / 2, 1u));
      EXPECT_LE(graph.degree(v), mean * 3 / 2);
      EXPECT_LE(v, graph.column[graph.row[v]] + half_bandwidth);
      EXPECT_LE(graph.column[graph.row[v + 1] - 1], v + half_bandwidth);
    }
  }
}

TEST(Graphs, BandedHasTheMeanAskedForAndFillsTheBandEvenly) {
  Rng rng(3);
  Graph graph = make_banded(4000, 16, 100, rng);
  EXPECT_NEAR(static_cast<double>(graph.column.size()) / 4000, 16, 0.5);
  std::uint64_t near = 0;  // within half the band
  for (std::uint32_t v = 0; v < 4000; ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      near += std::max(v, graph.column[e]) - std::min(v, graph.column[e]) <= 50;
  EXPECT_NEAR(static_cast<double>(near) / static_cast<double>(graph.column.size()), 0.53, 0.03);
}

TEST(Graphs, GridJoinsNeighboursBothWaysAndNothingElse) {
  constexpr std::uint32_t kSizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {13, 7}};
  for (auto [width, height] : kSizes) {
    Graph graph = make_grid(width, height);
    ASSERT_EQ(graph.vertices(), width * height);
    expect_valid(graph);
    EXPECT_EQ(graph.column.size(), 2 * (width * (height - 1) + height * (width - 1)));
    for (std::uint32_t v = 0; v < graph.vertices(); ++v)
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        auto apart = [](std::uint32_t a, std::uint32_t b) {
          return std::max(a, b) - std::min(a, b);
        };
        std::uint32_t to = graph.column[e];
        EXPECT_EQ(apart(v % width, to % width) + apart(v / width, to / width), 1u);
        EXPECT_TRUE(has_edge(graph, to, v));
      }
  }
}

TEST(GraphsDeathTest, MoreEdgesThanCanBeDrawnIsAFault) {
  Rng rng(1);
  EXPECT_DEATH(make_uniform(100, 626, rng), "max_edges");
  EXPECT_DEATH(make_banded(100, 40, 30, rng), "half_bandwidth");
}

TEST(RandomFloats, LieInTheirRangeAndDependOnSeedAndPath) {
  std::vector<float> values = random_floats(1, "a", 10000, -2, 3);
  auto [minimum, maximum] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*minimum, -2.0f);
  EXPECT_LE(*maximum, 3.0f);
  EXPECT_LT(*minimum, -1.99f);
  EXPECT_GT(*maximum, 2.99f);
  EXPECT_EQ(values, random_floats(1, "a", 10000, -2, 3));
  EXPECT_NE(values, random_floats(1, "b", 10000, -2, 3));
  EXPECT_NE(values, random_floats(2, "a", 10000, -2, 3));
}

// Test vectors of the xxHash specification's reference implementation.
TEST(InputHash, IsXxh64) {
  auto hash = [](std::string_view text) { return xxh64(std::as_bytes(std::span(text)), 0); };
  EXPECT_EQ(hash(""), 0xEF46DB3751D8E999ull);
  EXPECT_EQ(hash("a"), 0xD24EC4F1A98C6E5Bull);
  EXPECT_EQ(hash("abc"), 0x44BC2CF5AD770999ull);
}

TEST(InputHash, KnowsOrderAndBoundaries) {
  auto hash = [](const std::vector<std::vector<int>>& transactions) {
    InputHash all;
    for (const auto& transaction : transactions) all.add(transaction);
    return all.value();
  };
  EXPECT_NE(hash({{1, 2}, {3}}), hash({{1}, {2, 3}}));
  EXPECT_NE(hash({{1}, {2}}), hash({{2}, {1}}));
  EXPECT_EQ(hash({{1}, {2}}), hash({{1}, {2}}));
}

TEST(Compare, NamesTheFirstDifference) {
  EXPECT_EQ(first_difference<int>("c", {1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(first_difference<int>("c", {1, 2, 3}, {1, 5, 4}), "c[1]: expected 2, got 5");
  EXPECT_EQ(first_difference<int>("c", {1, 2, 3}, {1, 2}), "c: expected 3 elements, got 2");
}

TEST(Compare, NamesTheFirstBeyondItsTolerance) {
  auto tenth = [](std::size_t) { return 0.125; };
  EXPECT_EQ(first_beyond("t", {1, 2}, {1.125f, 1.875f}, tenth), "");
  EXPECT_EQ(first_beyond("t", {1, 2}, {1.0f, 2.5f}, tenth), "t[1]: expected 2 +- 0.125, got 2.5");
  EXPECT_EQ(first_beyond("t", {1}, {1.0f, 2.0f}, tenth), "t: expected 1 elements, got 2");
}

TEST(Compare, NoNumberAgreesWithNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(first_difference<float>("c", {0}, {kNaN}), HasSubstr("c[0]"));
  EXPECT_THAT(first_difference<float>("c", {kNaN}, {kNaN}), HasSubstr("c[0]"));
  EXPECT_THAT(first_beyond("c", {0}, {kNaN}, [](std::size_t) { return 1e30; }), HasSubstr("c[0]"));
}

int run_script(const std::string& arguments) {
  return std::system(("sh " RADDLE_SOURCE_DIR "/workloads/regenerate.sh " + arguments).c_str());
}

// That it is what the kernels compile to, step kernels of ./x test says.
TEST(CheckedInPtx, UnknownWorkloadIsRefusedWhereItCanBeCompiled) {
  if (std::system("command -v clang++-19 > /dev/null || command -v clang-19 > /dev/null") != 0)
    GTEST_SKIP() << "clang-19 is not installed";
  EXPECT_NE(run_script("--check nosuch 2> /dev/null"), 0);
}

}  // namespace

}  // namespace raddle::workloads::workload_helpers_test

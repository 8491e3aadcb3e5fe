// IKRA's microbenchmarks, graph applications and single-kernel applications: blocks and kilobytes
// of its table 3, results by other reasoning than their own references, edges, what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <queue>

#include "common/graph.h"
#include "functional/launch_profile.h"

namespace raddle::runtime::ikra_irregular_test {

struct IkraCase {
  std::string name;
  Parameters parameters;
};

void PrintTo(const IkraCase& one, std::ostream* out) {
  *out << one.name;
  for (const auto& [key, value] : one.parameters) *out << ' ' << key << '=' << value;
}

namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using workloads::Graph;

const Parameters kCondmat = {{"graph", "condmat"}, {"vertices", "16726"}, {"edges", "47594"}};
const Parameters kOlesnik = {{"graph", "olesnik"}, {"vertices", "88263"}};

Parameters with(Parameters parameters, const Parameters& others) {
  parameters.insert(others.begin(), others.end());
  return parameters;
}

// --- table 3 ---

struct GraphInput {
  std::string workload;
  Parameters graph;
  std::uint64_t blocks;
  double kib;  // of the input, as in the table
};

class IkraGraphInput : public ::testing::TestWithParam<GraphInput> {};

INSTANTIATE_TEST_SUITE_P(Table3, IkraGraphInput,
                         ::testing::Values(GraphInput{"dijkstra", kCondmat, 66, 633},
                                           GraphInput{"dijkstra", kOlesnik, 345, 4525},
                                           GraphInput{"coloring", kCondmat, 66, 699},
                                           GraphInput{"coloring", kOlesnik, 345, 4869},
                                           GraphInput{"mis", kCondmat, 66, 578},
                                           GraphInput{"mis", kOlesnik, 345, 3641},
                                           GraphInput{"pagerank", kCondmat, 66, 382},
                                           GraphInput{"pagerank", kOlesnik, 345, 2607}),
                         [](const auto& info) {
                           return info.param.workload + "_" + info.param.graph.at("graph");
                         });

TEST_P(IkraGraphInput, HasThePapersBlocksAndKilobytes) {
  const GraphInput& input = GetParam();
  auto workload =
      make_workload(input.workload, with(input.graph, {{"iterations", "1"}}), Size::Paper);
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  EXPECT_EQ(std::round(static_cast<double>(device.allocated_bytes) / 1024), input.kib);
  for (const LaunchProfile& launch :
       profile(input.workload, with(input.graph, {{"iterations", "1"}}))) {
    EXPECT_EQ(launch.blocks, input.blocks) << launch.name;
    EXPECT_LE(launch.kib(), input.kib) << launch.name;
  }
}

// 131/382 KB on cond_mat, 690/2,607 KB on olesnik0. pagerank_push leaves out what no edge leads
// from or to; the whole run touches all.
TEST(IkraTable3, PagerankTouchesTwoArraysOrTheGraphToo) {
  struct Expected {
    Parameters graph;
    double small, large;
  };
  for (const auto& [parameters, small, large] :
       {Expected{kCondmat, 131, 382}, Expected{kOlesnik, 690, 2607}}) {
    Rng rng(1, "pagerank/graph");
    Graph graph = workloads::transposed(parameters == kCondmat
                                            ? workloads::make_collaborations(16'726, 47'594, rng)
                                            : workloads::make_saddle_point(88'263, rng));
    std::vector<bool> reached(graph.vertices());
    std::uint64_t sources = 0;
    for (std::uint32_t vertex : graph.column) reached[vertex] = true;
    for (std::uint32_t vertex = 0; vertex < graph.vertices(); ++vertex)
      sources += graph.degree(vertex) != 0;
    auto targets = static_cast<std::uint64_t>(std::count(reached.begin(), reached.end(), true));

    auto launches = profile("pagerank", with(parameters, {{"iterations", "2"}}));
    ASSERT_EQ(launches.size(), 1u + 2 * 2);
    for (const LaunchProfile& launch : launches) {
      if (launch.name == "pagerank_push") {
        EXPECT_EQ(launch.words, graph.row.size() + graph.column.size() + sources + targets);
        EXPECT_LE(launch.kib(), large + 0.5);
      } else {
        EXPECT_EQ(std::round(launch.kib()), small);
      }
    }
    EXPECT_EQ(std::round(static_cast<double>(graph.row.size() + graph.column.size() +
                                             2 * graph.vertices()) *
                         4 / 1024),
              large);
  }
}

TEST(IkraTable3, NnHas669BlocksAnd2005Kilobytes) {
  auto launches = profile("nn", {{"records", "171056"}});
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].blocks, 669u);
  EXPECT_EQ(std::round(launches[0].kib()), 2005);
}

TEST(IkraTable3, ConvolutionHas1024And512BlocksAnd4096Kilobytes) {
  auto launches = profile("convolution", {{"columns", "1024"}, {"rows", "512"}});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].blocks, 1024u);
  EXPECT_EQ(launches[1].blocks, 512u);
  for (const LaunchProfile& launch : launches) EXPECT_DOUBLE_EQ(launch.kib(), 4096);
}

// A 1024 x 992 and B 992 x 1056 are 12,284 KB with C; they make 528 blocks. The table's 496 are
// those of a result of 992 columns.
TEST(IkraTable3, SgemmHas12284KilobytesAnd528BlocksOr496) {
  const Parameters streamed = {{"variant", "streamed"}, {"m", "1024"}};
  auto launches = profile("sgemm", with(streamed, {{"n", "1056"}, {"k", "992"}}));
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].blocks, 528u);
  EXPECT_EQ(std::round(launches[0].kib()), 12284);
  EXPECT_EQ(profile("sgemm", with(streamed, {{"n", "992"}, {"k", "8"}}))[0].blocks, 496u);
}

TEST(IkraTable3, LavamdHas8BlocksAnd61Kilobytes) {
  auto workload = make_workload("lavamd", {}, Size::Paper);
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  EXPECT_EQ(std::round(static_cast<double>(device.allocated_bytes) / 1024), 61);
  auto launches = profile("lavamd", {{"boxes", "2"}, {"particles", "100"}});
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].blocks, 8u);
  // Particles, and of each of 8 boxes its first particle and number of neighbours, and 7 numbers.
  EXPECT_EQ(launches[0].words, 800u * 2 * (4 + 1 + 4) + 8 * (2 + 1 + 7));
}

// 48 blocks are three L1s of 32 KB, 276 are 552 KB.
TEST(IkraMicrobenchmarks, OwnTwoKilobytesPerBlock) {
  for (auto [blocks, kib] : {std::pair("48", 96), std::pair("52", 104), std::pair("276", 552)}) {
    auto launches = profile("reuse", {{"blocks", blocks}, {"launches", "16"}});
    ASSERT_EQ(launches.size(), 16u);
    for (const LaunchProfile& launch : launches) {
      EXPECT_DOUBLE_EQ(launch.kib(), kib);
      EXPECT_DOUBLE_EQ(launch.of("ld.global").transactions_each(), 1);
      EXPECT_EQ(launch.of("ld.global").count, launch.blocks * 2 * 8);
      EXPECT_EQ(launch.of("st.global").count, launch.blocks * 2 * 8);
    }
  }
}

// Which way edges lead: the rank of a vertex of the stored triangle that has no entry of its own
// and to which none leads is the base; by row ranks gather at the first vertices, by column at the
// last.
TEST(IkraGraphWorkloads, ReadEntriesByColumnOrByRow) {
  const auto ranks = [](const char* entries) {
    auto workload = make_workload("pagerank", {{"entries", entries}, {"iterations", "5"}});
    WatchedDevice device;
    workload->run(device, 1);
    EXPECT_EQ(workload->check(), "");
    std::vector<float> rank(device.last_download.size());
    std::memcpy(rank.data(), device.last_download.data(), rank.size() * sizeof(float));
    return rank;
  };
  const auto first_half = [](const std::vector<float>& rank) {
    const auto middle = rank.begin() + static_cast<std::ptrdiff_t>(rank.size() / 2);
    return std::accumulate(rank.begin(), middle, 0.0) /
           std::accumulate(rank.begin(), rank.end(), 0.0);
  };
  EXPECT_GT(first_half(ranks("by_row")), 0.55);
  EXPECT_LT(first_half(ranks("by_column")), 0.45);
}

// 68 blocks of 1 to 64 updates on words of their own are 552 KB, GPU-large's.
TEST(IkraMicrobenchmarks, MixedWorkIsOnWordsOfItsOwn) {
  auto launches = profile("reuse", {{"work", "mixed"}, {"blocks", "68"}, {"words", "64"}});
  const double updates = static_cast<double>(launches[0].of("st.global").count) / 2;
  EXPECT_NEAR(launches[0].kib(), updates * 256 / 1024 + 68 * 4 / 1024.0, 0.01);
  EXPECT_NEAR(launches[0].kib(), 552, 55);
}

// How often a launch adds to each block's words, from runs that differ by one launch.
std::vector<std::uint32_t> updates_of_blocks(std::uint64_t seed,
                                             const Parameters& work = {{"work", "skewed"}}) {
  auto result = [&](const char* launches) {
    auto workload = make_workload("reuse", with(work, {{"blocks", "276"}, {"launches", launches}}));
    WatchedDevice device;
    workload->run(device, seed);
    EXPECT_EQ(workload->check(), "");
    return device.last_download;
  };
  auto once = result("1"), twice = result("2");
  std::vector<std::uint32_t> updates(276, 0);
  for (std::size_t i = 0; i < once.size(); ++i) updates[i / 512] += twice[i] - once[i];
  for (std::uint32_t& count : updates) {
    EXPECT_EQ(count % 64, 0u);
    count /= 64;  // threads
  }
  return updates;
}

TEST(IkraMicrobenchmarks, SkewedWorkIsOneTo64UpdatesSmoothAndUneven) {
  std::vector<std::uint32_t> updates = updates_of_blocks(1);
  EXPECT_THAT(updates, Each(::testing::AllOf(::testing::Ge(1u), ::testing::Le(64u))));
  double thirds[3] = {};
  for (std::size_t b = 0; b < 276; ++b) {
    thirds[b / 92] += updates[b];
    EXPECT_NEAR(updates[b], 1 + 63 * std::pow(static_cast<double>(b) / 276, 2), 3) << b;
  }
  // The squares' sums are as 1 to 7 to 19.
  EXPECT_GT(thirds[1], 3 * thirds[0]);
  EXPECT_GT(thirds[2], 2 * thirds[1]);
  EXPECT_NE(updates_of_blocks(2), updates);
}

// Uniform, and the share that is asked for in ascending order.
TEST(IkraMicrobenchmarks, MixedWorkIsUniformAndInPartAscending) {
  const auto updates = [](const char* ascending) {
    return updates_of_blocks(1, {{"work", "mixed"}, {"ascending", ascending}});
  };
  const auto ascents = [](const std::vector<std::uint32_t>& of) {
    std::size_t count = 0;
    for (std::size_t b = 1; b < of.size(); ++b) count += of[b] >= of[b - 1];
    return count;
  };
  const auto none = updates("0"), half = updates("50"), all = updates("100");
  EXPECT_THAT(half, Each(::testing::AllOf(::testing::Ge(1u), ::testing::Le(64u))));
  EXPECT_NEAR(std::accumulate(none.begin(), none.end(), 0.0) / 276, 32.5, 3.5);
  EXPECT_THAT(half, ::testing::UnorderedElementsAreArray(none));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_LT(ascents(none), 160u);
  const double third = std::accumulate(half.end() - 92, half.end(), 0.0) /
                       std::accumulate(half.begin(), half.begin() + 92, 0.0);
  EXPECT_GT(third, 1.5);  // in expectation 43.2 / 21.8
  EXPECT_LT(third, 2.6);
}

// --- results, by other reasoning than their own references ---

constexpr std::uint32_t kWidth = 12, kVertices = kWidth * kWidth;
const Parameters kGrid = {{"graph", "grid"}, {"vertices", "144"}};

std::vector<std::uint32_t> result_of(const std::string& name, const Parameters& parameters) {
  auto workload = make_workload(name, parameters);
  WatchedDevice device;
  workload->run(device, 5);
  EXPECT_EQ(workload->check(), "");
  return device.last_download;
}

// Where edges lead both ways it is a colouring: all have one, neighbours differ.
TEST(Coloring, OfAnUndirectedGraphIsProper) {
  Graph graph = workloads::make_grid(kWidth, kWidth);
  for (const char* variant : {"max", "max_min"}) {
    auto color = result_of("coloring", with(kGrid, {{"variant", variant}}));
    ASSERT_EQ(color.size(), kVertices);
    for (std::uint32_t v = 0; v < kVertices; ++v) {
      EXPECT_LT(color[v], kVertices) << variant;
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
        EXPECT_NE(color[v], color[graph.column[e]]) << variant << ' ' << v;
    }
  }
}

TEST(Mis, OfAnUndirectedGraphIsIndependentAndMaximal) {
  Graph graph = workloads::make_grid(kWidth, kWidth);
  auto in_set = result_of("mis", kGrid);
  ASSERT_EQ(in_set.size(), kVertices);
  for (std::uint32_t v = 0; v < kVertices; ++v) {
    std::uint32_t neighbors = 0;
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      neighbors += in_set[graph.column[e]];
    EXPECT_EQ(neighbors == 0, in_set[v] == 1) << v;
  }
}

// From the first of the inner points, which most edges lead to, in steps of the grid.
TEST(Dijkstra, WithWeightsOfOneCountsSteps) {
  auto distance = result_of("dijkstra", with(kGrid, {{"weights", "1"}}));
  ASSERT_EQ(distance.size(), kVertices);
  for (std::uint32_t v = 0; v < kVertices; ++v) {
    auto apart = [](std::uint32_t a) { return a > 1 ? a - 1 : 1 - a; };
    EXPECT_EQ(distance[v], apart(v % kWidth) + apart(v / kWidth)) << v;
  }
}

TEST(Dijkstra, StopsWhereItIsTold) {
  auto distance = result_of("dijkstra", with(kGrid, {{"weights", "1"}, {"iterations", "3"}}));
  for (std::uint32_t d : distance) EXPECT_TRUE(d <= 3 || d == 1u << 30) << d;
  EXPECT_THAT(distance, Contains(3u));
  EXPECT_THAT(distance, Contains(1u << 30));
}

// No rank is lost where every vertex has an edge.
TEST(PageRank, OfAGridSumsToOneAndTheMiddleHasMoreThanCorners) {
  auto bits = result_of("pagerank", with(kGrid, {{"iterations", "30"}}));
  std::vector<float> rank(bits.size());
  std::memcpy(rank.data(), bits.data(), bits.size() * 4);
  EXPECT_NEAR(std::accumulate(rank.begin(), rank.end(), 0.0), 1, 1e-4);
  EXPECT_GT(rank[kWidth * 5 + 5], 1.2 * rank[0]);
}

// --- edges ---

class IkraEdges : public ::testing::TestWithParam<IkraCase> {};

TEST_P(IkraEdges, IsCorrect) {
  auto workload = make_workload(GetParam().name, GetParam().parameters);
  ASSERT_THAT(workload->violations(), IsEmpty());
  WatchedDevice device;
  workload->run(device, 3);
  EXPECT_EQ(workload->check(), "");
}

std::vector<IkraCase> graph_cases() {
  std::vector<IkraCase> cases;
  for (const char* name : {"pagerank", "dijkstra", "coloring", "mis"}) {
    for (const char* graph :
         {"uniform", "rmat", "power_law", "grid", "small_world", "condmat", "olesnik"})
      cases.push_back({name, {{"graph", graph}}});
    cases.push_back({name, {{"vertices", "16"}, {"edges", "0"}}});
    cases.push_back({name, {{"vertices", "16"}, {"edges", "16"}, {"block", "1"}}});
    cases.push_back({name, {{"vertices", "16"}, {"graph", "olesnik"}, {"block", "33"}}});
    cases.push_back({name, {{"vertices", "257"}, {"iterations", "1"}}});
    cases.push_back({name, {{"entries", "by_row"}}});
    cases.push_back({name, {{"entries", "by_row"}, {"graph", "olesnik"}}});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Graphs, IkraEdges, ::testing::ValuesIn(graph_cases()));
INSTANTIATE_TEST_SUITE_P(
    Variants, IkraEdges,
    ::testing::Values(IkraCase{"coloring", {{"variant", "max"}}},
                      IkraCase{"coloring", {{"variant", "max"}, {"graph", "olesnik"}}},
                      IkraCase{"dijkstra", {{"weights", "65536"}}},
                      IkraCase{"reuse", {{"blocks", "1"}, {"launches", "1"}}},
                      IkraCase{"reuse", {{"words", "32"}}}, IkraCase{"reuse", {{"work", "skewed"}}},
                      IkraCase{"reuse", {{"work", "mixed"}, {"ascending", "0"}}},
                      IkraCase{"reuse", {{"work", "mixed"}, {"words", "64"}}},
                      IkraCase{"reuse", {{"work", "skewed"}, {"words", "64"}}}));
INSTANTIATE_TEST_SUITE_P(
    Tiles, IkraEdges,
    ::testing::Values(
        IkraCase{"convolution", {{"columns", "1"}, {"rows", "1"}}},
        IkraCase{"convolution", {{"columns", "128"}, {"rows", "64"}}},
        IkraCase{"convolution", {{"columns", "129"}, {"rows", "65"}}},
        IkraCase{"convolution", {{"columns", "7"}, {"rows", "200"}}},
        IkraCase{"lavamd", {{"boxes", "1"}, {"particles", "1"}}},
        IkraCase{"lavamd", {{"boxes", "3"}, {"particles", "5"}}},
        IkraCase{"lavamd", {{"particles", "100"}, {"block", "32"}}},
        IkraCase{"sgemm", {{"variant", "streamed"}}},
        IkraCase{"sgemm", {{"variant", "streamed"}, {"m", "1"}, {"n", "1"}, {"k", "1"}}},
        IkraCase{"sgemm", {{"variant", "streamed"}, {"m", "128"}, {"n", "16"}, {"k", "8"}}},
        IkraCase{"sgemm", {{"variant", "streamed"}, {"m", "129"}, {"n", "17"}, {"k", "9"}}}));

// --- wrong words and parameters ---

struct Wrong {
  IkraCase run;
  std::size_t download, word;
  std::uint32_t mask;
  std::string found;
};

class IkraSpoilt : public ::testing::TestWithParam<Wrong> {};

TEST_P(IkraSpoilt, IsFoundInThatArray) {
  const Wrong& wrong = GetParam();
  auto workload = make_workload(wrong.run.name, wrong.run.parameters);
  WatchedDevice device;
  device.corruption = Corruption{wrong.download, wrong.word, wrong.mask};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr(wrong.found));
}

// With one round, the word that tells the host to go on comes down first.
INSTANTIATE_TEST_SUITE_P(
    All, IkraSpoilt,
    ::testing::Values(
        Wrong{{"dijkstra", {{"iterations", "1"}}}, 1, 7, 1, "parent[7]: expected"},
        Wrong{{"mis", {{"iterations", "1"}}}, 1, 9, 1, "decided[9]: expected"},
        Wrong{{"convolution", {}}, 0, 77, 1u << 20, "rows[77]: expected"},
        Wrong{{"lavamd", {}}, 0, 11, 1, "force[5]: expected"},
        Wrong{{"sgemm", {{"variant", "streamed"}}}, 0, 70, 1u << 22, "c[1]: expected"}));

class IkraRefused : public ::testing::TestWithParam<std::pair<IkraCase, std::string>> {};

TEST_P(IkraRefused, SaysWhatContradicts) {
  const auto& [bad, message] = GetParam();
  auto workload = make_workload(bad.name, bad.parameters);
  EXPECT_THAT(workload->violations(), Contains(HasSubstr(message)));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, IkraRefused,
    ::testing::Values(std::pair(IkraCase{"pagerank", {{"vertices", "100"}, {"edges", "626"}}},
                                "edges must not exceed vertices^2 / 16 = 625"),
                      std::pair(IkraCase{"reuse", {{"words", "12"}}},
                                "words must be a multiple of 8, is 12"),
                      std::pair(IkraCase{"convolution", {{"columns", "32768"}, {"rows", "8193"}}},
                                "columns * rows must not exceed 2^28")));

}  // namespace

}  // namespace raddle::runtime::ikra_irregular_test

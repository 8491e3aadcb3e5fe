// The graph programs of LaPerm: right in both forms on every graph, and their kernels launch the
// children that rows, threshold and child block say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "common/nested_workload.h"
#include "functional/launch_profile.h"
#include "functional/nested_launches.h"

namespace raddle::runtime::nested_workloads_test {

namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using workloads::Graph;
using workloads::NestedGraph;

constexpr std::uint64_t kSeed = 3;
constexpr std::array kKinds = {NestedGraph::Citation, NestedGraph::Graph500, NestedGraph::Cage15};

std::string name_of(NestedGraph kind) {
  return std::string(workloads::kNestedGraphNames[static_cast<std::size_t>(kind)]);
}
Parameters of(NestedGraph kind) { return {{"graph", name_of(kind)}}; }

Parameters with(Parameters some, const Parameters& more) {
  some.insert(more.begin(), more.end());
  return some;
}

Graph graph_of(NestedGraph kind) {
  Rng rng(kSeed, workloads::kNestedGraphPath);
  return make_nested_graph(kind, nested_vertices(kind, Size::Tiny), rng);
}

// Child blocks of each row that has a child, ascending.
std::vector<std::uint32_t> child_blocks(const Graph& graph, std::uint32_t threshold,
                                        std::uint32_t child_block) {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    if (graph.degree(v) >= threshold) blocks.push_back(graph.degree(v) / child_block);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

// As child_blocks, of what was launched; a row that was looked at twice is there twice.
std::vector<std::uint32_t> launched(const std::vector<LaunchRecord>& launches) {
  std::vector<std::uint32_t> blocks;
  for (const LaunchRecord& launch : launches)
    if (launch.origin) blocks.push_back(launch.grid.x);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

class NestedProgram : public ::testing::TestWithParam<std::tuple<std::string_view, NestedGraph>> {
 protected:
  std::string_view name() const { return std::get<0>(GetParam()); }
  NestedGraph kind() const { return std::get<1>(GetParam()); }
  std::vector<LaunchRecord> run(const Parameters& parameters) const {
    return launches_of(name(), with(of(kind()), parameters), Size::Tiny, kSeed);
  }
};

INSTANTIATE_TEST_SUITE_P(All, NestedProgram,
                         ::testing::Combine(::testing::ValuesIn(kNestedPrograms),
                                            ::testing::ValuesIn(kKinds)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  name_of(std::get<1>(info.param));
                         });

// launches_of() checks the results.
TEST_P(NestedProgram, IsRightInBothFormsHoweverItIsDivided) {
  const std::vector<Parameters> shapes = {{{"persistent", "true"}},
                                          {{"block", "32"}},
                                          {{"block", "1024"}},
                                          {{"child_block", "1"}},
                                          {{"child_block", "7"}, {"threshold", "9"}},
                                          {{"child_block", "256"}},
                                          {{"child_block", "16"}, {"threshold", "6"}},
                                          {{"split", "row"}},
                                          {{"split", "row"}, {"child_block", "5"}},
                                          {{"split", "row"}, {"threshold", "1"}}};
  EXPECT_GT(launched(run({})).size(), 10u);
  for (const Parameters& shape : shapes) {
    run(shape);
    EXPECT_THAT(launched(run(with({{"form", "flat"}}, shape))), IsEmpty());
  }
}

TEST_P(NestedProgram, LongRowsHaveWholeBlocksOfChildren) {
  for (const auto& [threshold, child_block] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{16, 16}, {24, 16}, {20, 3}}) {
    const std::vector<LaunchRecord> launches = run(
        {{"threshold", std::to_string(threshold)}, {"child_block", std::to_string(child_block)}});
    const std::vector<std::uint32_t> ours = launched(launches);
    const std::vector<std::uint32_t> rows = child_blocks(graph_of(kind()), threshold, child_block);
    ASSERT_FALSE(rows.empty());
    // In every one of these graphs all rows so long are reached.
    EXPECT_TRUE(std::includes(ours.begin(), ours.end(), rows.begin(), rows.end()));
    EXPECT_THAT(ours, Each(::testing::AnyOfArray(rows)));
    for (const LaunchRecord& launch : launches) {
      if (!launch.origin) continue;
      EXPECT_EQ(launch.block.count(), child_block);
      EXPECT_EQ(launch.origin->depth, 1u);
      // A stream of its own: it waits for no other launch.
      EXPECT_THAT(launch.origin->after, IsEmpty());
    }
  }
}

// What is launched is the rows' and nothing else, in the rounding that `split` says.
TEST_P(NestedProgram, AllEdgesOfARowCanBeItsChilds) {
  const std::vector<LaunchRecord> launches =
      run({{"threshold", "9"}, {"child_block", "4"}, {"split", "row"}});
  const Graph graph = graph_of(kind());
  std::vector<std::uint32_t> rows;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    if (graph.degree(v) >= 9) rows.push_back((graph.degree(v) + 3) / 4);
  std::sort(rows.begin(), rows.end());
  const std::vector<std::uint32_t> ours = launched(launches);
  EXPECT_TRUE(std::includes(ours.begin(), ours.end(), rows.begin(), rows.end()));
  EXPECT_THAT(ours, Each(::testing::AnyOfArray(rows)));
}

TEST_P(NestedProgram, ARowShorterThanAChildBlockHasOneThatIsNotFull) {
  const std::vector<std::uint32_t> ours =
      launched(run({{"threshold", "6"}, {"child_block", "1024"}}));
  EXPECT_GT(ours.size(), 10u);
  EXPECT_THAT(ours, Each(1u));
}

TEST_P(NestedProgram, LaunchesNothingAboveTheGreatestDegree) {
  const Graph graph = graph_of(kind());
  std::uint32_t maximum = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) maximum = std::max(maximum, graph.degree(v));
  EXPECT_THAT(launched(run({{"threshold", std::to_string(maximum + 1)}})), IsEmpty());
  EXPECT_THAT(launched(run({{"threshold", std::to_string(maximum)}, {"child_block", "1"}})),
              Contains(maximum));
}

TEST_P(NestedProgram, PersistentParentsAre104Blocks) {
  for (const LaunchRecord& launch : run({{"persistent", "true"}})) {
    if (launch.origin) continue;
    EXPECT_EQ(launch.grid.x, 104u) << launch.name;
  }
}

class NestedParameters : public ::testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(All, NestedParameters, ::testing::ValuesIn(kNestedPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NestedParameters, ThatContradictAreRefused) {
  const auto violations = [](const Parameters& parameters) {
    return make_workload(GetParam(), parameters)->violations();
  };
  EXPECT_THAT(violations({}), IsEmpty());
  EXPECT_THAT(violations({{"vertices", "127"}}),
              Contains("vertices must be 0 or at least 128, is 127"));
  EXPECT_THAT(violations({{"graph", "graph500"}, {"vertices", "1000"}}),
              Contains("vertices of graph500 must be a power of two, is 1000"));
  EXPECT_THAT(violations({{"block", "100"}}), Contains("block must be a multiple of 32, is 100"));
}

std::vector<std::uint32_t> result_of(std::string_view name, const Parameters& parameters) {
  auto workload = make_workload(name, parameters);
  WatchedDevice device;
  workload->run(device, kSeed);
  EXPECT_EQ(workload->check(), "");
  return device.last_download;
}

TEST(NestedSssp, WithLengthsOfOneIsTheSearchByLevels) {
  for (const NestedGraph kind : kKinds) {
    const auto levels = result_of("nested_bfs", of(kind));
    EXPECT_EQ(result_of("nested_sssp", of(kind)), levels);
    EXPECT_NE(result_of("nested_sssp", with({{"weights", "9"}}, of(kind))), levels);
  }
}

// Threads of a warp then look at rows that are near each other: fewer lines a load.
TEST(NestedPrograms, FrontiersAreSortedWhereAskedFor) {
  for (const char* name : {"nested_bfs", "nested_sssp"})
    for (const NestedGraph kind : kKinds) {
      const Parameters found = with({{"form", "flat"}}, of(kind));
      const Parameters sorted = with({{"order", "sorted"}}, found);
      EXPECT_EQ(result_of(name, sorted), result_of(name, found));
      const auto lines_of_a_load = [&](const Parameters& parameters) {
        Accesses sum;
        for (const LaunchProfile& launch : profile(name, parameters)) {
          if (!launch.name.ends_with("_expand_flat")) continue;
          sum.count += launch.of("ld.global").count;
          sum.transactions += launch.of("ld.global").transactions;
        }
        return sum.transactions_each();
      };
      EXPECT_LT(lines_of_a_load(sorted), lines_of_a_load(found)) << name << " " << name_of(kind);
    }
}

// Every vertex gets nearer once; with other lengths again, and its row has a child again.
TEST(NestedSssp, WithLengthsOfOneEveryLongRowHasOneChild) {
  for (const NestedGraph kind : kKinds) {
    const Parameters parameters = with({{"threshold", "12"}, {"child_block", "5"}}, of(kind));
    const auto launched_with = [&](const char* weights) {
      return launched(
          launches_of("nested_sssp", with({{"weights", weights}}, parameters), Size::Tiny, kSeed));
    };
    const std::vector<std::uint32_t> rows = child_blocks(graph_of(kind), 12, 5);
    EXPECT_EQ(launched_with("1"), rows);
    EXPECT_GT(launched_with("65536").size(), rows.size());
  }
}

// Neighbours never get a colour in the same round, and all have one in the end.
TEST(NestedColoring, IsAProperColouring) {
  constexpr std::uint32_t kUncolored = ~0u;
  for (const NestedGraph kind : kKinds) {
    const Graph graph = graph_of(kind);
    const auto color = result_of("nested_coloring", with({{"rounds", "1000"}}, of(kind)));
    const auto three = result_of("nested_coloring", with({{"rounds", "3"}}, of(kind)));
    ASSERT_EQ(color.size(), graph.vertices());
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      EXPECT_LT(color[v], 1000u);
      EXPECT_EQ(three[v], color[v] < 3 ? color[v] : kUncolored);
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
        EXPECT_NE(color[v], color[graph.column[e]]) << v;
    }
  }
}

TEST(NestedColoring, LongRowsOfVerticesWithoutColourHaveOneChildARound) {
  for (const NestedGraph kind : kKinds) {
    const Parameters parameters = with({{"threshold", "12"}, {"child_block", "5"}}, of(kind));
    const auto launched_in = [&](const char* rounds) {
      return launched(launches_of("nested_coloring", with({{"rounds", rounds}}, parameters),
                                  Size::Tiny, kSeed));
    };
    const Graph graph = graph_of(kind);
    const auto first = child_blocks(graph, 12, 5);
    EXPECT_EQ(launched_in("1"), first);
    const auto color = result_of("nested_coloring", with({{"rounds", "1"}}, parameters));
    std::size_t left = 0;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v)
      left += graph.degree(v) >= 12 && color[v] != 0;
    EXPECT_EQ(launched_in("2").size(), first.size() + left);
  }
}

// Bits of the bitmask are lost, so vertices are found again, and lists are longer than the graph.
TEST(NestedBfs, SaysThatItsListsHaveNoRoom) {
  SimulatedDevice device({});
  const auto workload = make_workload("nested_bfs", {{"graph", "graph500"}, {"room", "1"}});
  try {
    workload->run(device, 1);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), ::testing::MatchesRegex("the list of neighbours has room for 8626 "
                                                      "words, [0-9]+ were wanted"));
  }
}

}  // namespace

}  // namespace raddle::runtime::nested_workloads_test

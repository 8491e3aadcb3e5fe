// The character of LaPerm's graph programs at `small`, seed 1: the tables of their READMEs are what
// this test counts, row by row. A row that is missing there is printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "common/nested_workload.h"
#include "functional/graph_character.h"
#include "functional/launch_profile.h"
#include "functional/nested_launches.h"
#include "raddle_paths.h"
#include "support/process.h"

namespace raddle::runtime::nested_graph_character_test {

namespace {

using ::testing::HasSubstr;
using workloads::Graph;
using workloads::NestedGraph;

constexpr std::array kGraphs = {NestedGraph::Citation, NestedGraph::Graph500, NestedGraph::Cage15};

std::string name_of(NestedGraph kind) {
  return std::string(workloads::kNestedGraphNames[static_cast<std::size_t>(kind)]);
}

// 12345 as 12,345
std::string grouped(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string fixed(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string row(const std::vector<std::string>& columns) {
  std::string text = "|";
  for (const std::string& column : columns) text += " " + column + " |";
  return text + "\n";
}

std::string readme(std::string_view program) {
  return test::read_file(std::filesystem::path(RADDLE_SOURCE_DIR) / "workloads" / program /
                         "README.md");
}

// | graph | vertices | arcs | degree: mean, median, greatest | rows with children | their arcs |
// distance of neighbours: mean, median | KB of row and column |
std::string input_row(NestedGraph kind) {
  Rng rng(1, workloads::kNestedGraphPath);
  const Graph graph = make_nested_graph(kind, nested_vertices(kind, Size::Small), rng);
  const auto degrees = sorted_degrees(graph);
  const auto distances = sorted_distances(graph);
  const auto long_rows = from_degree(graph, kind == NestedGraph::Cage15 ? 16 : 32);
  return row({name_of(kind), grouped(graph.vertices()), grouped(graph.column.size()),
              fixed(mean_degree(graph), 2), grouped(degrees[degrees.size() / 2]),
              grouped(degrees.back()), percent(long_rows.vertices), percent(long_rows.arcs),
              fixed(workloads::mean(distances), 3) + " n",
              fixed(workloads::median(distances), 3) + " n",
              grouped(4 * (graph.row.size() + graph.column.size()) / 1024)});
}

TEST(NestedInputs, AreThoseOfTheTable) {
  for (const NestedGraph kind : kGraphs)
    EXPECT_THAT(readme("nested_bfs"), HasSubstr(input_row(kind)));
}

// | graph | `split` | edges of children, of all: threshold 8 | 16 | 32 | 64 |, child blocks of 32
std::string children_edges_row(NestedGraph kind, const std::string& split) {
  constexpr std::uint32_t kChildBlock = 32;
  Rng rng(1, workloads::kNestedGraphPath);
  const Graph graph = make_nested_graph(kind, nested_vertices(kind, Size::Paper), rng);
  std::vector<std::string> columns = {name_of(kind), "`" + split + "`"};
  for (const std::uint32_t threshold : {8u, 16u, 32u, 64u}) {
    std::uint64_t edges = 0;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      const std::uint32_t degree = graph.degree(v);
      if (degree < threshold) continue;
      const bool all = split == "row" || degree < kChildBlock;
      edges += all ? degree : degree / kChildBlock * kChildBlock;
    }
    columns.push_back(
        percent(static_cast<double>(edges) / static_cast<double>(graph.column.size())));
  }
  return row(columns);
}

TEST(NestedInputs, HaveTheEdgesOfChildrenThatTheTableSays) {
  for (const NestedGraph kind : kGraphs)
    for (const char* split : {"blocks", "row"})
      EXPECT_THAT(readme("nested_bfs"), HasSubstr(children_edges_row(kind, split)));
}

struct Children {
  std::uint64_t parents = 0, parent_blocks = 0, parent_threads = 0;
  std::uint64_t launches = 0, blocks = 0, max_blocks = 0;
  std::uint64_t of_one_parent = 0;  ///< most launches
};

bool is_parent(const std::string& kernel) {
  return kernel.find("_expand") != kernel.npos || kernel.find("_scan") != kernel.npos;
}

Children count(const std::vector<LaunchRecord>& launches) {
  Children out;
  std::uint64_t of_this = 0;
  for (const LaunchRecord& launch : launches) {
    if (!launch.origin) {
      of_this = 0;
      if (!is_parent(launch.name)) continue;
      ++out.parents;
      out.parent_blocks += launch.grid.count();
      out.parent_threads += launch.grid.count() * launch.block.count();
      continue;
    }
    ++out.launches;
    out.blocks += launch.grid.count();
    out.max_blocks = std::max<std::uint64_t>(out.max_blocks, launch.grid.count());
    out.of_one_parent = std::max(out.of_one_parent, ++of_this);
  }
  return out;
}

// Of the flat form's parents: what the launch touches that touches most.
double max_kib(std::string_view program, const std::string& graph) {
  auto workload = make_workload(program, {{"graph", graph}, {"form", "flat"}}, Size::Small);
  ProfileSink sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(std::move(options));
  workload->run(device, 1);
  double maximum = 0;
  for (const LaunchProfile& launch : sink.profiles)
    if (is_parent(launch.name)) maximum = std::max(maximum, launch.kib());
  return maximum;
}

// What the program would have CUDA allow.
std::uint32_t pending_launches(std::string_view program) {
  const auto workload = make_workload(program, {});
  return dynamic_cast<const workloads::NestedWorkload&>(*workload).pending_launches();
}

// | graph | parent launches | their blocks | child launches | of parent threads | child blocks |
// a launch: mean, most | most launches of one parent | KB touched by one parent launch |
std::string children_row(std::string_view program, NestedGraph kind) {
  const std::string graph = name_of(kind);
  const Children c = count(launches_of(program, {{"graph", graph}}, Size::Small, 1));
  const auto share = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  EXPECT_LE(c.of_one_parent, pending_launches(program));
  return row({graph, grouped(c.parents), grouped(c.parent_blocks), grouped(c.launches),
              percent(share(c.launches, c.parent_threads)), grouped(c.blocks),
              fixed(share(c.blocks, c.launches), 2), grouped(c.max_blocks),
              grouped(c.of_one_parent),
              grouped(static_cast<std::uint64_t>(max_kib(program, graph)))});
}

class NestedCharacter : public ::testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(All, NestedCharacter, ::testing::ValuesIn(kNestedPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NestedCharacter, IsThatOfTheTable) {
  for (const NestedGraph kind : kGraphs)
    EXPECT_THAT(readme(GetParam()), HasSubstr(children_row(GetParam(), kind)));
}

}  // namespace

}  // namespace raddle::runtime::nested_graph_character_test

// The map of the mesh on the page, of made-up counts.
#include "raddle/report/mesh_map.h"

#include <gtest/gtest.h>

#include "raddle/report/report.h"
#include "samples.h"

namespace raddle::report::mesh_map_test {
namespace {

using Json = nlohmann::ordered_json;
using timing::MeshCounts;

/// Two nodes: SMs 0 and 1; the second is a slice's and a controller's, too.
sim::Result two_nodes() {
  sim::Result r = small_result();
  r.schedulers = 4;
  r.mesh.emplace();
  r.mesh->places = {2, 1, {0, 1}, {1}, {1}, timing::mesh_links(2, 1)};
  r.mesh->counts.push_back(
      {100, {10, 0}, {0, 40}, {{100, 50, 0}, {0, 0, 200}}, {{100, 0, 0}, {0, 75, 25}}, {}});
  r.mesh->counts.push_back({200,
                            {15, 1},
                            {0, 50},
                            {{200, 50, 100}, {0, 101, 299}},
                            {{100, 60, 40}, {100, 75, 25}},
                            {{0, 1, 3}}});
  r.mesh->counts.push_back({250,
                            {15, 1},
                            {0, 50},
                            {{300, 50, 100}, {0, 101, 399}},
                            {{100, 60, 90}, {100, 75, 75}},
                            {{0, 1, 3}, {1, 0, 4}}});
  return r;
}

TEST(MeshMap, IsThereWhereThereIsAMesh) {
  EXPECT_TRUE(mesh_json(small_result(), 1000).is_null());
  const sim::Result r = two_nodes();
  EXPECT_EQ(data({"", "", {{"gto", &r}}})["runs"][0]["mesh"], mesh_json(r, 1000));
}

TEST(MeshMap, HasColumnsOfDifferences) {
  EXPECT_EQ(mesh_json(two_nodes(), 1000), Json::parse(R"({
    "columns": 2, "rows": 1, "sms": [0, 1], "slices": [1], "controllers": [1],
    "from": [0, 1], "to": [1, 0],
    "start": [0, 100, 200], "length": [100, 100, 50],
    "requests": [[10, 0], [5, 1], [0, 0]], "replies": [[0, 40], [0, 10], [0, 0]],
    "issued": [[500, 0], [500, 0], [1000, 0]], "memory": [[250, 0], [0, 505], [0, 0]],
    "idle": [[0, 1000], [500, 495], [0, 1000]],
    "relaxed": [[1000, 0], [0, 1000], [0, 0]], "critical": [[0, 250], [400, 0], [1000, 1000]],
    "moved": [0, 3, 4], "moves": [[], [0, 1, 3], [1, 0, 4]]})"));
}

TEST(MeshMap, WithoutStatesHasNone) {
  sim::Result r = two_nodes();
  for (MeshCounts& c : r.mesh->counts) c.states.clear();
  const Json map = mesh_json(r, 1000);
  EXPECT_EQ(map["relaxed"], Json::array());
  EXPECT_EQ(map["critical"], Json::array());
  EXPECT_EQ(map["issued"].size(), 3u);
}

TEST(MeshMap, OfManyIntervalsSumsNeighboursWithoutLoss) {
  sim::Result r = two_nodes();
  r.mesh->counts.clear();
  for (std::uint64_t i = 1; i <= 1001; ++i)
    r.mesh->counts.push_back({10 * i, {i, 2 * i}, {0, 0}, {{5 * i, 0, 0}, {}}, {}, {{0, 1, i}}});
  const Json map = mesh_json(r, 14 * 100);  // 14 numbers of a column
  EXPECT_EQ(map["start"].size(), 91u);
  EXPECT_EQ(map["length"][0], 110);
  EXPECT_EQ(map["length"][90], 110);
  std::uint64_t flits = 0, moved = 0, cycles = 0;
  for (std::size_t c = 0; c < 91; ++c) {
    flits += map["requests"][c][1].get<std::uint64_t>();
    moved += map["moved"][c].get<std::uint64_t>();
    cycles += map["length"][c].get<std::uint64_t>();
  }
  EXPECT_EQ(flits, 2002u);
  EXPECT_EQ(moved, 1001u);
  EXPECT_EQ(cycles, 10010u);
}

TEST(MeshMap, HasNoMoreColumnsThanCanBeSeen) {
  sim::Result r = two_nodes();
  const MeshCounts last = r.mesh->counts.back();
  for (Cycle i = 1; i <= 400; ++i) {
    r.mesh->counts.push_back(last);
    r.mesh->counts.back().at += i;
  }
  const Json map = mesh_json(r, 1'000'000);
  EXPECT_EQ(map["start"].size(), 135u);
  EXPECT_EQ(map["start"][134].get<Cycle>() + map["length"][134].get<Cycle>(), 650u);
}

TEST(MeshMap, TellsThePairsWithMostMoves) {
  sim::Result r = two_nodes();
  r.mesh->counts.resize(1);
  for (std::uint32_t to = 0; to < 1000; ++to) r.mesh->counts[0].moves.push_back({0, to, to + 1});
  const Json map = mesh_json(r, 1000);
  EXPECT_EQ(map["moved"], Json({500'500}));
  ASSERT_EQ(map["moves"][0].size(), 3 * kMaxMovesOfColumn);
  EXPECT_EQ(map["moves"][0][1], 999);
  EXPECT_EQ(map["moves"][0][2], 1000);
}

TEST(MeshMap, ManyRunsShareTheRoom) {
  sim::Result r = two_nodes();
  r.mesh->places.links = timing::mesh_links(32, 32);
  r.mesh->counts.clear();
  const std::vector<std::uint64_t> flits(r.mesh->places.links.size());
  for (std::uint64_t i = 1; i <= 300; ++i)
    r.mesh->counts.push_back({10 * i, flits, flits, {{}, {}}, {}, {}});
  const Json page = data({"", "", std::vector<report::Run>(20, {"gto", &r})});
  std::size_t cells = 0;
  for (const Json& run : page["runs"])
    cells += run["mesh"]["start"].size() * (2 * flits.size() + 10);
  EXPECT_LE(cells, kMaxMeshCellsOfPage);
  EXPECT_GT(cells, kMaxMeshCellsOfPage / 2);
}

}  // namespace
}  // namespace raddle::report::mesh_map_test

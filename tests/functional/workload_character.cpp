// The character that CCWS describes (workloads/README.md, "What CCWS needs of them"), where it is a
// property of kernel and input: how many lines a warp touches before it comes back to one of them,
// and whether it is the same thread that comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/workload_support.h"
#include "support/stream_character.h"

namespace raddle::runtime::workload_character_test {

namespace {

std::map<std::string, test::KernelCharacter> characters(const char* workload,
                                                        const Parameters& parameters) {
  auto made = make_workload(workload, parameters, Size::Small);
  test::CharacterSink sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(options);
  made->run(device, 1);
  return sink.kernels;
}

TEST(Character, KmeansLayoutComesBackToEachOfItsRowsLines) {
  auto all = characters("kmeans", {{"points", "3200"}});
  const auto& layout = all.at("kmeans_layout");
  // 32 rows of 136 bytes are 34 or 35 lines; all are touched in each of the 34 rounds.
  EXPECT_GT(layout.reuse_share(), 0.95);
  EXPECT_GT(layout.same_thread_share(), 0.95);
  EXPECT_GE(layout.lines_for(0.5), 31u);
  EXPECT_LE(layout.lines_for(0.97), 35u);
  // 34 lines of features and a few of the centroids, once for each of five clusters.
  const auto& assign = all.at("kmeans_assign");
  EXPECT_GT(assign.reuse_share(), 0.85);
  EXPECT_GE(assign.lines_for(0.97), 34u);
  EXPECT_LE(assign.lines_for(0.97), 40u);
}

// Four warps fill the 256 lines of CCWS's cache, as its best limit of 4 says.
TEST(Character, KmnComesBackToItsRowsForEachCluster) {
  const auto assign = characters("kmn", {{"points", "3200"}}).at("kmn_assign");
  // 32 rows of 136 bytes are 34 or 35 lines, and 2 or so of the centroids lie between.
  EXPECT_GT(assign.reuse_share(), 0.98);
  EXPECT_GT(assign.same_thread_share(), 0.95);
  EXPECT_GE(assign.lines_for(0.5), 31u);
  EXPECT_LE(assign.lines_for(0.97), 40u);
}

TEST(Character, MemcComesBackByteByByte) {
  const auto get = characters("memc", {{"requests", "4096"}}).at("memc_get");
  EXPECT_GT(get.reuse_share(), 0.95);
  EXPECT_GT(get.same_thread_share(), 0.99);
  // 16 lines of requests while hashing; with the items' 32 while comparing.
  EXPECT_EQ(get.lines_for(0.5), 16u);
  EXPECT_GE(get.lines_for(0.9), 30u);
  EXPECT_LE(get.lines_for(0.9), 50u);
}

TEST(Character, BfsComesBackToEdgesAndMeetsOthersNeighbours) {
  const auto expand = characters("bfs", {}).at("bfs_expand");
  EXPECT_GT(expand.reuse_share(), 0.45);
  EXPECT_GE(expand.lines_for(0.9), 28u);
  EXPECT_LE(expand.lines_for(0.9), 64u);
  EXPECT_LT(expand.same_thread_share(), 0.96);
  // Fewer lines where neighbours have close numbers, or few lanes have anything to do.
  for (const char* other : {"small_world", "power_law"})
    EXPECT_LT(characters("bfs", {{"graph", other}}).at("bfs_expand").mean_lines(),
              expand.mean_lines() * 0.8)
        << other;
}

TEST(Character, GcWalksObjectsAndTouchesTheirTargets) {
  auto all = characters("gc", {{"objects", "16384"}, {"heap_kib", "1792"}});
  const auto& mark = all.at("gc_mark");
  EXPECT_GT(mark.reuse_share(), 0.55);
  EXPECT_GT(mark.same_thread_share(), 0.9);
  EXPECT_GE(mark.lines_for(0.9), 40u);
  EXPECT_LE(mark.lines_for(0.9), 64u);
}

TEST(Character, SsspNeedsFewLinesPerWarp) {
  const auto relax = characters("sssp", {}).at("sssp_relax");
  EXPECT_GT(relax.reuse_share(), 0.7);
  // 32 warps fit into 256 lines, not into 64.
  EXPECT_LE(relax.lines_for(0.9), 10u);
  EXPECT_GE(relax.lines_for(0.9), 4u);
}

}  // namespace

}  // namespace raddle::runtime::workload_character_test

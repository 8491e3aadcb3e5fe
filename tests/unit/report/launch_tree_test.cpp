// The launch tree of made-up runs, worked out by hand; and against a straightforward count.
#include "raddle/report/launch_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "raddle/base/rng.h"
#include "raddle/report/report.h"
#include "unit/report/samples.h"

namespace raddle::report::launch_tree_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

/// A run put together launch by launch.
class Launches {
 public:
  Launches() {
    result_ = small_result();
    result_.kernels.clear();
    result_.blocks.clear();
  }
  std::uint32_t host(const std::string& name, Cycle start) { return put(name, start, start); }
  /// By block `block` of `parent`; may hand out blocks from `begin` on.
  std::uint32_t child(const std::string& name, std::uint32_t parent, std::uint32_t block,
                      Cycle start, Cycle begin) {
    const std::uint32_t number = put(name, start, begin);
    const auto& above = result_.kernels[parent].parent;
    sim::KernelParent& made_by = result_.kernels[number].parent.emplace();
    made_by.kernel = parent;
    made_by.origin.block = block;
    made_by.origin.depth = above ? above->origin.depth + 1 : 1;
    return number;
  }
  Launches& block(std::uint32_t launch, std::uint32_t block, std::uint32_t sm, Cycle start,
                  Cycle end) {
    result_.blocks.push_back({launch, block, sm, start, end});
    result_.kernels[launch].end = std::max(result_.kernels[launch].end, end);
    return *this;
  }
  sim::Result& result() { return result_; }

 private:
  std::uint32_t put(const std::string& name, Cycle start, Cycle begin) {
    result_.kernels.push_back(kernel(name, start, start));
    result_.kernels.back().begin = begin;
    return static_cast<std::uint32_t>(result_.kernels.size() - 1);
  }
  sim::Result result_;
};

/// Two blocks of a host's launch; the first makes two children, one of which makes another.
sim::Result worked() {
  Launches l;
  const auto alone = l.host("alone", 0);
  const auto host = l.host("root", 100);
  const auto far = l.child("leaf", host, 0, 130, 140);
  const auto near = l.child("leaf", host, 0, 120, 120);
  const auto deep = l.child("deep", far, 1, 200, 203);
  l.block(alone, 0, 0, 0, 90);
  l.block(host, 1, 5, 104, 150).block(host, 0, 3, 104, 160);
  l.block(far, 0, 3, 141, 180).block(far, 1, 4, 150, 260);
  l.block(near, 0, 3, 120, 170);
  l.block(deep, 0, 0, 203, 250);
  return l.result();
}

TEST(LaunchTree, WhoRanWhereAndWaitedHowLong) {
  const LaunchTree tree = launch_tree(worked(), 100);
  EXPECT_EQ(tree.launches, 3u);
  ASSERT_EQ(tree.longest.size(), 3u);
  const DeviceLaunch& far = tree.longest[0];
  EXPECT_EQ(far.launch, 2u);
  EXPECT_EQ(far.parent, 1u);
  EXPECT_EQ(far.parent_sm, 3u);
  EXPECT_EQ(far.wait(), 141u - 130u);
  EXPECT_EQ(far.entry_wait(), 10u);
  EXPECT_EQ(far.blocks, 2u);
  EXPECT_EQ(far.on_parent_sm, 1u);
  EXPECT_THAT(far.sms, ElementsAre(3, 4));
  EXPECT_EQ(tree.longest[1].launch, 4u);
  EXPECT_EQ(tree.longest[1].parent_sm, 4u) << "block 1 of its parent ran there";
  EXPECT_EQ(tree.longest[1].on_parent_sm, 0u);
  EXPECT_EQ(tree.longest[2].wait(), 0u);
}

TEST(LaunchTree, EdgesAreByDepthAndName) {
  const LaunchTree tree = launch_tree(worked(), 100);
  ASSERT_EQ(tree.edges.size(), 2u);
  const LaunchEdge &first = tree.edges[0], &second = tree.edges[1];
  EXPECT_EQ(first.parent, "root");
  EXPECT_EQ(first.child, "leaf");
  EXPECT_EQ(first.depth, 1u);
  EXPECT_EQ(first.launches, 2u);
  EXPECT_EQ(first.blocks, 3u);
  EXPECT_EQ(first.on_parent_sm, 2u);
  EXPECT_EQ(first.entry_waits, 10u);
  EXPECT_EQ(first.waits.longest, 11u);
  EXPECT_EQ(first.waits.mean, 5u) << "11 and 0";
  EXPECT_EQ(second.parent, "leaf");
  EXPECT_EQ(second.child, "deep");
  EXPECT_EQ(second.depth, 2u);
}

TEST(LaunchTree, RowsStandUnderTheirParentsInOrderOfStart) {
  const LaunchTree tree = launch_tree(worked(), 100);
  EXPECT_EQ(tree.bundle, Bundle::Launch);
  EXPECT_EQ(tree.rows_left_out, 0u);
  std::vector<std::uint32_t> launches, parents, depths;
  for (const TreeRow& row : tree.rows) {
    launches.push_back(row.first_launch);
    parents.push_back(row.parent);
    depths.push_back(row.depth);
  }
  EXPECT_THAT(launches, ElementsAre(1, 3, 2, 4)) << "not 0, which has no descendants";
  EXPECT_THAT(parents, ElementsAre(TreeRow::kNoParent, 0, 0, 2));
  EXPECT_THAT(depths, ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(tree.rows[2].start, 130u);
  EXPECT_EQ(tree.rows[2].first, 141u);
  EXPECT_EQ(tree.rows[2].end, 260u);
  EXPECT_EQ(tree.rows[2].longest, 11u);
}

TEST(LaunchTree, SiblingsShareARowWhereThereIsNoRoomForEach) {
  const LaunchTree tree = launch_tree(worked(), 3);
  EXPECT_EQ(tree.bundle, Bundle::Siblings);
  ASSERT_EQ(tree.rows.size(), 3u);
  const TreeRow& both = tree.rows[1];
  EXPECT_EQ(both.launches, 2u);
  EXPECT_EQ(both.first_launch, 2u);
  EXPECT_EQ(both.blocks, 3u);
  EXPECT_EQ(both.on_parent_sm, 2u);
  EXPECT_EQ(both.start, 120u);
  EXPECT_EQ(both.first, 120u);
  EXPECT_EQ(both.end, 260u);
  EXPECT_EQ(both.waits, 11u);
  EXPECT_THAT(both.sms, ElementsAre(3, 4));
  EXPECT_EQ(tree.rows[2].parent, 1u);
}

/// Ten launches of the host, each with children of two blocks.
sim::Result wide() {
  Launches l;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const auto host = l.host("root", 100 * i);
    l.block(host, 0, 0, 100 * i, 100 * i + 50).block(host, 1, 1, 100 * i, 100 * i + 50);
    for (std::uint32_t block = 0; block < 2; ++block) {
      const auto child = l.child("leaf", host, block, 100 * i + 10, 100 * i + 10);
      l.block(child, 0, block, 100 * i + 60, 100 * i + 90);
    }
  }
  return l.result();
}

TEST(LaunchTree, PathsShareARowWhereThereIsNoRoomForSiblings) {
  EXPECT_EQ(launch_tree(wide(), 30).bundle, Bundle::Launch);
  const LaunchTree tree = launch_tree(wide(), 29);
  EXPECT_EQ(tree.bundle, Bundle::Path) << "siblings are not fewer here";
  ASSERT_EQ(tree.rows.size(), 2u);
  EXPECT_EQ(tree.rows[0].launches, 10u);
  EXPECT_EQ(tree.rows[1].launches, 20u);
  EXPECT_EQ(tree.rows[1].on_parent_sm, 20u);
  EXPECT_EQ(tree.rows[1].waits, 20u * 50);
  EXPECT_EQ(tree.rows_left_out, 0u);
}

TEST(LaunchTree, TooManyPathsAreCutAndCounted) {
  const LaunchTree tree = launch_tree(worked(), 2);
  EXPECT_EQ(tree.bundle, Bundle::Path);
  EXPECT_EQ(tree.rows.size(), 2u);
  EXPECT_EQ(tree.rows_left_out, 1u);
  EXPECT_EQ(tree.launches, 3u) << "edges and waits are of all";
}

TEST(LaunchTree, WaitsByHand) {
  const Waits waits = waits_of({0, 1, 2, 3, 4, 7, 8, 0, 0, 100});
  EXPECT_EQ(waits.mean, 12u);
  EXPECT_EQ(waits.median, 2u);
  EXPECT_EQ(waits.p90, 8u);
  EXPECT_EQ(waits.longest, 100u);
  EXPECT_THAT(waits.bins, ElementsAre(3, 1, 2, 2, 1, 0, 0, 1));
  const Waits one = waits_of({5});
  EXPECT_EQ(one.median, 5u);
  EXPECT_EQ(one.p90, 5u);
  EXPECT_THAT(waits_of({0, 0}).bins, ElementsAre(2));
}

TEST(LaunchTree, OfAnyRunRowsAndEdgesCountEachLaunchOnce) {
  Rng rng(7);
  Launches launches;
  std::uint64_t blocks = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const bool host = i == 0 || rng.below(20) == 0;
    const Cycle start = 10 * i;
    const auto number = host ? launches.host("root", start)
                             : launches.child(rng.below(2) == 0 ? "a" : "b", rng.below(i),
                                              rng.below(2), start, start + rng.below(5));
    for (std::uint32_t block = 0; block < 2; ++block)
      launches.block(number, block, rng.below(4), start + 5 + rng.below(300), start + 1000);
    blocks += host ? 0 : 2;
  }
  for (const std::size_t maximum : {1000, 350, 150, 20}) {
    const LaunchTree tree = launch_tree(launches.result(), maximum);
    std::uint64_t by_edges = 0, by_rows = 0, edge_blocks = 0, in_bins = 0, waits = 0;
    for (const LaunchEdge& edge : tree.edges) {
      by_edges += edge.launches;
      edge_blocks += edge.blocks;
      in_bins = std::accumulate(edge.waits.bins.begin(), edge.waits.bins.end(), in_bins);
    }
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      const TreeRow& row = tree.rows[i];
      if (row.parent == TreeRow::kNoParent) continue;
      ASSERT_LT(row.parent, i);
      EXPECT_EQ(tree.rows[row.parent].depth + 1, row.depth);
      by_rows += row.launches;
      waits = std::max<std::uint64_t>(waits, row.longest);
    }
    EXPECT_EQ(by_edges, tree.launches);
    EXPECT_EQ(in_bins, tree.launches);
    EXPECT_EQ(edge_blocks, blocks);
    EXPECT_LE(tree.rows.size(), maximum);
    EXPECT_EQ(tree.longest.size(), kMaxLongest);
    EXPECT_TRUE(std::ranges::is_sorted(tree.longest, std::greater(), &DeviceLaunch::wait));
    if (tree.rows_left_out != 0) continue;
    EXPECT_EQ(by_rows, tree.launches);
    EXPECT_EQ(waits, tree.longest.front().wait());
  }
}

TEST(LaunchTree, InThePageItIsColumnsOfOneLength) {
  const sim::Result result = worked();
  const Json tree = data({"", "", {{"rr", &result}}})["runs"][0]["launch_tree"];
  EXPECT_EQ(tree["launches"], 3);
  EXPECT_EQ(tree["bundle"], "launch");
  const Json& rows = tree["rows"];
  EXPECT_EQ(rows["kernels"], Json({"root", "leaf", "deep"}));
  EXPECT_EQ(rows["kernel"], Json({0, 1, 1, 2}));
  EXPECT_EQ(rows["parent"], Json({nullptr, 0, 0, 2}));
  EXPECT_EQ(rows["mean_wait"], Json({0, 0, 11, 3}));
  EXPECT_EQ(rows["first_sm"], Json({0, 3, 3, 0}));
  EXPECT_EQ(rows["sms"], Json({"", "3", "3-4", "0"}));
  for (const auto& [name, column] : rows.items())
    EXPECT_EQ(column.size(), name == "kernels" ? 3u : 4u) << name;
  EXPECT_EQ(tree["edges"][0]["waits"]["bins"], Json({1, 0, 0, 0, 1}));
  EXPECT_EQ(tree["edges"][0]["mean_entry_wait"], 5);
  EXPECT_EQ(tree["longest"][0]["kernel"], "leaf");
  EXPECT_EQ(tree["longest"][0]["sms"], "3-4");
}

TEST(LaunchTree, RunsWithoutNestedLaunchesOrTimeHaveNone) {
  sim::Result result = small_result();
  EXPECT_TRUE(launch_tree_json(result, 10).is_null());
  const LaunchTree none = launch_tree(result, 10);
  EXPECT_THAT(none.rows, IsEmpty());
  EXPECT_THAT(none.edges, IsEmpty());
  result = worked();
  result.timed = false;
  EXPECT_TRUE(launch_tree_json(result, 10).is_null());
  result = worked();
  result.blocks.clear();
  EXPECT_TRUE(launch_tree_json(result, 10).is_null()) << "no block was seen";
}

TEST(LaunchTree, ManyRunsShareTheRoomForRows) {
  Launches l;
  const auto host = l.host("root", 0);
  l.block(host, 0, 0, 0, 10).block(host, 1, 0, 0, 10);
  for (std::uint32_t i = 0; i < 2'500; ++i)
    l.block(l.child("leaf", host, i % 2, 5, 5), 0, 0, 20, 30);
  const sim::Result& result = l.result();
  const auto bundle = [&](std::size_t runs) {
    const Json page = data({"", "", std::vector<report::Run>(runs, {"rr", &result})});
    return page["runs"][0]["launch_tree"]["bundle"].get<std::string>();
  };
  EXPECT_EQ(bundle(1), "launch");
  EXPECT_EQ(bundle(30), "siblings");
}

}  // namespace
}  // namespace raddle::report::launch_tree_test

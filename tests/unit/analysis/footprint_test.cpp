// Sets of lines written by hand, their ratios worked out by hand; and against sets of the library.
#include "raddle/analysis/footprint.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <set>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "support/errors.h"
#include "support/stream_builder.h"
#include "unit/analysis/figures.h"

namespace raddle::analysis::footprint_test {
namespace {

using raddle::support::TransactionSpec;

using Blocks = std::vector<std::vector<std::uint32_t>>;  // lines, by block

/// A tree of launches. The first is the host's; lines are loaded by blocks of one warp.
class Tree {
 public:
  explicit Tree(const Blocks& host, const std::string& name = "parent") {
    put(name, host, std::nullopt);
  }
  /// A launch that block `block` of launch `parent` makes; its number.
  std::uint32_t launch(const Blocks& blocks, std::uint32_t parent, std::uint32_t block,
                       const std::string& name = "child") {
    trace::DeviceOrigin origin;
    origin.parent = parent;
    origin.block = block;
    put(name, blocks, origin);
    return static_cast<std::uint32_t>(launches_.size() - 1);
  }
  void notify(SharedFootprint& footprint) {
    std::vector<SharedFootprint::Launch> tree;
    for (One& one : launches_)
      tree.push_back({&one.recording.stream(), one.origin ? &*one.origin : nullptr});
    footprint.tree(tree);
  }

 private:
  struct One {
    raddle::support::Recording recording;
    std::optional<trace::DeviceOrigin> origin;
  };
  void put(const std::string& name, const Blocks& blocks,
           const std::optional<trace::DeviceOrigin>& origin) {
    raddle::support::Code code(name);
    const auto load = code.load(1, 10), done = code.exit();
    const auto n = static_cast<std::uint32_t>(blocks.size());
    One& one = launches_.emplace_back(
        One{raddle::support::Recording(code, {.grid = {n}, .block = {32}}), origin});
    one.recording.each_warp([&](raddle::support::WarpWriter& w) {
      for (const std::uint32_t line : blocks[w.block()]) w.lines(load, {{line}});
      w.op(done);
    });
  }
  std::deque<One> launches_;
};

Figures figures_of(const SharedFootprint& footprint) {
  Figures out;
  footprint.visit(out);
  return out;
}

constexpr double kNear = 1e-12;

/// A parent launch of three blocks, of which the second launches twice.
Tree worked_tree() {
  Tree tree(Blocks{{1, 2}, {10, 11, 12, 13}, {2, 10}});
  tree.launch({{10, 20}, {11, 20, 21, 20}}, 0, 1);
  tree.launch({{30}}, 0, 1);
  return tree;
}

TEST(SharedFootprint, ParentAndChildrenByHand) {
  SharedFootprint footprint(128);
  worked_tree().notify(footprint);
  const FamilyFootprints& f = footprint.families();
  EXPECT_EQ(f.direct_parents, 1u);
  EXPECT_EQ(f.child_launches, 2u);
  EXPECT_EQ(f.child_blocks, 3u);
  EXPECT_EQ(f.parent_child.pairs(), 1u);
  EXPECT_NEAR(f.parent_child.ratio(), 2 / 5.0, kNear) << "10, 11 of 10, 11, 20, 21, 30";
  EXPECT_NEAR(f.parent_child.own_share(), 2 / 4.0, kNear);
}

TEST(SharedFootprint, SiblingsByHandAcrossLaunches) {
  SharedFootprint footprint(128);
  worked_tree().notify(footprint);
  const Overlap& o = footprint.families().child_sibling.others;
  EXPECT_EQ(o.pairs(), 3u);
  EXPECT_NEAR(o.ratio(), (1 / 4.0 + 1 / 3.0 + 0 / 4.0) / 3, kNear);
  EXPECT_NEAR(o.own_share(), (1 / 2.0 + 1 / 3.0 + 0 / 1.0) / 3, kNear);
}

TEST(SharedFootprint, ParentsByHandThoseTooThatLaunchNothing) {
  SharedFootprint footprint(128);
  worked_tree().notify(footprint);
  const ParentFootprints& p = footprint.parents();
  EXPECT_EQ(p.launches, 1u);
  EXPECT_EQ(p.blocks, 3u);
  EXPECT_EQ(p.parent_parent.others.pairs(), 3u);
  EXPECT_NEAR(p.parent_parent.others.ratio(), (1 / 5.0 + 1 / 3.0 + 2 / 6.0) / 3, kNear);
  EXPECT_NEAR(p.parent_parent.others.own_share(), (1 / 2.0 + 1 / 4.0 + 2 / 2.0) / 3, kNear);
}

TEST(SharedFootprint, TwoBlocksAloneByHand) {
  SharedFootprint footprint(128);
  worked_tree().notify(footprint);
  const BlockPairs& siblings = footprint.families().child_sibling.each_other;
  EXPECT_EQ(siblings.pairs(), 6u);
  EXPECT_NEAR(siblings.ratio(), (1 / 2.0 + 1 / 3.0) / 6, kNear) << "20 in {10 20} and {11 20 21}";
  const BlockPairs& parents = footprint.parents().parent_parent.each_other;
  EXPECT_EQ(parents.pairs(), 6u);
  EXPECT_NEAR(parents.ratio(), (1 / 2.0 + 1 / 4.0 + 2 / 2.0) / 6, kNear)
      << "2 of {1 2}, 10 of {10 11 12 13}, both of {2 10}";
}

// What the ratio to all others together cannot tell: it shrinks with their number.
TEST(SharedFootprint, TwoBlocksAloneShareAsMuchHoweverManyThereAre) {
  for (const unsigned children : {2u, 10u, 100u}) {
    Blocks blocks;
    for (std::uint32_t i = 0; i < children; ++i) blocks.push_back({1000, 2 * i, 2 * i + 1});
    Tree tree(Blocks{{1}});
    tree.launch(blocks, 0, 0);
    SharedFootprint footprint(128);
    tree.notify(footprint);
    const Peers& f = footprint.families().child_sibling;
    EXPECT_NEAR(f.each_other.ratio(), 1 / 3.0, kNear) << children;
    EXPECT_NEAR(f.others.ratio(), 1.0 / (2 * children - 1), kNear) << children;
  }
}

TEST(SharedFootprint, MeansTakeEachDirectParentOnce) {
  Tree tree(Blocks{{1}, {2}});
  tree.launch({{1}}, 0, 0);
  tree.launch({{1, 2, 3, 4}}, 0, 1);
  SharedFootprint footprint(128);
  tree.notify(footprint);
  const Overlap& o = footprint.families().parent_child;
  EXPECT_NEAR(o.ratio(), (1 / 1.0 + 1 / 4.0) / 2, kNear);
  EXPECT_EQ(footprint.families().child_sibling.others.pairs(), 0u) << "nobody has a sibling";
  const Figures f = figures_of(footprint);
  EXPECT_EQ(f.at.at("parent_child.second_lines"), 5);
  EXPECT_EQ(f.at.at("parent_child.shared_lines"), 2);
  EXPECT_EQ(f.at.at("parent_child.first_lines"), 2);
}

TEST(SharedFootprint, ChildrenThatTouchNothingHaveNoRatio) {
  Tree tree(Blocks{{1}, {2}});
  tree.launch({{}, {}}, 0, 0);
  tree.launch({{5}, {}}, 0, 1);
  SharedFootprint footprint(128);
  tree.notify(footprint);
  const FamilyFootprints& f = footprint.families();
  EXPECT_EQ(f.direct_parents, 2u);
  EXPECT_EQ(f.parent_child.pairs(), 1u);
  EXPECT_EQ(f.child_sibling.others.pairs(), 1u) << "the empty one, whose sibling touches 5";
  EXPECT_EQ(f.child_sibling.others.ratio(), 0);
  EXPECT_EQ(f.child_sibling.others.own_share(), 0);
}

TEST(SharedFootprint, AChildMayBeAParent) {
  Tree tree(Blocks{{1}});
  const auto child = tree.launch({{1, 2}, {3}}, 0, 0);
  tree.launch({{2, 9}}, child, 0, "grandchild");
  SharedFootprint footprint(128);
  tree.notify(footprint);
  EXPECT_EQ(footprint.families().direct_parents, 2u);
  const Figures f = figures_of(footprint);
  EXPECT_NEAR(f.at.at("kernels.parent.children.child.parent_child.ratio"), 1 / 3.0, kNear);
  EXPECT_NEAR(f.at.at("kernels.child.children.grandchild.parent_child.ratio"), 1 / 2.0, kNear);
  EXPECT_EQ(f.at.at("kernels.child.parent_blocks"), 2);
  EXPECT_NEAR(f.at.at("parent_child.ratio"), (1 / 3.0 + 1 / 2.0) / 2, kNear);
}

TEST(SharedFootprint, SiblingsOfAnotherKernelAreSiblingsInTheWholeOnly) {
  Tree tree(Blocks{{1, 2}});
  tree.launch({{1}, {1, 5}}, 0, 0, "a");
  tree.launch({{2, 5}}, 0, 0, "b");
  tree.launch({{1}}, 0, 0, "a");
  SharedFootprint footprint(128);
  tree.notify(footprint);
  const Figures f = figures_of(footprint);
  EXPECT_EQ(f.at.at("kernels.parent.children.a.child_launches"), 2);
  EXPECT_EQ(f.at.at("kernels.parent.children.a.child_sibling.pairs"), 3);
  EXPECT_NEAR(f.at.at("kernels.parent.children.a.child_sibling.ratio"), (0.5 + 1 + 0.5) / 3, kNear);
  EXPECT_EQ(f.at.at("kernels.parent.children.b.child_sibling.pairs"), 0);
  EXPECT_NEAR(f.at.at("kernels.parent.children.b.parent_child.ratio"), 1 / 2.0, kNear);
  EXPECT_EQ(f.at.at("child_sibling.pairs"), 4);
  EXPECT_NEAR(f.at.at("parent_child.ratio"), 2 / 3.0, kNear) << "1, 2 of 1, 2, 5";
  EXPECT_EQ(f.at.at("direct_parents"), 1);
  EXPECT_EQ(f.at.at("child_launches"), 3);
}

TEST(SharedFootprint, TreesOfSeveralHostLaunchesAreApart) {
  SharedFootprint footprint(128);
  for (int i = 0; i < 2; ++i) {
    Tree tree(Blocks{{1}, {1}});
    tree.launch({{1}}, 0, 0);
    tree.notify(footprint);
  }
  Tree alone(Blocks{{1}, {2}});
  alone.notify(footprint);
  EXPECT_EQ(footprint.parents().launches, 2u) << "the last launches nothing";
  EXPECT_EQ(footprint.parents().blocks, 4u);
  EXPECT_EQ(footprint.families().child_sibling.others.pairs(), 0u) << "children of two trees";
  const Figures f = figures_of(footprint);
  EXPECT_EQ(f.at.at("host_launches"), 3);
  EXPECT_EQ(f.at.at("device_launches"), 2);
}

TEST(SharedFootprint, NothingIsDividedByZero) {
  SharedFootprint footprint(128);
  Tree(Blocks{{1}, {2}}).notify(footprint);
  const Figures f = figures_of(footprint);
  for (const char* name : {"parent_child", "child_sibling", "parent_parent"})
    for (const char* figure : {".ratio", ".own_share", ".pairs"})
      EXPECT_EQ(f.at.at(std::string(name) + figure), 0) << name << figure;
  for (const char* name : {"child_sibling", "parent_parent"})
    EXPECT_EQ(f.at.at(std::string(name) + ".each_other.ratio"), 0) << name;
}

// --- which accesses, which lines ----------------------------------------------------------------

/// The lines of a block, as what a parent shares with a child that touches `lines`.
template <class Write>
std::uint64_t shared_lines(std::uint32_t line_bytes, const std::vector<TransactionSpec>& of_child,
                           Write write_parent) {
  raddle::support::Code code("parent"), child_code("child");
  const auto load = child_code.load(1, 10);
  raddle::support::Recording child(child_code, {.grid = {1}, .block = {32}});
  child.each_warp([&](raddle::support::WarpWriter& w) { w.lines(load, of_child); });
  raddle::support::Recording parent = write_parent(code);
  const trace::DeviceOrigin origin;
  SharedFootprint footprint(line_bytes);
  const SharedFootprint::Launch tree[] = {{&parent.stream(), nullptr}, {&child.stream(), &origin}};
  footprint.tree(tree);
  return static_cast<std::uint64_t>(figures_of(footprint).at.at("parent_child.shared_lines"));
}

TEST(SharedFootprint, AllWarpsAllGlobalAccessesAndNoOthers) {
  const std::vector<TransactionSpec> all = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
  EXPECT_EQ(
      shared_lines(128, all,
                   [](raddle::support::Code& code) {
                     const std::uint32_t global[] = {code.load(1, 10), code.store(1, 10),
                                                     code.atomic(1, 10), code.reduce(10)};
                     const auto local = code.memory(trace::OpKind::LoadLocal, {1}, {}, "ld.local");
                     const auto spill = code.memory(trace::OpKind::StoreLocal, {}, {1}, "st.local");
                     const auto shared = code.load_shared(1, 10);
                     const auto constant = code.load_const(1);
                     raddle::support::Recording r(code, {.grid = {1}, .block = {128}});
                     r.each_warp([&](raddle::support::WarpWriter& w) {
                       w.lines(local, {{5}, {6}}).passes(shared, 3).passes(constant, 1);
                       w.lines(global[w.warp()], {{w.warp() + 1}}).lines(spill, {{7}});
                     });
                     return r;
                   }),
      4u)
      << "1 to 4, each by another warp";
}

TEST(SharedFootprint, LinesOfOtherSizesThanTheStreams) {
  const auto parent = [](raddle::support::Code& code) {
    const auto load = code.load(1, 10);
    raddle::support::Recording r(code, {.grid = {1}, .block = {32}});
    r.each_warp([&](raddle::support::WarpWriter& w) {
      w.lines(load, {{4, 0x0000ffff}, {7, 0x80000000}});
    });
    return r;
  };
  const std::vector<TransactionSpec> child = {{4, 0xffffff00}, {6, 1}, {7, 0x80000001}};
  EXPECT_EQ(shared_lines(4, child, parent), 9u) << "eight words of 4, one of 7";
  EXPECT_EQ(shared_lines(8, child, parent), 5u);
  EXPECT_EQ(shared_lines(32, child, parent), 2u) << "second quarter of 4, last of 7";
  EXPECT_EQ(shared_lines(64, child, parent), 2u) << "first half of 4, last of 7";
  EXPECT_EQ(shared_lines(128, child, parent), 2u);
  EXPECT_EQ(shared_lines(256, child, parent), 2u) << "4 and 5, 6 and 7";
  EXPECT_EQ(shared_lines(512, child, parent), 1u) << "4 to 7";
}

/// Two blocks that store to line 4; the second half of it are parameters of the first's child.
TEST(SharedFootprint, ParametersOfChildrenAreLeftOut) {
  raddle::support::Code code("parent"), child_code("child");
  const auto store = code.store(1, 10), load = child_code.load(1, 10);
  raddle::support::Recording parent(code, {.grid = {2}, .block = {32}});
  parent.each_warp([&](raddle::support::WarpWriter& w) {
    w.lines(store, {{4, w.block() == 0 ? 0xffff0000u : 0xfffff000u}, {5, 0x1}});
  });
  raddle::support::Recording child(child_code, {.grid = {1}, .block = {32}});
  child.each_warp([&](raddle::support::WarpWriter& w) { w.lines(load, {{4, 0xff}}); });
  const auto shared = [&](std::uint32_t bytes) {
    trace::DeviceOrigin origin;
    origin.parameters = 4 * 128 + 64;
    origin.parameter_bytes = bytes;
    SharedFootprint footprint(4);
    const SharedFootprint::Launch tree[] = {{&parent.stream(), nullptr},
                                            {&child.stream(), &origin}};
    footprint.tree(tree);
    return figures_of(footprint).at.at("parent_parent.shared_lines");
  };
  EXPECT_EQ(shared(64), 2) << "one word of line 5, told of both blocks";
  EXPECT_EQ(shared(60), 4) << "and the last of line 4";
  EXPECT_EQ(shared(57), 4) << "a word that is in part a parameter is one";
  EXPECT_EQ(shared(0), 2 * 17);
}

TEST(SharedFootprint, LinesThatAreNone) {
  for (const std::uint32_t bytes : {4u, 32u, 64u, 128u, 4096u})
    EXPECT_TRUE(SharedFootprint::valid_line(bytes)) << bytes;
  for (const std::uint32_t bytes : {0u, 1u, 2u, 96u, 129u, 8192u, 0x80000000u})
    EXPECT_FALSE(SharedFootprint::valid_line(bytes)) << bytes;
}

// --- against sets -------------------------------------------------------------------------------

using Set = std::set<std::uint32_t>;

Set both(const Set& a, const Set& b) {
  Set out;
  for (const std::uint32_t x : a)
    if (b.contains(x)) out.insert(x);
  return out;
}

/// Mean of the ratio of each set to all others, and how many there are.
std::pair<double, unsigned> with_the_others(const std::vector<Set>& sets) {
  double sum = 0;
  unsigned pairs = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Set others;
    for (std::size_t j = 0; j < sets.size(); ++j)
      if (j != i) others.insert(sets[j].begin(), sets[j].end());
    if (others.empty()) continue;
    sum += static_cast<double>(both(sets[i], others).size()) / static_cast<double>(others.size());
    ++pairs;
  }
  return {sum, pairs};
}

/// Ratios of all ordered pairs of two sets, and how many there are.
std::pair<double, unsigned> two_alone(const std::vector<Set>& sets) {
  double sum = 0;
  unsigned pairs = 0;
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (std::size_t j = 0; j < sets.size(); ++j) {
      if (j == i || sets[j].empty()) continue;
      sum +=
          static_cast<double>(both(sets[i], sets[j]).size()) / static_cast<double>(sets[j].size());
      ++pairs;
    }
  return {sum, pairs};
}

void expect_pairs(const BlockPairs& found, const std::pair<double, unsigned>& expected) {
  const auto [sum, pairs] = expected;
  EXPECT_EQ(found.pairs(), pairs);
  EXPECT_NEAR(found.ratio(), pairs == 0 ? 0 : sum / pairs, kNear);
}

std::vector<Set> sets_of(const Blocks& blocks) {
  std::vector<Set> out;
  for (const auto& lines : blocks) out.emplace_back(lines.begin(), lines.end());
  return out;
}

Blocks random_blocks(Rng& rng) {
  Blocks out(1 + rng.below(5));
  for (auto& lines : out) {
    lines.resize(rng.below(8));
    for (std::uint32_t& line : lines) line = rng.below(30);
  }
  return out;
}

TEST(SharedFootprint, RandomFamiliesEqualSetsOfTheLibrary) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const Blocks parents = random_blocks(rng);
    Tree tree(parents);
    std::vector<std::vector<Set>> children(parents.size());
    for (unsigned n = 0; n < 6; ++n) {
      const auto parent = rng.below(static_cast<std::uint32_t>(parents.size()));
      const Blocks blocks = random_blocks(rng);
      for (const Set& lines : sets_of(blocks)) children[parent].push_back(lines);
      tree.launch(blocks, 0, parent, rng.below(2) == 0 ? "a" : "b");
    }
    double parent_child = 0, siblings = 0;
    unsigned families = 0, sibling_pairs = 0;
    for (std::size_t parent = 0; parent < parents.size(); ++parent) {
      Set own(parents[parent].begin(), parents[parent].end()), all;
      for (const Set& child : children[parent]) all.insert(child.begin(), child.end());
      const auto [sum, pairs] = with_the_others(children[parent]);
      siblings += sum;
      sibling_pairs += pairs;
      if (all.empty()) continue;
      parent_child += static_cast<double>(both(own, all).size()) / static_cast<double>(all.size());
      ++families;
    }
    SharedFootprint footprint(128);
    tree.notify(footprint);
    const FamilyFootprints& footprints = footprint.families();
    ASSERT_EQ(footprints.parent_child.pairs(), families) << seed;
    ASSERT_EQ(footprints.child_sibling.others.pairs(), sibling_pairs) << seed;
    EXPECT_NEAR(footprints.parent_child.ratio(), families == 0 ? 0 : parent_child / families,
                kNear);
    EXPECT_NEAR(footprints.child_sibling.others.ratio(),
                sibling_pairs == 0 ? 0 : siblings / sibling_pairs, kNear);
    const std::vector<Set> parent_sets = sets_of(parents);
    const auto [sum, pairs] = with_the_others(parent_sets);
    const Overlap& overlap = footprint.parents().parent_parent.others;
    ASSERT_EQ(overlap.pairs(), pairs) << seed;
    EXPECT_NEAR(overlap.ratio(), pairs == 0 ? 0 : sum / pairs, kNear);
  }
}

TEST(SharedFootprint, RandomPairsEqualSetsOfTheLibrary) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed, "pairs");
    const Blocks parents = random_blocks(rng);
    Tree tree(parents);
    std::pair<double, unsigned> siblings;
    for (std::uint32_t p = 0; p < parents.size(); ++p) {
      const Blocks blocks = random_blocks(rng);
      tree.launch(blocks, 0, p);
      const auto [sum, pairs] = two_alone(sets_of(blocks));
      siblings.first += sum;
      siblings.second += pairs;
    }
    SharedFootprint footprint(128);
    tree.notify(footprint);
    expect_pairs(footprint.families().child_sibling.each_other, siblings);
    expect_pairs(footprint.parents().parent_parent.each_other, two_alone(sets_of(parents)));
  }
}

}  // namespace
}  // namespace raddle::analysis::footprint_test

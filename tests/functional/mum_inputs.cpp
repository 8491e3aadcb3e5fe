// The inputs of mum: the suffix tree of a string, and what the queries find in one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "mum/strings.h"
#include "mum/suffix_tree.h"
#include "raddle/base/rng.h"

namespace raddle::workloads::mum_inputs_test {

namespace {

std::string random_letters(std::size_t count, unsigned kinds, Rng& rng) {
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) letters.push_back("ACGT"[rng.below(kinds)]);
  return letters;
}

// The longest piece of `text` that `wanted` begins with, tried out.
std::size_t longest(const std::string& text, std::string_view wanted) {
  std::size_t length = wanted.size();
  while (text.find(wanted.substr(0, length)) == std::string::npos) --length;
  return length;
}

TEST(SuffixTree, FindsWhatIsThereAndNothingElse) {
  Rng rng(1);
  // Few kinds of letters make long repeats: edges skipped, splits of splits.
  for (unsigned kinds : {1u, 2u, 4u})
    for (std::size_t size : {1u, 2u, 7u, 300u}) {
      std::string text = random_letters(size, kinds, rng);
      SuffixTree tree(text);
      for (int i = 0; i < 200; ++i) {
        std::string wanted = random_letters(1 + rng.below(20), kinds, rng);
        EXPECT_EQ(tree.find(wanted).matched, longest(text, wanted)) << text << ' ' << wanted;
      }
      for (std::size_t start = 0; start < size; ++start)
        EXPECT_EQ(tree.find(text.substr(start)).matched, size - start);
    }
}

// The string of a node, by its edges from the root.
std::map<std::uint32_t, std::string> strings_of(const SuffixTree& tree) {
  std::map<std::uint32_t, std::string> strings = {{SuffixTree::kRoot, ""}};
  for (std::uint32_t n = SuffixTree::kRoot; n < tree.nodes().size(); ++n)
    for (std::uint32_t child : tree.nodes()[n].children)
      if (child != SuffixTree::kNone) {
        EXPECT_GT(child, n);  // parents come first: numbered breadth-first
        const SuffixTree::Node& edge = tree.nodes()[child];
        strings[child] = strings.at(n) + tree.text().substr(edge.begin, edge.end - edge.begin + 1);
      }
  return strings;
}

TEST(SuffixTree, HasALeafForEachSuffixAndLinksInnerNodesToTheirTail) {
  Rng rng(2);
  for (unsigned kinds : {1u, 2u, 4u}) {
    std::string text = random_letters(400, kinds, rng);
    SuffixTree tree(text);
    std::map<std::uint32_t, std::string> strings = strings_of(tree);
    ASSERT_EQ(strings.size(), tree.nodes().size() - 1);
    std::set<std::string> leaves;
    for (const auto& [node, string] : strings) {
      if (tree.is_leaf(node)) {
        leaves.insert(string);
      } else if (node != SuffixTree::kRoot) {
        EXPECT_EQ(strings.at(tree.nodes()[node].suffix), string.substr(1));
      }
    }
    ASSERT_EQ(leaves.size(), text.size() + 1);
    for (std::size_t start = 0; start <= text.size(); ++start)
      EXPECT_EQ(leaves.count(text.substr(start) + "$"), 1u);
  }
}

// Levels do not mix: all of a level come before the next.
TEST(SuffixTree, IsNumberedLevelByLevel) {
  Rng rng(3);
  SuffixTree tree(random_letters(1000, 4, rng));
  std::vector<int> level(tree.nodes().size(), 0);
  for (std::uint32_t n = SuffixTree::kRoot; n < tree.nodes().size(); ++n)
    for (std::uint32_t child : tree.nodes()[n].children)
      if (child != SuffixTree::kNone) level[child] = level[n] + 1;
  EXPECT_TRUE(std::is_sorted(level.begin() + 2, level.end()));
  EXPECT_GT(level.back(), 5);
}

TEST(SuffixTree, SaysWhereAWalkEnds) {
  SuffixTree tree("ACACG");  // root - AC - ACG$, G$
  TreePosition inner = tree.find("ACT");
  EXPECT_EQ(inner.matched, 2u);
  EXPECT_EQ(inner.along, 0u);
  EXPECT_EQ(tree.find("AC").node, inner.node);  // at its end ...
  EXPECT_EQ(tree.find("AC").along, 2u);         // ... and told as the whole edge
  TreePosition edge = tree.find("ACAG");
  EXPECT_EQ(edge.matched, 3u);
  EXPECT_EQ(edge.along, 1u);
  EXPECT_EQ(edge.edges, 2u);
  EXPECT_TRUE(tree.is_leaf(edge.node));
  EXPECT_EQ(tree.find("T").node, SuffixTree::kRoot);
}

TEST(QueryStrings, AreLaidOutWithACharacterInFrontAndAZeroBehind) {
  QueryStrings made = make_query_strings(100, 3, 25, 1, 1);
  ASSERT_EQ(made.letters.size(), 81u);
  EXPECT_EQ(made.count(), 3u);
  for (std::uint32_t q = 0; q < 3; ++q) {
    EXPECT_EQ(made.letters[27 * q], 'q');
    EXPECT_EQ(made.letters[27 * q + 26], 0);
    EXPECT_NE(made.reference.find(made.query(q)), std::string::npos);
  }
}

// Of the public program's queries, against its reference of 1.4 million letters: 26.9 % are in it,
// the others match 7 to 24 letters, nearly all 8 to 13 (median 10), over 6 to 15 edges (mean 9.9).
// A random string has fewer long repeats than a genome.
TEST(QueryStrings, OnPaperMatchAsDeepAsThePublicOnes) {
  QueryStrings made = make_query_strings(1'399'930, 10'000, 25, 0.269, 1);
  SuffixTree tree(made.reference);
  EXPECT_NEAR(static_cast<double>(tree.nodes().size()), 2'316'237, 0.02 * 2'316'237);
  double whole = 0, edges = 0, usual = 0;
  std::vector<std::uint32_t> stops;
  for (std::uint32_t q = 0; q < made.count(); ++q) {
    TreePosition at = tree.find(made.query(q));
    edges += at.edges;
    if (at.matched == 25) {
      ++whole;
    } else {
      stops.push_back(at.matched);
      usual += at.matched >= 8 && at.matched <= 13;
    }
  }
  std::sort(stops.begin(), stops.end());
  EXPECT_NEAR(whole / made.count(), 0.269, 0.015);
  EXPECT_NEAR(edges / made.count(), 9.9, 0.1 * 9.9);
  EXPECT_GE(stops.front(), 7u);
  EXPECT_LT(stops.back(), 25u);
  EXPECT_EQ(stops[stops.size() / 2], 10u);
  EXPECT_GT(usual / static_cast<double>(stops.size()), 0.97);
}

}  // namespace

}  // namespace raddle::workloads::mum_inputs_test

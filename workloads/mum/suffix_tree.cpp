// Ukkonen's construction of a suffix tree, and the walk along a string. See suffix_tree.h.
#include "mum/suffix_tree.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

constexpr char kUnused = 's', kSentinel = '$';

std::uint32_t code(char letter) {
  switch (letter) {
    case 'A':
      return 0;
    case 'C':
      return 1;
    case 'G':
      return 2;
    case 'T':
      return 3;
    default:
      return 4;
  }
}

}  // namespace

SuffixTree::SuffixTree(std::string_view letters) {
  text_ = kUnused + std::string(letters) + kSentinel;
  nodes_.reserve(2 * text_.size());
  nodes_.resize(2);
  nodes_[kRoot].suffix = kRoot;
  for (std::uint32_t i = 1; i < text_.size(); ++i) extend(i);
  RADDLE_ASSERT(remaining_ == 0);  // the sentinel is there once: each suffix has a leaf
  number_breadth_first();
}

// Of an edge of a tree of the letters up to `position`: a leaf's edge ends there.
std::uint32_t SuffixTree::length(std::uint32_t node, std::uint32_t position) const {
  return std::min(nodes_[node].end, position) + 1 - nodes_[node].begin;
}

// Suffixes that end at `position`, from the longest that is not there yet to the first that is.
void SuffixTree::extend(std::uint32_t position) {
  unlinked_ = kNone;
  ++remaining_;
  while (remaining_ != 0) {
    if (along_ == 0) edge_ = position;
    std::uint32_t child = nodes_[active_].children[code(text_[edge_])];
    if (child != kNone) {
      if (walk_down(child, position)) continue;
      if (text_[nodes_[child].begin + along_] == text_[position]) {
        link_to(active_);
        ++along_;
        return;
      }
    }
    insert_at_active_point(position);
    --remaining_;
    if (active_ != kRoot) {
      active_ = nodes_[active_].suffix;
    } else if (along_ != 0) {
      --along_;
      edge_ = position - remaining_ + 1;
    }
  }
}

// Whether the active point lies beyond the edge; then it is one node further.
bool SuffixTree::walk_down(std::uint32_t child, std::uint32_t position) {
  std::uint32_t edge_length = length(child, position);
  if (along_ < edge_length) return false;
  edge_ += edge_length;
  along_ -= edge_length;
  active_ = child;
  return true;
}

void SuffixTree::insert_at_active_point(std::uint32_t position) {
  std::uint32_t child = nodes_[active_].children[code(text_[edge_])];
  std::uint32_t parent = child == kNone ? active_ : split(child);
  auto leaf = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.begin = position, .end = static_cast<std::uint32_t>(text_.size() - 1)});
  nodes_[parent].children[code(text_[position])] = leaf;
  link_to(parent);
}

// A new inner node where the active point lies on the edge to `child`.
std::uint32_t SuffixTree::split(std::uint32_t child) {
  auto middle = static_cast<std::uint32_t>(nodes_.size());
  std::uint32_t begin = nodes_[child].begin;
  nodes_.push_back({.begin = begin, .end = begin + along_ - 1, .suffix = kRoot});
  nodes_[active_].children[code(text_[edge_])] = middle;
  nodes_[child].begin = begin + along_;
  nodes_[middle].children[code(text_[begin + along_])] = child;
  return middle;
}

void SuffixTree::link_to(std::uint32_t node) {
  if (unlinked_ != kNone) nodes_[unlinked_].suffix = node;
  unlinked_ = node == kRoot ? kNone : node;
}

void SuffixTree::number_breadth_first() {
  std::vector<std::uint32_t> order = {kNone, kRoot}, number(nodes_.size(), kNone);
  order.reserve(nodes_.size());
  for (std::uint32_t i = kRoot; i < order.size(); ++i) {
    number[order[i]] = i;
    for (std::uint32_t child : nodes_[order[i]].children)
      if (child != kNone) order.push_back(child);
  }
  std::vector<Node> numbered(nodes_.size());
  for (std::uint32_t i = kRoot; i < order.size(); ++i) {
    numbered[i] = nodes_[order[i]];
    numbered[i].suffix = number[numbered[i].suffix];
    for (std::uint32_t& child : numbered[i].children) child = number[child];
  }
  nodes_ = std::move(numbered);
}

TreePosition SuffixTree::find(std::string_view letters) const {
  TreePosition at{.node = kRoot};
  while (at.matched < letters.size()) {
    std::uint32_t child = nodes_[at.node].children[code(letters[at.matched])];
    if (child == kNone) {
      at.along = 0;
      return at;
    }
    at.node = child;
    ++at.edges;
    const Node& edge = nodes_[child];
    for (at.along = 0; at.along <= edge.end - edge.begin; ++at.along, ++at.matched)
      if (at.matched == letters.size() || text_[edge.begin + at.along] != letters[at.matched])
        return at;
  }
  return at;
}

}  // namespace raddle::workloads

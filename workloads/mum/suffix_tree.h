// The suffix tree of a string of A, C, G and T, as mum searches it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::workloads {

/// Where a walk from the root along a string ends: `along` letters down the edge that leads to
/// `node`, or at the inner node itself (along = 0) when no edge goes on.
struct TreePosition {
  std::uint32_t node = 0;
  std::uint32_t along = 0;
  std::uint32_t matched = 0;  ///< letters
  std::uint32_t edges = 0;    ///< walked, the last one perhaps in part
};

/// Built in linear time (Ukkonen, Algorithmica 14, 1995). Nodes are numbered breadth-first from
/// 1, the root; 0 is none.
class SuffixTree {
 public:
  /// Children by first letter: A, C, G, T and the sentinel.
  static constexpr std::uint32_t kLetters = 5;
  static constexpr std::uint32_t kNone = 0, kRoot = 1;

  struct Node {
    std::uint32_t begin = 0, end = 0;  ///< its edge's letters in text(), both included
    std::uint32_t suffix = kNone;      ///< of inner nodes: its string without the first letter
    std::array<std::uint32_t, kLetters> children{};
  };

  /// Precondition: `letters` has A, C, G and T only.
  explicit SuffixTree(std::string_view letters);

  /// A letter that is not used, the letters, the sentinel.
  const std::string& text() const { return text_; }
  /// Node 0 is not used.
  const std::vector<Node>& nodes() const { return nodes_; }
  TreePosition find(std::string_view letters) const;
  bool is_leaf(std::uint32_t node) const { return nodes_[node].children == kNoChildren; }

 private:
  static constexpr std::array<std::uint32_t, kLetters> kNoChildren{};

  void extend(std::uint32_t position);
  void insert_at_active_point(std::uint32_t position);
  std::uint32_t split(std::uint32_t child);
  bool walk_down(std::uint32_t child, std::uint32_t position);
  void link_to(std::uint32_t node);
  void number_breadth_first();
  std::uint32_t length(std::uint32_t node, std::uint32_t position) const;

  std::string text_;
  std::vector<Node> nodes_;

  // While it is built: the active point, suffixes still to insert, the inner node without a link.
  std::uint32_t active_ = kRoot, edge_ = 0, along_ = 0, remaining_ = 0, unlinked_ = kNone;
};

}  // namespace raddle::workloads

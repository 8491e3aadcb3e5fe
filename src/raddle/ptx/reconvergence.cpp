// Where divergent warps meet again: immediate post-dominators.
// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001), run on the reversed graph
// from the exit.
#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"
#include "raddle/ptx/block_graph.h"

namespace raddle::ptx {
namespace {

constexpr std::uint32_t kUnknown = kNoIndex;

// Blocks that reach the exit, in postorder of a depth-first walk against the edges; the exit is
// last.
std::vector<std::uint32_t> postorder_from_exit(const BlockGraph& graph) {
  struct Visit {
    std::uint32_t block, next;
  };
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(graph.count + 1, false);
  std::vector<Visit> path{{graph.exit(), 0}};
  seen[graph.exit()] = true;
  while (!path.empty()) {
    Visit& at = path.back();
    const auto predecessors = graph.predecessors[at.block];
    if (at.next == predecessors.size()) {
      order.push_back(at.block);
      path.pop_back();
      continue;
    }
    const std::uint32_t block = predecessors[at.next++];
    if (seen[block]) continue;
    seen[block] = true;
    path.push_back({block, 0});
  }
  return order;
}

class PostDominators {
 public:
  explicit PostDominators(const BlockGraph& graph)
      : graph_(graph), number_(graph.count + 1, kUnknown), parent_(graph.count + 1, kUnknown) {
    const std::vector<std::uint32_t> order = postorder_from_exit(graph);
    for (std::uint32_t i = 0; i < order.size(); ++i) number_[order[i]] = i;
    parent_[graph.exit()] = graph.exit();
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = order.size() - 1; i-- > 0;) changed |= improve(order[i]);
    }
  }

  bool reaches_exit(std::uint32_t block) const { return number_[block] != kUnknown; }
  std::uint32_t of(std::uint32_t block) const { return parent_[block]; }

 private:
  bool improve(std::uint32_t block) {
    std::uint32_t found = kUnknown;
    for (std::uint32_t next : graph_.successors[block]) {
      if (parent_[next] == kUnknown) continue;
      found = found == kUnknown ? next : common(found, next);
    }
    if (found == parent_[block]) return false;
    parent_[block] = found;
    return true;
  }

  std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (number_[a] < number_[b]) a = parent_[a];
      while (number_[b] < number_[a]) b = parent_[b];
    }
    return a;
  }

  const BlockGraph& graph_;
  std::vector<std::uint32_t> number_;  // in postorder; the exit has the highest
  std::vector<std::uint32_t> parent_;  // immediate post-dominator as far as known
};

}  // namespace

std::vector<std::uint32_t> reconvergence_points(const Function& function) {
  const auto n = static_cast<std::uint32_t>(function.instructions.size());
  std::vector<std::uint32_t> points(n, n);
  const BlockGraph graph(function);
  const PostDominators dominators(graph);
  for (std::uint32_t block = 0; block < graph.count; ++block) {
    if (!dominators.reaches_exit(block)) continue;
    const std::uint32_t last = graph.begin[block + 1] - 1;
    for (std::uint32_t i = graph.begin[block]; i < last; ++i) points[i] = i + 1;
    RADDLE_ASSERT(dominators.of(block) != block && dominators.of(block) < graph.begin.size());
    points[last] = graph.begin[dominators.of(block)];
  }
  return points;
}

}  // namespace raddle::ptx

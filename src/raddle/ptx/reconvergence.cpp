// Where divergent warps meet again: immediate post-dominators of what goes on. Lanes that leave the
// function inside a loop or a branch do not come to where the others meet, so their way out does
// not count: of the ways out one is the main one, and what reaches it meets on the way to it.
// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001), run on the reversed graph
// from the exit.
#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"
#include "raddle/ptx/block_graph.h"
#include "raddle/ptx/reaching.h"

namespace raddle::ptx {
namespace {

constexpr std::uint32_t kUnknown = kNoIndex;

/// A graph of blocks; `count` stands for the exit.
struct BlockEdges {
  BlockEdges(Rows of, std::uint32_t blocks)
      : count(blocks), successors(std::move(of)), predecessors(successors.transposed(count + 1)) {}
  std::uint32_t exit() const { return count; }
  std::uint32_t count;
  Rows successors, predecessors;
};

// Blocks that reach the exit, in postorder of a depth-first walk against the edges; the exit is
// last.
std::vector<std::uint32_t> postorder_from_exit(const BlockEdges& graph) {
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
  explicit PostDominators(const BlockEdges& graph)
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

  const BlockEdges& graph_;
  std::vector<std::uint32_t> number_;  // in postorder; the exit has the highest
  std::vector<std::uint32_t> parent_;  // immediate post-dominator as far as known
};

/// A way out of the function: from `block`, through a block that only returns, or of its own.
struct WayOut {
  std::uint32_t block, through;  ///< through: kUnknown where `block` itself returns
  std::uint32_t together = 0;    ///< instructions before it that lanes are to execute together
  std::uint32_t reached_by = 0;  ///< so many blocks
};

/// Do lanes exchange something there, or wait for one another? Then it matters who is with whom.
bool is_collective(const Instruction& instruction) {
  constexpr std::array<std::string_view, 12> kNames = {"bar",   "barrier", "shfl",     "vote",
                                                       "match", "redux",   "elect",    "activemask",
                                                       "mma",   "wmma",    "ldmatrix", "wgmma"};
  return std::ranges::find(kNames, std::string_view(instruction.opcode)) != kNames.end();
}

/// Leaves of the graph those edges on which lanes go on to meet.
class MainWays {
 public:
  MainWays(const Function& function, const BlockGraph& graph, const Components& components)
      : graph_(graph),
        components_(components),
        only_returns_(graph.count),
        collectives_(graph.count),
        main_(graph.count, kUnknown) {
    for (std::uint32_t block = 0; block < graph.count; ++block)
      for (std::uint32_t i = graph.begin[block]; i < graph.begin[block + 1]; ++i)
        collectives_[block] += is_collective(function.instructions[i]);
    for (std::uint32_t block = 0; block < graph.count; ++block)
      only_returns_[block] = graph.begin[block] + 1 == graph.begin[block + 1] &&
                             graph.successors[block].size() == 1 &&
                             graph.successors[block][0] == graph.exit() && block != 0 &&
                             function.instructions[graph.begin[block]].guard == kNoIndex;
    for (std::uint32_t block = 0; block < graph.count; ++block) {
      if (only_returns_[block]) continue;
      for (const std::uint32_t next : graph.successors[block])
        if (next == graph.exit()) ways_.push_back({block, kUnknown});
        else if (only_returns_[next]) ways_.push_back({block, next});
    }
  }
  bool several() const { return ways_.size() > 1; }

  /// Each block with the successors that are on its way to the main one of the ways out that it can
  /// reach: that before which lanes have most to do together, then that which most blocks reach.
  BlockEdges edges() {
    std::vector<bool> has_way(components_.count, false);
    for (const WayOut& way : ways_) has_way[components_.of[way.block]] = true;
    const std::vector<Reaching> by_component =
        reaching(graph_, components_, collectives_, std::move(has_way));
    for (WayOut& way : ways_) {
      const Reaching& found = by_component[components_.of[way.block]];
      way.together = found.weight;
      way.reached_by = found.blocks;
    }
    const auto rank = [](const WayOut& way) {
      return std::tuple(way.together, way.reached_by, way.block);
    };
    std::sort(ways_.begin(), ways_.end(),
              [&](const WayOut& a, const WayOut& b) { return rank(a) > rank(b); });
    for (std::uint32_t i = 0; i < ways_.size(); ++i) {
      if (main_[ways_[i].block] != kUnknown) continue;
      take_what_reaches(i);
      const std::uint32_t through = ways_[i].through;
      if (through != kUnknown && main_[through] == kUnknown) main_[through] = i;
    }
    Rows kept;
    for (std::uint32_t block = 0; block < graph_.count; ++block) {
      for (const std::uint32_t next : graph_.successors[block])
        if (const std::uint32_t to = kept_as(block, next); to != kUnknown) kept.add(to);
      kept.end_row();
    }
    return {std::move(kept), graph_.count};
  }

 private:
  /// How an edge counts: as it is, as one to the exit, or not at all.
  std::uint32_t kept_as(std::uint32_t block, std::uint32_t next) const {
    if (only_returns_[block]) return graph_.exit();
    const std::uint32_t way = main_[block];
    if (way == kUnknown) return kUnknown;
    const bool is_main = ways_[way].block == block;
    if (next == graph_.exit())
      return is_main && ways_[way].through == kUnknown ? graph_.exit() : kUnknown;
    if (!only_returns_[next]) return main_[next] == way ? next : kUnknown;
    if (!is_main || ways_[way].through != next) return kUnknown;
    return main_[next] == way ? next : graph_.exit();
  }

  /// Of the blocks that no better way has taken.
  void take_what_reaches(std::uint32_t way) {
    std::vector<std::uint32_t> open{ways_[way].block};
    main_[ways_[way].block] = way;
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      for (const std::uint32_t before : graph_.predecessors[block]) {
        if (main_[before] != kUnknown) continue;
        main_[before] = way;
        open.push_back(before);
      }
    }
  }

  const BlockGraph& graph_;
  const Components& components_;
  std::vector<bool> only_returns_;
  std::vector<std::uint32_t> collectives_;  // instructions by block
  std::vector<WayOut> ways_;
  std::vector<std::uint32_t> main_;  // by block: into ways_
};

/// By block; kUnknown: it cannot reach the exit.
std::vector<std::uint32_t> meeting_blocks(const Function& function, const BlockGraph& graph) {
  const PostDominators all(BlockEdges(graph.successors, graph.count));
  std::vector<std::uint32_t> out(graph.count, kUnknown);
  for (std::uint32_t block = 0; block < graph.count; ++block)
    if (all.reaches_exit(block)) out[block] = all.of(block);
  const Components components(graph);
  MainWays ways(function, graph, components);
  if (!ways.several()) return out;
  const BlockEdges edges = ways.edges();
  const PostDominators main(edges);
  // Where some lanes leave and all others go on the same way, once, nobody could be missed: those
  // that leave may as well do so at the end, together with the others. So it is with the guard that
  // most kernels begin with.
  std::vector<bool> is_common(graph.count, false);
  for (std::uint32_t at = 0; at != graph.exit() && main.reaches_exit(at); at = main.of(at))
    is_common[at] = true;
  for (std::uint32_t block = 0; block < graph.count; ++block) {
    if (out[block] == kUnknown || !main.reaches_exit(block)) continue;
    if (main.of(block) == graph.exit() || main.of(block) == out[block]) continue;
    const bool is_guard =
        is_common[block] && std::ranges::count(graph.successors[block], main.of(block)) != 0;
    if (!is_guard || components.in_cycle(block)) out[block] = main.of(block);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> reconvergence_points(const Function& function) {
  const auto n = static_cast<std::uint32_t>(function.instructions.size());
  std::vector<std::uint32_t> points(n, n);
  const BlockGraph graph(function);
  const std::vector<std::uint32_t> meets = meeting_blocks(function, graph);
  for (std::uint32_t block = 0; block < graph.count; ++block) {
    if (meets[block] == kUnknown) continue;
    const std::uint32_t last = graph.begin[block + 1] - 1;
    for (std::uint32_t i = graph.begin[block]; i < last; ++i) points[i] = i + 1;
    RADDLE_ASSERT(meets[block] != block && meets[block] < graph.begin.size());
    points[last] = graph.begin[meets[block]];
  }
  return points;
}

}  // namespace raddle::ptx

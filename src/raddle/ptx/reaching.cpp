#include "raddle/ptx/reaching.h"

#include <algorithm>
#include <array>
#include <span>

#include "raddle/base/error.h"
#include "raddle/ptx/module.h"

namespace raddle::ptx {
namespace {

constexpr std::uint32_t kUnseen = kNoIndex, kSeveral = kNoIndex - 1;

/// One walk over a graph, of which the components are what is on the stack when their first block
/// is left.
class Walk {
 public:
  Walk(const BlockGraph& graph, Components& out)
      : graph_(graph), out_(out), found_at_(graph.count, kUnseen), lowest_(graph.count) {}

  void from(std::uint32_t root) {
    if (found_at_[root] != kUnseen) return;
    find(root);
    while (!path_.empty()) {
      const std::uint32_t block = path_.back().block;
      const auto successors = graph_.successors[block];
      if (path_.back().next == successors.size()) leave(block);
      else go_to(block, successors[path_.back().next++]);
    }
  }

 private:
  struct Visit {
    std::uint32_t block, next;
  };

  void find(std::uint32_t block) {
    found_at_[block] = lowest_[block] = found_++;
    open_.push_back(block);
    path_.push_back({block, 0});
  }
  void go_to(std::uint32_t block, std::uint32_t next) {
    if (next == graph_.exit()) return;
    if (found_at_[next] == kUnseen) return find(next);
    if (out_.of[next] == kUnseen) lowest_[block] = std::min(lowest_[block], found_at_[next]);
  }
  void leave(std::uint32_t block) {
    path_.pop_back();
    if (!path_.empty())
      lowest_[path_.back().block] = std::min(lowest_[path_.back().block], lowest_[block]);
    if (lowest_[block] != found_at_[block]) return;
    for (std::uint32_t member = kUnseen; member != block;) {
      member = open_.back();
      open_.pop_back();
      out_.of[member] = out_.count;
      out_.blocks.push_back(member);
    }
    ++out_.count;
    out_.begin.push_back(static_cast<std::uint32_t>(out_.blocks.size()));
  }

  const BlockGraph& graph_;
  Components& out_;
  std::vector<std::uint32_t> found_at_, lowest_, open_;
  std::vector<Visit> path_;
  std::uint32_t found_ = 0;
};

/// 64 sums, bit by bit: word i holds bit i of each.
class Sums {
 public:
  /// Adds `value` to each sum whose bit is set.
  void add(std::uint64_t to, std::uint32_t value) {
    for (unsigned bit = 0; value >> bit != 0; ++bit) {
      std::uint64_t carry = (value >> bit & 1) != 0 ? to : 0;
      for (unsigned at = bit; carry != 0; ++at) {
        const std::uint64_t both = bits_.at(at) & carry;
        bits_[at] ^= carry;
        carry = both;
      }
    }
  }
  std::uint32_t operator[](unsigned sum) const {
    std::uint32_t out = 0;
    for (unsigned bit = 0; bit < bits_.size(); ++bit)
      out |= static_cast<std::uint32_t>(bits_[bit] >> sum & 1) << bit;
    return out;
  }

 private:
  std::array<std::uint64_t, 32> bits_{};
};

class ReachingSums {
 public:
  ReachingSums(const BlockGraph& graph, const Components& components,
               const std::vector<std::uint32_t>& weights)
      : graph_(graph),
        components_(components),
        before_(components.count, kUnseen),
        own_(components.count) {
    for (std::uint32_t block = 0; block < graph.count; ++block) {
      const std::uint32_t component = components.of[block];
      ++own_[component].blocks;
      own_[component].weight += weights[block];
      for (const std::uint32_t other : graph.predecessors[block]) {
        const std::uint32_t from = components.of[other];
        std::uint32_t& only = before_[component];
        if (from != component && from != only) only = only == kUnseen ? from : kSeveral;
      }
    }
  }

  std::vector<Reaching> of(std::vector<bool> asked) {
    std::vector<Reaching> out = own_;
    std::vector<std::uint32_t> joins;
    for (std::uint32_t component = 0; component < components_.count; ++component) {
      if (!asked[component]) continue;
      if (before_[component] == kSeveral) joins.push_back(component);
      else if (before_[component] != kUnseen) asked[before_[component]] = true;
    }
    for (std::size_t at = 0; at < joins.size(); at += 64)
      add_joins(std::span(joins).subspan(at, std::min<std::size_t>(64, joins.size() - at)), out);
    for (std::uint32_t component = components_.count; component-- > 0;) {
      const std::uint32_t before = before_[component];
      if (!asked[component] || before == kUnseen || before == kSeveral) continue;
      out[component].blocks += out[before].blocks;
      out[component].weight += out[before].weight;
    }
    return out;
  }

 private:
  /// `joins` ascends.
  void add_joins(std::span<const std::uint32_t> joins, std::vector<Reaching>& out) {
    Sums blocks, weight;
    std::size_t met = 0;
    const std::uint32_t first = joins.front();
    reached_.assign(components_.count - first, 0);  // joins that a component reaches, by bits
    for (std::uint32_t component = first; component < components_.count; ++component) {
      std::uint64_t& reached = reached_[component - first];
      if (met < joins.size() && joins[met] == component) reached |= std::uint64_t{1} << met++;
      for (std::uint32_t i = components_.begin[component]; i < components_.begin[component + 1];
           ++i)
        for (const std::uint32_t next : graph_.successors[components_.blocks[i]])
          if (next != graph_.exit() && components_.of[next] >= first)
            reached |= reached_[components_.of[next] - first];
      blocks.add(reached, own_[component].blocks);
      weight.add(reached, own_[component].weight);
    }
    for (unsigned i = 0; i < joins.size(); ++i) out[joins[i]] = {blocks[i], weight[i]};
  }

  const BlockGraph& graph_;
  const Components& components_;
  std::vector<std::uint32_t> before_;  // the only component that leads here, or which of the marks
  std::vector<Reaching> own_;
  std::vector<std::uint64_t> reached_;
};

}  // namespace

Components::Components(const BlockGraph& graph) : of(graph.count, kUnseen), begin{0} {
  Walk walk(graph, *this);
  for (std::uint32_t block = 0; block < graph.count; ++block) walk.from(block);
  cyclic.resize(count);
  for (std::uint32_t component = 0; component < count; ++component)
    cyclic[component] = begin[component + 1] - begin[component] > 1;
  for (std::uint32_t block = 0; block < graph.count; ++block)
    if (std::ranges::count(graph.successors[block], block) != 0) cyclic[of[block]] = true;
}

std::vector<Reaching> reaching(const BlockGraph& graph, const Components& components,
                               const std::vector<std::uint32_t>& weights, std::vector<bool> asked) {
  return ReachingSums(graph, components, weights).of(std::move(asked));
}

}  // namespace raddle::ptx

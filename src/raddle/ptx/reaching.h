// What reaches a block: how many blocks, and how many instructions of a kind in them. Sums over
// strongly connected components; where several ways come together nothing but sets adds up, 64 of
// them at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/ptx/block_graph.h"

namespace raddle::ptx {

/// Strongly connected components of the blocks (Tarjan, "Depth-First Search and Linear Graph
/// Algorithms", 1972). A component's number is above those that it leads to.
struct Components {
  explicit Components(const BlockGraph& graph);
  /// Whether a way leads from the block back to it.
  bool in_cycle(std::uint32_t block) const { return cyclic[of[block]]; }

  std::uint32_t count = 0;
  std::vector<std::uint32_t> of;      ///< by block
  std::vector<std::uint32_t> blocks;  ///< by component
  std::vector<std::uint32_t> begin;   ///< of each component in `blocks`; begin[count] = all
  std::vector<bool> cyclic;           ///< by component
};

/// Sums over all blocks that reach a component, its own included.
struct Reaching {
  std::uint32_t blocks = 0, weight = 0;
};
/// By component, of those with `asked`; `weights` is by block.
std::vector<Reaching> reaching(const BlockGraph& graph, const Components& components,
                               const std::vector<std::uint32_t>& weights, std::vector<bool> asked);

}  // namespace raddle::ptx

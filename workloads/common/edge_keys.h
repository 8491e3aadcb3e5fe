// Edges as numbers, from which the generators make graphs.
#pragma once
#include <cstdint>
#include <vector>

#include "common/graph.h"

namespace raddle::workloads::edge_keys {

/// An edge as one number: sorting them sorts by source, then by target.
using Key = std::uint64_t;
constexpr Key key(std::uint32_t from, std::uint32_t to) { return Key{from} << 32 | to; }
constexpr std::uint32_t from(Key edge) { return static_cast<std::uint32_t>(edge >> 32); }
constexpr std::uint32_t to(Key edge) { return static_cast<std::uint32_t>(edge); }

/// `edges` in order of their sources; those of one source stay in the order given.
Graph from_sorted(std::uint32_t vertices, const std::vector<Key>& edges);

/// One edge of the 2^bits square by `bits` choices of a quadrant.
Key rmat_edge(int bits, Rng& rng);

}  // namespace raddle::workloads::edge_keys

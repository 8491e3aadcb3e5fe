// How mum's tree and reference lie in device memory: rows as those of a texture, neighbouring
// numbers in different rows. For kernels and host alike. See README.md.
#pragma once

/// Entries in a row of nodes (or of children), characters in a row of the reference.
constexpr unsigned kNodesInRow = 4096, kLettersInRow = 65536;
/// Consecutive nodes (characters) go to as many rows, one to each.
constexpr unsigned kNodeRows = 32, kLetterRows = 4;

/// A node's place: column in the low half, row in the high half. 0 is none, the root has number 1.
constexpr unsigned kNoPlace = 0, kRootPlace = 1u << 16;

/// Words of an entry of the nodes; those of the children are A, C, G, T.
enum NodeWord : unsigned { kBegin, kEnd, kSentinelChild, kSuffix, kNodeWords };

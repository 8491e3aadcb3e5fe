// Two relations sorted by key, and what a join of them needs to know beforehand.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

enum class KeyKind : std::uint8_t { Uniform, Gaussian };

/// `rows` sorted keys below `keys`: uniform, or normal around the middle with an eighth of the keys
/// as standard deviation, drawn again where beyond. Precondition: keys >= 1.
std::vector<std::uint32_t> sorted_keys(KeyKind kind, std::uint32_t rows, std::uint32_t keys,
                                       Rng& rng);

/// Some consecutive left rows: the right rows from the first to the last of their keys, and the
/// place of their first pair in the output.
struct JoinPart {
  std::uint32_t left_first, left_end, right_first, right_end, out_first;
};

/// What a part has for one right row: consecutive left rows.
struct JoinMatch {
  std::uint32_t left_first, right, count;
};

struct JoinPlan {
  std::vector<JoinPart> parts;
  std::vector<std::uint32_t> first_part;  ///< of each partition, and the end
  std::vector<JoinMatch> matches;         ///< in order of output, those with count > 0
  std::uint64_t pairs = 0;
};

/// The left relation in partitions as equal as can be, each in parts of `block` rows and what is
/// left over. Preconditions: partitions, block >= 1.
JoinPlan plan_join(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right,
                   std::uint32_t partitions, std::uint32_t block);

}  // namespace raddle::workloads

// The map of the mesh over time (timing/gpu/mesh_record.h) for the page: flits over each link, what
// each SM did and which warps moved, by columns of time.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// Of one column, pairs of SMs between which warps moved; those with most.
inline constexpr std::size_t kMaxMovesOfColumn = 256;

/// Whoever plays it back sees about six a second.
inline constexpr std::size_t kMaxMeshColumns = 200;

/// Null without a record. Flits and warps are numbers, shares of an SM's time are in thousandths.
/// At most about `max_cells` numbers of links and SMs, and kMaxMeshColumns.
nlohmann::ordered_json mesh_json(const sim::Result& result, std::size_t max_cells);

}  // namespace raddle::report

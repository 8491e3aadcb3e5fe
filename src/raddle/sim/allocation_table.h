// The analysis "allocations": which buffers and variables a run's accesses of memory go to.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>

#include "raddle/analysis/allocations.h"

namespace raddle::sim {

/// `known`: whether it was said what is allocated (recordings of old and traces do not); a list of
/// rows as of AllocationTraffic::rows(), bytes of DRAM in the place of sectors.
nlohmann::ordered_json allocation_table(const analysis::AllocationTraffic& traffic,
                                        std::uint32_t line_bytes, std::uint32_t sector_bytes);

}  // namespace raddle::sim

// The analysis "allocations" as text: buffers and variables by the traffic that they cause.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace raddle::cli {

struct AllocationsTableOptions {
  std::size_t maximum = 20;  ///< rows; 0: all
  bool by_kernel = false;    ///< under each row, one for each kernel that touches it
};

/// `allocations`: the table of that analysis (sim/analyses/allocations.cpp).
std::string allocations_table(const nlohmann::ordered_json& allocations,
                              const AllocationsTableOptions& options);

}  // namespace raddle::cli

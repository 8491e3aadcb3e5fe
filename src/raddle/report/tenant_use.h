// What tenants used of network and DRAM over time, as the page draws it.
#pragma once
#include <nlohmann/json.hpp>

#include "raddle/sim/result/corun_result.h"

namespace raddle::report {

/// Neighbouring intervals are summed until there are no more than `most`; null without a record.
/// One array per member, and a table for each tenant.
nlohmann::ordered_json tenant_use_json(const sim::CorunResult& run, std::size_t maximum);

}  // namespace raddle::report

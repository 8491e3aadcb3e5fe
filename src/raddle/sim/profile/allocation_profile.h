// The analysis "allocations": which buffers and variables a run's accesses of memory go to.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "raddle/analysis/allocations.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

/// One that nobody has told anything.
std::unique_ptr<analysis::AllocationTraffic> allocation_traffic(const timing::MachineSpec& machine);

/// `known`: whether it was said what is allocated (recordings of old and traces do not); a list of
/// rows as of AllocationTraffic::rows(). Arguments count from 1 here.
nlohmann::ordered_json allocation_profile(const analysis::AllocationTraffic& traffic);

}  // namespace raddle::sim

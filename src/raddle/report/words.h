// What terminal and pages call things alike, beside the terms of stats/terms.h.
#pragma once
#include <cstdint>
#include <string>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// 132096 -> "129 KiB".
std::string bytes_text(std::uint64_t bytes);

/// "warp=gto throttle=ccws": the warp policy, and those of other levels that are not the default.
std::string policy_label(const sim::Result& result);
/// Of `policies` of a result as JSON: each level an object with a name.
std::string policy_label(const nlohmann::ordered_json& policies, bool corun);

}  // namespace raddle::report

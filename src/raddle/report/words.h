// What terminal and pages call things alike (web/src/metrics.ts has the same titles).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// Of the reasons for which schedulers issue nothing, in the order of stats::Stall.
inline constexpr std::array<std::string_view, stats::kStalls> kStallTitles = {
    "no warp", "barrier", "memory", "dependence", "unit busy", "load/store unit",
    "fence",   "sleep",   "fetch",  "throttled",  "launch"};

/// 132096 -> "129 KiB".
std::string bytes_text(std::uint64_t bytes);

/// "warp=gto throttle=ccws": the warp policy, and those of other levels that are not the default.
std::string policy_label(const sim::Result& result);

}  // namespace raddle::report

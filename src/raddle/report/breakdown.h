// Where a run's work was done: by level of memory, by kernel and by stream, as tables that add up.
#pragma once
#include <string>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// Tables for the summary of a timed run; of streams only when there are several.
std::string breakdown(const sim::Result& result);

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t n);

}  // namespace raddle::report

// How analyses are asked for: as text, and of which machine.
#pragma once
#include <string>
#include <string_view>

#include "raddle/analysis/analyses.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

/// "cache", "cache:size_kib=8,replacement=lru+belady", or with a label of its own
/// "small=cache:size_kib=8"; without one the label is the name. `origin` stands for the file in
/// errors. Throws InputError with everything that is wrong with it.
analysis::Request read_analysis(std::string_view text, const std::string& origin);

/// What analyses need to know of a machine's L1Ds.
analysis::L1Machine observed_l1(const timing::MachineSpec& machine);

}  // namespace raddle::sim

// The analysis "warps" as text: a row for each warp slot, a letter for some cycles.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace raddle::cli {

/// `warps`: the figures of that analysis (sim/analyses/warps.cpp). Rows of at most `columns`
/// letters: "*" where the warp issues, else what it is in for most of these cycles.
std::string warps_table(const nlohmann::ordered_json& warps, unsigned columns = 66);

}  // namespace raddle::cli

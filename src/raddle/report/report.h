// The report: one self-contained HTML page with what was run and what came of it. The page itself
// is built from web/ (template.h); here its data is put together and set into it. The page does all
// drawing.
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// One simulation under the name it has in tables and legends, usually its policy. Not owned.
struct Run {
  std::string label;
  const sim::Result* result;
};

struct ReportInput {
  std::string command;    ///< as typed; may be empty
  std::string date;       ///< shown as it is; empty = left out, so that equal runs give equal pages
  std::vector<Run> runs;  ///< ratios refer to the first run of each workload
  /// Results of more launches have sums by kernel and no map of who ran which block.
  std::size_t single_launches = sim::kMaxSingleLaunches;
  /// Of each work, what_if_json(); may be empty.
  nlohmann::ordered_json what_if = nlohmann::ordered_json::array();
};

/// Most block bars of one run on the page, and of all runs together: about 30 bytes of page each.
inline constexpr std::size_t kMaxBarsOfRun = 20'000;
inline constexpr std::size_t kMaxBarsOfPage = 250'000;
/// Most blocks in the map of blocks to SMs of one run on the page, and of all runs together: about
/// 6 bytes each.
inline constexpr std::size_t kMaxPlacesOfRun = 40'000;
inline constexpr std::size_t kMaxPlacesOfPage = 300'000;
/// Most numbers of warps allowed (SMs x columns of time) of one run on the page, and of all runs
/// together: 5 bytes each.
inline constexpr std::size_t kMaxCellsOfRun = 20'000;
inline constexpr std::size_t kMaxCellsOfPage = 200'000;
/// Most numbers of links and SMs in the map of the mesh of one run on the page, and of all runs
/// together: 3 bytes each.
inline constexpr std::size_t kMaxMeshCellsOfRun = 100'000;
inline constexpr std::size_t kMaxMeshCellsOfPage = 600'000;
/// Most rows of the launch tree of one run on the page, and of all runs together: about 70 bytes
/// each.
inline constexpr std::size_t kMaxTreeRowsOfRun = 3'000;
inline constexpr std::size_t kMaxTreeRowsOfPage = 60'000;
/// Most samples of one run on the page; neighbours are summed until they fit.
inline constexpr std::size_t kMaxSamples = 600;

/// What the page reads (web/src/data.ts names every member).
nlohmann::ordered_json data(const ReportInput& input);

/// The whole page. No string of the input can end the page's script element.
std::string html(const ReportInput& input);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const std::string& text);

}  // namespace raddle::report

// Kept results as tables, for questions in SQL (raddle query). A result is a tree; its tables are
// these:
// - `runs`, a row for each result: file, policies, workload, and the totals by their names;
// - one for each other object of it, with a row for each run (`config`, `details`, `stalls`,
//   `policies`, ...), whose columns are the paths inside, joined by _ ("noc_request_read_bytes");
// - one for each list, with a row for each entry: `kernels` (a launch each), `streams`, `tenants`,
//   and lists within lists, by their joined names (`allocations_rows`, `source_kernels_lines`);
// - `kernel_stalls`, the stalls of each kernel with a row for each reason.
// Every table has the column `run`; rows of a list say their place ("kernels_at", from 0) or, where
// the result has them by name, their name ("source_kernels_name"), and so do rows of lists within.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "raddle/report/kept.h"

namespace raddle::report {

struct KeptTable {
  std::string name;
  std::vector<std::string> columns;  ///< no two are alike but for case
  /// Texts, numbers, truths and nulls; what is no such thing, a list of numbers, as JSON text.
  std::vector<std::vector<nlohmann::ordered_json>> rows;
};

/// In order of first appearance. Runs are numbered from 0 as they stand.
std::vector<KeptTable> tables_of(std::span<const KeptRun> runs);

}  // namespace raddle::report

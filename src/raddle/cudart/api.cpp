#include "raddle/cudart/api.h"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::cudart {

std::vector<ApiFunction> api_functions() {
  return {
#define HAVE(name, first, last) {#name, first, last, true},
#define HAVE_AS(name, body, first, last) {#name, first, last, true},
#define PTDS(name, first, last) {#name "_ptds", first, last, true},
#define PTSZ(name, first, last) {#name "_ptsz", first, last, true},
#define PTSZ_AS(name, body, first, last) {#name "_ptsz", first, last, true},
#define LACK(name, first, last) {#name, first, last, false},
#include "raddle/cudart/api.inc"
  };
}

std::string api_table() {
  struct Row {
    std::string name, per_thread;
    int first, last;
    bool supported;
  };
  std::vector<Row> rows;
  for (const ApiFunction& f : api_functions()) {
    const bool variant = f.name.ends_with("_ptds") || f.name.ends_with("_ptsz");
    const std::string name = variant ? f.name.substr(0, f.name.size() - 5) : f.name;
    const auto row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) {
      rows.push_back({name, "", f.first, f.last, f.supported});
    } else {
      if (variant) row->per_thread = f.name.substr(f.name.size() - 5);
      row->first = std::min(row->first, f.first);
      row->last = std::max(row->last, f.last);
    }
  }
  const auto have = std::ranges::count(rows, true, &Row::supported);
  std::string out = fmt::format("{} functions, {} of them supported.\n\n", rows.size(), have);
  out += "| function | libcudart | per-thread name | here |\n|---|---|---|---|\n";
  for (const Row& row : rows) {
    const std::string versions = row.first == row.last
                                     ? fmt::format("{}", row.first)
                                     : fmt::format("{} to {}", row.first, row.last);
    out += fmt::format("| `{}` | {} | {} | {} |\n", row.name, versions,
                       row.per_thread.empty() ? "" : "`" + row.per_thread + "`",
                       row.supported ? "yes" : "cudaErrorNotSupported");
  }
  return out;
}

}  // namespace raddle::cudart

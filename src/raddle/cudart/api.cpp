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
  for (const ApiFunction& function : api_functions()) {
    const bool variant = function.name.ends_with("_ptds") || function.name.ends_with("_ptsz");
    const std::string name =
        variant ? function.name.substr(0, function.name.size() - 5) : function.name;
    const auto row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) {
      rows.push_back({name, "", function.first, function.last, function.supported});
    } else {
      if (variant) row->per_thread = function.name.substr(function.name.size() - 5);
      row->first = std::min(row->first, function.first);
      row->last = std::max(row->last, function.last);
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

std::string driver_table() {
  std::vector<std::string> have;
  unsigned lacking = 0;
#define DRIVER(name, body, since) have.emplace_back(#name);
#define DRIVER_PT(name, body, since) have.emplace_back(#name);
#define DRIVER_ANY(name, body, since) have.emplace_back(#name);
#define DRIVER_SAME(name, body, since) have.emplace_back(#name);
#define DRIVER_SAME_PT(name, body, since) have.emplace_back(#name);
#define DRIVER_LACK(name, since) ++lacking;
#include "raddle/cudart/driver.inc"
#include "raddle/cudart/driver_lack.inc"
  std::string out =
      fmt::format("{} names of {} are supported.\n\n| function | names |\n|---|---|\n", have.size(),
                  have.size() + lacking);
  const auto base = [](std::string name) {
    if (name.ends_with("_ptsz") || name.ends_with("_ptds")) name.resize(name.size() - 5);
    if (name.size() > 3 && name.substr(name.size() - 3, 2) == "_v") name.resize(name.size() - 3);
    return name;
  };
  for (auto first = have.begin(); first != have.end();) {
    const std::string function = base(*first);
    out += "| `" + function + "` |";
    for (; first != have.end() && base(*first) == function; ++first) out += " `" + *first + "`";
    out += " |\n";
  }
  return out;
}

}  // namespace raddle::cudart

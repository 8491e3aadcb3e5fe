#include "raddle/cli/shared/allocations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/base/stable_sort.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/words.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFigures[] = {
    "loads",   "stores",          "atomics",   "l1d_hits",        "l1d_pending_hits",  "l1d_misses",
    "l2_hits", "l2_pending_hits", "l2_misses", "dram_read_bytes", "dram_written_bytes"};

std::uint64_t count(const Json& row, const char* key) { return row.at(key).get<std::uint64_t>(); }

/// What is sorted by: traffic with DRAM, then accesses.
std::pair<std::uint64_t, std::uint64_t> weight(const Json& row) {
  return {count(row, "dram_read_bytes") + count(row, "dram_written_bytes"),
          count(row, "loads") + count(row, "stores") + count(row, "atomics")};
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return part != 0 && share < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", share);
}

constexpr std::size_t kWidestName = 26;
constexpr const char* kRow =
    "  {:<26} {:>10} {:>8} {:>12} {:>8} {:>12} {:>10} {:>8} {:>10} {:>10}  {}";

std::string line(const std::string& name, const std::string& bytes, const std::string& touched,
                 const Json& row, const std::string& arguments) {
  const auto some = [&](const char* key) {
    return count(row, key) == 0 ? std::string() : grouped(count(row, key));
  };
  const auto bytes_of = [&](const char* key) {
    return count(row, key) == 0 ? std::string() : report::bytes_text(count(row, key));
  };
  const auto rate = [&](const char* hits, const char* pending, const char* misses) {
    return percent(count(row, hits), count(row, hits) + count(row, pending) + count(row, misses));
  };
  std::string out =
      fmt::format(kRow, cut(name, kWidestName), bytes, touched, some("loads"),
                  rate("l1d_hits", "l1d_pending_hits", "l1d_misses"), some("stores"),
                  some("atomics"), rate("l2_hits", "l2_pending_hits", "l2_misses"),
                  bytes_of("dram_read_bytes"), bytes_of("dram_written_bytes"), arguments);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

/// "bfs_level 1, bfs_init 2".
std::string arguments_of(const Json& row) {
  constexpr std::size_t kMaximum = 3;
  std::vector<std::string> all;
  const Json arguments = row.value("arguments", Json::object());
  for (const auto& [kernel, places] : arguments.items())
    for (const Json& place : places)
      all.push_back(fmt::format("{} {}", short_name(kernel), place.get<std::uint64_t>()));
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kMaximum); ++i)
    out += (i == 0 ? "" : ", ") + all[i];
  return all.size() <= kMaximum ? out : out + fmt::format(" and {} more", all.size() - kMaximum);
}

std::string text_of(const Json& row, bool by_kernel) {
  std::string name = row.at("name");
  if (row.contains("times")) name += fmt::format(" (x{})", count(row, "times"));
  const bool place = row.contains("bytes");
  std::string out = line(name, place ? report::bytes_text(count(row, "bytes")) : "",
                         place ? percent(count(row, "touched_sectors"), count(row, "sectors")) : "",
                         row, arguments_of(row));
  if (!by_kernel) return out;
  std::vector<std::pair<std::string, Json>> kernels;
  for (const auto& [kernel, of] : row.at("kernels").items()) kernels.emplace_back(kernel, of);
  sort_stably(
      kernels, [](const auto& one) { return weight(one.second); }, std::greater<>{});
  for (const auto& [kernel, of] : kernels) out += line("  " + short_name(kernel), "", "", of, "");
  return out;
}

Json sum_of(const Json& rows) {
  Json out;
  for (const char* figure : kFigures) {
    std::uint64_t sum = 0;
    for (const Json& row : rows) sum += count(row, figure);
    out[figure] = sum;
  }
  return out;
}

}  // namespace

std::string allocations_table(const Json& allocations, const AllocationsTableOptions& options) {
  std::vector<const Json*> rows;
  for (const Json& row : allocations.at("rows")) rows.push_back(&row);
  sort_stably(
      rows, [](const Json* row) { return weight(*row); }, std::greater<>{});
  std::string out = "\n" + fmt::format(kRow, "", "size", "touched", "loads", "L1D", "stores",
                                       "atomics", "L2", "read", "written", "argument of\n");
  const std::size_t maximum = options.maximum == 0 ? rows.size() : options.maximum;
  for (std::size_t i = 0; i < std::min(rows.size(), maximum); ++i)
    out += text_of(*rows[i], options.by_kernel);
  if (rows.size() > maximum)
    out += fmt::format("  and {} more (--top 0 shows all)\n", rows.size() - maximum);
  out += line("all", "", "", sum_of(allocations.at("rows")), "");
  if (!allocations.at("known").get<bool>())
    out +=
        "\n  It is not known here what was allocated: a trace, or a recording made before "
        "recordings said it.\n";
  return out +
         "\n  Most traffic with DRAM first. allocation N: the Nth that the program has made; "
         "(xM): M of the same place and size,\n  one after another. touched: of its sectors, "
         "those that the L2 was asked for. loads, stores, atomics: of lines,\n  by the accesses "
         "of warps; L1D: loads that hit; L2: requests that hit. read, written: bytes of DRAM; "
         "what the L2\n  still holds at the end is not written. argument of: kernels that the "
         "host has launched with a pointer into it,\n  and as which argument. the rest: what "
         "kernels allocate, and parameters of their launches\n";
}

}  // namespace raddle::cli

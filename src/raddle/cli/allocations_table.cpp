#include "raddle/cli/allocations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/base/stable_sort.h"
#include "raddle/cli/output.h"
#include "raddle/report/words.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t count(const Json& row, const char* key) { return row.at(key).get<std::uint64_t>(); }

std::uint64_t dram_bytes(const Json& row) {
  return count(row, "dram_read_bytes") + count(row, "dram_written_bytes");
}
std::uint64_t lines(const Json& row) {
  return count(row, "loads") + count(row, "stores") + count(row, "atomics");
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

constexpr const char* kRow =
    "  {:<18} {:>10} {:>8} {:>12} {:>8} {:>12} {:>10} {:>8} {:>10} {:>10}  {}\n";

std::string figures(const std::string& name, const std::string& bytes, const std::string& touched,
                    const Json& row, const std::string& rest) {
  const auto some = [](std::uint64_t n) { return n == 0 ? std::string() : grouped(n); };
  const std::uint64_t l1d = count(row, "l1d_hits") + count(row, "l1d_pending_hits") +
                            count(row, "l1d_misses"),
                      l2 = count(row, "l2_hits") + count(row, "l2_pending_hits") +
                           count(row, "l2_misses");
  const auto bytes_of = [&](const char* key) {
    return count(row, key) == 0 ? std::string() : report::bytes_text(count(row, key));
  };
  return fmt::format(kRow, name, bytes, touched, some(count(row, "loads")),
                     percent(count(row, "l1d_hits"), l1d), some(count(row, "stores")),
                     some(count(row, "atomics")), percent(count(row, "l2_hits"), l2),
                     bytes_of("dram_read_bytes"), bytes_of("dram_written_bytes"), rest);
}

/// "bfs_level 1, bfs_init 2": arguments count from 1, as people do.
std::string arguments_of(const Json& row) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> all;
  const Json arguments = row.value("arguments", Json::object());
  for (const auto& [kernel, places] : arguments.items())
    for (const Json& place : places)
      all.push_back(fmt::format("{} {}", short_name(kernel), place.get<std::uint64_t>() + 1));
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i)
    out += (i == 0 ? "" : ", ") + all[i];
  return all.size() <= kMost ? out : out + fmt::format(" and {} more", all.size() - kMost);
}

std::string text_of(const Json& row, bool by_kernel) {
  const std::uint64_t bytes = row.value("bytes", std::uint64_t{0});
  std::string out = figures(row.at("name"), bytes == 0 ? "" : report::bytes_text(bytes),
                            bytes == 0 ? "" : percent(count(row, "touched_bytes"), bytes), row,
                            arguments_of(row));
  if (!by_kernel) return out;
  for (const auto& [kernel, of] : row.at("kernels").items())
    out += figures("  " + short_name(kernel), "", "", of, "");
  return out;
}

}  // namespace

std::string allocations_table(const Json& allocations, const AllocationsTableOptions& options) {
  std::vector<const Json*> rows;
  for (const Json& row : allocations.at("rows")) rows.push_back(&row);
  sort_stably(
      rows, [](const Json* row) { return std::pair(dram_bytes(*row), lines(*row)); },
      std::greater<>{});
  std::string out = "\n" + fmt::format(kRow, "", "size", "touched", "loads", "L1D", "stores",
                                       "atomics", "L2", "read", "written", "argument of");
  const std::size_t most = options.most == 0 ? rows.size() : options.most;
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i)
    out += text_of(*rows[i], options.by_kernel);
  if (rows.size() > most)
    out += fmt::format("  and {} more (--top 0 shows all)\n", rows.size() - most);
  if (!allocations.at("known").get<bool>())
    out +=
        "\n  It is not known here what was allocated: a trace, or a recording made before "
        "recordings said it.\n";
  return out +
         "\n  Most traffic with DRAM first; allocations are numbered as the program made them. "
         "loads, "
         "stores, atomics:\n  of lines, by the accesses of warps; L1D: loads that hit; L2: "
         "requests "
         "that hit; read, written: bytes of DRAM.\n  argument of: kernels that got a pointer into "
         "it, and as which argument\n";
}

}  // namespace raddle::cli

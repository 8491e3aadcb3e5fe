#include "raddle/cli/shared/source_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include "raddle/base/demangle.h"
#include "raddle/base/stable_sort.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/source_lines.h"
#include "raddle/report/source_texts.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using report::SourceLine;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The three states that are most of it, in percent of `whole`.
std::string waits_of(const SourceLine& row, std::uint64_t whole) {
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [state, count] : row.waits) order.emplace_back(count, state);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 3); ++i)
    if (const double share = percent(order[i].first, whole); share >= 0.05)
      out += fmt::format("{}{} {:.1f}", out.empty() ? "" : ", ", order[i].second, share);
  return out;
}

constexpr const char* kRow = "  {:>7}  {:<34} {:>7} {:>12} {:>6} {:>6} {:>7}  {}\n";

/// `mixed`: among lines of the CUDA source.
std::string text_of(const SourceLine& row, std::uint64_t whole, bool mixed,
                    report::SourceTexts& texts) {
  const auto mean = [](std::uint64_t sum, std::uint64_t of) {
    return of == 0 ? std::string()
                   : fmt::format("{:.1f}", static_cast<double>(sum) / static_cast<double>(of));
  };
  std::string what = fmt::format("{}{} {}", mixed ? "PTX:" : "", row.line, row.instruction);
  if (!row.file.empty()) {
    const std::string name = row.file.substr(row.file.rfind('/') + 1);
    what = fmt::format("{}:{} {}", name, row.line, texts.line(row.file, row.line));
  }
  constexpr std::size_t kWidest = 72;
  return fmt::format(kRow, fmt::format("{:.1f} %", percent(row.seen, whole)), waits_of(row, whole),
                     row.awaited == 0 ? "" : fmt::format("{:.1f} %", percent(row.awaited, whole)),
                     grouped(row.issued), mean(row.threads, row.issued),
                     mean(row.memory_lines, row.accesses),
                     row.loads == 0 ? "" : fmt::format("{:.1f} %", percent(row.hits, row.loads)),
                     cut(what, kWidest));
}

std::uint64_t seen_in(const std::vector<SourceLine>& rows) {
  std::uint64_t sum = 0;
  for (const SourceLine& row : rows) sum += row.seen;
  return sum;
}

std::string text_of(const std::string& name, const std::string& file,
                    const std::vector<SourceLine>& rows, std::uint64_t whole,
                    const SourceTableOptions& options, report::SourceTexts& texts) {
  std::string out = fmt::format("\n  {} ({}): {:.1f} % of the warps' time\n", short_name(name),
                                file, percent(seen_in(rows), whole));
  out += fmt::format(kRow, "time", "waiting for", "awaited", "executed", "lanes", "lines", "L1D",
                     "where");
  const bool mixed =
      std::ranges::any_of(rows, [](const SourceLine& row) { return !row.file.empty(); });
  const std::size_t maximum = options.maximum == 0 ? rows.size() : options.maximum;
  for (std::size_t i = 0; i < std::min(rows.size(), maximum); ++i)
    out += text_of(rows[i], whole, mixed, texts);
  if (rows.size() > maximum)
    out += fmt::format("           and {} more lines (--top 0 shows all)\n", rows.size() - maximum);
  return out;
}

}  // namespace

std::string source_table(const Json& source, const SourceTableOptions& options) {
  struct Kernel {
    std::string name, file;
    std::vector<SourceLine> rows;
    std::uint64_t seen = 0;
  };
  const bool cuda = options.lines == SourceTableOptions::Lines::Known;
  std::vector<Kernel> kernels;
  std::uint64_t whole = 0;
  for (const auto& [name, kernel] : source.at("kernels").items()) {
    kernels.push_back(
        {name, kernel.at("file").get<std::string>(), report::source_lines(kernel, cuda)});
    whole += kernels.back().seen = seen_in(kernels.back().rows);
  }
  sort_stably(kernels, &Kernel::seen, std::greater<>{});
  report::SourceTexts texts;
  std::string out;
  for (const Kernel& k : kernels) out += text_of(k.name, k.file, k.rows, whole, options, texts);
  return out +
         fmt::format(
             "\n  {} looks have seen {} warps. time: share of these at that line, the next "
             "they will issue, and what\n  kept them there (ready: nothing, or another warp's "
             "turn). A wait for memory stands where the data is\n  needed; awaited: share of "
             "the warps, wherever they stood, that needed what this line loads.\n  lines: of "
             "memory, by access; L1D: loads of lines that hit. Order: by the larger of time and\n  "
             "awaited\n",
             grouped(source.at("looks").get<std::uint64_t>()), grouped(whole));
}

}  // namespace raddle::cli

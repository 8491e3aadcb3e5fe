#include "raddle/cli/shared/hot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "raddle/base/demangle.h"
#include "raddle/cli/shared/colour.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/source_texts.h"
#include "raddle/report/words.h"

namespace raddle::cli {

namespace {

constexpr std::size_t kColumns = 80;

std::string share_text(double share) {
  return share > 0 && share < 0.0005 ? "<0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

/// "memory 94 %".
std::string reason_text(const report::HotReason& reason) {
  return reason.name.empty() ? "-" : fmt::format("{} {:.0f} %", reason.name, 100 * reason.share);
}

/// Names and source lines are of others: what moves a terminal's cursor becomes a blank.
std::string fitted(std::string text, std::size_t columns) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return cut(std::move(text), columns);
}

class HotText {
 public:
  HotText(const report::Hot& hot, const HotTableOptions& options)
      : hot_(hot), top_(options.top), colours_(options.colours) {}

  std::string text(const std::string& title) {
    out_ = colours_.heading(fitted(title, kColumns)) + "\n";
    out_ += fmt::format("  {} cycles; issued {}, most lost to {}\n", report::grouped(hot_.cycles),
                        share_text(hot_.issued), reason_text(hot_.lost_to));
    kernels();
    if (hot_.lines) lines(*hot_.lines);
    if (hot_.allocations) allocations(*hot_.allocations);
    for (const std::string& lacks : hot_.lacking) out_ += fitted("  " + lacks, kColumns) + "\n";
    return std::move(out_);
  }

 private:
  /// "kernel", "kernel (the first 5 of 12)".
  std::string named(const char* what, std::size_t rows) const {
    const bool all = top_ == 0 || rows <= top_;
    return all ? what : fmt::format("{} ({} of {})", what, top_, rows);
  }

  std::size_t shown(std::size_t rows) const { return top_ == 0 ? rows : std::min(rows, top_); }

  /// `start`: before the first column; its share is the first.
  void row(double share, const std::string& columns, const std::string& name) {
    constexpr std::size_t kShare = 9;
    out_ += colours_.share(share, fmt::format("{:>{}}", share_text(share), kShare)) + columns +
            fitted(name, kColumns - kShare - columns.size()) + "\n";
  }

  void heading(const std::string& text) { out_ += "\n" + colours_.heading(text) + "\n"; }

  void kernels() {
    constexpr const char* kRow = "  {:>15}  {:>9}  {:<16}  ";
    if (hot_.kernels.empty()) {
      out_ += "\n  no kernel was launched\n";
      return;
    }
    heading(fmt::format("{:>9}", hot_.corun ? "instr." : "cycles") +
            fmt::format(kRow, hot_.corun ? "warp instr." : "cycles",
                        hot_.corun ? "kernels" : "launches", "most lost to") +
            named(hot_.corun ? "tenant" : "kernel", hot_.kernels.size()));
    for (std::size_t i = 0; i < shown(hot_.kernels.size()); ++i) {
      const report::HotKernel& one = hot_.kernels[i];
      row(one.share,
          fmt::format(kRow, report::grouped(one.amount), report::grouped(one.launches),
                      reason_text(one.lost_to)),
          short_name(one.name));
    }
  }

  std::string place_of(const report::HotLine& line) {
    if (line.file.empty())
      return fmt::format("{}:{} {}", short_name(line.kernels.front()), line.line, line.instruction);
    return fmt::format("{}:{} {}", line.file.substr(line.file.rfind('/') + 1), line.line,
                       texts_.line(line.file, line.line));
  }

  void lines(const std::vector<report::HotLine>& all) {
    constexpr const char* kRow = "  {:>7}  {:<16}  ";
    if (all.empty()) {
      out_ += "\n  no look at the SMs has seen a warp: no line is known to be hot\n";
      return;
    }
    heading(fmt::format("{:>9}", "time") + fmt::format(kRow, "awaited", "waits for") +
            named("line", all.size()));
    for (std::size_t i = 0; i < shown(all.size()); ++i)
      row(all[i].share,
          fmt::format(kRow, all[i].awaited > 0 ? share_text(all[i].awaited) : "",
                      reason_text(all[i].waits)),
          place_of(all[i]));
    out_ += "  time: of all warps, those at the line; awaited: those that need what it loads\n";
  }

  void allocations(const std::vector<report::HotAllocation>& all) {
    constexpr const char* kRow = "  {:>9}  {:>8}  {:>7}  {:>7}  ";
    if (all.empty()) {
      out_ += "\n  no kernel has accessed global memory\n";
      return;
    }
    const auto rate = [](const std::optional<double>& of) { return of ? share_text(*of) : ""; };
    heading(fmt::format("{:>9}", "DRAM") +
            fmt::format(kRow, "bytes", "accesses", "L1D hit", "L2 hit") +
            named("allocation", all.size()));
    for (std::size_t i = 0; i < shown(all.size()); ++i) {
      const report::HotAllocation& one = all[i];
      row(one.dram_share,
          fmt::format(kRow, report::bytes_text(one.dram_bytes), share_text(one.access_share),
                      rate(one.l1d_hit_rate), rate(one.l2_hit_rate)),
          one.name + (one.bytes ? " of " + report::bytes_text(*one.bytes) : ""));
    }
  }

  const report::Hot& hot_;
  const std::size_t top_;
  const Colours colours_;
  report::SourceTexts texts_;
  std::string out_;
};

}  // namespace

std::string hot_table(const std::string& title, const report::Hot& hot,
                      const HotTableOptions& options) {
  return HotText(hot, options).text(title);
}

}  // namespace raddle::cli

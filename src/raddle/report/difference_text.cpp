#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "raddle/base/stable_sort.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/difference.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxNamed = 4, kMaxSettings = 3;
constexpr std::size_t kNameWidth = 22, kNumberWidth = 11, kWidth = 110;

std::string signed_text(std::int64_t n) {
  const std::string digits = grouped(static_cast<std::uint64_t>(std::abs(n)));
  return n == 0 ? "0" : (n < 0 ? "-" : "+") + digits;
}

/// "load/store unit -1,526", the largest first; the numbers of all sum to the whole.
std::vector<std::string> parts_texts(const Waterfall& of) {
  std::vector<DifferencePart> changed;
  std::ranges::copy_if(of.parts, std::back_inserter(changed),
                       [](const DifferencePart& part) { return part.difference() != 0; });
  // The largest first; what is together already goes with the others.
  sort_stably(changed, [](const DifferencePart& part) {
    return std::pair(part.sums != 0, -std::abs(part.difference()));
  });
  const bool all = changed.size() <= kMaxNamed + 1;
  const std::size_t named = all ? changed.size() : kMaxNamed;
  std::vector<std::string> out;
  for (const DifferencePart& part : std::span(changed).first(named)) {
    out.push_back(part.title + " " + signed_text(part.difference()));
    if (part.error > 0)
      out.back() += " +- " + grouped(static_cast<std::uint64_t>(part.error + 0.5));
  }
  std::int64_t others = 0;
  std::size_t many = 0;
  for (const DifferencePart& part : std::span(changed).subspan(named)) {
    others += part.difference();
    many += std::max<std::size_t>(1, part.sums);
  }
  if (many > 0) out.push_back(fmt::format("{} others {}", many, signed_text(others)));
  return out;
}

/// "" where nothing changed.
std::string line(const std::string& name, const Waterfall& of, std::string_view unit) {
  std::string out, row = fmt::format("  {:<{}}{:>{}} {:<9} =", name, kNameWidth,
                                     signed_text(of.difference()), kNumberWidth, unit);
  const std::vector<std::string> parts = parts_texts(of);
  if (parts.empty()) return "";
  const std::size_t indent = row.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = " " + parts[i] + (i + 1 < parts.size() ? "," : "");
    if (row.size() > indent && row.size() + part.size() > kWidth) {
      out += row + "\n";
      row = std::string(indent, ' ');
    }
    row += part;
  }
  return out + row + "\n";
}

std::string settings_text(const Json& a, const Json& b) {
  const std::vector<std::string> all = settings_that_differ(a.at("config"), b.at("config"));
  std::string out;
  for (const std::string& one : std::span(all).first(std::min(all.size(), kMaxSettings)))
    out += (out.empty() ? "" : ", ") + one;
  if (all.size() > kMaxSettings) out += fmt::format(" and {} more", all.size() - kMaxSettings);
  return out.empty() ? "the same settings" : out;
}

std::string run_text(char letter, const ExplainedRun& run) {
  std::string out = fmt::format("  {}  {}", letter, run.label.empty() ? "one run" : run.label);
  return out + (run.file.empty() ? "" : " (" + run.file + ")");
}

double microseconds(const Json& result) {
  const Json& config = result.at("config");
  const bool known = config.contains("core_clock_mhz") && config["core_clock_mhz"].is_number();
  const double mhz = known ? config["core_clock_mhz"].get<double>() : 0;
  return result.at("totals").at("cycles").get<double>() / (mhz > 0 ? mhz : 1);
}

std::string headline_of(const Json& a, const Json& b, const Waterfall& cycles) {
  std::string out = work_title(a);
  const std::int64_t by = cycles.difference();
  out += by == 0
             ? fmt::format(": B takes as many cycles as A, {}",
                           grouped(static_cast<std::uint64_t>(cycles.a)))
             : fmt::format(": B takes {} cycles {} than A, {} instead of {}",
                           grouped(static_cast<std::uint64_t>(std::abs(by))),
                           by < 0 ? "less" : "more", grouped(static_cast<std::uint64_t>(cycles.b)),
                           grouped(static_cast<std::uint64_t>(cycles.a)));
  return out + fmt::format(" ({:.3f} times as fast)\n", microseconds(a) / microseconds(b));
}

std::string rules(const Difference& difference, const Json& a, const Json& b) {
  const auto schedulers = [](const Json& result) { return result.at("schedulers").dump(); };
  const std::string of =
      schedulers(a) == schedulers(b) ? schedulers(a) : schedulers(a) + " (A) and " + schedulers(b);
  std::string out = fmt::format(
      "  Parts sum to the difference. Cycles of schedulers: scheduler-cycles over {} schedulers.\n",
      of);
  const bool lines = !difference.of_kernels.empty() && difference.of_kernels.front().lines;
  if (lines)
    out += fmt::format(
        "  Lines are sampled, by {} and {} looks at all warps; +- is at most the standard error.\n",
        difference.looks_a, difference.looks_b);
  return out;
}

}  // namespace

std::string explanation(const ExplainedRun& a, const ExplainedRun& b,
                        const Difference& difference) {
  std::string out = headline_of(*a.result, *b.result, difference.kernels);
  out += run_text('A', a) + "\n" + run_text('B', b) + ": " + settings_text(*a.result, *b.result) +
         "\n";
  out += line("by kernel", difference.kernels, "cycles");
  if (difference.of_kernels.empty()) {
    out += line("by what schedulers did", difference.schedulers, "cycles");
  } else {
    const KernelDifference& largest = difference.of_kernels.front();
    out += line("in " + largest.title, largest.schedulers, "cycles");
    out += line("  accesses refused", largest.refused, "SM-cycles");
    if (largest.dram_bytes) out += line("  DRAM by allocation", *largest.dram_bytes, "bytes");
    if (largest.l1d_misses) out += line("  L1D misses", *largest.l1d_misses, "lines");
    if (largest.lines) out += line("  by line", *largest.lines, "cycles");
  }
  for (const std::string& note : difference.notes) out += "  Note: " + note + ".\n";
  return out + rules(difference, *a.result, *b.result);
}

}  // namespace raddle::report

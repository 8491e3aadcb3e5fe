#include "raddle/report/static_table.h"

#include <fmt/format.h>

#include <map>

#include "raddle/base/json.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/seeds.h"
#include "raddle/report/words.h"
#include "raddle/sim/result/commit.h"
#include "raddle/sim/result/version.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace of_static_table {
namespace {

constexpr std::string_view kNone = "-";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else out += c;
  }
  return out;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::string(kNone);
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Equal of runs of the same work on the same input.
std::string work_of(const sim::Result& r) {
  const auto run = r.config.find("run");
  return r.workload + json_dump(r.parameters) +
         (run == r.config.end() ? "" : json_dump(run->value("seed", Json())));
}

std::string verdict(const sim::Result& r) {
  switch (r.verdict) {
    case sim::Result::Verdict::Correct:
      return "correct";
    case sim::Result::Verdict::Wrong:
      return "WRONG";
    case sim::Result::Verdict::Unchecked:
      break;
  }
  return "unchecked";
}

std::string row(const Run& run, const sim::Result& base) {
  const sim::Result& r = *run.result;
  const auto& [cycles, c] = sim::whole_of(r);
  const std::uint64_t l2 = c.l2.reads + c.l2.writes + c.l2.atomics;
  const bool compared = r.timed && cycles != 0 && !r.corun;
  const double ipc =
      cycles == 0 ? 0 : static_cast<double>(c.sm.thread_instructions) / static_cast<double>(cycles);
  std::string out = "<tr>";
  for (const std::string& cell :
       {escaped(r.workload), escaped(run.label), verdict(r),
        r.timed ? grouped(cycles) : std::string(kNone),
        compared ? fmt::format("{:.3f}", speedup(r, base)) : std::string(kNone),
        r.timed ? fmt::format("{:.1f}", ipc) : std::string(kNone),
        percent(c.sm.l1d_hits, c.sm.l1d_accesses), percent(c.l2.hits, l2),
        r.timed ? bytes_text(c.dram.bytes) : std::string(kNone)})
    out += "<td>" + cell + "</td>";
  return out + "</tr>\n";
}

}  // namespace
}  // namespace of_static_table

std::string static_table(const ReportInput& input) {
  if (input.runs.empty()) return "";
  std::string out = "<p>Raddle " + of_static_table::escaped(sim::version());
  if (const std::string commit(sim::commit()); !commit.empty()) out += " (commit " + commit + ")";
  if (!input.date.empty()) out += ", " + of_static_table::escaped(input.date);
  out += "</p>\n";
  if (!input.command.empty()) out += "<pre>" + of_static_table::escaped(input.command) + "</pre>\n";
  out += "<table><caption>Every run; speed-ups are over the first of the same work</caption>\n<tr>";
  for (const char* title : {"Workload", "Policy", "Result", "Cycles", "Speed-up", "IPC",
                            "L1D hit rate", "L2 hit rate", "DRAM"})
    out += fmt::format("<th scope=\"col\">{}</th>", title);
  out += "</tr>\n";
  std::map<std::string, const sim::Result*> first;
  for (const Run& run : input.runs)
    out += of_static_table::row(
        run, *first.try_emplace(of_static_table::work_of(*run.result), run.result).first->second);
  return out + "</table>";
}

}  // namespace raddle::report

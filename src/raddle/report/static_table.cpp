#include "raddle/report/static_table.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "raddle/base/json.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/difference.h"
#include "raddle/report/json_member.h"
#include "raddle/report/kept.h"
#include "raddle/report/words.h"

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

double number(const Json& of, const char* key) {
  const Json& value = member(of, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string percent(const Json& totals, const char* part, const char* whole) {
  if (number(totals, whole) == 0) return std::string(kNone);
  return fmt::format("{:.1f} %", 100 * number(totals, part) / number(totals, whole));
}

std::string text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

const Json& seed_of(const Json& result) {
  return member(member(member(result, "config"), "run"), "seed");
}

/// 0 of what has no time to compare.
double microseconds(const Json& run) {
  const Json& result = member(run, "result");
  const double clock = number(run, "core_clock_mhz");
  if (member(result, "timed") != true || !member(result, "tenants").is_null() || clock == 0)
    return 0;
  return number(member(result, "totals"), "cycles") / clock;
}

std::string verdict(const Json& result) {
  const std::string verdict = text(member(member(result, "workload"), "result"));
  return verdict == "wrong" ? "WRONG" : verdict;
}

/// Names of which the page has several works.
std::set<std::string> ambiguous(const Json& runs) {
  std::map<std::string, std::string> work;
  std::set<std::string> out;
  for (const Json& run : runs) {
    const Json& result = member(run, "result");
    const std::string name = text(member(member(result, "workload"), "name"));
    if (work.try_emplace(name, work_title(result)).first->second != work_title(result))
      out.insert(name);
  }
  return out;
}

/// `work`: how it is told from others. `seeds`: the page has several of a work.
std::string row(const Json& run, const Json& base, const std::string& work, bool seeds) {
  const Json &result = member(run, "result"), &totals = member(result, "totals");
  const bool timed = member(result, "timed") == true;
  std::string label = text(member(run, "label"));
  if (seeds) label += ", seed " + json_dump(seed_of(result));
  const double time = microseconds(run);
  std::string out = "<tr>";
  for (const std::string& cell :
       {escaped(work), escaped(label), escaped(verdict(result)),
        timed ? grouped(static_cast<std::uint64_t>(number(totals, "cycles"))) : std::string(kNone),
        time == 0 ? std::string(kNone) : fmt::format("{:.3f}", microseconds(base) / time),
        timed ? fmt::format("{:.1f}", number(totals, "ipc")) : std::string(kNone),
        percent(totals, "l1d_hits", "l1d_accesses"), percent(totals, "l2_hits", "l2_accesses"),
        timed ? bytes_text(static_cast<std::uint64_t>(number(totals, "dram_bytes")))
              : std::string(kNone)})
    out += "<td>" + cell + "</td>";
  return out + "</tr>\n";
}

}  // namespace
}  // namespace of_static_table

std::string static_table(const Json& page) {
  using namespace of_static_table;
  const Json& runs = member(page, "runs");
  if (runs.empty()) return "";
  std::string out = "<p>Raddle " + escaped(text(member(page, "raddle_version")));
  if (const std::string commit = text(member(page, "commit")); !commit.empty())
    out += " (commit " + escaped(commit) + ")";
  if (const std::string date = text(member(page, "date")); !date.empty())
    out += ", " + escaped(date);
  out += "</p>\n";
  if (const std::string command = text(member(page, "command")); !command.empty())
    out += "<pre>" + escaped(command) + "</pre>\n";
  out += "<table><caption>Every run; speed-ups are over the first of the same work</caption>\n<tr>";
  for (const char* title : {"Workload", "Policy", "Result", "Cycles", "Speed-up", "IPC",
                            "L1D hit rate", "L2 hit rate", "DRAM"})
    out += fmt::format("<th scope=\"col\">{}</th>", title);
  out += "</tr>\n";
  std::map<std::string, const Json*> first;
  const std::set<std::string> several = ambiguous(runs);
  for (const Json& run : runs) {
    const Json& result = member(run, "result");
    const std::string name = text(member(member(result, "workload"), "name"));
    out += row(run, *first.try_emplace(work_key(result), &run).first->second,
               several.contains(name) ? work_title(result) : name,
               !member(page, "over_seeds").empty());
  }
  return out + "</table>";
}

}  // namespace raddle::report

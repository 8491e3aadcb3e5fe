// The catalogue as a page and as TypeScript.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "raddle/base/json.h"
#include "raddle/sim/result/catalogue.h"

namespace raddle::sim {

namespace {

using stats::Part;

/// A cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

constexpr std::string_view kHead = R"(# Metrics

Every number of a result: its name in the result JSON, its unit and what it means. Written by
`./x verify` from `src/raddle/stats/metrics.def`, one line each, and from the policies;
`raddle list metrics [NAME] [--json]` says the same.

* Names without a prefix are members of `totals`, and beside the other members of a launch
  (`kernels[]`), a kernel (`kernels_by_name[]`), a stream (`streams[]`) or a tenant (`tenants[]`).
  *Shown* says of which a metric is.
* A metric that is 0 is written as 0. A rate or mean of nothing is 0.
* *Counted as* names the counter (`src/raddle/stats/counters.h`), or the formula over counters.
  `ratio(a, b)` is a / b.
* What `details.noc` has of each kind of packet adds up to `noc_bytes` and `noc_flit_hops`, except
  for warps that migrate. Their contexts, and messages about them, are of none of the kinds and in
  the sums alone (`policies.migrate.statistics` has their bytes without headers).
* *Nsight Compute* names the profiler's metric where it counts the same by the same definition.
  Most have none: we count lines where the profiler counts sectors, and loads where it counts
  stores with them.

)";

constexpr std::string_view kTableHead =
    "| name | unit | meaning | counted as | shown | Nsight Compute |\n|---|---|---|---|---|---|\n";

std::string section_of(const CatalogueEntry& entry) {
  if (entry.name.starts_with("details.noc.")) return "Networks";
  if (entry.name.starts_with("details.")) return "Details";
  if (entry.name.starts_with("stalls.")) return "Scheduler-cycles";
  if (entry.name.starts_with("utilisation.") || entry.name.starts_with("peaks."))
    return "Utilisation";
  if (entry.name.starts_with("energy_pj.")) return "Energy";
  if (entry.name.starts_with("corun.")) return "Co-runs";
  if (entry.name.starts_with("host.")) return "Host";
  if (entry.name.starts_with("policies.")) return "Policies";
  return (entry.shown & stats::kRun) != 0 ? "Totals" : "Launches, kernels, streams and tenants";
}

constexpr auto kSections = std::to_array<std::string_view>(
    {"Totals", "Launches, kernels, streams and tenants", "Details", "Networks", "Scheduler-cycles",
     "Utilisation", "Energy", "Co-runs", "Host", "Policies"});

std::string internal_section() {
  std::string out =
      "\n## Counters that are not shown themselves\n\nOthers are computed from them, or the energy "
      "is.\n\n| counter | unit | meaning |\n|---|---|---|\n";
  for (const stats::InternalCounter& counter : stats::internal_counters())
    out += fmt::format("| `{}` | {} | {} |\n", counter.source, counter.unit, cell(counter.meaning));
  return out;
}

/// A TypeScript string.
std::string literal(std::string_view text) { return json_dump(nlohmann::json(std::string(text))); }

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string interface_of(std::string_view name, Part part, std::string_view doc) {
  std::string out = fmt::format("\n/** {} */\nexport interface {} {{\n", doc, name);
  stats::each_number(
      part, stats::kLaunch, [&](const std::string& member, const stats::Metric& metric, unsigned) {
        out += fmt::format("  /** {}: {} */\n  {}: number;\n", metric.unit, metric.meaning, member);
      });
  return out + "}\n";
}

template <class Terms>
std::string terms_of(std::string_view name, std::string_view doc, const Terms& terms) {
  std::string out =
      fmt::format("\n/** {} */\nexport const {}: {{ [name: string]: Term }} = {{\n", doc, name);
  for (const stats::Term& term : terms)
    out += fmt::format("  {}: {{ title: {}, explain: {} }},\n", term.name, literal(term.title),
                       literal(term.meaning));
  return out + "};\n";
}

}  // namespace

std::string catalogue_page(const std::vector<CatalogueEntry>& all) {
  std::string out(kHead);
  for (const std::string_view section : kSections) {
    out +=
        fmt::format("{}## {}\n\n{}", section == kSections.front() ? "" : "\n", section, kTableHead);
    for (const CatalogueEntry& entry : all)
      if (section_of(entry) == section)
        out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", entry.name, entry.unit,
                           cell(entry.meaning),
                           section == "Policies" ? entry.source : code(entry.source),
                           stats::shown_text(entry.shown), code(entry.ncu));
  }
  return out + internal_section();
}

std::string catalogue_typescript(const std::vector<CatalogueEntry>& all) {
  std::string out =
      "// Names, types and words of the metrics. Written by ./x verify from "
      "src/raddle/stats/metrics.def "
      "and terms.h: no edits\n// here.\n\nexport interface Words {\n  title: string;\n  unit: "
      "string;\n  meaning: string;\n}\n\nexport interface Term {\n  title: string;\n  explain: "
      "string;\n}\n";
  out += interface_of("Metrics", Part::Totals,
                      "Numbers that the totals and every launch, kernel, stream and tenant have "
                      "(result JSON, schema 1).");
  out += interface_of("Execution", Part::Execution, "Numbers that launches and kernels have, too.");
  out +=
      "\n/** By name in the result, without what it is a member of. */\nexport const kWords: { "
      "[name: string]: Words } = {\n";
  for (const CatalogueEntry& entry : all)
    if (!entry.name.starts_with("policies.") && !entry.name.starts_with("host.") &&
        (entry.shown & (stats::kRun | stats::kGroup | stats::kLaunch)) != 0)
      if (const std::size_t at = out.find(fmt::format("  {}: {{ title:", literal(entry.name)));
          at == std::string::npos)
        out += fmt::format("  {}: {{ title: {}, unit: {}, meaning: {} }},\n", literal(entry.name),
                           literal(stats::title_of(
                               std::string_view(entry.name).substr(entry.name.rfind('.') + 1))),
                           literal(entry.unit), literal(sentence(entry.meaning)));
  out += "};\n";
  out += fmt::format("\nexport const kIssued: Term = {{ title: {}, explain: {} }};\n",
                     literal(stats::kIssuedTerm.title), literal(stats::kIssuedTerm.meaning));
  out += terms_of("kStallTerms", "Why a scheduler issued nothing.", stats::kStallTerms);
  out += terms_of("kRefusalTerms", "Why an L1D took no access.", stats::kRefusalTerms);
  out += terms_of("kServedTerms", "Where loads had their data from.", stats::kServedFromTerms);
  return out;
}

}  // namespace raddle::sim

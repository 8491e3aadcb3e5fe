#include "raddle/report/validation_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "raddle/report/scatter.h"
#include "raddle/sim/result/version.h"

namespace raddle::report {

namespace {

/// The colours and shapes of web/src/style.css.
constexpr std::string_view kStyle = R"(
:root { --ink: #1d2733; --muted: #5b6776; --line: #dde2e8; --paper: #fff; --ground: #f4f6f8;
  --accent: #0b6e69; --code: #eef1f4; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --muted: #9aa7b6; --line: #333d49; --paper: #1a2028; --ground: #12161c;
    --accent: #4cc2b8; --code: #232b35; }
  svg { filter: invert(0.9) hue-rotate(180deg); border-radius: 6px; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 14px 24px 48px; background: var(--ground);
  color: var(--ink); font: 14px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 0 0 2px; }
.brand, .note { color: var(--muted); margin: 0; font-size: 13px; }
.command { background: var(--code); border-radius: 6px; padding: 5px 12px; margin: 8px 0 0;
  white-space: pre-wrap; overflow-wrap: anywhere;
  font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
nav { position: sticky; top: 0; display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0 10px;
  padding: 4px 0; background: var(--ground); border-bottom: 1px solid var(--line); }
nav a { color: var(--accent); text-decoration: none; padding: 3px 10px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px 20px 18px; margin: 0 0 16px; overflow-x: auto; }
section.says { border-left: 4px solid var(--accent); }
ul { margin: 2px 0 4px; padding-left: 20px; }
.pair { display: flex; flex-wrap: wrap; gap: 8px 28px; align-items: flex-start; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 9px; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
th.n, td.n { text-align: right; }
td.n { white-space: nowrap; }
tbody tr:hover { background: var(--code); }
svg { max-width: 100%; height: auto; }
)";

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

std::string number(double value, double scale, int digits) {
  return std::isnan(value) ? "not known" : fmt::format("{:.{}f}", value * scale, digits);
}

/// "+3.1 %", of a rate "-2.0 points"; "-" where nothing was measured to compare with.
std::string error_text(sim::Metric metric, const sim::Pair& p) {
  if (is_rate(metric)) return fmt::format("{:+.1f} points", 100 * (p.simulated - p.measured));
  return p.measured == 0 ? "-" : fmt::format("{:+.1f} %", 100 * (p.simulated / p.measured - 1));
}

double distance(sim::Metric metric, const sim::Pair& p) {
  if (is_rate(metric)) return std::abs(p.simulated - p.measured);
  return p.measured == 0 ? 0 : std::abs(p.simulated / p.measured - 1);
}

std::string section(std::string_view id, std::string_view title, const std::string& content,
                    std::string_view kind = "") {
  return fmt::format("<section id={}{}>\n<h2>{}</h2>\n{}</section>\n", id, kind, title, content);
}

/// A sentence for each metric that was measured.
std::string findings(const Validation& v) {
  std::string out;
  for (std::size_t m = 0; m < sim::kMetrics; ++m) {
    const auto metric = static_cast<sim::Metric>(m);
    const std::vector<sim::Pair>& pairs = v.pairs[m];
    if (pairs.empty()) continue;
    const sim::Agreement a = sim::agreement(pairs);
    const sim::Pair& worst = *std::ranges::max_element(
        pairs, {}, [&](const sim::Pair& p) { return distance(metric, p); });
    const std::string mean = is_rate(metric) ? number(a.mean_absolute_error, 100, 1) + " points"
                                             : number(a.mape, 100, 1) + " %";
    out += fmt::format(
        "<li>{}: {} mean absolute error over {} launch{}; farthest off is {} ({}: {} measured, {} "
        "simulated).</li>\n",
        kMetricTitles[m], mean, a.pairs, a.pairs == 1 ? "" : "es", escaped_html(worst.label),
        error_text(metric, worst), metric_text(metric, worst.measured),
        metric_text(metric, worst.simulated));
  }
  for (const std::string& remark : v.remarks) out += "<li>" + escaped_html(remark) + "</li>\n";
  return out.empty() ? "<p>Nothing was measured.</p>\n" : "<ul>\n" + out + "</ul>\n";
}

/// Metrics that are of profiles alone are there where they were measured.
bool left_out(const Validation& v, std::size_t metric) {
  return v.pairs[metric].empty() && (v.only_measured || metric >= sim::kFileMetrics);
}

std::string agreements(const Validation& v) {
  std::string out =
      "<p class=note>MAPE: mean absolute percentage error. NRMSE: root of the mean squared "
      "difference over the mean measured. Pearson: correlation. Launches with a zero have no "
      "ratio and are left out of MAPE and the geometric mean.</p>\n"
      "<table>\n<thead><tr><th>Metric</th><th class=n>Launches</th><th class=n>MAPE</th><th "
      "class=n>Mean absolute error</th><th class=n>NRMSE</th><th class=n>Geometric mean of "
      "simulated / measured</th><th class=n>Pearson</th><th class=n>With a zero</th></tr></thead>\n"
      "<tbody>\n";
  for (std::size_t m = 0; m < sim::kMetrics; ++m) {
    const auto metric = static_cast<sim::Metric>(m);
    if (left_out(v, m)) continue;
    const sim::Agreement a = sim::agreement(v.pairs[m]);
    out += fmt::format(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}{}</td><td class=n>{}</td><td "
        "class=n>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
        kMetricTitles[m], a.pairs, number(a.mape, 100, 1), std::isnan(a.mape) ? "" : " %",
        is_rate(metric) ? number(a.mean_absolute_error, 100, 1) + " points"
                        : metric_text(metric, a.mean_absolute_error),
        number(a.nrmse, 1, 2), number(a.ratio, 1, 3), number(a.pearson, 1, 3), a.zeros);
  }
  return out + "</tbody></table>\n";
}

std::string launches(const std::vector<sim::Pair>& pairs, sim::Metric metric) {
  if (pairs.empty()) return "<p class=note>Not measured.</p>\n";
  std::string out = fmt::format(
      "<p class=note>On the dashed line both agree; the lines beside it are {} more and less.</p>\n"
      "<div class=pair>\n{}\n<table>\n<thead><tr><th>Launch</th><th class=n>Measured</th><th "
      "class=n>Simulated</th><th class=n>Error</th></tr></thead>\n<tbody>\n",
      is_rate(metric) ? "10 points" : "20 %", scatter_svg(pairs, metric));
  for (const sim::Pair& p : pairs)
    out += fmt::format(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
        escaped_html(p.label), metric_text(metric, p.measured), metric_text(metric, p.simulated),
        error_text(metric, p));
  return out + "</tbody></table>\n</div>\n";
}

std::string table(const ValidationTable& t) {
  std::string out = t.note.empty() ? "" : "<p class=note>" + escaped_html(t.note) + "</p>\n";
  out += "<table>\n<thead><tr>";
  for (const std::string& column : t.columns) out += "<th>" + escaped_html(column) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : t.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + escaped_html(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string conventions(const std::map<std::string, std::string>& all) {
  std::string out = "<table>\n";
  for (const auto& [key, value] : all)
    out += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped_html(key), escaped_html(value));
  return out + "</table>\n";
}

}  // namespace

std::string validation_page(const Validation& v) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<meta name=viewport "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n<p "
      "class=brand>Raddle "
      "{2}{3}</p>\n<h1>{0}</h1>\n",
      escaped_html(v.title), kStyle, sim::version(),
      v.date.empty() ? "" : " · " + escaped_html(v.date));
  if (!v.command.empty()) out += "<p class=command>" + escaped_html(v.command) + "</p>\n";
  out += "<nav aria-label=Sections><a href=#agreement>Agreement</a>";
  for (const ValidationTable& t : v.tables)
    out += fmt::format("<a href=#{}>{}</a>", t.id, escaped_html(t.title));
  for (std::size_t m = 0; m < sim::kMetrics; ++m)
    if (!left_out(v, m))
      out += fmt::format("<a href=#{}>{}</a>", sim::kMetricNames[m], kMetricTitles[m]);
  out += "<a href=#measured>Measured</a><a href=#simulated>Simulated</a></nav>\n";
  out += section("says", "What the numbers say", findings(v), " class=says");
  out += section("agreement", "Agreement", agreements(v));
  for (const ValidationTable& t : v.tables) out += section(t.id, escaped_html(t.title), table(t));
  for (std::size_t m = 0; m < sim::kMetrics; ++m)
    if (!left_out(v, m))
      out += section(sim::kMetricNames[m], kMetricTitles[m],
                     launches(v.pairs[m], static_cast<sim::Metric>(m)));
  out += section("measured", "How it was measured", conventions(v.measured));
  out += section("simulated", "How it was simulated", conventions(v.simulated));
  return out + "</html>\n";
}

}  // namespace raddle::report

#include "raddle/report/validation_page.h"

#include <fmt/format.h>

#include <cmath>

#include "raddle/report/scatter.h"

namespace raddle::report {

namespace {

constexpr std::string_view kStyle =
    "body{font:14px/1.45 system-ui,sans-serif;color:#1d2733;max-width:1000px;margin:2em auto;"
    "padding:0 1em}table{border-collapse:collapse;margin:.6em 0}th,td{padding:.2em .8em;"
    "border-bottom:1px solid #d5dbe3;text-align:left}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}";

std::string escaped(std::string_view text) {
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

std::string conventions(std::string_view heading, const std::map<std::string, std::string>& all) {
  std::string out = fmt::format("<h2>{}</h2>\n<table>\n", heading);
  for (const auto& [key, value] : all)
    out += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(key), escaped(value));
  return out + "</table>\n";
}

bool is_rate(std::size_t metric) {
  const auto m = static_cast<sim::Metric>(metric);
  return m == sim::Metric::L1HitRate || m == sim::Metric::L2HitRate;
}

std::string agreements(const Validation& v) {
  std::string out =
      "<h2>Agreement</h2>\n<table>\n<tr><th>metric</th><th class=n>launches</th><th class=n>MAPE "
      "%</th><th class=n>mean absolute error</th><th class=n>geometric mean of simulated / "
      "measured</th><th class=n>Pearson</th><th class=n>left out: a zero</th></tr>\n";
  for (std::size_t m = 0; m < sim::kMetrics; ++m) {
    const sim::Agreement a = sim::agreement(v.pairs[m]);
    out += fmt::format(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}{}</td><td "
        "class=n>{}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
        sim::kMetricNames[m], a.pairs, number(a.mape, 100, 1),
        number(a.mean_absolute_error, is_rate(m) ? 100 : 1, is_rate(m) ? 1 : 0),
        is_rate(m) ? " points" : "", number(a.ratio, 1, 3), number(a.pearson, 1, 3), a.zeros);
  }
  return out + "</table>\n";
}

std::string launches(const std::vector<sim::Pair>& pairs, std::size_t metric) {
  const double scale = is_rate(metric) ? 100 : 1;
  const int digits = is_rate(metric) ? 1 : 0;
  std::string out =
      fmt::format("<h2>{}{}</h2>\n", sim::kMetricNames[metric], is_rate(metric) ? " (%)" : "");
  if (pairs.empty()) return out + "<p>Not measured.</p>\n";
  out += scatter_svg(pairs, static_cast<sim::Metric>(metric));
  out +=
      "<table>\n<tr><th>launch</th><th class=n>measured</th><th class=n>simulated</th><th "
      "class=n>simulated / measured</th></tr>\n";
  for (const sim::Pair& p : pairs)
    out += fmt::format(
        "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td></tr>\n",
        escaped(p.label), number(p.measured, scale, digits), number(p.simulated, scale, digits),
        p.measured == 0 ? "-" : number(p.simulated / p.measured, 1, 3));
  return out + "</table>\n";
}

}  // namespace

std::string validation_page(const Validation& v) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<title>{0}</title>\n"
      "<style>{1}</style>\n<h1>{0}</h1>\n",
      escaped(v.title), kStyle);
  out += agreements(v);
  out += conventions("Measured", v.measured) + conventions("Simulated", v.simulated);
  for (std::size_t m = 0; m < sim::kMetrics; ++m) out += launches(v.pairs[m], m);
  return out + "</html>\n";
}

}  // namespace raddle::report

#include "raddle/report/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "raddle/report/breakdown.h"
#include "raddle/report/figure.h"
#include "raddle/report/svg.h"

namespace raddle::report {

namespace {

constexpr double kSide = 420, kLeft = 80, kTop = 40, kLegend = 190;
constexpr std::string_view kFaint = "#d5dbe3";

struct Axis {
  bool logarithmic;
  double low, high;  // of the values, or of their decimal logarithms
  double place(double value) const {
    const double at = logarithmic ? std::log10(value) : value;
    return (at - low) / (high - low) * kSide;
  }
};

Axis axis_of(std::span<const sim::Pair> pairs, sim::Metric metric) {
  if (is_rate(metric)) return {false, 0, 1};
  double low = 1e300, high = 1e-300;
  for (const sim::Pair& p : pairs) {
    low = std::min({low, p.measured, p.simulated});
    high = std::max({high, p.measured, p.simulated});
  }
  if (low > high) low = high = 1;
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  return {true, first, last > first ? last : first + 1};
}

constexpr double kBand = 0.2, kRateBand = 0.1;  // off the line of agreement

/// Where simulated is that much more, or less, than measured; as far as the plot goes.
void draw_band(Svg& svg, const Axis& axis, bool more) {
  const double up =
      axis.logarithmic ? std::abs(std::log10(1 + (more ? kBand : -kBand))) : kRateBand;
  const double off = std::min(up / (axis.high - axis.low), 1.0) * kSide;
  const double x1 = more ? 0 : off, x2 = more ? kSide - off : kSide;
  svg.line(kLeft + x1, kTop + kSide - (more ? off : 0), kLeft + x2, kTop + (more ? 0 : off), kFaint,
           1.5);
}

void draw_axes(Svg& svg, const Axis& axis, std::string_view name) {
  const double step = axis.logarithmic ? std::max(1.0, std::ceil((axis.high - axis.low) / 8)) : 0.2;
  for (double at = axis.low; at <= axis.high + 1e-9; at += step) {
    const double offset = (at - axis.low) / (axis.high - axis.low) * kSide;
    const std::string text =
        axis.logarithmic ? fmt::format("1e{:.0f}", at) : fmt::format("{:.0f} %", 100 * at);
    svg.line(kLeft + offset, kTop, kLeft + offset, kTop + kSide, kFaint, 1);
    svg.line(kLeft, kTop + kSide - offset, kLeft + kSide, kTop + kSide - offset, kFaint, 1);
    svg.text(kLeft + offset, kTop + kSide + 18, text, {.anchor = "middle"});
    svg.text(kLeft - 8, kTop + kSide - offset + 4, text, {.anchor = "end"});
  }
  for (const bool more : {true, false}) draw_band(svg, axis, more);
  svg.line(kLeft, kTop + kSide, kLeft + kSide, kTop, kInk, 1, "5 4");
  svg.text(kLeft + kSide / 2, kTop + kSide + 40, fmt::format("{}, measured", name),
           {.anchor = "middle"});
  svg.text(24, kTop + kSide / 2, fmt::format("{}, simulated", name),
           {.anchor = "middle", .turned = -90});
}

}  // namespace

std::string metric_text(sim::Metric metric, double value) {
  if (std::isnan(value)) return "not known";
  if (metric == sim::Metric::Microseconds || metric == sim::Metric::WarpIpc)
    return fmt::format("{:.2f}", value);
  return is_rate(metric) ? fmt::format("{:.1f} %", 100 * value)
                         : grouped(static_cast<std::uint64_t>(std::llround(value)));
}

std::string scatter_svg(std::span<const sim::Pair> pairs, sim::Metric metric) {
  const std::string_view name = kMetricTitles[static_cast<std::size_t>(metric)];
  std::vector<sim::Pair> shown;
  for (const sim::Pair& p : pairs)
    if (is_rate(metric) || (p.measured > 0 && p.simulated > 0)) shown.push_back(p);
  const Axis axis = axis_of(shown, metric);
  Svg svg;
  draw_axes(svg, axis, name);
  std::map<std::string, std::size_t> colours;  // by workload
  for (const sim::Pair& p : shown) {
    const std::string workload = p.label.substr(0, p.label.find(' '));
    const std::size_t at = colours.try_emplace(workload, colours.size()).first->second;
    svg.circle(kLeft + axis.place(p.measured), kTop + kSide - axis.place(p.simulated), 4,
               kSeriesColours[at % kSeriesColours.size()], "#ffffff", 0.7,
               fmt::format("{}: {} measured, {} simulated", p.label,
                           metric_text(metric, p.measured), metric_text(metric, p.simulated)));
  }
  double y = kTop + 10;
  for (const auto& [workload, at] : colours) {
    svg.circle(kLeft + kSide + 24, y - 4, 4, kSeriesColours[at % kSeriesColours.size()], "none", 0);
    svg.text(kLeft + kSide + 34, y, workload);
    y += 18;
  }
  if (shown.size() < pairs.size())
    svg.text(kLeft + kSide + 18, y + 8,
             fmt::format("{} with a zero left out", pairs.size() - shown.size()));
  return svg.finish(kLeft + kSide + kLegend, kTop + kSide + 60, name);
}

}  // namespace raddle::report

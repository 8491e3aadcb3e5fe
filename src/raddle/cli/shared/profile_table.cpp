#include "raddle/cli/shared/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "raddle/base/stable_sort.h"
#include "raddle/report/scatter.h"
#include "raddle/sim/result/error_spread.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using report::is_rate;
using report::metric_text;
using sim::Metric;

constexpr std::size_t index_of(Metric metric) { return static_cast<std::size_t>(metric); }
constexpr Metric metric_of(std::size_t m) { return static_cast<Metric>(m); }

std::string error_of(Metric metric, const sim::Pair& pair) {
  if (is_rate(metric)) return fmt::format("{:+.1f} points", 100 * (pair.simulated - pair.measured));
  return pair.measured == 0 ? "-"
                            : fmt::format("{:+.1f} %", 100 * (pair.simulated / pair.measured - 1));
}

/// NaN where one side is 0, which has no error in per cent.
double error_size(Metric metric, const sim::Pair& pair) {
  if (is_rate(metric)) return std::abs(pair.simulated - pair.measured);
  if (pair.measured == 0 || pair.simulated == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(pair.simulated / pair.measured - 1);
}

sim::Pair pair_of(const sim::ComparedLaunch& launch, Metric metric) {
  return {launch.kernel + " #" + launch.launch, launch.measured_value[index_of(metric)],
          launch.simulated_value[index_of(metric)]};
}

bool both_known(const sim::Pair& pair) {
  return !std::isnan(pair.measured) && !std::isnan(pair.simulated);
}

/// What is ordered by: cycles, where there are none time.
double length(const sim::ComparedLaunch& launch) {
  const double cycles = launch.measured_value[index_of(Metric::Cycles)],
               time = launch.measured_value[index_of(Metric::Microseconds)];
  return std::isnan(cycles) ? (std::isnan(time) ? 0 : time) : cycles;
}

Json known_number(double value) { return std::isnan(value) ? Json() : Json(value); }

std::string launches_text(const sim::Unpaired& one) {
  if (one.launches == 1) return fmt::format("launch {}", one.first);
  return fmt::format("launches {} to {}", one.first, one.first + one.launches - 1);
}

}  // namespace

ProfileTable::ProfileTable(const sim::Profile& profile, const sim::ProfileComparison& compared,
                           std::map<std::string, std::string> simulated,
                           std::vector<std::string> remarks)
    : profile_(profile),
      compared_(compared),
      simulated_(std::move(simulated)),
      remarks_(std::move(remarks)) {
  for (const sim::ComparedLaunch& launch : compared_.launches) {
    auto found = std::ranges::find(kernels_, launch.kernel, &Kernel::name);
    if (found == kernels_.end()) found = kernels_.insert(found, {launch.kernel, {}});
    found->launches.push_back(&launch);
  }
  const auto whole = [](const Kernel& kernel) {
    return std::accumulate(
        kernel.launches.begin(), kernel.launches.end(), 0.0,
        [](double sum, const sim::ComparedLaunch* launch) { return sum + length(*launch); });
  };
  sort_stably(kernels_, whole, std::greater{});
}

std::vector<sim::Pair> ProfileTable::pairs(Metric metric) const {
  std::vector<sim::Pair> out;
  for (const sim::ComparedLaunch& launch : compared_.launches)
    if (const sim::Pair pair = pair_of(launch, metric); both_known(pair)) out.push_back(pair);
  return out;
}

sim::Pair ProfileTable::mean(const Kernel& kernel, Metric metric) {
  sim::Pair out{kernel.name, 0, 0};
  double count = 0;
  for (const sim::ComparedLaunch* launch : kernel.launches) {
    const sim::Pair pair = pair_of(*launch, metric);
    if (!both_known(pair)) continue;
    out.measured += pair.measured;
    out.simulated += pair.simulated;
    ++count;
  }
  out.measured /= count;  // NaN where there is none
  out.simulated /= count;
  return out;
}

std::string ProfileTable::limit(const Kernel& kernel, bool measured) {
  sim::Busy sum{};
  for (const sim::ComparedLaunch* launch : kernel.launches)
    for (std::size_t r = 0; r < sim::kResources; ++r)
      sum[r] += (measured ? launch->measured_busy[r] : launch->simulated_busy[r]) /
                static_cast<double>(kernel.launches.size());
  const std::string_view what = sim::limited_by(sum);
  if (what.empty()) return "";
  std::size_t busiest = 0;
  for (std::size_t r = 1; r < sim::kResources; ++r)
    if (std::isnan(sum[busiest]) || sum[r] > sum[busiest]) busiest = r;
  return what == sim::kLatency ? fmt::format("latency ({} {:.0f} %)", sim::kResourceNames[busiest],
                                             100 * sum[busiest])
                               : fmt::format("{} ({:.0f} %)", what, 100 * sum[busiest]);
}

std::string ProfileTable::block(const Kernel& kernel) const {
  std::string out = fmt::format(
      "{}\n  {:<20} {:>16} {:>16} {:>14}   {}\n", kernel.name,
      profile_.means                ? kernel.launches.front()->launch + " launches"
      : kernel.launches.size() == 1 ? "1 launch"
                                    : fmt::format("{} launches", kernel.launches.size()),
      "measured", "simulated", "error", kernel.launches.size() > 1 ? "farthest off" : "");
  for (std::size_t m = 0; m < sim::kMetrics; ++m) {
    const Metric metric = metric_of(m);
    const sim::Pair pair = mean(kernel, metric);
    if (!both_known(pair)) continue;
    std::string worst;
    if (kernel.launches.size() > 1) {
      sim::Pair farthest{"", 0, 0};
      for (const sim::ComparedLaunch* launch : kernel.launches)
        if (const sim::Pair one = pair_of(*launch, metric);
            !std::isnan(error_size(metric, one)) &&
            (farthest.label.empty() || error_size(metric, one) > error_size(metric, farthest)))
          farthest = {"#" + launch->launch, one.measured, one.simulated};
      if (!farthest.label.empty()) worst = farthest.label + " " + error_of(metric, farthest);
    }
    out += fmt::format("  {:<20} {:>16} {:>16} {:>14}   {}\n", sim::kMetricNames[m],
                       metric_text(metric, pair.measured), metric_text(metric, pair.simulated),
                       error_of(metric, pair), worst);
  }
  const std::string measured = limit(kernel, true), simulated = limit(kernel, false);
  return out + fmt::format("  {:<20} {:>16} {:>16}\n", "limited by",
                           measured.empty() ? "not in profile" : measured, simulated);
}

std::string ProfileTable::errors() const {
  std::string out =
      fmt::format("{:<20} {:>9} {:>10} {:>9} {:>10} {:>8} {:>8} {:>8}\n", "metric", "launches",
                  "MAPE", "kernels", "by kernel", "median", "p90", "gmean");
  for (std::size_t m = 0; m < sim::kMetrics; ++m) {
    const Metric metric = metric_of(m);
    const std::vector<sim::Pair> all = pairs(metric);
    if (all.empty()) continue;
    const sim::Agreement agreed = sim::agreement(all);
    std::vector<double> by_kernel;
    for (const Kernel& kernel : kernels_)
      if (const double size = error_size(metric, mean(kernel, metric)); !std::isnan(size))
        by_kernel.push_back(size);
    const sim::ErrorSpread spread = sim::error_spread(by_kernel);
    const auto text = [&](double error) {
      if (std::isnan(error) || by_kernel.empty()) return std::string("-");
      return is_rate(metric) ? fmt::format("{:.1f} pts", 100 * error)
                             : fmt::format("{:.1f} %", 100 * error);
    };
    out += fmt::format(
        "{:<20} {:>9} {:>10} {:>9} {:>10} {:>8} {:>8} {:>8}{}\n", sim::kMetricNames[m],
        agreed.pairs, text(is_rate(metric) ? agreed.mean_absolute_error : agreed.mape),
        by_kernel.size(), text(spread.mean), text(spread.median), text(spread.p90),
        std::isnan(agreed.ratio) ? "-" : fmt::format("{:.3f}", agreed.ratio),
        agreed.zeros == 0 ? ""
                          : fmt::format("  ({} with a zero: not in {}gmean)", agreed.zeros,
                                        is_rate(metric) ? "" : "MAPE and "));
  }
  return out;
}

std::string ProfileTable::not_paired() const {
  if (compared_.unpaired.empty()) return "";
  std::string out = "\nnot paired\n";
  for (const sim::Unpaired& one : compared_.unpaired)
    out += fmt::format("  {} {}: {}: {}\n", one.in_profile ? "profile  " : "simulated", one.kernel,
                       launches_text(one), one.reason);
  return out;
}

std::string ProfileTable::text() const {
  std::string out = "measured\n" + fmt::format("  {:<18} {}\n", "file", profile_.file);
  for (const auto& [key, value] : profile_.conventions)
    out += fmt::format("  {:<18} {}\n", key, value);
  out += "simulated\n";
  for (const auto& [key, value] : simulated_) out += fmt::format("  {:<18} {}\n", key, value);
  for (const std::string& remark : remarks_) out += "note: " + remark + "\n";
  out += "\n";
  for (const Kernel& kernel : kernels_) out += block(kernel) + "\n";
  return out + errors() + not_paired();
}

Json ProfileTable::json() const {
  Json out = {{"schema", 1},
              {"profile", profile_.file},
              {"measured", profile_.conventions},
              {"simulated", simulated_},
              {"notes", remarks_},
              {"kernels", Json::array()},
              {"launches", Json::array()},
              {"unpaired", Json::array()}};
  const auto both = [](const sim::Pair& pair) {
    return Json{{"measured", known_number(pair.measured)},
                {"simulated", known_number(pair.simulated)}};
  };
  for (const Kernel& kernel : kernels_) {
    Json one = {{"kernel", kernel.name}, {"launches", kernel.launches.size()}};
    for (std::size_t metric = 0; metric < sim::kMetrics; ++metric)
      if (const sim::Pair pair = mean(kernel, metric_of(metric)); both_known(pair))
        one[std::string(sim::kMetricNames[metric])] = both(pair);
    one["limited_by"] = {{"measured", limit(kernel, true)}, {"simulated", limit(kernel, false)}};
    out["kernels"].push_back(std::move(one));
  }
  for (const sim::ComparedLaunch& launch : compared_.launches) {
    Json one = {{"kernel", launch.kernel}, {"launch", launch.launch}, {"name", launch.measured}};
    for (std::size_t metric = 0; metric < sim::kMetrics; ++metric)
      if (const sim::Pair pair = pair_of(launch, metric_of(metric)); both_known(pair))
        one[std::string(sim::kMetricNames[metric])] = both(pair);
    for (std::size_t part = 0; part < sim::kResources; ++part)
      one["busy"][std::string(sim::kResourceNames[part])] =
          both({"", launch.measured_busy[part], launch.simulated_busy[part]});
    out["launches"].push_back(std::move(one));
  }
  for (const sim::Unpaired& one : compared_.unpaired)
    out["unpaired"].push_back({{"side", one.in_profile ? "profile" : "simulated"},
                               {"kernel", one.kernel},
                               {"first", one.first},
                               {"launches", one.launches},
                               {"reason", one.reason}});
  return out;
}

report::ValidationTable ProfileTable::kernel_table() const {
  report::ValidationTable out{
      "kernels", "Kernels", "Means over the launches of each kernel.", {"Kernel", "Launches"}, {}};
  std::vector<Metric> shown;
  for (std::size_t m = 0; m < sim::kMetrics; ++m)
    if (!pairs(metric_of(m)).empty()) shown.push_back(metric_of(m));
  for (const Metric metric : shown)
    for (const char* side : {"measured", "simulated", "error"})
      out.columns.push_back(std::string(report::kMetricTitles[index_of(metric)]) + ", " + side);
  out.columns.insert(out.columns.end(), {"Limited by, measured", "Limited by, simulated"});
  for (const Kernel& kernel : kernels_) {
    std::vector<std::string>& row = out.rows.emplace_back();
    row = {kernel.name, profile_.means ? kernel.launches.front()->launch
                                       : std::to_string(kernel.launches.size())};
    for (const Metric metric : shown) {
      const sim::Pair pair = mean(kernel, metric);
      const bool here = both_known(pair);
      row.push_back(here ? metric_text(metric, pair.measured) : "");
      row.push_back(here ? metric_text(metric, pair.simulated) : "");
      row.push_back(here ? error_of(metric, pair) : "");
    }
    row.push_back(limit(kernel, true));
    row.push_back(limit(kernel, false));
  }
  return out;
}

report::ValidationTable ProfileTable::unpaired_table() const {
  report::ValidationTable out{
      "unpaired", "Not paired", "", {"Side", "Kernel", "Launches", "Reason"}, {}};
  for (const sim::Unpaired& one : compared_.unpaired)
    out.rows.push_back(
        {one.in_profile ? "profile" : "simulated", one.kernel, launches_text(one), one.reason});
  return out;
}

report::Validation ProfileTable::page() const {
  report::Validation out;
  out.measured = profile_.conventions;
  out.measured["file"] = profile_.file;
  out.simulated = simulated_;
  out.remarks = remarks_;
  out.only_measured = true;
  for (std::size_t m = 0; m < sim::kMetrics; ++m) out.pairs[m] = pairs(metric_of(m));
  out.tables.push_back(kernel_table());
  if (!compared_.unpaired.empty()) out.tables.push_back(unpaired_table());
  return out;
}

}  // namespace raddle::cli

#include "raddle/sim/validate/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "raddle/base/csv_table.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"

namespace raddle::sim {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kNames =
    "workload,parameters,launch,kernel,microseconds,cycles,l1_hit_rate,l2_hit_rate,dram_bytes";
constexpr std::size_t kFirst = 5;  // column of the first metric

double number_of(const std::string& text, std::string_view name, double maximum) {
  if (text.empty()) return kUnknown;
  double out = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end || !(out >= 0) || out > maximum)
    throw InputError(fmt::format("'{}': expected a number of 0 to {}, or nothing, found '{}'", name,
                                 maximum, text));
  return out;
}

std::uint32_t launch_of(const std::string& text) {
  if (text == "all") return kWholeRun;
  const double launch = number_of(text, "launch", 4e9);
  if (std::isnan(launch) || launch != std::floor(launch))
    throw InputError("'launch': expected a whole number or all, found '" + text + "'");
  return static_cast<std::uint32_t>(launch);
}

std::string launch_text(std::uint32_t launch) {
  return launch == kWholeRun ? "all" : std::to_string(launch);
}

/// Metrics of which a file has columns, in their order.
std::vector<std::size_t> metrics_of(std::string_view names) {
  std::vector<std::size_t> out(kMetricsAlways);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::string known(kNames), all(kNames);
  for (std::size_t m = kMetricsAlways; m < kFileMetrics; ++m) {
    const std::string column = "," + std::string(kMetricNames[m]);
    all += "[" + column + "]";
    const std::string longer = known + column;
    if (!names.starts_with(longer) || (names.size() > longer.size() && names[longer.size()] != ','))
      continue;
    known = longer;
    out.push_back(m);
  }
  if (names != known) throw InputError("expected the columns " + all);
  return out;
}

Measurement row_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& metrics) {
  if (cells.size() != kFirst + metrics.size())
    throw InputError(
        fmt::format("expected {} columns, found {}", kFirst + metrics.size(), cells.size()));
  constexpr double kMaximum = 1e18;
  Measurement out;
  out.workload = cells[0];
  out.parameters = cells[1];
  out.kernel = cells[3];
  out.launch = launch_of(cells[2]);
  if (out.launch == kWholeRun && !out.kernel.empty())
    throw InputError("launch all is of every kernel: expected no kernel, found '" + out.kernel +
                     "'");
  out.microseconds = number_of(cells[4], "microseconds", kMaximum);
  out.value.fill(kUnknown);
  for (std::size_t column = 0; column < metrics.size(); ++column) {
    const auto m = static_cast<Metric>(metrics[column]);
    const bool rate = m == Metric::L1HitRate || m == Metric::L2HitRate;
    out.value[metrics[column]] =
        number_of(cells[kFirst + column], kMetricNames[metrics[column]], rate ? 1 : kMaximum);
  }
  return out;
}

/// Watts of a launch of so many cycles by component.
std::array<double, energy::kComponents> power(const energy::Energy& energy, double cycles,
                                              double clock_mhz) {
  std::array<double, energy::kComponents> out{};
  for (unsigned i = 0; i < energy::kComponents; ++i)
    out[i] = energy.picojoule(i) * 1e-12 / (cycles / (clock_mhz * 1e6));
  return out;
}

std::string text_of(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

double rate(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? kUnknown : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

MeasurementFile read_measurements(const std::string& path) {
  std::ifstream in = open_input(path, "a table of measurements", Source::Stream);
  return read_measurements(in, path);
}

MeasurementFile read_measurements(std::istream& in, const std::string& path) {
  MeasurementFile out;
  unsigned number = 0;
  std::vector<std::size_t> metrics;  // none until the columns are named
  std::set<std::tuple<std::string, std::string, std::uint32_t>> seen;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    try {
      if (line.front() == '#') {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos || line.size() < 2 || line[1] != ' ')
          throw InputError("expected '# key: value'");
        out.conventions[line.substr(2, colon - 2)] = line.substr(colon + 2);
      } else if (metrics.empty()) {
        metrics = metrics_of(line);
      } else {
        const Measurement& row = out.rows.emplace_back(row_of(csv_cells(line), metrics));
        if (!seen.emplace(row.workload, row.parameters, row.launch).second)
          throw InputError("a second row of launch " + launch_text(row.launch) + " of " +
                           row.workload + " " + row.parameters);
      }
    } catch (const InputError& error) {
      throw InputError({path, number}, error.what());
    }
  }
  if (metrics.empty())
    throw InputError({path}, "no line names the columns (" + std::string(kNames) + ")");
  if (out.rows.empty()) throw InputError({path}, "no measurement");
  return out;
}

std::string to_csv(const MeasurementFile& file) {
  std::string out;
  for (const auto& [key, value] : file.conventions) out += fmt::format("# {}: {}\n", key, value);
  std::string names(kNames);
  for (std::size_t m = kMetricsAlways; m < kFileMetrics; ++m)
    if (std::ranges::any_of(file.rows,
                            [&](const Measurement& row) { return !std::isnan(row.value[m]); }))
      names += "," + std::string(kMetricNames[m]);
  out += names + "\n";
  const std::vector<std::size_t> metrics = metrics_of(names);
  for (const Measurement& row : file.rows) {
    out += fmt::format("{},{},{},{},{}", csv_cell(row.workload), csv_cell(row.parameters),
                       launch_text(row.launch), csv_cell(row.kernel), text_of(row.microseconds));
    for (const std::size_t m : metrics) out += "," + text_of(row.value[m]);
    out += "\n";
  }
  return out;
}

std::string parameter_text(const nlohmann::ordered_json& parameters) {
  std::string out;
  for (const auto& [key, value] : parameters.items())
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", key,
                       value.is_string() ? value.get<std::string>() : json_dump(value));
  return out;
}

std::vector<Measurement> measurements_of(const Result& result, const Setup& setup, Cycle gap) {
  std::vector<Measurement> out;
  for (const KernelResult& kernel : result.kernels) {
    const stats::GpuCounters& c = kernel.counters;
    Measurement& m = out.emplace_back();
    m.workload = result.workload;
    m.parameters = parameter_text(result.parameters);
    m.launch = static_cast<std::uint32_t>(out.size() - 1);
    m.kernel = kernel.name;
    const Cycle time = kernel.end - kernel.begin + gap;
    const auto cycles = static_cast<double>(time);
    const energy::Energy energy = energy::energy_alone(
        c, setup.energy, {time, setup.machine.sm.schedulers, setup.machine.l2.slices},
        result.schedulers);
    m.watts_of = power(energy, cycles, result.core_clock_mhz);
    const std::uint64_t requests = c.l2.reads + c.l2.writes + c.l2.atomics;
    m.microseconds = cycles / result.core_clock_mhz;
    m.value = {cycles,
               rate(c.sm.l1d_hits + c.sm.l1d_pending_hits, c.sm.l1d_accesses),
               rate(requests - std::min(requests, c.l2.fetches), requests),
               static_cast<double>(c.dram.bytes),
               std::accumulate(m.watts_of.begin(), m.watts_of.end(), 0.0),
               static_cast<double>(c.sm.issued),
               m.microseconds,
               rate(c.sm.issued, time * setup.machine.sm.count)};
    m.busy = kernel.busy;
    m.present_rate = {rate(c.sm.l1d_hits, c.sm.l1d_accesses), rate(c.l2.hits, requests)};
  }
  return out;
}

void keep_last_pass(Result& result, unsigned passes) {
  std::vector<KernelResult> kept;
  std::size_t trees = 0, first = 0, first_kept = 0;
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    KernelResult& kernel = result.kernels[i];
    if (!kernel.parent) {
      ++trees;
      first = i;
      first_kept = kept.size();
    }
    if (trees % passes != 0) continue;
    if (kernel.parent) kernel.parent->kernel -= first - first_kept;
    kept.push_back(std::move(kernel));
  }
  result.kernels = std::move(kept);
}

Measurement whole_run(std::span<const Measurement> launches) {
  Measurement out;
  out.launch = kWholeRun;
  out.value[static_cast<std::size_t>(Metric::L1HitRate)] = kUnknown;
  out.value[static_cast<std::size_t>(Metric::L2HitRate)] = kUnknown;
  out.value[static_cast<std::size_t>(Metric::Watts)] = kUnknown;
  out.value[static_cast<std::size_t>(Metric::WarpIpc)] = kUnknown;
  out.watts_of.fill(kUnknown);
  for (const Measurement& one : launches) {
    out.workload = one.workload;
    out.parameters = one.parameters;
    out.microseconds += one.microseconds;
    for (const Metric metric :
         {Metric::Cycles, Metric::DramBytes, Metric::WarpInstructions, Metric::Microseconds})
      out.value[static_cast<std::size_t>(metric)] += one.value[static_cast<std::size_t>(metric)];
  }
  return out;
}

std::vector<Pair> pairs(std::span<const Measurement> measured,
                        std::span<const Measurement> simulated, Metric metric) {
  using Key = std::tuple<std::string, std::string, std::uint32_t>;
  std::map<Key, const Measurement*> known;
  for (const Measurement& s : simulated) known[{s.workload, s.parameters, s.launch}] = &s;
  std::vector<Pair> out;
  for (const Measurement& m : measured) {
    const auto found = known.find({m.workload, m.parameters, m.launch});
    const std::string label = fmt::format("{} #{} {}", m.workload, launch_text(m.launch), m.kernel);
    if (found == known.end())
      throw InputError(fmt::format("{} ({}) was measured but not simulated", label, m.parameters));
    if (m.launch != kWholeRun && found->second->kernel != m.kernel)
      throw InputError(
          fmt::format("{}: the kernel simulated is '{}'", label, found->second->kernel));
    const auto at = static_cast<std::size_t>(metric);
    const double x = m.value[at], y = found->second->value[at];
    if (!std::isnan(x) && !std::isnan(y)) out.push_back({label, x, y});
  }
  return out;
}

Agreement agreement(std::span<const Pair> pairs) {
  Agreement out;
  out.pairs = pairs.size();
  double relative = 0, absolute = 0, squares = 0, logs = 0, mean_x = 0, mean_y = 0;
  for (const Pair& pair : pairs) {
    squares += (pair.simulated - pair.measured) * (pair.simulated - pair.measured);
    absolute += std::abs(pair.simulated - pair.measured);
    mean_x += pair.measured;
    mean_y += pair.simulated;
    if (pair.measured == 0 || pair.simulated == 0) {
      ++out.zeros;
      continue;
    }
    relative += std::abs(pair.simulated - pair.measured) / pair.measured;
    logs += std::log(pair.simulated / pair.measured);
  }
  const auto n = static_cast<double>(pairs.size());
  const auto positive = static_cast<double>(pairs.size() - out.zeros);
  out.mean_absolute_error = n > 0 ? absolute / n : kUnknown;
  out.mape = positive > 0 ? relative / positive : kUnknown;
  out.ratio = positive > 0 ? std::exp(logs / positive) : kUnknown;
  mean_x /= n;
  mean_y /= n;
  out.nrmse = mean_x > 0 ? std::sqrt(squares / n) / mean_x : kUnknown;
  double xx = 0, yy = 0, xy = 0;
  for (const Pair& pair : pairs) {
    const double x = pair.measured - mean_x, y = pair.simulated - mean_y;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  out.pearson = pairs.size() >= 2 && xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kUnknown;
  return out;
}

}  // namespace raddle::sim

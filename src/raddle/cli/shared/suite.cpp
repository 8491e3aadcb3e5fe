#include "raddle/cli/shared/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "raddle/base/json.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/cli/shared/simulate_measured.h"
#include "raddle/report/validation_page.h"
#include "raddle/sim/result/error_bars.h"
#include "raddle/sim/result/version.h"
#include "raddle/sim/validate/suite.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using sim::Half;
using sim::Metric;

constexpr std::size_t at(Metric metric) { return static_cast<std::size_t>(metric); }
constexpr const char* half_name(Half half) { return half == Half::First ? "first" : "second"; }

/// A row of a part, and what was simulated of it.
struct Compared {
  sim::Measurement measured, simulated;
  Half half;
};

std::string percent(double rate) {
  return std::isnan(rate) ? "-" : fmt::format("{:.1f}", 100 * rate);
}
Json number(double value) { return std::isnan(value) ? Json() : Json(value); }

std::string name_of(const sim::Measurement& m) {
  return m.launch == sim::kWholeRun ? m.workload + " " + m.parameters : m.kernel;
}

/// Throws InputError when a row has no simulated launch of its kernel.
std::vector<Compared> compared(const sim::SuitePart& part,
                               const std::vector<sim::Measurement>& simulated) {
  std::vector<Compared> out;
  sim::pairs(part.file.rows, simulated, Metric::Cycles);  // checks that all are there
  for (std::size_t row = 0; row < part.file.rows.size(); ++row) {
    const sim::Measurement& m = part.file.rows[row];
    const auto same = [&](const sim::Measurement& s) {
      return s.workload == m.workload && s.parameters == m.parameters && s.launch == m.launch;
    };
    out.push_back({m, *std::ranges::find_if(simulated, same), part.half[row]});
  }
  return out;
}

std::vector<sim::Pair> pairs_of(const std::vector<Compared>& rows, Metric metric) {
  std::vector<sim::Pair> out;
  for (const Compared& c : rows) {
    const double x = c.measured.value[at(metric)], y = c.simulated.value[at(metric)];
    if (!std::isnan(x) && !std::isnan(y))
      out.push_back({name_of(c.measured) + " (" + half_name(c.half) + " half)", x, y});
  }
  return out;
}

std::vector<Compared> of_half(const std::vector<Compared>& rows, Half half) {
  std::vector<Compared> out;
  std::ranges::copy_if(rows, std::back_inserter(out),
                       [&](const Compared& c) { return c.half == half; });
  return out;
}

std::string rates(const Compared& c, Metric metric) {
  return fmt::format("{:>6} {:>6} {:>6}", percent(c.measured.value[at(metric)]),
                     percent(c.simulated.value[at(metric)]),
                     percent(c.simulated.present_rate[metric == Metric::L1HitRate ? 0 : 1]));
}

std::string table(const std::vector<Compared>& rows) {
  std::string out = fmt::format(
      "{:<42} {:<6} {:>10} {:>10} {:>7}   {:^20}   {:^20}   {:^13}\n{:<42} {:<6} {:>10} {:>10} "
      "{:>7}   {:>6} {:>6} {:>6}   {:>6} {:>6} {:>6}   {:>6} {:>6}\n",
      "", "", "cycles", "", "", "L1 hits, %", "L2 hits, %", "DRAM, MB", "", "half", "measured",
      "simulated", "error", "meas.", "sim.", "there", "meas.", "sim.", "there", "meas.", "sim.");
  for (const Compared& c : rows) {
    const double x = c.measured.value[at(Metric::Cycles)],
                 y = c.simulated.value[at(Metric::Cycles)];
    const double bytes = c.measured.value[at(Metric::DramBytes)];
    out += fmt::format("{:<42} {:<6} {:>10.0f} {:>10.0f} {:>+6.1f}%   {}   {}   {:>6} {:>6.1f}\n",
                       name_of(c.measured), half_name(c.half), x, y, 100 * (y / x - 1),
                       rates(c, Metric::L1HitRate), rates(c, Metric::L2HitRate),
                       std::isnan(bytes) ? "-" : fmt::format("{:.1f}", bytes / 1e6),
                       c.simulated.value[at(Metric::DramBytes)] / 1e6);
  }
  return out;
}

/// What we want to reach, of silicon that has been measured: docs/validation.md.
std::string goal(Metric metric, const sim::Agreement& a) {
  constexpr double kMaxMape = 0.1, kMaxNrmse = 0.2;
  const auto said = [](const std::string& text, double error, double maximum) {
    if (std::isnan(error)) return std::string();
    return "  " + text + (error <= maximum ? ": met" : ": missed");
  };
  switch (metric) {
    case Metric::Cycles:
      return said(fmt::format("MAPE {:.0f} %", 100 * kMaxMape), a.mape, kMaxMape);
    case Metric::L1HitRate:
    case Metric::L2HitRate:
    case Metric::DramBytes:
      return said(fmt::format("NRMSE {}", kMaxNrmse), a.nrmse, kMaxNrmse);
    case Metric::Watts:
    case Metric::WarpInstructions:
    case Metric::Microseconds:
    case Metric::WarpIpc:
      break;
  }
  return "";
}

std::string errors(const std::vector<Compared>& rows) {
  std::string out = fmt::format("\n{:<14} {:<8} {:>6} {:>8} {:>8} {:>8} {:>9}  {}\n", "", "half",
                                "rows", "MAPE %", "NRMSE", "gmean", "Pearson", "goal");
  for (std::size_t m = 0; m < sim::kFileMetrics; ++m)
    for (const Half half : {Half::First, Half::Second}) {
      const auto pairs = pairs_of(of_half(rows, half), static_cast<Metric>(m));
      if (pairs.empty()) continue;
      const sim::Agreement a = sim::agreement(pairs);
      out += fmt::format("{:<14} {:<8} {:>6} {:>8} {:>8.3f} {:>8.3f} {:>9.3f}{}\n",
                         sim::kMetricNames[m], half_name(half), a.pairs, percent(a.mape), a.nrmse,
                         a.ratio, a.pearson, goal(static_cast<Metric>(m), a));
    }
  return out + "\n";
}

/// The error of the power if one component counted `factor` times.
double mape_with(const std::vector<Compared>& rows, unsigned component, double factor) {
  std::vector<sim::Pair> pairs = pairs_of(rows, Metric::Watts);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    pairs[i].simulated += (factor - 1) * rows[i].simulated.watts_of[component];
  return sim::agreement(pairs).mape;
}

/// Power where it was measured, and what its error is made of: each cause changed in turn.
std::string power(const std::vector<Compared>& all) {
  std::vector<Compared> rows;
  std::ranges::copy_if(all, std::back_inserter(rows), [](const Compared& c) {
    return !std::isnan(c.measured.value[at(Metric::Watts)]) &&
           !std::isnan(c.simulated.value[at(Metric::Watts)]);
  });
  if (rows.empty()) return "";
  std::string out = fmt::format("{:<42} {:<6} {:>10} {:>10} {:>7}   {:>9} {:>9}\n", "power, W",
                                "half", "measured", "simulated", "error", "dynamic", "static");
  for (const Compared& c : rows) {
    const auto& parts = c.simulated.watts_of;
    const double dynamic =
        std::accumulate(parts.begin(), parts.begin() + energy::kDynamicComponents, 0.0);
    const double x = c.measured.value[at(Metric::Watts)], y = c.simulated.value[at(Metric::Watts)];
    out += fmt::format("{:<42} {:<6} {:>10.1f} {:>10.1f} {:>+6.1f}%   {:>9.1f} {:>9.1f}\n",
                       name_of(c.measured), half_name(c.half), x, y, 100 * (y / x - 1), dynamic,
                       y - dynamic);
  }
  out += fmt::format("\nMAPE of the power, both halves: {} %\n{:<16} {:>8} {:>10} {:>10} {:>10}\n",
                     percent(sim::agreement(pairs_of(rows, Metric::Watts)).mape), "component",
                     "mean W", "without it", "half of it", "twice");
  for (unsigned i = 0; i < energy::kComponents; ++i) {
    double sum = 0;
    for (const Compared& c : rows) sum += c.simulated.watts_of[i];
    out += fmt::format("{:<16} {:>8.1f} {:>10} {:>10} {:>10}\n", energy::kComponentNames[i],
                       sum / static_cast<double>(rows.size()), percent(mape_with(rows, i, 0)),
                       percent(mape_with(rows, i, 0.5)), percent(mape_with(rows, i, 2)));
  }
  return out + "\n";
}

/// Instructions that warps executed, where that was measured, beside the error of the cycles.
std::string instructions(const std::vector<Compared>& rows) {
  std::string out;
  for (const Compared& c : rows) {
    const double x = c.measured.value[at(Metric::WarpInstructions)],
                 y = c.simulated.value[at(Metric::WarpInstructions)];
    if (std::isnan(x) || std::isnan(y)) continue;
    const double cycles =
        c.simulated.value[at(Metric::Cycles)] / c.measured.value[at(Metric::Cycles)] - 1;
    out +=
        fmt::format("{:<42} {:<6} {:>12.0f} {:>12.0f} {:>+6.1f}%  {:>+6.1f}%\n",
                    name_of(c.measured), half_name(c.half), x, y, 100 * (y / x - 1), 100 * cycles);
  }
  if (out.empty()) return out;
  return fmt::format("{:<42} {:<6} {:>12} {:>12} {:>7}  {:>7}\n", "warp instructions", "half",
                     "measured", "simulated", "error", "cycles") +
         out + "\n";
}

Json json_of(const std::vector<Compared>& rows) {
  Json out = {{"rows", Json::array()}, {"halves", Json::object()}};
  for (const Compared& compared : rows) {
    Json row = {{"workload", compared.measured.workload},
                {"parameters", compared.measured.parameters},
                {"kernel", compared.measured.kernel},
                {"half", half_name(compared.half)}};
    for (std::size_t metric = 0; metric < sim::kFileMetrics; ++metric)
      row[std::string(sim::kMetricNames[metric])] = {
          {"measured", number(compared.measured.value[metric])},
          {"simulated", number(compared.simulated.value[metric])}};
    for (unsigned i = 0; i < energy::kComponents; ++i)
      row["watts"]["simulated_of"][std::string(energy::kComponentNames[i])] =
          number(compared.simulated.watts_of[i]);
    row["l1_hit_rate"]["simulated_there"] = number(compared.simulated.present_rate[0]);
    row["l2_hit_rate"]["simulated_there"] = number(compared.simulated.present_rate[1]);
    out["rows"].push_back(std::move(row));
  }
  for (const Half half : {Half::First, Half::Second}) {
    Json& one = out["halves"][half_name(half)];
    for (std::size_t metric = 0; metric < sim::kFileMetrics; ++metric) {
      const sim::Agreement agreed =
          sim::agreement(pairs_of(of_half(rows, half), static_cast<Metric>(metric)));
      one[std::string(sim::kMetricNames[metric])] = {{"rows", agreed.pairs},
                                                     {"mape", number(agreed.mape)},
                                                     {"nrmse", number(agreed.nrmse)},
                                                     {"geometric_mean_ratio", number(agreed.ratio)},
                                                     {"pearson", number(agreed.pearson)}};
    }
  }
  return out;
}

/// Launches of each kernel and workload together, into `out`.
void add_errors(sim::KeptErrors& out, const std::string& part, const std::vector<Compared>& rows) {
  std::vector<sim::KernelError> kernels;
  std::vector<sim::Busy> busy;
  for (const Compared& row : rows) {
    if (row.measured.launch == sim::kWholeRun) continue;  // of several kernels
    const double measured = row.measured.value[at(Metric::Cycles)],
                 simulated = row.simulated.value[at(Metric::Cycles)];
    if (!(measured > 0) || !(simulated > 0)) continue;
    const auto same = [&](const sim::KernelError& k) {
      return k.workload == row.measured.workload && k.parameters == row.measured.parameters &&
             k.kernel == row.measured.kernel;
    };
    auto found = std::ranges::find_if(kernels, same);
    if (found == kernels.end()) {
      found = kernels.insert(
          found, {part, row.measured.workload, row.measured.parameters, row.measured.kernel});
      busy.push_back({});
    }
    ++found->launches;
    found->measured_cycles += measured;
    found->simulated_cycles += simulated;
    found->microseconds += row.simulated.microseconds;
    sim::Busy& of = busy[static_cast<std::size_t>(found - kernels.begin())];
    for (std::size_t part_of_machine = 0; part_of_machine < sim::kResources; ++part_of_machine)
      of[part_of_machine] += simulated * row.simulated.busy[part_of_machine];
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    sim::KernelError& kernel = kernels[i];
    for (double& share : busy[i]) share /= kernel.simulated_cycles;
    kernel.limited_by = sim::limited_by(busy[i]);
    const auto launches = static_cast<double>(kernel.launches);
    kernel.measured_cycles /= launches;
    kernel.simulated_cycles /= launches;
    kernel.microseconds /= launches;
    out.kernels.push_back(std::move(kernel));
  }
}

/// Micro-benchmarks are what machines were calibrated with, not kernels.
bool holds_kernels(const sim::SuitePart& part) { return !part.name.starts_with("micro"); }

/// How the errors came about, for the head of their file.
std::vector<std::string> heads_of(const SuiteOptions& options) {
  std::string command = "raddle validate --suite " + options.device;
  for (const std::string& part : options.parts) command += " --part " + part;
  for (const std::string& workload : options.workloads) command += " " + workload;
  if (options.half != "both") command += " --half " + options.half;
  if (options.passes > 1) command += " --replay-as ncu-warm";
  return {"made by: " + command + " --keep-errors FILE", "raddle: " + sim::version()};
}

/// Leaves the rows that are asked for, with their halves.
void choose(sim::SuitePart& part, const SuiteOptions& options) {
  sim::SuitePart out{part.name, {part.file.conventions, {}}, {}};
  for (std::size_t row = 0; row < part.file.rows.size(); ++row) {
    const sim::Measurement& m = part.file.rows[row];
    const bool half = options.half == "both" || options.half == half_name(part.half[row]);
    const bool named = options.workloads.empty() ||
                       std::ranges::find(options.workloads, m.workload) != options.workloads.end();
    if (!half || !named) continue;
    out.file.rows.push_back(m);
    out.half.push_back(part.half[row]);
  }
  part = std::move(out);
}

/// Leaves the files that are asked for. Throws InputError when one is not there.
void choose_files(std::vector<sim::SuitePart>& parts, const SuiteOptions& options) {
  if (options.parts.empty()) return;
  for (const std::string& name : options.parts) {
    if (std::ranges::find(parts, name, &sim::SuitePart::name) != parts.end()) continue;
    std::string known;
    for (const sim::SuitePart& part : parts) known += " " + part.name;
    throw InputError("--suite " + options.device + ": no part '" + name + "'; there are:" + known);
  }
  std::erase_if(parts, [&](const sim::SuitePart& part) {
    return std::ranges::find(options.parts, part.name) == options.parts.end();
  });
}

std::vector<sim::SuitePart> chosen_parts(const SuiteOptions& options) {
  std::vector<sim::SuitePart> parts = sim::load_suite(options.device);
  choose_files(parts, options);
  for (const std::string& name : options.workloads) {
    const auto has = [&](const sim::SuitePart& part) {
      return std::ranges::find(part.file.rows, name, &sim::Measurement::workload) !=
             part.file.rows.end();
    };
    if (std::ranges::none_of(parts, has))
      throw InputError("--suite " + options.device + ": no measurement of '" + name + "'");
  }
  for (sim::SuitePart& part : parts) choose(part, options);
  std::erase_if(parts, [](const sim::SuitePart& part) { return part.file.rows.empty(); });
  if (parts.empty())
    throw InputError("--suite " + options.device + ": no row of these is in the " + options.half +
                     " half");
  return parts;
}

}  // namespace

int run_suite(const SuiteOptions& options, const CommonOptions& common) {
  bool wrong = false;
  Json out = {{"schema", 1}, {"suite", options.device}, {"parts", Json::object()}};
  report::Validation page{common.gpu + " against measurements of " + options.device,
                          options.command,
                          today(),
                          {},
                          {},
                          {}};
  sim::KeptErrors kept{common.gpu, {}};
  for (const sim::SuitePart& part : chosen_parts(options)) {
    const std::string source = "data/silicon/" + options.device + "/" + part.name + ".csv";
    const auto rows =
        compared(part, simulate_measured(part.file, common, source, wrong, options.passes));
    if (!common.quiet && common.json != "-")
      std::fputs(
          (source + "\n" + table(rows) + errors(rows) + power(rows) + instructions(rows)).c_str(),
          stdout);
    if (holds_kernels(part)) add_errors(kept, part.name, rows);
    Json& one = out["parts"][part.name] = json_of(rows);
    one["measured"] = part.file.conventions;
    one["simulated"] = simulated_conventions(part.file, common, options.passes);
    for (const auto& [key, value] : part.file.conventions)
      page.measured[part.name + ": " + key] = value;
    for (const auto& [key, value] : simulated_conventions(part.file, common, options.passes))
      page.simulated[part.name + ": " + key] = value;
    for (std::size_t metric = 0; metric < sim::kFileMetrics; ++metric)
      std::ranges::copy(pairs_of(rows, static_cast<Metric>(metric)),
                        std::back_inserter(page.pairs[metric]));
  }
  if (!common.json.empty()) write_file(common.json, json_dump(out, 2));
  if (!options.errors.empty()) write_file(options.errors, sim::to_csv(kept, heads_of(options)));
  if (!options.page.empty()) write_file(options.page, report::validation_page(page));
  return wrong ? 1 : 0;
}

}  // namespace raddle::cli

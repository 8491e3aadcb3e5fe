#include "raddle/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "raddle/report/breakdown.h"
#include "raddle/report/seeds.h"
#include "raddle/report/what_if.h"
#include "raddle/report/words.h"
#include "raddle/sim/result/error_bars.h"
#include "raddle/sim/result/metrics_json.h"

namespace raddle::report {

namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.1f} %", 100 * share(part, whole));
}

std::string verdict(const sim::Result& r) {
  if (r.verdict == sim::Result::Verdict::Correct) return "correct";
  if (r.verdict == sim::Result::Verdict::Unchecked) return "unchecked";
  return "WRONG (" + r.difference + ")";
}

/// The largest share of scheduler-cycles in which nothing was issued.
std::string main_stall(const sim::Result& r) {
  const auto& stall = r.totals.scheduler.stall;
  const auto maximum = std::ranges::max_element(stall);
  return fmt::format("{} {}",
                     stats::kStallTerms[static_cast<std::size_t>(maximum - stall.begin())].title,
                     percent(*maximum, r.cycles * r.schedulers));
}

bool estimated(const sim::Result& r) { return r.sampling && r.sampling->estimated != 0; }

/// "" when all was timed.
std::string left_out(const sim::Result& r) {
  return r.launches_left_out == 0
             ? ""
             : fmt::format(" (the first; {} more not timed)", r.launches_left_out);
}

/// Total and the three largest parts.
std::string energy_line(const sim::Result& r) {
  std::array<unsigned, energy::kComponents> order;
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, std::greater{}, [&](unsigned c) {
    return std::pair(r.energy.femtojoule[c], energy::kComponents - c);
  });
  std::string out = fmt::format("{:.3f} mJ", static_cast<double>(r.energy.total()) / 1e12);
  for (unsigned c : std::span(order).first(3))
    out += fmt::format(", {} {}", energy::kComponentNames[c],
                       percent(r.energy.femtojoule[c], r.energy.total()));
  return out;
}

/// Of one of the machine's peaks: "12.3 %"; "no limit" where it has none.
std::string of_peak(double utilisation) {
  return std::isnan(utilisation) ? "no limit" : fmt::format("{:.1f} %", 100 * utilisation);
}

/// Of the network, the direction with less room. Fits 80 columns.
std::string utilisation_line(const sim::Result& r) {
  std::map<std::string, double> of;
  stats::each_number(stats::Part::Utilisation, stats::kRun,
                     [&, counted = sim::counted_in(r)](
                         const std::string& name, const stats::Metric& metric, unsigned index) {
                       of[name] = std::get<double>(metric.value(counted, index));
                     });
  return fmt::format("issue {}, L1D {}, network {}, L2 {}, DRAM {}",
                     of_peak(of.at("utilisation.issue")), of_peak(of.at("utilisation.l1")),
                     of_peak(std::max(of.at("utilisation.request"), of.at("utilisation.reply"))),
                     of_peak(of.at("utilisation.l2")), of_peak(of.at("utilisation.dram")));
}

std::uint64_t l2_accesses(const stats::GpuCounters& c) {
  return c.l2.reads + c.l2.writes + c.l2.atomics;
}

}  // namespace

std::string launches(const sim::Result& r) {
  return fmt::format("{} launch{}", r.kernels.size(), r.kernels.size() == 1 ? "" : "es") +
         (estimated(r) ? fmt::format(" timed, {} estimated", r.sampling->estimated) : "") +
         left_out(r);
}

bool all_timed(const sim::Result& r) { return r.launches_left_out == 0 && !estimated(r); }

std::string interval(const sim::Result& r) {
  return estimated(r) ? fmt::format(" +- {:.2f} %", 100 * r.sampling->half_width /
                                                        static_cast<double>(r.sampling->cycles))
                      : "";
}

std::string headline(const sim::Result& r) {
  if (!r.timed) return fmt::format("{} (functional): {}\n", r.workload, verdict(r));
  return fmt::format("{} on {} ({}): {}\n", r.workload, r.config["name"].get<std::string>(),
                     policy_label(r), verdict(r));
}

namespace {

/// "" when none were asked for.
std::string checks_text(const sim::Result& r) {
  if (!r.checks) return "";
  return r.kernels.empty() ? "  checks: no kernel has run\n" : r.checks->text();
}

}  // namespace

std::string refused_launches(const sim::Result& result) {
  if (result.launches_refused == 0) return "";
  return fmt::format(
      "{}: {} {} by kernels refused (cudaErrorLaunchPendingCountExceeded) and did nothing: {} may "
      "be pending; cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...) allows more, "
      "of a PTX file pending_launches=N",
      result.workload, grouped(result.launches_refused),
      result.launches_refused == 1 ? "launch was" : "launches were", grouped(result.pending_limit));
}

std::string summary(const sim::Result& result) {
  const auto& [cycles, counters] = sim::whole_of(result);
  if (!result.timed)
    return fmt::format("{}: {} (functional)\n  {}, {} warp instructions, {:.0f} M/s on one core\n",
                       result.workload, verdict(result), launches(result),
                       grouped(counters.sm.issued),
                       share(counters.sm.issued, 1) / 1e6 /
                           std::max(result.host.functional_seconds, 1e-9)) +
           checks_text(result);
  std::string out = headline(result);
  auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("  {:<20} {}\n", name, value);
  };
  line("cycles",
       fmt::format(
           "{}{}  ({:.3f} ms at {:.0f} MHz, {}){}", grouped(cycles), interval(result),
           static_cast<double>(cycles) / result.core_clock_mhz / 1e3, result.core_clock_mhz,
           launches(result),
           estimated(result) ? "" : "; " + grouped(result.busy_cycles) + " with a block on an SM"));
  line("warp instructions",
       fmt::format("{}  ({:.1f} thread instructions per cycle)", grouped(counters.sm.issued),
                   share(counters.sm.thread_instructions, cycles)));
  line("L1D hit rate", fmt::format("{} of {} line accesses",
                                   percent(counters.sm.l1d_hits, counters.sm.l1d_accesses),
                                   grouped(counters.sm.l1d_accesses)));
  line("L2 hit rate", fmt::format("{} of {}", percent(counters.l2.hits, l2_accesses(counters)),
                                  grouped(l2_accesses(counters))));
  line("DRAM",
       fmt::format("{}, row hits {}", bytes_text(counters.dram.bytes),
                   percent(counters.dram.row_hits, counters.dram.reads + counters.dram.writes)));
  line("energy", energy_line(result));
  if (estimated(result)) out += "  of the launches that were timed:\n";
  line("scheduler cycles",
       fmt::format("issued {}, most lost to {}",
                   percent(result.totals.sm.issued, result.cycles * result.schedulers),
                   main_stall(result)));
  line("of peaks", utilisation_line(result));
  if (const auto silicon = sim::on_silicon(result)) line("on a real GPU", silicon->text());
  line("host",
       fmt::format(
           "{:.2f} s ({:.2f} executing, {:.2f} timing: {} warp instructions/s)",
           result.host.wall_seconds, result.host.functional_seconds, result.host.timing_seconds,
           grouped(static_cast<std::uint64_t>(share(result.totals.sm.issued, 1) /
                                              std::max(result.host.timing_seconds, 1e-9)))));
  return out + breakdown(result) + checks_text(result);
}

namespace {

/// Where launches under way are much of the cycles: speed-ups without them. "" elsewhere.
std::string without_launches(std::span<const Row> rows) {
  const sim::Result& first = *rows.front().result;
  if (!over_seeds(rows).empty()) return "";  // the first is the first of one seed only
  constexpr double kMuch = 0.05;
  const double empty = 1 - share(first.busy_cycles, first.cycles);
  if (estimated(first) || rows.size() < 2 || empty < kMuch || first.busy_cycles == 0) return "";
  std::string out = fmt::format(
      "  in {:.1f} % of the first one's cycles no block is on any SM (launch latency); speed-up of "
      "the rest:",
      100 * empty);
  for (const Row& row : rows.subspan(1))
    out += fmt::format(" {} {:.3f}", row.label,
                       share(first.busy_cycles, row.result->busy_cycles) *
                           row.result->core_clock_mhz / first.core_clock_mhz);
  return out + "\n";
}

/// "1, 2, 3", "1..16".
std::string texts(const std::vector<std::uint64_t>& numbers) {
  constexpr std::size_t kMaxNamed = 4;
  const bool in_turn =
      numbers.back() - numbers.front() == numbers.size() - 1 && std::ranges::is_sorted(numbers);
  if (in_turn && numbers.size() > kMaxNamed)
    return fmt::format("{}..{}", numbers.front(), numbers.back());
  std::string out;
  for (const std::uint64_t number : numbers)
    out += (out.empty() ? "" : ", ") + std::to_string(number);
  return out;
}

/// The rows that take least time, all of them where several do. None where nothing is said by it:
/// all take as long, cycles are estimates, or seeds have a verdict of their own below. A wrong
/// result wins nothing.
std::vector<bool> fastest(std::span<const Row> rows) {
  const auto is_wrong = [](const Row& row) {
    return row.result->verdict == sim::Result::Verdict::Wrong;
  };
  const auto time = [](const Row& row) {
    return static_cast<double>(row.result->cycles) / row.result->core_clock_mhz;
  };
  std::vector<bool> out(rows.size(), false);
  if (!over_seeds(rows).empty() ||
      std::ranges::any_of(rows, [](const Row& row) { return estimated(*row.result); }))
    return out;
  if (!std::ranges::all_of(rows, [](const Row& row) { return row.result->timed; })) return out;
  double minimum = std::numeric_limits<double>::infinity(), maximum = 0;
  for (const Row& row : rows) {
    maximum = std::max(maximum, time(row));
    if (!is_wrong(row)) minimum = std::min(minimum, time(row));
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    out[i] = minimum < maximum && !is_wrong(rows[i]) && time(rows[i]) == minimum;
  return out;
}

std::string bound(const std::optional<Interval>& interval, double Interval::*which) {
  return interval ? fmt::format("{:.3f}", *interval.*which) : "-";
}

/// "" of one seed.
std::string seeds_table(std::span<const Row> rows, std::size_t width) {
  const std::vector<OverSeeds> all = over_seeds(rows);
  if (all.empty()) return "";
  std::string out = fmt::format(
      "  a seed makes a workload's inputs and every random choice; speed-ups are over {} of the "
      "same seed\n  and their mean is the geometric one; low, high: its 95 % interval by Student's "
      "t, of logarithms\n",
      all.front().label.empty() ? "the first run" : all.front().label);
  out += fmt::format("  {:<{}} {:>14} {:>9} {:>8} {:>8} {:>8} {:>8}  {:<10}  {}\n", "over seeds",
                     width, "mean cycles", "speed-up", "low", "high", "min", "max", "seeds",
                     "verdict");
  for (const OverSeeds& of : all)
    out += fmt::format("  {:<{}} {:>14} {:>9.3f} {:>8} {:>8} {:>8.3f} {:>8.3f}  {:<10}  {}\n",
                       of.label.empty() ? "all" : of.label, width,
                       grouped(static_cast<std::uint64_t>(of.cycles.mean + 0.5)), of.speedup.mean,
                       bound(of.speedup.interval, &Interval::low),
                       bound(of.speedup.interval, &Interval::high), of.speedup.min, of.speedup.max,
                       texts(of.seeds), of.verdict);
  if (std::ranges::all_of(all, &OverSeeds::same_input))
    out += "  every seed gave the same input: what differs is chance in policies, not the work\n";
  return out;
}

/// `with_launches`: rows differ in how many of theirs were timed.
std::string comparison_row(const Row& row, const sim::Result& base, std::size_t width,
                           bool with_launches, bool wins) {
  const sim::Result& r = *row.result;
  const auto& [cycles, c] = sim::whole_of(r);
  const std::string verdict_text =
      r.verdict == sim::Result::Verdict::Wrong ? "  " + verdict(r) : "";
  if (!r.timed)
    return fmt::format("  {:<{}} {:>14} {:>9} {:>8} {:>8} {:>8} {:>10}  not timed{}\n", row.label,
                       width, "-", "-", "-", "-", "-", "-", verdict_text);
  // In words and at the line's end, where it is in nobody's way who reads columns.
  return fmt::format(
      "  {:<{}} {:>14} {:>9} {:>8.1f} {:>8} {:>8} {:>10}  {}{}{}\n", row.label, width,
      grouped(cycles), base.timed ? fmt::format("{:.3f}", speedup(r, base)) : "-",
      share(c.sm.thread_instructions, cycles), percent(c.sm.l1d_hits, c.sm.l1d_accesses),
      percent(c.l2.hits, l2_accesses(c)), bytes_text(c.dram.bytes),
      main_stall(r) + (with_launches ? ", " + launches(r) : "") +
          (estimated(r) ? ", cycles" + interval(r) : ""),
      verdict_text, wins ? "  fastest" : "");
}

}  // namespace

std::string comparison(std::string_view workload, std::span<const Row> all) {
  std::vector<Row> rows;
  for (const Row& row : all)
    if (row.what_if.empty()) rows.push_back(row);
  std::size_t width = 12;
  for (const Row& row : rows) width = std::max(width, row.label.size());
  const sim::Result& first = *rows.front().result;
  const bool alike = std::ranges::all_of(rows, [&](const Row& row) {
    return all_timed(*row.result) ? all_timed(first) : launches(*row.result) == launches(first);
  });
  const std::string title =
      std::string(workload) + (all_timed(first) || !alike ? "" : ": " + launches(first));
  std::string out = fmt::format("{}\n  {:<{}} {:>14} {:>9} {:>8} {:>8} {:>8} {:>10}  {}\n", title,
                                "policy", width, "cycles", "speed-up", "IPC", "L1D hit", "L2 hit",
                                "DRAM", "most cycles lost to");
  const std::vector<bool> wins = fastest(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out += comparison_row(rows[i], *baseline(rows[i], rows).result, width, !alike, wins[i]);
  return out + without_launches(rows) + seeds_table(rows, width) + what_if_table(all);
}

}  // namespace raddle::report

#include "raddle/sim/result/error_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "raddle/base/csv_table.h"
#include "raddle/base/error.h"
#include "raddle/policy/all.h"
#include "raddle/sim/result/error_spread.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kErrorColumns =
    "part,workload,parameters,kernel,launches,measured_cycles,simulated_cycles,microseconds,"
    "limited_by";

double kept_number(const std::string& text, std::string_view column) {
  double out = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end || !(out > 0) || !std::isfinite(out))
    throw InputError(fmt::format("'{}': expected a number above 0, found '{}'", column, text));
  return out;
}

KernelError kept_row(const std::string& line) {
  const std::vector<std::string> cells = csv_cells(line);
  constexpr std::size_t kCells = 9;
  if (cells.size() != kCells)
    throw InputError(fmt::format("expected {} columns, found {}", kCells, cells.size()));
  KernelError out{cells[0], cells[1], cells[2], cells[3]};
  out.launches = static_cast<std::uint64_t>(kept_number(cells[4], "launches"));
  out.measured_cycles = kept_number(cells[5], "measured_cycles");
  out.simulated_cycles = kept_number(cells[6], "simulated_cycles");
  out.microseconds = kept_number(cells[7], "microseconds");
  out.limited_by = cells[8];
  if (out.limited_by != kLatency &&
      std::ranges::find(kResourceNames, out.limited_by) == kResourceNames.end())
    throw InputError("'limited_by': expected DRAM, L2, L1, SM or latency, found '" +
                     out.limited_by + "'");
  return out;
}

bool is_long_launch(double microseconds) { return microseconds >= kLongMicroseconds; }

std::string limit_text(std::string_view limited_by) {
  return "kernels limited by " + std::string(limited_by);
}

std::string length_text(bool is_long) {
  if (is_long) return fmt::format(", of {:.0f} microseconds and more", kLongMicroseconds);
  return fmt::format(", of less than {:.0f} microseconds", kLongMicroseconds);
}

template <class F>
std::optional<ErrorBar> bar_of(const KeptErrors& errors, std::string kernels, F in_class) {
  std::vector<double> found;
  for (const KernelError& kernel : errors.kernels)
    if (in_class(kernel)) found.push_back(kernel.error());
  if (found.size() < kFewestKernels) return std::nullopt;
  const ErrorSpread spread = error_spread(found);
  return ErrorBar{std::move(kernels), spread.count, spread.median, spread.p90};
}

/// The first setting in which the machines differ; "" where they are the same. What a run chooses,
/// and where a number is from, is not the machine's.
std::string first_difference(const Json& a, const Json& b, const std::string& path = "") {
  for (const auto& [key, value] : a.items()) {
    if (path.empty() && (key == "run" || key == "source" || key == "name")) continue;
    const std::string at = path.empty() ? key : path + "." + key;
    const auto other = b.find(key);
    if (other == b.end()) return at;
    if (value.is_object() && other->is_object()) {
      if (const std::string found = first_difference(value, *other, at); !found.empty())
        return found;
    } else if (value != *other) {
      return at;
    }
  }
  for (const auto& [key, value] : b.items())
    if (!a.contains(key)) return path.empty() ? key : path + "." + key;
  return "";
}

/// "" where the result's machine is the one that was measured.
std::string not_as_measured(const Result& result, const std::string& machine) {
  Setup setup = read_setup(load_gpu(machine), policy::all_policies());
  return first_difference(setup.config(), result.config);
}

/// Cycles of the launches by class.
struct ErrorClass {
  std::string limited_by;
  bool is_long = false;
  friend auto operator<=>(const ErrorClass&, const ErrorClass&) = default;
};

/// As profilers count it: with what lies between two launches.
double microseconds_of(const KernelResult& kernel, const Result& result) {
  const double gap = result.config["kernels"].value("gap_cycles", 0.0);
  return (static_cast<double>(kernel.end - kernel.begin) + gap) / result.core_clock_mhz;
}

}  // namespace

double KernelError::error() const {
  return std::abs(simulated_cycles - measured_cycles) / measured_cycles;
}

KeptErrors read_errors(std::istream& in, const std::string& file) {
  KeptErrors out;
  CsvLines lines(in);
  bool named = false;
  try {
    while (const auto line = lines.line()) {
      constexpr std::string_view kMachine = "# machine: ";
      if (line->starts_with(kMachine)) out.machine = line->substr(kMachine.size());
      if (line->empty() || line->front() == '#') continue;
      if (named) {
        out.kernels.push_back(kept_row(*line));
      } else {
        if (*line != kErrorColumns)
          throw InputError("expected the columns " + std::string(kErrorColumns));
        named = true;
      }
    }
  } catch (const InputError& error) {
    throw InputError({file, lines.number()}, error.what());
  }
  if (out.machine.empty()) throw InputError({file}, "expected a line '# machine: NAME'");
  return out;
}

std::string to_csv(const KeptErrors& errors, const std::vector<std::string>& heads) {
  std::string out = "# machine: " + errors.machine + "\n";
  for (const std::string& head : heads) out += "# " + head + "\n";
  out += std::string(kErrorColumns) + "\n";
  for (const KernelError& k : errors.kernels)
    out += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.4g},{}\n", csv_cell(k.part),
                       csv_cell(k.workload), csv_cell(k.parameters), csv_cell(k.kernel), k.launches,
                       k.measured_cycles, k.simulated_cycles, k.microseconds, k.limited_by);
  return out;
}

std::optional<ErrorBar> error_bar(const KeptErrors& errors, std::string_view limited_by,
                                  double microseconds) {
  const auto same_limit = [&](const KernelError& k) { return k.limited_by == limited_by; };
  const auto same_length = [&](const KernelError& k) {
    return is_long_launch(k.microseconds) == is_long_launch(microseconds);
  };
  if (auto bar = bar_of(errors, limit_text(limited_by) + length_text(is_long_launch(microseconds)),
                        [&](const KernelError& k) { return same_limit(k) && same_length(k); }))
    return bar;
  if (auto bar = bar_of(errors, limit_text(limited_by) + " of any length", same_limit)) {
    bar->of = ErrorBar::Of::Limit;
    return bar;
  }
  auto bar = bar_of(errors, "kernels of every kind", [](const KernelError&) { return true; });
  if (bar) bar->of = ErrorBar::Of::All;
  return bar;
}

std::optional<OnSilicon> on_silicon(const Result& result) {
  if (!result.timed || result.kernels.empty() || !result.config.is_object()) return std::nullopt;
  OnSilicon out;
  out.machine = result.config.value("name", "");
  const std::vector<EmbeddedErrors> all = embedded_errors();
  const auto kept = std::ranges::find(all, std::string_view(out.machine), &EmbeddedErrors::machine);
  if (kept == all.end()) {
    out.why_none = "no kernel of this machine was compared with a real one";
    return out;
  }
  if (const std::string where = not_as_measured(result, out.machine); !where.empty()) {
    out.why_none = "the machine that was compared with a real one is another: " + where;
    return out;
  }
  std::map<ErrorClass, double> cycles;
  double whole = 0;
  for (const KernelResult& kernel : result.kernels) {
    const auto of = static_cast<double>(kernel.end - kernel.begin);
    cycles[{std::string(limited_by(kernel.busy)),
            is_long_launch(microseconds_of(kernel, result))}] += of;
    whole += of;
  }
  const auto longest =
      std::ranges::max_element(cycles, {}, [](const auto& one) { return one.second; });
  std::istringstream text{std::string(kept->csv)};
  const KeptErrors errors = read_errors(text, "data/errors/" + out.machine + ".csv");
  out.bar =
      error_bar(errors, longest->first.limited_by, longest->first.is_long ? kLongMicroseconds : 0);
  for (const auto& [one, of] : cycles) {
    const bool same_limit = one.limited_by == longest->first.limited_by;
    const bool same_class = same_limit && one.is_long == longest->first.is_long;
    if (out.bar && (out.bar->of == ErrorBar::Of::All ||
                    (out.bar->of == ErrorBar::Of::Limit ? same_limit : same_class)))
      out.share += whole > 0 ? of / whole : 0;
  }
  if (!out.bar)
    out.why_none = fmt::format("{} kernels of this machine were compared with a real one, too few",
                               errors.kernels.size());
  return out;
}

std::string OnSilicon::text() const {
  if (!bar) return "error not known: " + why_none;
  return fmt::format(
      "{} ({:.0f} % of the launches' cycles) were off by {:.0f} % in the median, by at most {:.0f} "
      "% "
      "in nine of ten; n = {}, {}",
      bar->kernels, 100 * share, 100 * bar->median, 100 * bar->p90, bar->count, machine);
}

Json OnSilicon::json() const {
  Json out = {{"measured", bar.has_value()}, {"text", text()}};
  if (!bar) return out;
  out["machine"] = machine;
  out["kernels"] = bar->kernels;
  out["share"] = share;
  out["count"] = bar->count;
  out["median"] = bar->median;
  out["p90"] = bar->p90;
  return out;
}

}  // namespace raddle::sim

// Options that run, compare and (later) exec and replay share.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "raddle/api/settings.h"
#include "raddle/cli/shared/modes.h"
#include "raddle/report/timeline.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::cli {

/// Check of an option: a whole number, `least` or more. CLI11's own checks name the largest double.
CLI::Validator number_from(std::uint64_t minimum);
/// As CLI::Range, which lets NaN through.
CLI::Validator real_in(double minimum, double maximum);

/// The analysis "warps" of `window`, "BEGIN:END". Throws InputError that names --window.
sim::AnalysisRequest window_analysis(const std::string& window, unsigned sm);

struct CommonOptions : api::Settings {
  std::string json, report, timeline;
  std::string window;                  ///< "BEGIN:END"; empty = not given
  std::optional<unsigned> window_sm;   ///< whose
  std::string launches;                ///< empty = not given
  std::string out_of_bounds = "page";  ///< of programs
  std::vector<std::string> what_if;    ///< empty = not given
  std::uint64_t timeline_events = report::kMaxTimelineEvents;
  bool quiet = false;

  /// All of these say in `modes` what the options are for.
  void add_to(CLI::App& command, OptionModes& modes);
  /// The same of a command that times whatever it is given: --live and --functional are known, so
  /// that check_always_timed() can say why not, but not listed.
  void add_always_timed_to(CLI::App& command, OptionModes& modes);
  /// Those of a run that is always timed and gives no report.
  void add_timing_to(CLI::App& command, OptionModes& modes);
  /// --max-stream, of commands that execute.
  void add_stream_limit_to(CLI::App& command, OptionModes& modes);
  /// --out-of-bounds, of commands that run programs.
  void add_out_of_bounds_to(CLI::App& command, OptionModes& modes);
  void add_checks_to(CLI::App& command, OptionModes& modes);
  /// --first-launches, of commands that time or record.
  void add_first_launches_to(CLI::App& command, OptionModes& modes);
  /// --what-if, of commands that can time the same work on several machines.
  void add_what_if_to(CLI::App& command, OptionModes& modes, ModeSet of);
  /// --window and --sm, of commands that write a report and run in this process.
  void add_window_to(CLI::App& command, OptionModes& modes, ModeSet of);
  /// --launches, of commands that write results.
  void add_launches_to(CLI::App& command, OptionModes& modes);
  /// Up to so many launches a result tells one by one (sim::to_json).
  std::size_t single_launches() const;
  /// Refuses contradictions of options that hold together, and outputs that could not be written,
  /// before anything runs.
  void check() const;
  /// The machine with --set, --policy, --seed and --live applied.
  config::Tree tree() const;
  sim::Options simulation(const sim::Setup& setup) const;

 private:
  sim::AnalysisRequest window_asked(const sim::Setup& setup) const;
};

using api::make_workload;
using sim::NamedWorkload;

}  // namespace raddle::cli

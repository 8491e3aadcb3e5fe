#include "raddle/cli/shared/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "raddle/base/threads.h"
#include "raddle/cli/shared/output.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/run/exec_job.h"

namespace raddle::cli {

namespace {

// Headings of --help.
constexpr const char *kMachine = "Machine", *kRun = "How it is run", *kLimits = "Limits",
                     *kOutput = "Output", *kNotListed = "";

}  // namespace

CLI::Validator number_from(std::uint64_t minimum) {
  return {
      [minimum](std::string& text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool fine = error == std::errc() && end == text.data() + text.size();
        return fine && value >= minimum ? ""
                                        : "expected a whole number from " +
                                              std::to_string(minimum) + " on, found '" + text + "'";
      },
      ""};
}

CLI::Validator real_in(double minimum, double maximum) {
  return {[minimum, maximum](std::string& text) {
            double value = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), value);
            const bool fine = error == std::errc() && end == text.data() + text.size();
            return fine && value >= minimum && value <= maximum
                       ? ""
                       : fmt::format("expected a number from {} to {}, found '{}'", minimum,
                                     maximum, text);
          },
          ""};
}

void CommonOptions::add_to(CLI::App& c, OptionModes& modes) {
  add_timing_to(c, modes);
  modes.add(c.add_option("--report", report, "write an HTML report"), kTimed)
      ->type_name("FILE")
      ->group(kOutput);
  modes
      .add(c.add_option("--timeline", timeline, "write a trace for Perfetto or chrome://tracing"),
           kSingle.with({Mode::Corun}))
      ->type_name("FILE")
      ->group(kOutput);
  modes
      .add(c.add_option("--timeline-events", timeline_events,
                        "events of --timeline, at most; of more, neighbours become one"),
           kSingle.with({Mode::Corun}))
      ->type_name("N")
      ->check(number_from(1000))
      ->capture_default_str()
      ->group(kOutput);
  modes
      .add(c.add_flag("--functional", functional, "execute and check only, without timing"),
           {Mode::Functional})
      ->group(kRun);
  add_launches_to(c, modes);
}

void CommonOptions::add_window_to(CLI::App& c, OptionModes& modes, ModeSet of) {
  modes
      .add(c.add_option("--window", window,
                        "follow the warps of an SM in these cycles one by one, for --report and "
                        "--json"),
           of)
      ->type_name("BEGIN:END")
      ->group(kOutput);
  modes.add(c.add_option("--sm", window_sm, "the SM of --window"), of)
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("0")
      ->group(kOutput);
}

void CommonOptions::add_always_timed_to(CLI::App& c, OptionModes& modes) {
  add_to(c, modes);
  for (const char* option : {"--live", "--functional"}) c.get_option(option)->group(kNotListed);
}

void CommonOptions::add_out_of_bounds_to(CLI::App& c, OptionModes& modes) {
  auto* option =
      c.add_option(
           "--out-of-bounds", out_of_bounds,
           "what a kernel's access outside of all allocations does: fault; page: goes on in "
           "pages of 2 MiB that hold an allocation, as on a GPU, and is counted; ignore: the "
           "same without a word")
          ->check(CLI::IsMember(std::vector<std::string>(sim::ExecJob::kOutOfBoundsNames.begin(),
                                                         sim::ExecJob::kOutOfBoundsNames.end())))
          ->capture_default_str()
          ->group(kRun);
  modes.add(option, {Mode::Program, Mode::Functional, Mode::Compared});
}

void CommonOptions::add_launches_to(CLI::App& c, OptionModes& modes) {
  auto* option =
      c.add_option(
           "--launches", launches,
           "tell up to that many launches one by one in JSON and report, of more the sums by "
           "kernel (default " +
               std::to_string(sim::kMaxSingleLaunches) + ")")
          ->type_name("N|all")
          ->check([](const std::string& text) {
            const bool number = !text.empty() && text.size() < 19 &&
                                text.find_first_not_of("0123456789") == std::string::npos;
            return number || text == "all" ? "" : "expected a number or all, found '" + text + "'";
          })
          ->group(kOutput);
  modes.add(option, kSimulated.without({Mode::Corun, Mode::Kept}));
}

void CommonOptions::add_what_if_to(CLI::App& c, OptionModes& modes, ModeSet of) {
  auto* option =
      c.add_option(
           "--what-if", what_if,
           "what would another machine bring: a part (`raddle list what-if`) or any setting "
           "of a machine, each so many times as much, ideal, or a value; with '+' several at "
           "once: l2=x2,mshr=x2,dram=ideal,l2=x2+dram=x2. Timed on the op streams that are "
           "there, executed anew only where the program can see the change")
          ->type_name("NAME=xFACTOR|ideal|VALUE,...")
          ->allow_extra_args(false)
          ->group(kMachine);
  modes.add(option, of);
}

void CommonOptions::add_checks_to(CLI::App& c, OptionModes& modes) {
  auto* option =
      c.add_option("--check", checks,
                   "look for races in shared memory and for loads of what nobody has written "
                   "(docs/cuda.md); exit status 1 when there are any")
          ->type_name("races,uninitialised")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(CLI::IsMember(
              std::vector<std::string>(exec::kCheckNames.begin(), exec::kCheckNames.end())))
          ->group(kRun);
  modes.add(option, {Mode::Workload, Mode::Functional, Mode::Program});
}

void CommonOptions::add_stream_limit_to(CLI::App& c, OptionModes& modes) {
  auto* option = c.add_option("--max-stream", max_stream_gib,
                              "give up when the op stream of one launch takes more memory")
                     ->type_name("GIB")
                     ->check(real_in(api::kMinStreamGib, api::kMaxStreamGib))
                     ->capture_default_str()
                     ->group(kLimits);
  modes.add(option, kSimulated.without({Mode::Trace, Mode::Kept}));
}

void CommonOptions::add_first_launches_to(CLI::App& c, OptionModes& modes) {
  auto* option =
      c.add_option(
           "--first-launches", first_launches,
           "time only the first N launches of the host; the others are executed and checked, "
           "not timed")
          ->type_name("N")
          ->check(number_from(1))
          ->group(kLimits);
  modes.add(option, kSingle);
}

std::size_t CommonOptions::single_launches() const {
  if (launches.empty()) return sim::kMaxSingleLaunches;
  return launches == "all" ? sim::kAllLaunches : std::stoull(launches);
}

void CommonOptions::add_timing_to(CLI::App& command, OptionModes& modes) {
  modes
      .add(command.add_option("--gpu", gpu,
                              "machine: a name from `raddle list gpus`, or a .toml or .json file"),
           kSimulated)
      ->capture_default_str()
      ->group(kMachine);
  modes
      .add(command.add_option(
               "--set", set,
               "change one setting of the machine, e.g. sm.l1d.size_kib=64; x2 or x0.5 is "
               "so many times what the machine's file says"),
           kSimulated)
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group(kMachine);
  modes
      .add(command.add_option("--policy", policy,
                              "choose a policy, e.g. warp=two_level:group_size=4"),
           kTimed)
      ->type_name("LEVEL=NAME[:KEY=VALUE,...]")
      ->allow_extra_args(false)
      ->group(kMachine);
  modes
      .add(command.add_option("--json", json, "write the result as JSON; - for standard output"),
           kAll)
      ->type_name("FILE|-")
      ->group(kOutput);
  modes
      .add(command.add_option("--max-cycles", max_cycles,
                              "give up after that many simulated cycles"),
           kSimulated)
      ->check(number_from(1))
      ->group(kLimits);
  add_stream_limit_to(command, modes);
  add_first_launches_to(command, modes);
  modes
      .add(command.add_option("--threads", threads,
                              "host threads; results are the same for any number"),
           kSimulated.without({Mode::Kept}))
      ->check(CLI::Range(1, int{api::kMaxThreads}))
      ->capture_default_str()
      ->group(kRun);
  modes
      .add(command.add_option("--seed", seed, "seed of inputs and random choices (default 1)"),
           kAll)
      ->check(number_from(1))
      ->group(kRun);
  modes
      .add(command.add_flag(
               "--live", live,
               "execute just ahead of timing: for programs whose result depends on timing"),
           {Mode::Workload, Mode::Program})
      ->group(kRun);
  modes
      .add(command.add_flag(
               "--cold-l2", cold_l2,
               "every launch waits for those before it and finds the L2 empty, as under "
               "ncu"),
           kTimed.without({Mode::Corun}))
      ->group(kMachine);
  modes
      .add(command.add_option(
               "--sampling-error", sampling_error,
               "estimate launches like those timed before, once their cycles are known "
               "within this share, e.g. 0.03 (docs/sampling.md)"),
           kTimed.without({Mode::Corun}))
      ->type_name("SHARE")
      ->group(kLimits);
  modes
      .add(command.add_flag(
               "--no-skip", no_skip,
               "simulate every cycle, also those in which nothing can happen (slower, same "
               "result)"),
           kTimed.without({Mode::Kept}))
      ->group(kRun);
  modes.add(command.add_flag("--quiet", quiet, "print nothing but errors (and JSON on - )"), kAll)
      ->group(kOutput);
}

void CommonOptions::check() const {
  Settings::check();
  check_outputs({{"--json", json}, {"--report", report}, {"--timeline", timeline}});
}

namespace {
/// What the system lets this process have of `wanted` threads; fewer are told.
unsigned given_threads(unsigned wanted) {
  const unsigned given = startable_threads(wanted);
  if (given < wanted)
    std::fprintf(stderr, "raddle: the system gives this process %u of %u threads; it goes on\n",
                 given, wanted);
  return given;
}
}  // namespace

sim::AnalysisRequest window_analysis(const std::string& window, unsigned sm) {
  const auto colon = window.find(':');
  if (colon == std::string::npos)
    throw InputError("--window: expected BEGIN:END, two numbers of cycles, found '" + window + "'");
  return sim::request_analysis("warps", "warps",
                               {"sm=" + std::to_string(sm), "begin=" + window.substr(0, colon),
                                "end=" + window.substr(colon + 1)},
                               "--window");
}

config::Tree CommonOptions::tree() const { return Settings::tree(policy::all_policies()); }

sim::Options CommonOptions::simulation(const sim::Setup& setup) const {
  sim::Options out = options(setup);
  out.threads = given_threads(out.threads);
  // Device printf goes where the summary goes; standard output is the JSON's alone when that is
  // asked for.
  out.print = [out_file = json == "-" ? stderr : stdout](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out_file);
  };
  out.note = [](const std::string& text) { std::fprintf(stderr, "raddle: %s\n", text.c_str()); };
  if (!report.empty() || !timeline.empty()) out.sample_interval = api::kSampleInterval;
  if (!report.empty() && !functional && setup.run.sampling_error == 0)
    out.analyses = sim::analyses_for_report(false);
  if (!window.empty() || window_sm) out.analyses.push_back(window_asked(setup));
  return out;
}

sim::AnalysisRequest CommonOptions::window_asked(const sim::Setup& setup) const {
  if (window.empty()) throw InputError("--sm: expected --window beside it");
  if (report.empty() && json.empty())
    throw InputError("--window: expected --report or --json beside it");
  if (setup.run.sampling_error != 0)
    throw InputError("--window: expected every launch timed, found run.sampling_error");
  return window_analysis(window, window_sm.value_or(0));
}

}  // namespace raddle::cli

// raddle validate: the same launches measured on a real GPU and simulated, and how well they agree.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/cuda.h"
#include "raddle/cli/shared/options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/own_profile.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/cli/shared/simulate_measured.h"
#include "raddle/cli/shared/suite.h"
#include "raddle/cli/shared/work.h"
#include "raddle/report/scatter.h"
#include "raddle/report/validation_page.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using Words = WorkloadWords;

std::string text(double value, double scale = 1, int digits = 0) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value * scale, digits);
}

using report::is_rate;

Json number(double value) { return std::isnan(value) ? Json() : Json(value); }

struct ValidateCommand {
  CommonOptions common;
  CudaOptions cuda;
  OwnProfileOptions own;
  std::vector<std::string> words, arguments, parts;
  std::string measured_file, csv, plots, page, suite, kept_errors, half = "both";
  bool measure_only = false, gpu_given = false;
  OptionModes modes{
      "validate",
      {Mode::Compared, Mode::Measured, Mode::Suite, Mode::OwnProfile, Mode::MeasureOnly}};

  Mode mode() const {
    if (!own.ncu.empty() || !own.nsys.empty()) return Mode::OwnProfile;
    if (measure_only) return Mode::MeasureOnly;
    if (!suite.empty()) return Mode::Suite;
    return measured_file.empty() ? Mode::Compared : Mode::Measured;
  }

  std::vector<Words> works() const {
    std::vector<Words> out;
    Words shared;
    for (const std::string& word : words) {
      if (word.find('=') == std::string::npos) {
        out.push_back({word});
        out.back().insert(out.back().end(), shared.begin(), shared.end());
      } else {
        (out.empty() ? shared : out.back()).push_back(word);
      }
    }
    return out;
  }

  /// Those of the file that are asked for; all when none is.
  sim::MeasurementFile from_file() const {
    sim::MeasurementFile file = sim::read_measurements(measured_file);
    std::set<std::string> wanted;
    for (const Words& work : works()) {
      if (work.size() > 1)
        throw InputError("with --measured, the file says the parameters; leave out '" + work[1] +
                         "'");
      wanted.insert(work.front());
    }
    if (!wanted.empty())
      std::erase_if(file.rows,
                    [&](const sim::Measurement& m) { return !wanted.contains(m.workload); });
    for (const std::string& name : wanted)
      if (std::ranges::find(file.rows, name, &sim::Measurement::workload) == file.rows.end())
        throw InputError({measured_file}, "no measurement of '" + name + "'");
    const auto known = [](double value) { return !std::isnan(value); };
    if (std::ranges::none_of(file.rows, [&](const sim::Measurement& m) {
          return std::ranges::any_of(m.value, known);
        }))
      throw InputError({measured_file}, "no row with a value: nothing to compare");
    return file;
  }

  sim::MeasurementFile from_gpu(bool& wrong) const {
    if (words.empty())
      throw InputError("validate: name workloads to run on the GPU, or --measured FILE");
    CudaListener listener;
    // A list takes long, and the GPU may be lent: what has been measured stays.
    if (!csv.empty() && csv != "-")
      listener.ran = [&](const std::vector<CudaRun>& so_far) {
        write_file(csv, sim::to_csv(file_of(so_far)));
      };
    listener.failed = [&](const std::string& workload, const std::string& why) {
      std::fprintf(stderr, "raddle: %s on the GPU: %s\n", workload.c_str(), why.c_str());
      wrong = true;
    };
    const std::uint64_t seed = sim::read_setup(common.tree(), policy::all_policies()).run.seed;
    const std::vector<CudaRun> runs = run_on_cuda(works(), seed, cuda, listener);
    for (const CudaRun& run : runs) {
      if (run.difference.empty()) continue;
      std::fprintf(stderr, "raddle: %s on the GPU: the result is wrong: %s\n", run.workload.c_str(),
                   run.difference.c_str());
      wrong = true;
    }
    const sim::MeasurementFile file = file_of(runs);
    if (!csv.empty()) write_file(csv, sim::to_csv(file));
    return file;
  }

  static sim::MeasurementFile file_of(const std::vector<CudaRun>& runs) {
    sim::MeasurementFile file;
    for (const CudaRun& run : runs) {
      file.conventions = run.conventions;
      file.rows.insert(file.rows.end(), run.measurements.begin(), run.measurements.end());
    }
    return file;
  }

  int operator()() const {
    common.check();
    modes.check(mode());
    const std::vector<std::string> program = words_of_program(arguments);
    if (mode() == Mode::OwnProfile) return compare_own_profile(program);
    if (!program.empty())
      throw InputError(
          "validate: a program behind -- goes with a profile of it: --ncu FILE.csv or --nsys "
          "FILE.csv");
    check_outputs({{"--json", common.json},
                   {"--csv", csv},
                   {"--report", page},
                   {"--keep-errors", kept_errors}});
    if (measure_only) return measure();
    if (!suite.empty()) return compare_suite();
    const unsigned passes = passes_of(own.replay_as);
    bool wrong = false;
    const sim::MeasurementFile file = measured_file.empty() ? from_gpu(wrong) : from_file();
    if (!csv.empty() && !measured_file.empty()) write_file(csv, sim::to_csv(file));
    const std::vector<sim::Measurement> simulated = simulate_measured(
        file, common, measured_file.empty() ? "GPU" : measured_file, wrong, passes);
    Json out = {{"schema", 1},
                {"measured", file.conventions},
                {"simulated", simulated_conventions(file, common, passes_of(own.replay_as))},
                {"metrics", Json::object()}};
    std::string table = heading(file);
    report::Validation validation{common.gpu + " against measurements",
                                  joined(arguments),
                                  today(),
                                  file.conventions,
                                  simulated_conventions(file, common, passes_of(own.replay_as)),
                                  {}};
    for (std::size_t i = 0; i < sim::kFileMetrics; ++i) {
      const auto metric = static_cast<sim::Metric>(i);
      const std::vector<sim::Pair> pairs = sim::pairs(file.rows, simulated, metric);
      const sim::Agreement agreed = sim::agreement(pairs);
      out["metrics"][std::string(sim::kMetricNames[i])] = to_json(agreed, pairs);
      table += row(metric, agreed);
      validation.pairs[i] = pairs;
      if (!plots.empty() && !pairs.empty()) write_plot(metric, pairs);
    }
    if (!common.json.empty()) write_file(common.json, json_dump(out, 2));
    if (!page.empty()) write_file(page, report::validation_page(validation));
    if (!common.quiet && common.json != "-")
      std::fputs((table + launches(file, simulated)).c_str(), stdout);
    return wrong ? 1 : 0;
  }

  int compare_own_profile(const std::vector<std::string>& program) const {
    check_outputs({{"--json", common.json}, {"--report", page}});
    if (!own.ncu.empty() && !own.nsys.empty())
      throw InputError("validate: --ncu and --nsys exclude each other: a profile is of one tool");
    if (program.empty() && common.out_of_bounds != CommonOptions().out_of_bounds)
      throw InputError("--out-of-bounds: expected a program behind --, found none");
    OwnProfileOptions options = own;
    options.work = words;
    options.program = program;
    options.page = page;
    options.plots = plots;
    options.command = joined(arguments);
    return validate_own_profile(options, common);
  }

  int measure() const {
    bool wrong = false;
    const sim::MeasurementFile file = from_gpu(wrong);
    if (!common.quiet && csv != "-") std::fputs(sim::to_csv(file).c_str(), stdout);
    return wrong ? 1 : 0;
  }

  int compare_suite() const {
    for (const Words& work : works())
      if (work.size() > 1)
        throw InputError("with --suite, its files say the parameters; leave out '" + work[1] + "'");
    CommonOptions machine = common;
    if (!gpu_given) machine.gpu = suite;
    return run_suite(
        {suite, half, parts, words, page, kept_errors, passes_of(own.replay_as), joined(arguments)},
        machine);
  }

  static Json to_json(const sim::Agreement& a, const std::vector<sim::Pair>& pairs) {
    Json out = {{"pairs", a.pairs},
                {"zeros", a.zeros},
                {"mape", number(a.mape)},
                {"mean_absolute_error", number(a.mean_absolute_error)},
                {"geometric_mean_ratio", number(a.ratio)},
                {"pearson", number(a.pearson)},
                {"nrmse", number(a.nrmse)},
                {"points", Json::array()}};
    for (const sim::Pair& p : pairs)
      out["points"].push_back(
          {{"launch", p.label}, {"measured", p.measured}, {"simulated", p.simulated}});
    return out;
  }

  void write_plot(sim::Metric metric, const std::vector<sim::Pair>& pairs) const {
    std::error_code error;
    std::filesystem::create_directories(plots, error);
    if (error) throw InputError("cannot make the folder " + plots + ": " + error.message());
    const std::string name(sim::kMetricNames[static_cast<std::size_t>(metric)]);
    write_file((std::filesystem::path(plots) / (name + ".svg")).string(),
               report::scatter_svg(pairs, metric));
  }

  std::string heading(const sim::MeasurementFile& file) const {
    std::string out = "measured\n";
    for (const auto& [key, value] : file.conventions)
      out += fmt::format("  {:<18} {}\n", key, value);
    out += "simulated\n";
    for (const auto& [key, value] : simulated_conventions(file, common, passes_of(own.replay_as)))
      out += fmt::format("  {:<18} {}\n", key, value);
    return out + fmt::format("\n{:<12} {:>8} {:>10} {:>16} {:>18} {:>9}\n", "metric", "launches",
                             "MAPE %", "mean abs. error", "sim/measured gmean", "Pearson");
  }

  static std::string row(sim::Metric metric, const sim::Agreement& a) {
    return fmt::format(
        "{:<12} {:>8} {:>10} {:>16} {:>18} {:>9}{}\n",
        sim::kMetricNames[static_cast<std::size_t>(metric)], a.pairs, text(a.mape, 100, 1),
        is_rate(metric) ? text(a.mean_absolute_error, 100, 1) + " points"
                        : text(a.mean_absolute_error, 1, 0),
        text(a.ratio, 1, 3), text(a.pearson, 1, 3),
        a.zeros == 0 ? "" : fmt::format("  ({} with a zero: not in MAPE and gmean)", a.zeros));
  }

  static std::string launches(const sim::MeasurementFile& file,
                              const std::vector<sim::Measurement>& simulated) {
    std::string out = "\n";
    for (std::size_t i = 0; i < sim::kFileMetrics; ++i) {
      const auto metric = static_cast<sim::Metric>(i);
      const double scale = is_rate(metric) ? 100 : 1;
      const int digits = is_rate(metric) ? 1 : 0;
      const std::vector<sim::Pair> pairs = sim::pairs(file.rows, simulated, metric);
      if (pairs.empty()) continue;
      out += fmt::format("{:<44} {:>14} {:>14} {:>9}\n",
                         std::string(sim::kMetricNames[i]) + (is_rate(metric) ? " %" : ""),
                         "measured", "simulated", "sim/meas");
      for (const sim::Pair& p : pairs)
        out += fmt::format("  {:<42} {:>14} {:>14} {:>9}\n", p.label,
                           text(p.measured, scale, digits), text(p.simulated, scale, digits),
                           p.measured == 0 ? "-" : text(p.simulated / p.measured, 1, 3));
    }
    return out;
  }
};

void add_profile_options(CLI::App& validate, OwnProfileOptions& own, OptionModes& modes) {
  const auto add = [&](CLI::Option* option) { return modes.add(option, {Mode::OwnProfile}); };
  add(validate.add_option("--ncu", own.ncu,
                          "a profile of yours to compare with: what ncu --csv printed, page raw or "
                          "details"))
      ->type_name("FILE.csv");
  add(validate.add_option("--nsys", own.nsys,
                          "the same of Nsight Systems: nsys stats --format csv, of the report "
                          "cuda_gpu_trace or cuda_gpu_kern_sum"))
      ->type_name("FILE.csv");
  modes
      .add(validate.add_option(
               "--replay-as", own.replay_as,
               "what the L2 holds before each launch. ncu (default with --ncu): nothing, it "
               "empties caches; ncu-warm: what an earlier pass of the same launch left, as with "
               "ncu --cache-control none; nsys, none: what launches before left"),
           {Mode::OwnProfile, Mode::Measured, Mode::Suite})
      ->check(CLI::IsMember(std::vector<std::string>(kReplayNames.begin(), kReplayNames.end())));
  add(validate.add_option("--launch-skip", own.launch_skip,
                          "so many launches of these kernels the profiler left out first, as ncu's "
                          "option of that name says"))
      ->check(number_from(0));
}

}  // namespace

Command add_validate(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<ValidateCommand>();
  command->arguments = std::move(arguments);
  CLI::App* validate = app.add_subcommand(
      "validate", "simulate what was measured on a real GPU; errors and correlation per metric");
  validate
      ->add_option("workloads", command->words,
                   "as for compare; with --measured those of the file to look at; with a profile "
                   "what it is of: one workload, a recording, or a program behind --")
      ->type_name("WORKLOAD [KEY=VALUE ...] | -- ./PROGRAM [ARGUMENT ...]");
  OptionModes& modes = command->modes;
  modes
      .add(validate->add_option("--measured", command->measured_file,
                                "measurements in a file instead of a GPU that is here"),
           {Mode::Measured})
      ->type_name("CSV");
  modes
      .add(validate->add_option(
               "--suite", command->suite,
               "measurements that come with the program, of v100, h100 or h200, on the machine "
               "of that name: a table of kernels, errors of both halves"),
           {Mode::Suite})
      ->type_name("DEVICE");
  modes
      .add(validate->add_option("--part", command->parts, "of the suite: files, such as kernels"),
           {Mode::Suite})
      ->type_name("NAME")
      ->allow_extra_args(false);
  modes
      .add(validate->add_option("--half", command->half,
                                "of the suite's rows: first, second or both"),
           {Mode::Suite})
      ->check(CLI::IsMember({"first", "second", "both"}))
      ->capture_default_str();
  modes
      .add(validate->add_option("--keep-errors", command->kept_errors,
                                "write the suite's errors by kernel, as results of this machine "
                                "say them when the file is data/errors/DEVICE.csv"),
           {Mode::Suite})
      ->type_name("FILE.csv");
  modes.add(validate->add_flag("--measure-only", command->measure_only,
                               "run on the GPU and keep what was measured; --measured compares "
                               "later"),
            {Mode::MeasureOnly});
  modes
      .add(validate->add_option("--csv", command->csv, "keep the measurements"),
           {Mode::Compared, Mode::Measured, Mode::MeasureOnly})
      ->type_name("FILE");
  modes
      .add(validate->add_option("--plots", command->plots, "write <metric>.svg into this folder"),
           {Mode::Compared, Mode::Measured, Mode::OwnProfile})
      ->type_name("FOLDER");
  modes
      .add(validate->add_option("--report", command->page, "write a page with tables and plots"),
           kTimed)
      ->type_name("FILE.html");
  command->common.add_timing_to(*validate, modes);
  modes.change(*validate, "--json", kTimed);
  // What was measured says which launches are timed.
  for (const char* name : {"--sampling-error", "--live"}) modes.change(*validate, name, {});
  modes.change(*validate, "--first-launches", {Mode::OwnProfile});
  modes.change(*validate, "--cold-l2", {Mode::Compared, Mode::Measured, Mode::Suite});
  command->common.add_out_of_bounds_to(*validate, modes);
  modes.change(*validate, "--out-of-bounds", {Mode::OwnProfile});
  add_profile_options(*validate, command->own, modes);
  add_cuda_options(*validate, command->cuda, modes, {Mode::Compared, Mode::MeasureOnly});
  return {validate,
          [command, validate] {
            command->gpu_given = validate->count("--gpu") != 0;
            return (*command)();
          },
          modes_of(validate, command)};
}

}  // namespace raddle::cli

// raddle record: execute a workload and keep its op streams. raddle replay: time them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "raddle/api/recording.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/corun.h"
#include "raddle/cli/shared/cuda_program.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"

namespace raddle::cli {

namespace {

struct RecordCommand {
  CommonOptions common;
  std::vector<std::string> words;
  std::string file;
  bool behind_dashes = false;  ///< then it is a program, one in PATH as well
  OptionModes modes{"record", {Mode::Workload, Mode::Program, Mode::Trace}};

  /// What looks like a program's path is none of a workload's parameters.
  void check_name() const {
    const std::string& name = words.front();
    if (behind_dashes) find_program(name);
    else if (name.find('/') != std::string::npos && !name.ends_with(".ptx") &&
             !api::is_recording(name))
      find_program(name);
  }

  Mode mode() const {
    if (behind_dashes || is_program(words.front())) return Mode::Program;
    return api::is_recording(words.front()) ? Mode::Trace : Mode::Workload;
  }

  int operator()() const {
    const bool quiet = common.quiet;
    check_name();
    modes.check(mode());
    common.check_record(mode() == Mode::Trace);
    check_writable(file);
    if (mode() == Mode::Program) return execute(common, words, file, {});
    sim::Setup setup = sim::read_setup(common.tree(), policy::all_policies());
    sim::Options options = common.simulation(setup);
    options.progress = progress_line(words.front(), quiet);
    const sim::Result result = store(setup, options);
    clear_progress(quiet);
    warn_of_refusals(result);
    if (!quiet)
      std::fputs((summary(result) + size_line(file, result.totals.sm.issued)).c_str(), stdout);
    return result.verdict == sim::Result::Verdict::Wrong ? 1 : 0;
  }

  sim::Result store(sim::Setup& setup, const sim::Options& options) const {
    if (!api::is_recording(words.front())) {
      NamedWorkload named = make_workload(words.front(), {words.begin() + 1, words.end()});
      return sim::record(*named.workload, named.info, setup, options, file);
    }
    if (words.size() > 1) throw InputError("'" + words[1] + "': a trace has no parameters");
    const auto recording = api::open_recording(words.front());
    sim::Result result = sim::convert(*recording, setup, options, file);
    if (!common.quiet) std::fputs(import_summary(recording->trailer()).c_str(), stdout);
    return result;
  }
};

struct ReplayCommand {
  CommonOptions common;
  std::vector<std::string> words;
  CorunArguments corun;
  std::vector<std::string> arguments;
  OptionModes modes{"replay", {Mode::Trace, Mode::Corun}};

  int operator()() const {
    common.check();
    common.check_always_timed("replay times what was recorded");
    modes.check(corun.asked(words) ? Mode::Corun : Mode::Trace);
    if (corun.asked(words)) return run_corun(common, words, corun, arguments);
    if (words.size() > 1)
      throw InputError("'" + words[1] +
                       "': a recording has no parameters (tenants: A.rdl + B.rdl)");
    const std::string& file = words.front();
    const auto recording = api::open_recording(file);
    config::Tree tree = common.tree();
    if (!common.says_seed()) tree.set("run.seed", json_dump(recording->header().at("seed")), file);
    std::vector<sim::Setup> setups;
    setups.push_back(sim::read_setup(tree, policy::all_policies()));
    api::check_run(*recording, file, setups.front());
    sim::Options options = common.simulation(setups.front());
    options.progress = progress_line(file, common.quiet);
    const std::vector<sim::Result> results = sim::replay(*recording, setups, options);
    clear_progress(common.quiet);
    const sim::Result& result = results.front();
    warn_of_refusals(result);
    if (!common.json.empty())
      write_file(common.json, json_dump(sim::to_json(result, common.single_launches()), 2));
    if (!common.quiet && common.json != "-")
      std::fputs((summary(result) + import_summary(recording->trailer())).c_str(), stdout);
    write_reports(common, {{result.workload, "", &result}}, arguments);
    return result.verdict == sim::Result::Verdict::Wrong ? 1 : 0;
  }
};

}  // namespace

Command add_record(CLI::App& app, const std::vector<std::string>& arguments) {
  auto command = std::make_shared<RecordCommand>();
  command->behind_dashes = std::ranges::count(arguments, "--") != 0;
  CLI::App* record =
      app.add_subcommand("record",
                         "store for replay the op streams of a workload, of a CUDA program after "
                         "--, or of an Accel-Sim trace");
  record->add_option("workload", command->words, "as for run, a program, or a trace: kernelslist.g")
      ->required()
      ->type_name("WORKLOAD [KEY=VALUE ...] | -- ./PROGRAM [ARGUMENT ...]");
  OptionModes& modes = command->modes;
  modes.add(record->add_option("-o,--output", command->file, "file to write"), kAll)
      ->required()
      ->type_name("FILE.rdl");
  modes
      .add(record->add_option("--gpu", command->common.gpu,
                              "machine whose limits and SM count the program sees"),
           kAll)
      ->capture_default_str();
  modes
      .add(record->add_option(
               "--set", command->common.set,
               "change one setting of that machine, e.g. sm.registers=65536: a program may ask for "
               "it, and its blocks must fit an SM"),
           kAll)
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  modes
      .add(record->add_option("--seed", command->common.seed, "seed of the inputs (default 1)"),
           {Mode::Workload})
      ->check(number_from(1));
  command->common.add_stream_limit_to(*record, modes);
  command->common.add_first_launches_to(*record, modes);
  modes.change(*record, "--first-launches", {Mode::Workload, Mode::Program});
  command->common.add_out_of_bounds_to(*record, modes);
  modes.add(record->add_flag("--quiet", command->common.quiet, "print nothing but errors"), kAll);
  return {record, [command] { return (*command)(); }, modes_of(record, command)};
}

Command add_replay(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<ReplayCommand>();
  command->arguments = std::move(arguments);
  CLI::App* replay = app.add_subcommand(
      "replay", "time stored op streams; the same as run, without executing again");
  replay
      ->add_option("file", command->words,
                   "written by raddle record, or the kernelslist.g of an Accel-Sim trace; with "
                   "--horizon several that share the GPU, workloads among them")
      ->required()
      ->type_name("FILE.rdl|kernelslist.g [+ ...]");
  command->common.add_always_timed_to(*replay, command->modes);
  command->common.add_window_to(*replay, command->modes, {Mode::Trace});
  command->corun.add_to(*replay, command->modes);
  return {replay, [command] { return (*command)(); }, modes_of(replay, command)};
}

}  // namespace raddle::cli

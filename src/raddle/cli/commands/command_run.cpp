// raddle run: one workload on one machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "raddle/api/variants.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/corun.h"
#include "raddle/cli/shared/cuda.h"
#include "raddle/cli/shared/options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/report/what_if.h"
#include "raddle/report/words.h"

namespace raddle::cli {

namespace {

std::string gpu_summary(const CudaRun& run) {
  std::string out = fmt::format("{} on {} ({}): {}\n", run.workload, run.device.name,
                                run.conventions.at("driver"),
                                !run.checked             ? "unchecked"
                                : run.difference.empty() ? "correct"
                                                         : "wrong");
  for (const auto& [key, value] : run.conventions)
    if (key == "tool" || key == "clock" || key == "launch_latency" || key == "cache")
      out += fmt::format("  {:<16} {}\n", key, value);
  out += fmt::format("  {:>6}  {:<32} {:>14} {:>14} {:>8} {:>8} {:>12}\n", "launch", "kernel",
                     "microseconds", "cycles", "L1 hit", "L2 hit", "DRAM bytes");
  auto text = [](double value, double scale, int digits) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.{}f}", value * scale, digits);
  };
  for (const sim::Measurement& m : run.measurements)
    out += fmt::format("  {:>6}  {:<32} {:>14.2f} {:>14} {:>8} {:>8} {:>12}\n", m.launch, m.kernel,
                       m.microseconds, text(m.value[0], 1, 0), text(m.value[1], 100, 1),
                       text(m.value[2], 100, 1), text(m.value[3], 1, 0));
  return out;
}

struct RunCommand {
  CommonOptions common;
  std::vector<std::string> words;
  std::vector<std::string> arguments;
  std::string on = "simulator";
  CudaOptions cuda;
  CorunArguments corun;
  OptionModes modes{"run", {Mode::Workload, Mode::Functional, Mode::Cuda, Mode::Corun}};

  Mode mode() const {
    if (corun.asked(words)) return Mode::Corun;
    if (on == "cuda") return Mode::Cuda;
    return common.functional ? Mode::Functional : Mode::Workload;
  }

  int run_on_gpu() const {
    const CudaRun run = run_on_cuda({words}, common.seed != 0 ? common.seed : 1, cuda).front();
    if (!common.json.empty()) write_file(common.json, json_dump(run.to_json(), 2));
    if (!common.quiet && common.json != "-") std::fputs(gpu_summary(run).c_str(), stdout);
    if (run.difference.empty()) return 0;
    std::fprintf(stderr, "raddle: %s: the result is wrong: %s\n", words.front().c_str(),
                 run.difference.c_str());
    return 1;
  }

  int operator()() const {
    common.check();
    modes.check(mode());
    if (mode() == Mode::Corun && on == "cuda")
      throw InputError("a co-run is simulated: leave out --on cuda");
    if (mode() == Mode::Corun) return run_corun(common, words, corun, arguments);
    if (mode() == Mode::Cuda) return run_on_gpu();
    return run_simulated();
  }

  /// The run, and then those that --what-if asks for: all variants but the first.
  std::vector<sim::Result> simulated(sim::Setup machine, std::vector<report::Stream>& streams,
                                     const std::vector<api::Variant>& variants,
                                     const policy::Registries& policies) const {
    std::vector<sim::Setup> setups;
    setups.push_back(std::move(machine));
    for (const api::Variant& variant : std::span(variants).subspan(1))
      setups.push_back(sim::read_setup(api::tree_of(common, variant, policies), policies));
    sim::Options options = common.simulation(setups.front());
    options.progress = progress_line(words.front(), common.quiet);
    if (variants.size() == 1) {
      NamedWorkload named = make_workload(words.front(), {words.begin() + 1, words.end()});
      return sim::simulate(*named.workload, named.info, setups, options);
    }
    if (std::ranges::any_of(setups, [](const sim::Setup& setup) { return setup.run.live; }))
      throw InputError("--what-if times what was executed before: leave out --live (run.live)");
    api::Work work(words);
    streams = api::streams_of(work, variants, setups);
    return api::time_all(work, std::move(setups),
                         [&](sim::Setup&, const std::vector<std::size_t>&) { return options; });
  }

  int run_simulated() const {
    const policy::Registries policies = policy::all_policies();
    sim::Setup machine = sim::read_setup(common.tree(), policies);
    std::vector<api::Variant> variants(1);
    if (!common.what_if.empty())
      variants = api::make_variants(common, {.what_if = common.what_if}, policies);
    std::vector<report::Stream> streams(1);
    std::vector<sim::Result> results;
    try {
      results = simulated(std::move(machine), streams, variants, policies);
    } catch (...) {
      clear_progress(common.quiet);
      throw;
    }
    clear_progress(common.quiet);
    const sim::Result& result = results.front();
    const std::string policies_of = report::policy_label(result);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < results.size(); ++i)
      rows.push_back({policies_of, policies_of, &results[i], variants[i].what_if, streams[i]});
    warn_of_refusals(result);
    if (!common.json.empty()) {
      auto json = sim::to_json(result, common.single_launches());
      if (rows.size() > 1) json["what_if"] = report::what_if_json(rows);
      write_file(common.json, json_dump(json, 2));
    }
    if (!common.quiet && common.json != "-")
      std::fputs((summary(result) + report::what_if_table(rows)).c_str(), stdout);
    write_reports(common, {{words.front(), "", &result}}, arguments, report::what_if_json(rows));
    return status_of(results);
  }

  int status_of(const std::vector<sim::Result>& results) const {
    for (const sim::Result& result : results)
      if (result.verdict == sim::Result::Verdict::Wrong) {
        std::fprintf(stderr, "raddle: %s: the result is wrong: %s\n", words.front().c_str(),
                     result.difference.c_str());
        return 1;
      }
    const sim::Result& result = results.front();
    if (!result.checks || result.checks->findings.empty()) return 0;
    std::fprintf(stderr, "raddle: %s: %s\n", words.front().c_str(),
                 result.checks->failure().c_str());
    return 1;
  }
};

}  // namespace

Command add_run(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<RunCommand>();
  command->arguments = std::move(arguments);
  CLI::App* run = app.add_subcommand(
      "run", "run a workload, check its result against a CPU reference, print a summary");
  run->add_option("workload", command->words,
                  "a name from `raddle list workloads`, or a PTX file; then its parameters as "
                  "KEY=VALUE (size=tiny|small|paper first of all); with --horizon several that "
                  "share the GPU, recordings among them")
      ->required()
      ->type_name("WORKLOAD [KEY=VALUE ...] [+ WORKLOAD ...]");
  OptionModes& modes = command->modes;
  command->common.add_to(*run, modes);
  command->common.add_checks_to(*run, modes);
  command->common.add_what_if_to(*run, modes, {Mode::Workload});
  command->common.add_window_to(*run, modes, {Mode::Workload});
  command->corun.add_to(*run, modes);
  modes
      .add(run->add_option("--on", command->on,
                           "where: simulator, or cuda, a real GPU with its driver"),
           kAll)
      ->check(CLI::IsMember({"simulator", "cuda"}))
      ->capture_default_str();
  add_cuda_options(*run, command->cuda, modes, {Mode::Cuda});
  run->footer(
      "A kernel of your own: raddle run my.ptx kernel=NAME grid=80 block=256 "
      "args=buf:4096,1024:u32");
  return {run, [command] { return (*command)(); }, modes_of(run, command)};
}

}  // namespace raddle::cli

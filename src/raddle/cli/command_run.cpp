// raddle run: one workload on one machine.
#include <fmt/format.h>

#include <cstdio>

#include "raddle/cli/commands.h"
#include "raddle/cli/options.h"
#include "raddle/cli/output.h"
#include "raddle/cli/reports.h"

namespace raddle::cli {

namespace {

struct RunCommand {
  CommonOptions common;
  std::vector<std::string> words;
  std::vector<std::string> arguments;

  int operator()() const {
    common.check();
    const policy::Registries policies = policy::all_policies();
    NamedWorkload named = make_workload(words.front(), {words.begin() + 1, words.end()});
    std::vector<sim::Setup> setups;
    setups.push_back(sim::read_setup(common.tree(), policies));
    sim::Options options = common.simulation(setups.front());
    options.progress = progress_line(words.front(), common.quiet);
    std::vector<sim::Result> results;
    try {
      results = sim::simulate(*named.workload, named.info, setups, options);
    } catch (...) {
      clear_progress(common.quiet);
      throw;
    }
    clear_progress(common.quiet);
    const sim::Result& result = results.front();
    if (!common.json.empty()) write_file(common.json, sim::to_json(result).dump(2));
    write_reports(common, {{words.front(), "", &result}}, arguments);
    if (!common.quiet && common.json != "-") std::fputs(summary(result).c_str(), stdout);
    if (result.verdict == sim::Result::Verdict::Wrong) {
      std::fprintf(stderr, "raddle: %s: the result is wrong: %s\n", words.front().c_str(),
                   result.difference.c_str());
      return 1;
    }
    return 0;
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
                  "KEY=VALUE (size=tiny|small|paper first of all)")
      ->required()
      ->type_name("WORKLOAD [KEY=VALUE ...]");
  command->common.add_to(*run);
  run->footer(
      "A kernel of your own: raddle run my.ptx kernel=NAME grid=80 block=256 "
      "args=buf:4096,1024:u32");
  return {run, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
